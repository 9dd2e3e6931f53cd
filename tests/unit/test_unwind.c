/* SPDX-License-Identifier: Apache-2.0 */
/* What the helper sonde-unwind keeps of the job's code is bounded, loses no sample, and goes out as
 * the recorder has room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gelf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "source/program/stacks_helper.h"
#include "unwind/frame.h"
#include "unwind/names.h"
#include "unwind/profile.h"
#include "unwind/symbols.h"
#include "waits/spins.h"

struct scene {
	struct stacks_page *page;
	struct modules *modules;
	struct names *names;
	struct profile *profile;
	struct space space;
	struct stacks_taken *taken;
	struct sample sample;
	uint32_t frames, modules_told, nodes, cut, other;
	uint64_t weight, weight_of_other, weight_of_innermost;
	uint64_t weight_below; /* of those below outermost calls */
	uint32_t *parent, *frame;
	uint32_t flags[FRAMES_MAX + 2];
	char called[FRAMES_MAX + 2][80]; /* "function:line" */
};

/* Nothing of it is ever freed, as in the helper: its thread goes on. */
static struct scene *scenes[8];

static struct scene *scene_make(void)
{
	static uint32_t n;
	struct scene *x = calloc(1, sizeof *x);

	assert_non_null(x);
	scenes[n++] = x;
	x->page = calloc(1, sizeof *x->page);
	x->modules = calloc(1, sizeof *x->modules);
	x->taken = calloc(1, sizeof *x->taken);
	x->parent = calloc(NODES_MAX + 2, sizeof *x->parent);
	x->frame = calloc(NODES_MAX + 2, sizeof *x->frame);
	assert_true(x->page && x->modules && x->taken && x->parent && x->frame);
	x->page->module = x->page->frame = x->page->node = 1;
	x->taken->next = (struct stacks_ids){ 1, 1, 1 };
	modules_init(x->modules);
	x->names = names_make(x->modules);
	x->profile = profile_make(x->page, x->names, x->modules, SAMPLE_CPU);
	assert_non_null(x->profile);
	assert_int_equal(sample_init(&x->sample, 8, 4096), 0);
	x->space.pid = 77;
	memcpy(x->space.command, "app", 4);
	return x;
}

enum { TOLD_NS = 1 << 20, SEEN_NS = 9 * TOLD_NS };

/* Two levels of JIT code, as many stacks as are wanted, each different. */
static void add(struct scene *x, uint32_t i, uint32_t flags)
{
	const struct sampled s = { 77, 78, SEEN_NS + 1000 + i, 10 };
	struct stack stack = { .n = 2, .flags = flags };

	stack.place[0] = (struct place){ .module = MODULE_JIT, .address = (uint64_t)i << 12 };
	stack.place[1] = (struct place){ .module = MODULE_JIT, .address = UINT64_C(1) << 50 };
	profile_add(x->profile, &x->space, &s, &stack);
}

static void note(struct scene *x, const struct event *e)
{
	for (uint32_t i = 0; e->kind == EVENT_STACKS && i < e->count; i++) {
		assert_in_range(e->id + i, 1, NODES_MAX);
		x->parent[e->id + i] = e->items[i].task;
		x->frame[e->id + i] = e->items[i].node;
		x->nodes++;
	}
	x->modules_told += e->kind == EVENT_MODULE;
	if (e->kind == EVENT_FRAME) {
		assert_in_range(e->id, 1, FRAMES_MAX);
		x->frames++;
		x->flags[e->id] = e->flags;
		snprintf(x->called[e->id], sizeof x->called[0], "%.60s:%u", e->name ? e->name : "",
			 (unsigned)e->count);
	}
	for (uint32_t i = 0; e->kind == EVENT_SAMPLES && i < e->count; i++) {
		uint32_t node = e->items[i].node;

		assert_in_range(node, 1, NODES_MAX);
		assert_int_not_equal(x->frame[node], 0);
		x->weight += e->items[i].weight;
		if (x->flags[x->frame[node]] & FRAME_OTHER)
			x->weight_of_other += e->items[i].weight;
		else if (x->flags[x->frame[x->parent[node]]] & FRAME_OTHER)
			x->weight_of_innermost += e->items[i].weight;
		if (x->flags[x->frame[x->parent[node]]] & FRAME_OTHER && x->parent[x->parent[node]])
			x->weight_below += e->items[i].weight;
		assert_string_equal(e->name, "app");
		assert_int_equal(e->value, 10);
		/* to a millisecond */
		assert_int_equal(e->t0 % TOLD_NS, 0);
		assert_int_equal(e->t1, e->t0);
	}
}

/* Until nothing is left. The sample has little room, and so has the ring. */
static void tell_all(struct scene *x)
{
	const struct source_job job = { .tree = NULL };
	bool all = false;

	for (int turn = 0; turn < 1000 && (!all || x->page->head != x->page->tail); turn++) {
		all = profile_tell(x->profile);
		stacks_take(x->taken, x->page, &job, &x->sample);
		for (uint32_t i = 0; i < x->sample.nevents; i++)
			note(x, &x->sample.event[i]);
		sample_clear_events(&x->sample);
	}
	assert_true(all);
	assert_int_equal(x->taken->bad, 0);
}

static void test_too_many_stacks_are_folded_and_counted(void **state)
{
	enum { MANY = 100000 };
	struct scene *x = scene_make();

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		add(x, i, 0);
		if (i % 20000 == 0)
			tell_all(x);
	}
	tell_all(x);
	assert_int_equal(x->page->samples, MANY);
	assert_int_equal(x->page->lost + (int64_t)x->weight, MANY);
	assert_int_equal(x->page->lost, 0);
	assert_in_range(x->nodes, FRAMES_MAX - 8, NODES_MAX);
	assert_in_range(x->frames, FRAMES_MAX - 4, FRAMES_MAX);
	/* Of as many more as there is room for, the innermost function is known. */
	assert_int_equal(x->weight_of_other + x->weight_of_innermost, x->page->folded);
	assert_in_range(x->weight_of_other, MANY - FRAMES_MAX, MANY - FRAMES_MAX + 8);
	assert_in_range(x->weight_of_innermost, 8000, 8192);
	assert_int_equal(x->modules_told, 1);
}

/* Callers are left out, and whose time it was is not. */
static void test_functions_of_too_many_stacks_are_known(void **state)
{
	enum { MANY = 100000, FUNCTIONS = 400, CALLERS = 10 };
	struct scene *x = scene_make();

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		const struct sampled s = { 77, 78, SEEN_NS + 1000 + i, 10 };
		struct stack stack = { .n = 3 };

		stack.place[0] = (struct place){ MODULE_JIT, i % FUNCTIONS << 12, NULL, NULL, 0 };
		stack.place[1] = (struct place){ MODULE_JIT, 1 + i % CALLERS, NULL, NULL, 0 };
		stack.place[2] = (struct place){ MODULE_JIT, 1000 + i / CALLERS, NULL, NULL, 0 };
		profile_add(x->profile, &x->space, &s, &stack);
		if (i % 20000 == 0)
			tell_all(x);
	}
	tell_all(x);
	assert_int_equal(x->page->lost, 0);
	assert_int_equal(x->weight, MANY);
	assert_int_equal(x->weight_of_other, 0);
	assert_in_range(x->page->folded, MANY / 2, MANY - MANY / 4);
	assert_int_equal(x->weight_of_innermost, x->page->folded);
	/* Nor are there frames of callers that are left out. */
	assert_true(x->frames < (MANY - x->page->folded) / CALLERS + FUNCTIONS + CALLERS + 5);
}

/* Nor are the first calls, as those that say which pass of a compiler it was. */
static void test_outermost_calls_of_too_many_stacks_are_known(void **state)
{
	enum { MANY = 60000, FUNCTIONS = 400, PASSES = 20, DEEP = 3 };
	struct scene *x = scene_make();

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		const struct sampled s = { 77, 78, SEEN_NS + 1000 + i, 10 };
		struct stack stack = { .n = DEEP + 2, .flags = i % 100 ? 0 : FRAME_LOST_WAY };

		stack.place[0] = (struct place){ MODULE_JIT, i % FUNCTIONS << 12, NULL, NULL, 0 };
		for (uint32_t k = 1; k <= DEEP; k++)
			stack.place[k] =
				(struct place){ MODULE_JIT, i / k % 600 + k, NULL, NULL, 0 };
		stack.place[DEEP + 1] =
			(struct place){ MODULE_JIT, 5000 + i / 7 % PASSES, NULL, NULL, 0 };
		profile_add(x->profile, &x->space, &s, &stack);
		if (i % 20000 == 0)
			tell_all(x);
	}
	tell_all(x);
	assert_int_equal(x->page->lost, 0);
	assert_int_equal(x->weight, MANY);
	assert_int_equal(x->weight_of_other, 0);
	assert_in_range(x->page->folded, MANY / 10, MANY);
	assert_int_equal(x->weight_of_innermost, x->page->folded);
	assert_in_range(x->weight_below, x->page->folded * 98 / 100, x->page->folded - 1);
}

static void test_what_is_told_is_told_once(void **state)
{
	struct scene *x = scene_make();

	(void)state;
	for (uint32_t i = 0; i < 300; i++)
		add(x, i % 3, 0);
	tell_all(x);
	assert_int_equal(x->nodes, 4);
	assert_int_equal(x->frames, 4);
	assert_int_equal(x->weight, 300);
	for (uint32_t i = 0; i < 3; i++)
		add(x, i, 0);
	tell_all(x);
	assert_int_equal(x->nodes, 4);
	assert_int_equal(x->frames, 4);
	assert_int_equal(x->weight, 303);
}

/* Over hours no more of the memory that both have is used than at first. */
static void test_messages_begin_anew_where_all_was_taken(void **state)
{
	enum { FEW = 64 << 10 };
	struct scene *x = scene_make();

	(void)state;
	for (uint32_t i = 0; x->page->head < 4 * FEW; i++, tell_all(x))
		add(x, i % 3, 0);
	for (size_t i = FEW; i < STACKS_ROOM; i++)
		assert_int_equal(x->page->room[i], 0);
}

static void test_a_cut_stack_has_a_root_of_its_own(void **state)
{
	struct scene *x = scene_make();
	uint32_t roots = 0;

	(void)state;
	add(x, 1, 0);
	add(x, 1, FRAME_CUT);
	tell_all(x);
	for (uint32_t i = 1; i <= x->nodes; i++) {
		roots += !x->parent[i];
		assert_true(x->parent[i] < i);
		x->cut += !x->parent[i] && x->flags[x->frame[i]] == FRAME_CUT;
	}
	assert_int_equal(roots, 2);
	assert_int_equal(x->cut, 1);
}

static void test_names_are_made_readable(void **state)
{
	static char longest[20000] = "_Z";
	char *text = name_demangle("plain");

	(void)state;
	assert_string_equal(text, "plain");
	free(text);
	memset(longest + 2, 'x', sizeof longest - 3);
	text = name_demangle(longest);
	assert_int_equal(strlen(text), STACKS_TEXT_MAX - 1);
	free(text);
#ifdef UNWIND_DEMANGLE
	text = name_demangle("_ZN3Foo4workIiEEjT_");
	assert_string_equal(text, "unsigned int Foo::work<int>(int)");
	free(text);
	text = name_demangle("_ZN4core3ptr13drop_in_place17h0123456789abcdefE");
	assert_string_equal(text, "core::ptr::drop_in_place");
	free(text);
#endif
}

static int take_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1; /* the program comes first */
}

/* 0: there is no such file. */
static uint32_t module_of(struct modules *m, const char *path)
{
	struct module_seen seen = { .pid = getpid(), .path = path };
	struct stat st;
	uint32_t i;

	if (stat(path, &st))
		return 0;
	seen.major = major(st.st_dev);
	seen.minor = minor(st.st_dev);
	seen.inode = st.st_ino;
	i = modules_find(m, &seen);
	assert_true(m->row[i].usable);
	return i;
}

static char own_path[PATH_MAX];

/* This program as a module; *base: where it is. */
static uint32_t own_module(struct modules *m, uintptr_t *base)
{
	*base = 0;
	assert_true(readlink("/proc/self/exe", own_path, sizeof own_path - 1) > 0);
	dl_iterate_phdr(take_base, base);
	return module_of(m, own_path);
}

/* Names from all over a program with 10 MB of debug information. */
static void test_files_are_given_back_while_names_are_found(void **state)
{
	enum { NAMES = 600, STEP = 4096, MORE = 2 << 20, PATIENCE_S = 60 };
	/* Modules stay as long as their process does. */
	static struct modules *m;
	int64_t all, before, files;
	char path[sizeof own_path + 16];
	struct names *names;
	struct named *x;
	GElf_Ehdr head;
	uintptr_t base;
	uint32_t i;

	(void)state;
	m = calloc(1, sizeof *m);
	assert_non_null(m);
	modules_init(m);
	own_module(m, &base);
	*strrchr(own_path, '/') = '\0';
	snprintf(path, sizeof path, "%s/../sonde", own_path);
	i = module_of(m, path);
	if (!i)
		skip();
	names = names_make(m);
	assert_true(names && gelf_getehdr(m->row[i].elf, &head));
	assert_true(modules_resident(&all, &before));
	for (uint32_t k = 0; k < NAMES; k++)
		names_ask(names, k + 1, i, head.e_entry + (uint64_t)k * STEP);
	names_wait(names, PATIENCE_S * INT64_C(1000000000));
	assert_true(modules_resident(&all, &files));
	while ((x = names_take(names)))
		named_free(x);
	assert_in_range(files, 1,
			(before > MODULES_RESIDENT_MAX ? before : MODULES_RESIDENT_MAX) + MORE);
}

/* The next answer, within a minute: has it a line? */
static bool next_has_line(struct names *names)
{
	enum { TURNS = 6000 };
	const struct timespec a_little = { .tv_nsec = 10 * 1000 * 1000 };
	struct named *x = NULL;
	bool lined;

	for (int turn = 0; turn < TURNS && !x; turn++) {
		nanosleep(&a_little, NULL);
		x = names_take(names);
	}
	assert_non_null(x);
	assert_non_null(x->level[0].function);
	lined = x->level[0].line > 0;
	assert_true(!lined || x->is_final);
	named_free(x);
	return lined;
}

/* A program whose debug information is beside it, compressed: it is inflated for those who wait for
 * lines, once for each, and not kept. */
static void test_lines_that_cost_much_are_closed_again(void **state)
{
	enum { MANY = 300 };
	const int64_t century_ns = INT64_C(100) * 365 * 86400 * 1000000000;
	/* Modules stay as long as their process does. */
	static struct modules *m;
	static char path[PATH_MAX];
	char command[4 * PATH_MAX];
	struct names *names;
	uintptr_t base, at = (uintptr_t)take_base;
	uint32_t i, frame = 0;

	(void)state;
	m = calloc(1, sizeof *m);
	assert_true(m && getcwd(path, sizeof path - 16));
	modules_init(m);
	own_module(m, &base);
	snprintf(path + strlen(path), 16, "/beside");
	snprintf(
		command, sizeof command,
		"objcopy --only-keep-debug --compress-debug-sections %s beside.debug 2>/dev/null &&"
		" objcopy --strip-debug --add-gnu-debuglink=beside.debug %s beside 2>/dev/null",
		own_path, own_path);
	if (system(command))
		skip();
	i = module_of(m, path);
	names = names_make(m);
	assert_true(i && names);
	for (uint32_t turn = 0; turn < 3; turn++) {
		/* Until the lines of the turn before are closed. */
		do {
			names_ask(names, ++frame, i, at - base + turn);
			assert_in_range(frame, 1, MANY);
		} while (next_has_line(names));
		names_earn(names, century_ns);
		assert_true(next_has_line(names));
		assert_null(names_take(names));
	}
}

/* A file that has no lines, and none beside it: what it calls a place is a function. */
static void test_functions_without_lines_are_one_place(void **state)
{
	/* Modules stay as long as their process does. */
	static struct modules *m;
	static char path[PATH_MAX];
	const struct stack_copy nothing = { 0 };
	char command[3 * PATH_MAX];
	struct rows *rows = rows_make();
	struct names *names;
	uintptr_t base, at = (uintptr_t)take_base;
	uint32_t own, i;

	(void)state;
	m = calloc(1, sizeof *m);
	assert_true(m && rows && getcwd(path, sizeof path - 16));
	modules_init(m);
	own = own_module(m, &base);
	snprintf(path + strlen(path), 16, "/stripped");
	snprintf(command, sizeof command, "objcopy --strip-debug %s stripped 2>/dev/null",
		 own_path);
	if (system(command))
		skip();
	i = module_of(m, path);
	names = names_make(m);
	assert_true(i && names);
	names_ask(names, 1, own, at - base);
	names_ask(names, 2, i, at - base);
	assert_true(next_has_line(names));
	(void)next_has_line(names);
	assert_true(m->row[i].lineless && !m->row[own].lineless);
	for (uint32_t k = 0; k <= 8; k += 4) {
		struct registers r = { .known = 0 };
		uint64_t address = at - base + k;

		assert_int_equal(frame_function(rows, &m->row[i], i, address), address);
		(void)frame_step(rows, &m->row[i], i, address, &r, &nothing);
		assert_int_equal(frame_function(rows, &m->row[i], i, address), at - base);
	}
	free(rows);
}

/* The thread of names.h reads the other handle at the same time. */
static void test_names_at_once_need_no_handle_of_another_thread(void **state)
{
	/* Modules stay as long as their process does. */
	static struct modules *m;
	static struct lookup *l;
	static void *handle;
	uintptr_t base;
	uint32_t i;
	const struct named *x;

	(void)state;
	m = calloc(1, sizeof *m);
	l = calloc(1, sizeof *l);
	assert_true(m && l);
	modules_init(m);
	i = own_module(m, &base);
	handle = m->row[i].names_elf;
	assert_non_null(handle);
	m->row[i].names_elf = NULL;
	l->modules = m;
	x = lookup_name(l, &(struct place){ .module = i, .address = (uintptr_t)take_base - base });
	assert_true(x && x->n == 1 && x->level[0].function);
	assert_string_equal(x->level[0].function, "take_base");
}

/* Below each of eight instructions of one function each of eight others of it, whose names are not
 * known yet when they are seen first. */
static void test_instructions_of_one_line_are_one_frame(void **state)
{
	enum { SIDE = 8, PATIENCE_S = 60 };
	struct scene *x = scene_make();
	const struct sampled who = { 77, 78, 1000, 10 };
	uintptr_t base;
	uint32_t module = own_module(x->modules, &base), first = 0;

	(void)state;
	for (int turn = 0; turn < 3; turn++) {
		for (uint32_t i = 0; i < SIDE * SIDE; i++) {
			struct stack stack = { .n = 2 };

			stack.place[0] =
				(struct place){ .module = module,
						.address = (uintptr_t)add - base + i % SIDE };
			stack.place[1] =
				(struct place){ .module = module,
						.address = (uintptr_t)add - base + i / SIDE };
			profile_add(x->profile, &x->space, &who, &stack);
		}
		names_wait(x->names, PATIENCE_S * INT64_C(1000000000));
		tell_all(x);
		if (!turn)
			first = x->nodes;
		assert_int_equal(x->nodes, first);
		assert_int_equal(x->weight, (turn + 1) * SIDE * SIDE);
	}
	assert_in_range(x->frames, 1, SIDE - 1);
	assert_int_equal(x->nodes, x->frames + x->frames * x->frames);
	for (uint32_t i = 1; i <= x->frames; i++)
		for (uint32_t k = 1; k < i; k++)
			assert_string_not_equal(x->called[i], x->called[k]);
	for (uint32_t i = 1; i <= x->nodes; i++)
		for (uint32_t k = 1; k < i; k++)
			assert_true(x->parent[i] != x->parent[k] || x->frame[i] != x->frame[k]);
}

/* How many of the instructions of the text, two digits a byte and a space before each instruction,
 * are in a loop that only looks. */
static unsigned spinning_of(const char *text)
{
	uint8_t code[128];
	size_t n = 0, at[32], nat = 0;
	unsigned spinning = 0;

	for (const char *c = text; *c;) {
		if (*c == ' ') {
			at[nat++] = n;
			c++;
			continue;
		}
		code[n++] = (uint8_t)strtoul((char[]){ c[0], c[1], 0 }, NULL, 16);
		c += 2;
	}
	for (size_t i = 0; i < nat; i++)
		spinning += spins_at(code, n, at[i]);
	for (size_t i = 0; i <= n; i++) /* code that ends anywhere */
		for (size_t k = 0; k <= n; k++)
			spins_at(code, i, k);
	return spinning;
}

static void test_a_loop_that_only_looks_at_memory_is_told_from_work(void **state)
{
	(void)state;
	/* mov eax, [rip + x]; cmp eax, ebx; jl */
	assert_int_equal(spinning_of(" 8b0500100000 39d8 7cf6 c3"), 3);
	/* pause; mov eax, [rdi]; test eax, eax; je */
	assert_int_equal(spinning_of(" f390 8b07 85c0 74f8"), 4);
	/* movzx eax, byte [r12 + 8]; test al, al; je */
	assert_int_equal(spinning_of(" 410fb6442408 84c0 74f6"), 3);
	/* cmp qword [rbx + 16], r13; jne out; jmp */
	assert_int_equal(spinning_of(" 4c396b10 7502 ebf8 c3"), 3);
	assert_int_equal(spinning_of(" 31c0 f00fb117 75f8"), 3); /* lock cmpxchg [rdi], edx; jne */
	/* add eax, [rdi]; add rdi, 4; cmp rdi, rsi; jne */
	assert_int_equal(spinning_of(" 0307 4883c704 4839f7 75f5"), 0);
	assert_int_equal(spinning_of(" 488b00 4885c0 75f8"), 0);        /* a list: mov rax, [rax] */
	assert_int_equal(spinning_of(" 8b07 890e 85c0 74f8"), 0);       /* mov [rsi], ecx */
	assert_int_equal(spinning_of(" 8b07 e800000000 85c0 74f5"), 0); /* a call */
	assert_int_equal(spinning_of(" 85c0 74fc"), 0);                 /* never looks */
	assert_int_equal(spinning_of(" ebfe"), 0);
	assert_int_equal(spinning_of(" 8b07 85c0 7402 ffc1"), 0); /* goes on */
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_too_many_stacks_are_folded_and_counted),
	cmocka_unit_test(test_functions_of_too_many_stacks_are_known),
	cmocka_unit_test(test_outermost_calls_of_too_many_stacks_are_known),
	cmocka_unit_test(test_what_is_told_is_told_once),
	cmocka_unit_test(test_messages_begin_anew_where_all_was_taken),
	cmocka_unit_test(test_a_cut_stack_has_a_root_of_its_own),
	cmocka_unit_test(test_names_are_made_readable),
	cmocka_unit_test(test_a_loop_that_only_looks_at_memory_is_told_from_work),
	cmocka_unit_test(test_files_are_given_back_while_names_are_found),
	cmocka_unit_test(test_instructions_of_one_line_are_one_frame),
	cmocka_unit_test(test_lines_that_cost_much_are_closed_again),
	cmocka_unit_test(test_functions_without_lines_are_one_place),
	cmocka_unit_test(test_names_at_once_need_no_handle_of_another_thread),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
