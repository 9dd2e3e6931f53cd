/* SPDX-License-Identifier: Apache-2.0 */
#include "base/reserve.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

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

void *reserve(size_t size)
{
	void *p = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, size, MADV_NOHUGEPAGE); /* refused by kernels without huge pages: fine */
	return p;
}

void reserve_free(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size ? size : 1);
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
