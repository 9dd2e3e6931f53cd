/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, frames and stacks of recordings, once in the run; samples, block by block; and what a
 * hostile recording says of them. */
#include <fcntl.h>
#include <unistd.h>

#include "made_stacks.h"
#include "recording/file.h"
#include "recording/format.h"
#include "recording/join.h"
#include "unit/recording_truth.h"

static char *directory(int *fd)
{
	static char name[64];

	snprintf(name, sizeof name, "sonde_stacks_XXXXXX");
	assert_non_null(mkdtemp(name));
	*fd = open(name, O_RDONLY | O_DIRECTORY);
	return name;
}

/* main calls f, into which g is inlined: two nodes, three frames. Returns f's node. */
static uint32_t made_program(struct made_stacks *m, const char *path)
{
	uint32_t module = made_module(m, path);
	uint32_t main = made_frame(m, module, "main", "a.c", 10);
	uint32_t f = made_frame(m, module, "f", "a.c", 20), node;

	made_check(sample_frame(&m->s, &(struct frame_row){ .id = ++m->frames,
							    .module = module,
							    .outer = f,
							    .line = 30,
							    .address = 0x1000 + 20,
							    .function = "g",
							    .file = "a.h" }));
	node = made_stack(m, 0, main);
	return made_stack(m, node, m->frames);
}

/* Weights of all samples, by stack. */
static uint64_t weight_of(struct run *r, uint32_t stack)
{
	struct run_samples x;
	uint64_t sum = 0;

	assert_int_equal(r->rewind_samples(r), 0);
	while (r->next_samples(r, &x, NULL) > 0) {
		assert_true(x.node && x.node < r->nnodes && x.instance < r->ninstances);
		assert_true(x.t0_ns <= x.t1_ns);
		for (uint32_t i = 0; i < x.n; i++) {
			assert_true(x.items[i].node < r->nstacks);
			sum += x.items[i].node == stack ? x.items[i].weight : 0;
		}
	}
	return sum;
}

static void test_what_is_the_same_on_two_nodes_is_once(void **state)
{
	struct made_stacks m;
	struct run *r;
	int fd;
	char *dir = directory(&fd);
	uint32_t leaf;

	(void)state;
	for (int i = 0; i < 2; i++) {
		made_stacks_open(&m, fd, i ? "b" : "a");
		if (i) /* other ids */
			made_stack(&m, 0, made_frame(&m, made_module(&m, "/lib/x.so"), "x", "", 0));
		leaf = made_program(&m, "/bin/a");
		made_samples(&m, 0, "a", (struct event_item){ 7, leaf, 30 });
		made_write(&m);
		made_samples(&m, 0, "a", (struct event_item){ 7, leaf, 12 });
		made_write(&m);
		if (i)
			made_stacks_abandon(&m);
		else
			made_stacks_close(&m);
	}
	assert_int_equal(run_open(&r, dir, NULL), 0);
	assert_int_equal(r->ndamages, 0);
	assert_int_equal(r->nmodules, 3);
	assert_int_equal(r->nframes, 5);
	assert_int_equal(r->nstacks, 4);
	assert_int_equal(r->nsample_sets, 4);
	assert_int_equal(r->nstrays, 0);
	leaf = 2;
	assert_int_equal(r->stacks[leaf].parent, 1);
	assert_string_equal(r->frames[r->stacks[leaf].frame].function, "g");
	assert_string_equal(r->frames[r->frames[r->stacks[leaf].frame].outer].function, "f");
	assert_string_equal(r->modules[r->frames[r->stacks[1].frame].module].path, "/bin/a");
	assert_int_equal(weight_of(r, leaf), 84);
	assert_int_equal(weight_of(r, leaf), 84); /* again */
	assert_int_equal(weight_of(r, 0), 0);
	run_close(r);
	close(fd);
	directory_remove(dir);
}

static void test_symbols_that_are_found_later_count(void **state)
{
	struct made_stacks m;
	struct run *r;
	int fd;
	char *dir = directory(&fd);
	uint32_t module, frame;

	(void)state;
	made_stacks_open(&m, fd, "a");
	module = made_module(&m, "[jit]");
	frame = made_frame(&m, module, "", "", 0);
	made_stack(&m, 0, frame);
	made_write(&m);
	m.frames--;
	assert_int_equal(made_frame(&m, module, "LazyCompile:~f", "f.js", 3), frame);
	made_write(&m);
	made_stacks_close(&m);
	assert_int_equal(run_open(&r, dir, NULL), 0);
	assert_int_equal(r->nframes, 2);
	assert_string_equal(r->frames[r->stacks[1].frame].function, "LazyCompile:~f");
	run_close(r);
	close(fd);
	directory_remove(dir);
}

/* Rows that no recorder writes. Each is dropped or cut, counted, and said once. */
static void test_what_cannot_be_is_counted(void **state)
{
	struct made_stacks m;
	struct run *r;
	int fd;
	char *dir = directory(&fd);
	uint32_t good;

	(void)state;
	made_stacks_open(&m, fd, "a");
	good = made_program(&m, "/bin/a"); /* frames 1..3, nodes 1, 2 */
	sample_frame(&m.s, &(struct frame_row){ .id = 4, .module = 77, .function = "lost" });
	sample_frame(&m.s, &(struct frame_row){ .id = 5, .outer = 6, .function = "ring" });
	sample_frame(&m.s, &(struct frame_row){ .id = 6, .outer = 5, .function = "ring of two" });
	sample_frame(&m.s, &(struct frame_row){ .id = 7, .outer = 7, .function = "itself" });
	sample_frame(&m.s, &(struct frame_row){ .id = 8, .outer = 99, .function = "no outer" });
	sample_stacks(&m.s, 10, &(struct event_item){ 11, 1, 0 }, 1);    /* a later parent */
	sample_stacks(&m.s, 11, &(struct event_item){ 10, 1, 0 }, 1);    /* of one left out */
	sample_stacks(&m.s, 12, &(struct event_item){ 12, 1, 0 }, 1);    /* itself */
	sample_stacks(&m.s, 13, &(struct event_item){ good, 98, 0 }, 1); /* an unknown frame */
	sample_stacks(&m.s, 14, &(struct event_item){ good, 5, 0 }, 1);
	made_samples(&m, 4711, "a", (struct event_item){ 7, 11, 3 });
	made_samples(&m, 0, "a", (struct event_item){ 7, 4000000000, 4 });
	made_samples(&m, 0, "a", (struct event_item){ 7, good, 5 });
	made_write(&m);
	made_stacks_close(&m);
	assert_int_equal(run_open(&r, dir, NULL), 0);
	assert_int_equal(r->ndamages, 1);
	assert_true(r->nstrays >= 7);
	assert_true(r->nframes <= 9); /* rings are cut where they close */
	for (uint32_t i = 1; i < r->nframes; i++) {
		uint32_t at = i, steps = 0;

		while (at && steps++ < 100)
			at = r->frames[at].outer;
		assert_true(steps < 100); /* no ring is left */
	}
	for (uint32_t i = 1; i < r->nstacks; i++)
		assert_true(r->stacks[i].parent < i);
	assert_int_equal(weight_of(r, 0), 7);
	assert_int_equal(weight_of(r, 2), 5);
	run_close(r);
	close(fd);
	directory_remove(dir);
}

/* Stacks 100,000 deep, and items of many threads. */
static void test_a_deep_stack_is_read(void **state)
{
	enum { DEEP = 100000 };
	struct event_item items[EVENT_ITEMS_MAX];
	struct made_stacks m;
	struct run *r;
	int fd;
	char *dir = directory(&fd);

	(void)state;
	made_stacks_open(&m, fd, "a");
	made_frame(&m, made_module(&m, "/bin/deep"), "f", "d.c", 1);
	for (uint32_t id = 1; id <= DEEP;) {
		uint32_t n = 0;

		for (; n < EVENT_ITEMS_MAX && id + n <= DEEP; n++)
			items[n] = (struct event_item){ id + n - 1, 1, 0 };
		if (sample_stacks(&m.s, id, items, n))
			id += n;
		else
			made_write(&m);
	}
	made_write(&m);
	made_samples(&m, 0, "deep", (struct event_item){ 7, DEEP, 1 });
	made_write(&m);
	made_stacks_close(&m);
	assert_int_equal(run_open(&r, dir, NULL), 0);
	assert_int_equal(r->ndamages, 0);
	assert_int_equal(r->nstacks, DEEP + 1);
	assert_int_equal(weight_of(r, DEEP), 1);
	run_close(r);
	close(fd);
	directory_remove(dir);
}

/* The first block of this type is the last one of the file. */
static void cut_behind(int dir, const char *name, uint16_t type)
{
	int fd = openat(dir, name, O_RDWR);
	struct blocks s;
	struct block b;
	off_t end = 0;

	assert_int_equal(blocks_init(&s, fd), 0);
	while (!end && blocks_next(&s, &b) > 0)
		end = b.type == type ? (off_t)s.at : 0;
	blocks_free(&s);
	assert_true(end > 0);
	assert_int_equal(ftruncate(fd, end), 0);
	close(fd);
}

/* Its blocks as a recorder before there was CODE wrote them, as far as EVENTS. */
static void write_as_before(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDWR);
	struct expander x;
	struct blocks s;
	struct block b;
	struct bytes out = { 0 }, records = { 0 }, all = { 0 };
	uint64_t generation;
	size_t head = 0, start;

	assert_int_equal(expander_init(&x), 0);
	assert_int_equal(blocks_init(&s, fd), 0);
	while (blocks_next(&s, &b) > 0) {
		head = head ? head : s.at;
		if (b.type != BLOCK_CODE && b.type != BLOCK_EVENTS)
			continue;
		assert_int_equal(file_events(&b, &x, &generation, &records), 0);
		bytes_put(&all, records.data, records.len);
	}
	start = block_start(&out, BLOCK_EVENTS, 1);
	bytes_varint(&out, generation);
	bytes_varint(&out, all.len);
	bytes_varint(&out, all.len);
	bytes_put(&out, all.data, all.len);
	block_finish(&out, start);
	assert_int_equal(pwrite(fd, out.data, out.len, (off_t)head), out.len);
	assert_int_equal(ftruncate(fd, (off_t)(head + out.len)), 0);
	blocks_free(&s);
	expander_free(&x);
	bytes_free(&out);
	bytes_free(&records);
	bytes_free(&all);
	close(fd);
}

/* What is known of a recording whose recorder died while it appended: what no block has is in the
 * tail, all of it once. last 0: as it was before there was CODE. */
static void check_cut_behind(uint16_t last)
{
	struct made_stacks m;
	struct run *r;
	int fd;
	char *dir = directory(&fd);
	uint32_t leaf;

	made_stacks_open(&m, fd, "a");
	leaf = made_program(&m, "/bin/a");
	made_samples(&m, 0, "a", (struct event_item){ 7, leaf, 30 });
	made_write(&m);
	assert_int_equal(writer_seal(m.w, NULL), 0);
	made_stacks_abandon(&m);
	if (last)
		cut_behind(fd, "node-a.sonde", last);
	else
		write_as_before(fd, "node-a.sonde");
	assert_int_equal(run_open(&r, dir, NULL), 0);
	assert_int_equal(r->ndamages, 0);
	assert_int_equal(r->nsample_sets, 1);
	assert_int_equal(r->nstacks, 3);
	assert_int_equal(weight_of(r, 2), 30);
	assert_non_null(run_find_meta(r, 1, "stacks.period_ns"));
	run_close(r);
	close(fd);
	directory_remove(dir);
}

static void test_blocks_that_were_cut_off_count_once(void **state)
{
	(void)state;
	check_cut_behind(BLOCK_HEAD);
	check_cut_behind(BLOCK_CODE);
	check_cut_behind(BLOCK_EVENTS);
	check_cut_behind(BLOCK_CHUNK);
}

static void test_events_that_have_the_code_themselves_count_once(void **state)
{
	(void)state;
	check_cut_behind(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_the_same_on_two_nodes_is_once),
		cmocka_unit_test(test_symbols_that_are_found_later_count),
		cmocka_unit_test(test_what_cannot_be_is_counted),
		cmocka_unit_test(test_a_deep_stack_is_read),
		cmocka_unit_test(test_blocks_that_were_cut_off_count_once),
		cmocka_unit_test(test_events_that_have_the_code_themselves_count_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
