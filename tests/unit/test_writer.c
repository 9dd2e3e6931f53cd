/* SPDX-License-Identifier: Apache-2.0 */
/* The writer as it lives: killed at any moment, read while it writes, on a disk that fills up, and
 * what it costs in system calls and allocations. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "unit/allocations.h"
#include "unit/recording_truth.h"
#include "unit/sanitized.h"

#ifndef SANITIZED
static void test_nothing_is_allocated_after_open(void **state)
{
	struct truth *t = truth_new(4, &(struct writer_options){ .chunk_rows = 50 });
	uint64_t before = allocations;

	(void)state;
	truth_samples(t, 2000);
	assert_int_equal(allocations, before);
	assert_int_equal(writer_close(t->w, NULL), 0);
	truth_free(t);
}
#endif

/* ---- system calls ---- */

static long writes_done(void)
{
	FILE *f = fopen("/proc/self/io", "re");
	char line[128];
	long n = -1;

	while (f && fgets(line, sizeof line, f)) {
		if (!strncmp(line, "syscw: ", 7))
			n = strtol(line + 7, NULL, 10);
	}
	if (f)
		fclose(f);
	return n;
}

static void test_one_write_a_sample_and_one_append_a_block(void **state)
{
	struct truth *t = truth_new(4, &(struct writer_options){ .chunk_rows = 100 });
	struct writer_figures figures;
	long before = writes_done();

	(void)state;
	if (before < 0)
		skip();
	truth_samples(t, 350);
	writer_figures(t->w, &figures);
	assert_int_equal(writes_done() - before, 350 + 3 + 4); /* a mark for each generation */
	assert_int_equal(figures.samples, 350);
	assert_int_equal(figures.blocks, 6);
	assert_int_equal(figures.syncs, 0);
	writer_abandon(t->w);
	truth_free(t);
}

/* 100 s of one a second, give or take: the sample that is nearest to the time is the one. The first
 * sync is also of the head in the other file. */
static void test_synced_as_often_as_asked(void **state)
{
	static const struct {
		int64_t sync_ns;
		uint64_t syncs;
	} asked[] = { { 10 * NS_PER_S, 11 }, { NS_PER_S, 101 }, { NS_PER_MS, 101 }, { 0, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
		struct writer_options o = { .sync_ns = asked[i].sync_ns, .chunk_rows = 1000 };
		struct truth *t = truth_new(4, &o);
		struct writer_figures figures;

		truth_samples(t, 101);
		writer_figures(t->w, &figures);
		assert_int_equal(figures.syncs, asked[i].syncs);
		writer_abandon(t->w);
		truth_free(t);
	}
}

/* A slot is overwritten only when the blocks of what stood in it are on the disk: these are synced
 * half way to the next sealing, so that the sample that seals does not wait for the disk. */
static void test_blocks_are_synced_before_their_slot_is_reused(void **state)
{
	struct truth *t = truth_new(
		4, &(struct writer_options){ .sync_ns = 3600 * NS_PER_S, .chunk_rows = 10 });
	struct writer_figures figures;

	(void)state;
	for (uint64_t row = 1; row <= 45; row++) {
		truth_samples(t, 1);
		writer_figures(t->w, &figures);
		assert_int_equal(figures.syncs, (row + 5) / 10);
	}
	writer_abandon(t->w);
	truth_free(t);
}

/* ---- killed ---- */

/* Samples in a child, which says each that is done; killed after wait_us. Returns how many were. */
static uint32_t killed_after(struct truth *t, unsigned wait_us)
{
	uint32_t done = 0;
	int pipes[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (!child) {
		while (t->nrows < TRUTH_ROWS && !truth_sample(t, NULL)) {
			if (write(pipes[1], "x", 1) != 1)
				break;
		}
		pause();
	}
	close(pipes[1]);
	usleep(wait_us);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	while (read(pipes[0], &byte, 1) == 1)
		done++;
	close(pipes[0]);
	return done;
}

static void test_killed_at_fifty_moments(void **state)
{
	uint64_t stride = (uint64_t)sanitized_stride(5);
	uint32_t total = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed += stride) {
		struct truth *t = truth_new(seed, &(struct writer_options){ .chunk_rows = 7 });
		uint32_t done = killed_after(t, (unsigned)(truth_random(t) % 30000));
		uint64_t expected = 0;
		struct run *r;

		/* The same chance again, in this process, makes the truth; its writer goes
		 * elsewhere. */
		struct truth *again = truth_new(seed, &(struct writer_options){ .chunk_rows = 7 });

		again->seed = t->seed;
		truth_samples(again, done);
		expected = again->nvalues;
		if (done < TRUTH_ROWS)
			truth_samples(again, 1);
		assert_int_equal(run_open(&r, t->dir, NULL), 0);
		assert_true(truth_check(again, r) >= expected);
		assert_in_range(r->nodes[1].rows, done, done + 1);
		assert_int_equal(r->ndamages, 0);
		assert_false(r->nodes[1].complete);
		total += done;
		run_close(r);
		writer_abandon(t->w);
		writer_abandon(again->w);
		truth_free(t);
		truth_free(again);
	}
	assert_true(total > 500 / stride);
}

static void test_ended_is_whole_before_it_is_synced(void **state)
{
	struct truth *t =
		truth_new(5, &(struct writer_options){ .chunk_rows = 7, .sync_ns = 10 * NS_PER_S });
	struct writer_figures before, after;
	struct run *r;

	(void)state;
	truth_samples(t, 40);
	writer_figures(t->w, &before);
	assert_int_equal(writer_end(t->w, NULL), 0);
	writer_figures(t->w, &after);
	assert_int_equal(after.syncs, before.syncs);
	writer_abandon(t->w); /* as if it were killed there */
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_true(r->nodes[1].complete);
	assert_int_equal(r->nodes[1].rows, 40);
	assert_int_equal(truth_check(t, r), t->nvalues);
	assert_int_equal(r->ndamages, 0);
	run_close(r);
	truth_free(t);
}

static void test_read_while_it_is_written(void **state)
{
	const int reads = 200 / sanitized_stride(5);
	struct truth *t = truth_new(8, &(struct writer_options){ .chunk_rows = 5 });
	uint64_t seed = t->seed;
	uint64_t rows = 0;
	pid_t child = fork();

	(void)state;
	if (!child) {
		while (t->nrows < TRUTH_ROWS && !truth_sample(t, NULL))
			usleep(50);
		pause();
	}
	t->seed = seed;
	{
		struct truth *again = truth_new(8, NULL);

		truth_samples(again, TRUTH_ROWS);
		for (int i = 0; i < reads; i++) {
			struct run *r;

			assert_int_equal(run_open(&r, t->dir, NULL), 0);
			truth_check(again, r);
			assert_int_equal(r->ndamages, 0);
			assert_true(r->nodes[1].rows >= rows);
			rows = r->nodes[1].rows;
			run_close(r);
		}
		writer_abandon(again->w);
		truth_free(again);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	writer_abandon(t->w);
	truth_free(t);
	assert_true(rows > 10);
}

/* ---- no room ---- */

static void limit(rlim_t bytes)
{
	struct rlimit l;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = bytes < l.rlim_max ? bytes : l.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static void test_no_room_for_blocks_and_then_there_is(void **state)
{
	struct truth *t;
	struct writer_figures figures;
	struct err e = { "" };
	struct stat st;
	off_t size;
	int failed = 0;
	struct run *r;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	t = truth_new(6, &(struct writer_options){ .chunk_rows = 30 });
	truth_samples(t, 100);
	assert_int_equal(fstatat(t->fd, "node-host.sonde", &st, 0), 0);
	limit((rlim_t)st.st_size + 100); /* a block begins to fit */
	for (int i = 0; i < 200; i++)
		failed += truth_sample(t, &e) != 0;
	assert_in_range(failed, 150, 200); /* a slot that begins below the limit takes some */
	assert_non_null(strstr(e.text, "node-host.sonde"));
	size = st.st_size;
	assert_int_equal(fstatat(t->fd, "node-host.sonde", &st, 0), 0);
	assert_int_equal(st.st_size, size); /* no piece of a block is left lying there */
	/* What is on the disk can be read meanwhile. */
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_int_equal(r->ndamages, 0);
	assert_true(truth_check(t, r) > 0);
	assert_in_range(r->nodes[1].rows, 100, 300);
	run_close(r);
	limit(RLIM_INFINITY);
	truth_samples(t, 100);
	writer_figures(t->w, &figures);
	assert_int_equal(figures.dropped, 0); /* they waited in memory */
	assert_int_equal(writer_close(t->w, NULL), 0);
	assert_int_equal(truth_read(t, &r), t->nvalues);
	assert_true(r->nodes[1].complete);
	run_close(r);
	truth_free(t);
}

static void test_no_room_for_so_long_that_samples_are_dropped(void **state)
{
	struct truth *t = truth_new(6, &(struct writer_options){ .chunk_rows = 30 });
	struct writer_figures figures;
	uint64_t n;
	struct run *r;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	truth_samples(t, 40);
	limit(4096);
	while (t->nrows < TRUTH_ROWS - 20)
		truth_sample(t, NULL);
	limit(RLIM_INFINITY);
	writer_figures(t->w, &figures);
	assert_true(figures.dropped > 0);
	truth_samples(t, 20);
	assert_int_equal(writer_close(t->w, NULL), 0);
	n = truth_read(t, &r);
	assert_true(n > 0 && n < t->nvalues);
	assert_int_equal(r->nodes[1].rows, TRUTH_ROWS - figures.dropped);
	assert_int_equal(r->ndamages, 0);
	run_close(r);
	truth_free(t);
}

static void test_events_wait_for_room(void **state)
{
	enum { EVENTS = 3000 };
	struct truth *t = truth_new(6, NULL);
	char text[300];
	struct run *r;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	memset(text, 'x', sizeof text);
	sample_begin(&t->s, 1000, 1000);
	for (int i = 0; i < EVENTS; i++) {
		snprintf(text, 8, "%07d", i);
		text[7] = 'x';
		text[sizeof text - 1] = '\0';
		sample_mark(&t->s, 0, 1000, "m", text);
	}
	assert_int_equal(t->s.refused, 0);
	limit(4096);
	assert_true(writer_sample(t->w, &t->s, NULL) < 0);
	assert_true(t->s.nevents > 0 &&
		    t->s.nevents < EVENTS); /* a slot full of them is on its way */
	limit(RLIM_INFINITY);
	sample_begin(&t->s, 2000, 2000);
	assert_int_equal(writer_sample(t->w, &t->s, NULL), 0);
	assert_int_equal(t->s.nevents, 0);
	assert_int_equal(writer_close(t->w, NULL), 0);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_int_equal(r->nmarks, EVENTS + 1);
	for (int i = 0; i < EVENTS; i++)
		assert_int_equal(strtol(r->marks[i + 1].message, NULL, 10), i);
	run_close(r);
	truth_free(t);
}

/* ---- names ---- */

static void test_each_recorder_gets_files_of_its_own(void **state)
{
	struct truth *t = truth_new(1, NULL);
	struct writer *second, *strange;
	struct writer_figures figures;
	struct stat st;

	(void)state;
	assert_int_equal(writer_open(&second, t->fd, "host", NULL, NULL), 0);
	writer_figures(second, &figures);
	assert_string_equal(figures.name, "node-host.2.sonde");
	assert_int_equal(writer_open(&strange, t->fd, "../a b\n", NULL, NULL), 0);
	writer_figures(strange, &figures);
	assert_string_equal(figures.name, "node-_._a_b_.sonde");
	assert_int_equal(fstatat(t->fd, figures.name, &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	writer_abandon(strange);
	writer_abandon(second);
	writer_abandon(t->w);
	truth_free(t);
}

static void test_a_place_that_cannot_be_written_is_named(void **state)
{
	struct err e = { "" };
	struct writer *w;
	int fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_true(writer_open(&w, fd, "host", NULL, &e) < 0);
	assert_null(w);
	assert_non_null(strstr(e.text, "node-host.sonde"));
	close(fd);
}

static const struct CMUnitTest tests[] = {
#ifndef SANITIZED
	cmocka_unit_test(test_nothing_is_allocated_after_open),
#endif
	cmocka_unit_test(test_one_write_a_sample_and_one_append_a_block),
	cmocka_unit_test(test_synced_as_often_as_asked),
	cmocka_unit_test(test_blocks_are_synced_before_their_slot_is_reused),
	cmocka_unit_test(test_killed_at_fifty_moments),
	cmocka_unit_test(test_ended_is_whole_before_it_is_synced),
	cmocka_unit_test(test_read_while_it_is_written),
	cmocka_unit_test(test_no_room_for_blocks_and_then_there_is),
	cmocka_unit_test(test_no_room_for_so_long_that_samples_are_dropped),
	cmocka_unit_test(test_events_wait_for_room),
	cmocka_unit_test(test_each_recorder_gets_files_of_its_own),
	cmocka_unit_test(test_a_place_that_cannot_be_written_is_named),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
