/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/pool.h"
#include "base/reserve.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- arrays that grow ---- */

void *array_room(void *array, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t more = *cap ? *cap * 2 : 16;
	void *moved;

	if (n < *cap)
		return array;
	moved = more > *cap ? realloc(array, more * size) : NULL;
	if (moved)
		*cap = more;
	return moved;
}

/* ---- pools ---- */

enum { POOL_BLOCK = 32 * 1024 };

struct pool_block {
	struct pool_block *next;
	uint64_t data[];
};

void *pool_take(struct pool *p, size_t size)
{
	uint8_t *at;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + 7) & ~(size_t)7;
	if (!p->block || size > p->cap - p->used) {
		size_t cap = size > POOL_BLOCK ? size : POOL_BLOCK;
		struct pool_block *block = malloc(sizeof *block + cap);

		if (!block)
			return NULL;
		block->next = p->block;
		p->block = block;
		p->used = 0;
		p->cap = cap;
	}
	at = (uint8_t *)p->block->data + p->used;
	p->used += size;
	return at;
}

char *pool_text(struct pool *p, const char *text, size_t n)
{
	char *copy = n == SIZE_MAX ? NULL : pool_take(p, n + 1);

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}

static void blocks_free(struct pool_block *block)
{
	while (block) {
		struct pool_block *next = block->next;

		free(block);
		block = next;
	}
}

void pool_empty(struct pool *p)
{
	if (p->block) {
		blocks_free(p->block->next);
		p->block->next = NULL;
	}
	p->used = 0;
}

void pool_free(struct pool *p)
{
	blocks_free(p->block);
	*p = (struct pool){ 0 };
}

/* ---- address space ---- */

enum {
	WHOLE_BYTES = 512 << 20, /* enough for all of a recorder at its largest */
	PARTS_MAX = 32,
};

uint32_t reserve_parts(void)
{
	struct rlimit l;
	uint32_t parts = 1;

	if (getrlimit(RLIMIT_AS, &l) || l.rlim_cur == RLIM_INFINITY)
		return 1;
	while (parts < PARTS_MAX && l.rlim_cur < WHOLE_BYTES / parts)
		parts *= 2;
	return parts;
}

static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, size, MADV_NOHUGEPAGE); /* refused by kernels without huge pages: fine */
	return p;
}

/* What was taken at once, and as far as it is given out. Threads reserve, too. */
static struct {
	char *memory;
	size_t size;
	_Atomic size_t used;
} whole;

static size_t pages_of(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return size ? (size + page - 1) / page * page : page;
}

void reserve_at_once(size_t size)
{
	if (whole.memory || reserve_parts() > 1)
		return;
	whole.memory = map(size);
	whole.size = whole.memory ? size : 0;
}

static void *cut(size_t size)
{
	size_t used = whole.used;

	do
		if (size > whole.size - used)
			return NULL;
	while (!atomic_compare_exchange_weak(&whole.used, &used, used + size));
	return whole.memory + used;
}

void *reserve(size_t size)
{
	size_t pages = pages_of(size);
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	p = cut(pages);
	return p ? p : map(pages);
}

/* The last piece may be cut again, and is zero then. */
static void give_back(char *piece, size_t size)
{
	size_t at = (size_t)(piece - whole.memory), end = at + size;

	madvise(piece, size, MADV_DONTNEED);
	atomic_compare_exchange_strong(&whole.used, &end, at);
}

void reserve_free(void *memory, size_t size)
{
	char *p = memory;

	if (p && whole.memory && p >= whole.memory && p < whole.memory + whole.size)
		give_back(p, pages_of(size));
	else if (p)
		munmap(p, pages_of(size));
}

void reserve_let_go(void *memory, size_t size)
{
	if (size)
		madvise(memory, size, MADV_DONTNEED);
}

int reserve_bytes(struct bytes *b, size_t cap)
{
	*b = (struct bytes){ .data = reserve(cap), .cap = cap, .fixed = true };
	return b->data ? 0 : -ENOMEM;
}

void reserve_bytes_free(struct bytes *b)
{
	reserve_free(b->data, b->cap);
	*b = (struct bytes){ 0 };
}

/* ---- the program itself ---- */

/* What cannot be written is as it is in its file: nothing is lost with it. */
static int let_go_object(struct dl_phdr_info *object, size_t size, void *page_size)
{
	const uintptr_t page = *(const uintptr_t *)page_size;

	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &object->dlpi_phdr[i];
		uintptr_t from = (object->dlpi_addr + h->p_vaddr + page - 1) / page * page;
		uintptr_t to = (object->dlpi_addr + h->p_vaddr + h->p_memsz) / page * page;

		if (h->p_type == PT_LOAD && !(h->p_flags & PF_W) && to > from)
			madvise((void *)from, to - from, MADV_DONTNEED);
	}
	return 0;
}

void code_let_go(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	dl_iterate_phdr(let_go_object, &page);
}
