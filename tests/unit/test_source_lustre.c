/* SPDX-License-Identifier: Apache-2.0 */
/* Lustre's statistics where each version has them, with and without times; targets in turn. */
#include "unit/one_source.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct source source_lustre;

#define SCRATCH "scratch-ffff9bc043537800"
#define HOME    "home-ffff9bc0435aa000"
#define WORK    "work-ffff8803f2f4d800"
#define OST     "scratch-OST0000-osc-ffff9bc043537800"

static void open_fixture(struct one *x, const char *version)
{
	char proc[512], sys[512], path[128];

	snprintf(path, sizeof path, "lustre-%s/proc", version);
	one_fixture(proc, path);
	snprintf(path, sizeof path, "lustre-%s/sys", version);
	one_open(x, &source_lustre, proc, one_fixture(sys, path));
	one_read(x);
}

#define IS(metric, of, number) assert_int_equal(node_value(&x.n, metric, of), (int64_t)(number))

static void what_was_called_is_counted(void **version)
{
	const char *of = strcmp(*version, "2.10") == 0 ? WORK : SCRATCH;
	struct one x;

	open_fixture(&x, *version);
	assert_int_equal(x.result, 0);
	IS("lustre.read_bytes", of, 3221225472);
	IS("lustre.reads", of, 1200);
	IS("lustre.written_bytes", of, 314572800);
	IS("lustre.writes", of, 300);
	IS("lustre.opens", of, 910);
	IS("lustre.permission_checks", of, 64000);
	/* What has not happened is left out: a 0. A time that is not told is none. */
	IS("lustre.renames", of, 0);
	IS("lustre.opening_seconds", of, -1);
	IS("lustre.reading_seconds", of, -1);
	assert_int_equal(one_state(&x, "lustre.opening_seconds", of), STATE_UNSUPPORTED);
	assert_int_equal(one_state(&x, "lustre.reading_seconds", of), STATE_UNSUPPORTED);
	assert_string_equal(one_label(&x, of, "scope"), "node");
	one_close(&x);
}

static void later_versions_tell_times(void **unused)
{
	struct one x;

	(void)unused;
	open_fixture(&x, "2.15");
	assert_int_equal(x.result, 0);
	IS("lustre.read_bytes", SCRATCH, 5242880); /* the sum, not its squares */
	IS("lustre.reading_seconds", SCRATCH, 4000);
	IS("lustre.opening_seconds", SCRATCH, 400);
	IS("lustre.closes", SCRATCH, 5);
	IS("lustre.syncing_seconds", SCRATCH, 0);
	assert_string_equal(one_label(&x, SCRATCH, "filesystem"), "scratch");
	/* Nothing has happened there yet, so nothing says whether it would tell times. */
	IS("lustre.reads", HOME, 0);
	IS("lustre.read_bytes", HOME, 0);
	IS("lustre.reading_seconds", HOME, -1);
	assert_int_equal(one_state(&x, "lustre.reading_seconds", HOME), STATE_PRESENT);
	one_close(&x);
}

static void targets_tell_their_requests(void **unused)
{
	struct one x;

	(void)unused;
	open_fixture(&x, "2.15");
	IS("lustre_target.requests", OST, 200);
	IS("lustre_target.request_seconds", OST, 500000);
	IS("lustre_target.read_bytes", OST, 5242880);
	IS("lustre_target.requests", "scratch-OST0001-osc-ffff9bc043537800", 0);
	IS("lustre_target.request_seconds", "scratch-MDT0000-mdc-ffff9bc043537800", 250000);
	one_close(&x);
}

static void who_may_not_read_is_told_so(void **unused)
{
	struct one x;

	(void)unused;
	open_fixture(&x, "forbidden");
	assert_int_equal(x.result, -EACCES);
	one_close(&x);
	one_open(&x, &source_lustre, ".", ".");
	assert_int_equal(x.result, -ENODEV);
	one_close(&x);
}

/* A tree of our own, below the working directory. */
static void write_stats(const char *directory, const char *name, const char *text)
{
	char path[256], dir[256];
	int fd;

	snprintf(path, sizeof path, "proc/fs/lustre/%s/%s/stats", directory, name);
	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		snprintf(dir, sizeof dir, "%.*s", (int)(p - path), path);
		mkdir(dir, 0700);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int unlink_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static void remove_tree(const char *path)
{
	nftw(path, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
}

#define HEAD "snapshot_time 1.2 secs.nsecs\n"

static void what_a_writer_adds_is_counted(void **unused)
{
	struct one x;

	(void)unused;
	write_stats("llite", "fs-1", HEAD);
	one_open(&x, &source_lustre, "proc", ".");
	for (int i = 0; i < 20; i++) {
		char text[256];

		snprintf(text, sizeof text, HEAD "write_bytes %d samples [bytes] 1 4096 %d\n",
			 i + 1, i * 1000003 + 1);
		write_stats("llite", "fs-1", text);
		one_read(&x);
		IS("lustre.writes", "fs-1", i + 1);
		IS("lustre.written_bytes", "fs-1", i * 1000003 + 1);
	}
	one_close(&x);
	remove_tree("proc");
}

static void garbage_is_no_value(void **unused)
{
	static const char *const bad[] = {
		"read_bytes x samples [bytes] 1 2 3\n", "read_bytes -5 samples [bytes] 1 2 3\n",
		"read_bytes 99999999999999999999 samples [bytes] 1 2 3\n", "read_bytes 5 calls\n"
	};
	struct one x;

	(void)unused;
	write_stats("llite", "fs-1", HEAD);
	one_open(&x, &source_lustre, "proc", ".");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char text[256];

		snprintf(text, sizeof text, HEAD "%s", bad[i]);
		write_stats("llite", "fs-1", text);
		one_read(&x);
		IS("lustre.read_bytes", "fs-1", -1);
		IS("lustre.reads", "fs-1", -1);
		IS("lustre.writes", "fs-1", 0);
	}
	write_stats("llite", "fs-1", HEAD "read_bytes 5 samples [bytes] 1 2 345");
	one_read(&x);
	IS("lustre.read_bytes", "fs-1", -1); /* cut: what is not there may be behind it */
	IS("lustre.writes", "fs-1", -1);
	write_stats("llite", "fs-1", "nonsense\n");
	one_read(&x);
	assert_true(x.result < 0);
	write_stats("llite", "fs-1", "");
	one_read(&x);
	assert_true(x.result < 0);
	one_close(&x);
	remove_tree("proc");
}

static void file_systems_end_and_targets_come_in_turn(void **unused)
{
	struct one x;

	(void)unused;
	write_stats("llite", "fs-1", HEAD);
	for (int i = 0; i < 40; i++)
		write_stats("osc", (char[]){ 'o', (char)('0' + i / 10), (char)('0' + i % 10), 0 },
			    HEAD "req_waittime 7 samples [usec] 1 2 3 4\n");
	one_open(&x, &source_lustre, "proc", ".");
	for (int i = 0; i < 9; i++) {
		uint32_t files = 0;

		one_step(&x, 300000000);
		for (uint32_t k = 1; k < x.n.sample.nslots; k++)
			files += x.n.sample.state[k] == STATE_PRESENT &&
				 (strcmp(x.n.sample.slot[k].metric->name, "lustre.reads") == 0 ||
				  strcmp(x.n.sample.slot[k].metric->name,
					 "lustre_target.requests") == 0);
		assert_int_equal(files, i % 3 == 2 ? 41 - 32 : 16);
	}
	remove_tree("proc/fs/lustre/llite/fs-1");
	for (int i = 0; i < 12; i++)
		one_read(&x);
	assert_int_equal(one_events(&x, EVENT_END, "fs-1"), 1);
	assert_int_equal(one_events(&x, EVENT_END, "o00"), 0);
	one_close(&x);
	remove_tree("proc");
}

#define ON(test, version)                                                                          \
	{                                                                                          \
#test " " version, test, NULL, NULL, (char[])                                      \
		{                                                                                  \
			version                                                                    \
		}                                                                                  \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(what_was_called_is_counted, "2.10"),
		ON(what_was_called_is_counted, "2.12"),
		cmocka_unit_test(later_versions_tell_times),
		cmocka_unit_test(targets_tell_their_requests),
		cmocka_unit_test(who_may_not_read_is_told_so),
		cmocka_unit_test(what_a_writer_adds_is_counted),
		cmocka_unit_test(garbage_is_no_value),
		cmocka_unit_test(file_systems_end_and_targets_come_in_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
