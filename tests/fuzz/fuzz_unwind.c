/* SPDX-License-Identifier: Apache-2.0 */
/* What the helper sonde-unwind reads of the job: records in a ring, a file of names of JIT code,
 * the registers and the stack of a sample. Each is any bytes; the callers are looked for by the
 * rules of a real library, and never outside of the copy of the stack. */
#include "unwind/frame.h"
#include "unwind/names.h"
#include "unwind/records.h"
#include "unwind/space.h"
#include "unwind/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct modules modules;
static struct spaces spaces;
static uint32_t libc_module;
static struct rows *rows;

static void *copy_of(const uint8_t *data, size_t size)
{
	void *copy = malloc(size ? size : 1);

	if (copy && size)
		memcpy(copy, data, size);
	return copy;
}

/* The library that this program runs with. */
static void find_library(void)
{
	char line[512], path[256];
	unsigned long start, end, offset, inode;
	FILE *f = fopen("/proc/self/maps", "re");

	modules_init(&modules);
	rows = rows_make();
	spaces.modules = &modules;
	while (f && fgets(line, sizeof line, f)) {
		struct module_seen seen = { .pid = 1, .path = path };
		struct stat st;

		if (sscanf(line, "%lx-%lx r-xp %lx %*s %lu %255s", &start, &end, &offset, &inode,
			   path) != 5 ||
		    !strstr(path, "libc.so") || stat(path, &st))
			continue;
		seen.inode = st.st_ino;
		seen.major = major(st.st_dev);
		seen.minor = minor(st.st_dev);
		libc_module = modules_find(&modules, &seen);
	}
	if (f)
		fclose(f);
}

static void take(void *context, const struct record_view *v)
{
	struct record_sample s;
	uint8_t sum = 0;

	(void)context;
	if (record_sample(v, v->time_ns & 1 ? 8192 : 0, &s))
		for (uint64_t i = 0; i < s.stack_size; i++)
			sum ^= s.stack[i];
	if (sum == 1 && s.pid == 0x12345678)
		abort();
}

static void try_records(const uint8_t *data, size_t size)
{
	static _Alignas(4096) uint8_t memory[2 * 4096];
	struct perf_event_mmap_page *page = (void *)memory;
	struct record_ring ring = { page, memory + 4096, 4096 };

	page->data_tail = size & 4088;
	page->data_head = page->data_tail + (size < 4096 ? size & ~(size_t)7 : 4096);
	for (size_t i = 0; i < size && i < 4096; i++)
		memory[4096 + (page->data_tail + i) % 4096] = data[i];
	records_drain(&ring, 1, INT64_MAX, take, NULL);
	if (page->data_tail > page->data_head)
		abort();
}

static void try_names(const uint8_t *data, size_t size)
{
	struct jit *j = jit_open(1);
	char *text = copy_of(data, size);
	uint64_t start;

	if (j && text && jit_take(j, text, size) <= size)
		for (uint64_t at = 0; at < 64; at++)
			(void)jit_name(j, at << 8, &start);
	jit_free(j);
	free(text);
	text = strndup((const char *)data, size);
	free(text ? name_demangle(text) : NULL);
	free(text);
}

/* Each step by the rules of some place in the library. */
static void try_stack(const uint8_t *data, size_t size)
{
	struct registers r = { .known = UINT64_MAX >> (64 - REG_NUMBER_OF) };
	struct stack_copy stack;
	uint8_t *copy;
	uint64_t address = 0;

	if (size < sizeof r.v + 8)
		return;
	memcpy(r.v, data, sizeof r.v);
	memcpy(&address, data + sizeof r.v, 4);
	copy = copy_of(data + sizeof r.v + 8, size - sizeof r.v - 8);
	stack = (struct stack_copy){ r.v[REG_SP], copy, size - sizeof r.v - 8 };
	for (int i = 0; i < 127 && copy && libc_module; i++) {
		enum step step = frame_step(rows, &modules.row[libc_module], libc_module,
					    0x20000 + address % 0x180000, &r, &stack);

		if (step == STEP_LOST)
			step = frame_step_by_pointer(&r, &stack);
		if (step != STEP_CALLER && step != STEP_SIGNAL)
			break;
		address = r.v[REG_PC];
	}
	free(copy);
}

static void try_space(const uint8_t *data, size_t size)
{
	struct space *x = spaces_get(&spaces, 1000 + (size ? data[0] % 16 : 0));
	uint64_t before = 0;

	for (size_t i = 0; i + 4 <= size; i += 4) {
		struct module_seen seen = { .pid = x->pid,
					    .path = data[i] & 1 ? "[vdso]" : "//anon",
					    .start = (uint64_t)data[i + 1] << 12,
					    .end = (uint64_t)(data[i + 1] + data[i + 2]) << 12,
					    .offset = data[i + 3] };

		spaces_map(&spaces, x, &seen);
	}
	for (uint32_t i = 0; i < x->n; before = x->map[i++].end)
		if (x->map[i].start < before || x->map[i].end <= x->map[i].start)
			abort();
	for (uint64_t at = 0; at < 512; at += 3) {
		const struct mapping *m = space_find(x, at << 12);

		if (m && (m->start > at << 12 || m->end <= at << 12))
			abort();
	}
	spaces_fork(&spaces, 2000, x->pid);
	spaces_exec(&spaces, x->pid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!modules.n)
		find_library();
	if (!size)
		return 0;
	switch (data[0] % 4) {
	case 0:
		try_records(data + 1, size - 1);
		break;
	case 1:
		try_names(data + 1, size - 1);
		break;
	case 2:
		try_stack(data + 1, size - 1);
		break;
	default:
		try_space(data + 1, size - 1);
	}
	return 0;
}
