/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts to connect that failed are counted for all of a node: they are a job's that woke about
 * as often, and not of one that slept all the while. Who was seen to wait for storage names the
 * file. */
#include "summary_made.h"

#include <string.h>

static bool tells_attempts(int wakes_a_second)
{
	struct synthetic *x = with_work(1);
	uint32_t id = metric(x, "job.voluntary_switches", NULL, KIND_COUNTER, UNIT_COUNT);
	uint32_t switches = series(x, 1, id, 0);
	struct summary s;
	bool told;

	for (int row = 0; row < ROWS; row++)
		put(x, switches, row, row * wakes_a_second);
	meta_int(x, 0, "run.watch_hang_ns", 300 * NS_PER_S);
	meta_int(x, 1, "job.waited.timer_ns", 8 * NS_PER_S);
	meta_text(x, "job.waited.timer_in", "app (pid 7) sleeps (timer)");
	meta_int(x, 1, "job.waited.connects_failed", 10);
	s = made(x);
	told = strstr(s.story.wait[STALL_TIMER].in, "10 attempts to connect failed") != NULL;
	done(&s, x);
	return told;
}

static void test_attempts_of_others_on_the_node_are_not_the_jobs(void **state)
{
	(void)state;
	assert_true(tells_attempts(1));
	assert_false(tells_attempts(0));
}

/* What is told of a process that was seen to wait for storage like this. */
static const char *flushed(struct summary *s, const char *in)
{
	static char told[STORY_TEXT];
	struct synthetic *x = with_work(1);

	meta_int(x, 0, "run.watch_hang_ns", 300 * NS_PER_S);
	meta_int(x, 1, "job.waited.storage_ns", 8 * NS_PER_S);
	meta_text(x, "job.waited.storage_in", in);
	*s = made(x);
	memcpy(told, s->story.flushed, sizeof told);
	done(s, x);
	return told;
}

#define WAITS "app (pid 7) waits for storage: "
/* A hundred characters are the most of a path: it may have been longer. */
#define LONG_PATH                                                                                  \
	"/0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456/x"

static void test_the_file_that_is_flushed_is_named(void **state)
{
	static const struct {
		const char *in, *told;
	} cases[] = {
		{ WAITS "/data/run 1/out.log (fsync)", "fsync, seen on out.log" },
		{ WAITS "/data/out (1).log (O_SYNC)", "O_SYNC, seen on out (1).log" },
		{ WAITS "/data/out (O_DIRECT)", "fsync or O_SYNC, seen on out" },
		{ WAITS "/data/plant.db-journal (fsync)", "fsync, seen on the database plant.db" },
		{ WAITS "/data/my-wal.db-wal (fsync)", "fsync, seen on the database my-wal.db" },
		{ WAITS "/data/the-journal.txt (fsync)", "fsync, seen on the-journal.txt" },
		{ WAITS "/data/out.log", "" },
		{ WAITS "/data/out (fsync).log", "" },
		{ WAITS "/data/out.log (NFS)", "" },
		{ WAITS "NFS", "" },
		{ WAITS LONG_PATH " (fsync)", "" },
		{ "app (pid 7) waits for storage", "" },
	};
	struct summary s;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_string_equal(flushed(&s, cases[i].in), cases[i].told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attempts_of_others_on_the_node_are_not_the_jobs),
		cmocka_unit_test(test_the_file_that_is_flushed_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
