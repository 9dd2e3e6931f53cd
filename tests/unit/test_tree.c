/* SPDX-License-Identifier: Apache-2.0 */
/* The process tree over a made /proc: nothing there is a real process, so every figure is known. */
#include "sampler/tree/tree_state.h"

#include "base/clock.h"
#include "sampler/tree/table.h"
#include "source/job.h"
#include "source/process.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a made /proc that is taken for this kernel's, in which every pid has a CPU clock ---- */

static bool is_the_kernels;

#define STAT_FORMAT "%d (p%d) %c %d 1 1 0 -1 0 10 20 0 0 %ld 0 %ld 0 20 0 %d 0 %d 4096000 %ld 0\n"

/* So many times the listing of /proc says this process first. */
enum { OTHER = 999999 };
static int others, others_left;

int fstatfs(int fd, struct statfs *s)
{
	(void)fd;
	*s = (struct statfs){ .f_type = is_the_kernels ? PROC_SUPER_MAGIC : TMPFS_MAGIC };
	return 0;
}

static long list(int fd, char *buf, size_t size)
{
	struct dirent64 entry = { .d_reclen = 32, .d_type = DT_DIR };
	ssize_t n = 0;

	snprintf(entry.d_name, sizeof entry.d_name, "%d", OTHER);
	for (; others_left && (size_t)n + entry.d_reclen <= size; others_left--) {
		memcpy(buf + n, &entry, entry.d_reclen);
		n += entry.d_reclen;
	}
	if (n)
		return n;
	n = getdents64(fd, buf, size);
	if (n == 0)
		others_left = others; /* the next time */
	return n;
}

long syscall(long number, ...)
{
	va_list more;
	long first;
	void *p;

	va_start(more, number);
	first = va_arg(more, long);
	p = va_arg(more, void *);
	errno = ENOSYS;
	if (number == SYS_getdents64) {
		first = list((int)first, p, va_arg(more, size_t));
	} else if (number == SYS_clock_gettime && is_the_kernels) {
		*(struct timespec *)p = (struct timespec){ 0 };
		first = 0;
	} else {
		first = -1;
	}
	va_end(more);
	return first;
}

/* These pids are processes that are not of the job, without files. */
static int made_up_from, made_up_to;

int openat(int dir, const char *path, int flags, ...)
{
	static int (*really)(int, const char *, int, ...);
	char *rest;
	long pid = strtol(path, &rest, 10);
	void *found;
	int fd;

	if (pid >= made_up_from && pid < made_up_to && strcmp(rest, "/stat") == 0) {
		fd = memfd_create("stat", MFD_CLOEXEC);
		dprintf(fd, STAT_FORMAT, (int)pid, (int)pid, 'S', 1, 0L, 0L, 2, 0, 0L);
		return fd;
	}
	if (!really) {
		found = dlsym(RTLD_NEXT, "openat");
		memcpy(&really, &found, sizeof really);
	}
	return really(dir, path, flags, 0600);
}

struct fake {
	char dir[64];
	struct root proc;
	struct sample sample;
	struct tree *tree;
	int64_t now_ns;
};

struct fake_process {
	int pid, ppid, start;
	long utime, cutime, rss_pages, wchar;
	int threads; /* 0: two */
	char state;
	bool no_io;
	bool other; /* not of the job: only its stat is ever read */
};

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void write_process(const struct fake *k, struct fake_process p)
{
	char path[160], text[512];

	snprintf(path, sizeof path, "%s/%d", k->dir, p.pid);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/%d/stat", k->dir, p.pid);
	snprintf(text, sizeof text, STAT_FORMAT, p.pid, p.pid, p.state ? p.state : 'S', p.ppid,
		 p.utime, p.cutime, p.threads ? p.threads : 2, p.start, p.rss_pages);
	write_file(path, text);
	if (p.other)
		return;
	snprintf(path, sizeof path, "%s/%d/fd", k->dir, p.pid);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/%d/statm", k->dir, p.pid);
	write_file(path, "1000 500 10 0 0 0 0\n");
	snprintf(path, sizeof path, "%s/%d/io", k->dir, p.pid);
	snprintf(text, sizeof text,
		 "rchar: 0\nwchar: %ld\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\n",
		 p.wchar);
	if (!p.no_io)
		write_file(path, text);
}

static void remove_process(const struct fake *k, int pid)
{
	char command[160];

	snprintf(command, sizeof command, "rm -rf %s/%d", k->dir, pid);
	assert_int_equal(system(command), 0);
}

static int fake_open(void **state)
{
	struct fake *k = calloc(1, sizeof *k);

	snprintf(k->dir, sizeof k->dir, "sonde-tree-XXXXXX");
	assert_non_null(mkdtemp(k->dir));
	assert_int_equal(root_open(&k->proc, k->dir), 0);
	assert_int_equal(sample_init(&k->sample, 32768, 4096), 0);
	k->now_ns = clock_mono_ns();
	is_the_kernels = false;
	others = others_left = made_up_from = made_up_to = 0;
	sample_begin(&k->sample, 0, k->now_ns);
	*state = k;
	return 0;
}

static int fake_close(void **state)
{
	struct fake *k = *state;
	char command[96];

	tree_close(k->tree);
	sample_free(&k->sample);
	root_close(&k->proc);
	snprintf(command, sizeof command, "rm -rf %s", k->dir);
	assert_int_equal(system(command), 0);
	free(k);
	return 0;
}

static void attach(struct fake *k, pid_t root)
{
	const struct tree_options o = { .proc = &k->proc,
					.roots = &root,
					.nroots = 1,
					.process_events = PROCESS_EVENTS_POLLING };
	struct err e = { "" };

	assert_int_equal(tree_open(&k->tree, &o, &k->sample, &e), 0);
	tree_sample(k->tree, &k->sample, false);
}

static void next_sample(struct fake *k, bool last)
{
	k->now_ns += NS_PER_S;
	sample_clear_events(&k->sample);
	sample_begin(&k->sample, 0, k->now_ns);
	tree_sample(k->tree, &k->sample, last);
}

static int64_t job(const struct fake *k, enum job_metric row)
{
	for (uint32_t i = 1; i < k->sample.nslots; i++)
		if (k->sample.slot[i].metric == &job_metrics[row])
			return k->sample.state[i] == STATE_PRESENT ? k->sample.value[i] : -1;
	return -2;
}

static int64_t of_process(const struct fake *k, int pid, enum process_metric row)
{
	char name[16];
	uint32_t instance = 0;

	snprintf(name, sizeof name, "p%d", pid);
	for (uint32_t i = 0; i < k->sample.nevents; i++)
		if (k->sample.event[i].kind == EVENT_INSTANCE &&
		    !strcmp(k->sample.event[i].name, name) &&
		    !strcmp(k->sample.event[i].domain, "process"))
			instance = k->sample.event[i].id;
	for (uint32_t i = 1; i < k->sample.nslots; i++)
		if (k->sample.slot[i].instance == instance && instance &&
		    k->sample.slot[i].metric == &process_metrics[row])
			return k->sample.state[i] == STATE_PRESENT ? k->sample.value[i] : -1;
	return -2;
}

static void descendants_are_found_whatever_their_pids(void **state)
{
	struct fake *k = *state;

	write_process(
		k, (struct fake_process){ .pid = 500, .ppid = 1, .start = 10, .rss_pages = 100 });
	write_process(
		k, (struct fake_process){ .pid = 400, .ppid = 500, .start = 11, .rss_pages = 100 });
	write_process(
		k, (struct fake_process){ .pid = 300, .ppid = 400, .start = 12, .rss_pages = 100 });
	write_process(
		k, (struct fake_process){ .pid = 600, .ppid = 1, .start = 13, .rss_pages = 100 });
	attach(k, 500);
	assert_int_equal(job(k, JOB_PROCESSES_LIVE), 3);
	assert_int_equal(job(k, JOB_RESIDENT), 3 * 100 * sysconf(_SC_PAGESIZE));
	assert_int_equal(job(k, JOB_PROCESSES_STARTED), 0);
}

static void descendants_are_found_among_thousands_of_others(void **state)
{
	enum { CHILDREN = 50, OTHERS = 5000 };
	struct fake *k = *state;

	write_process(k, (struct fake_process){ .pid = OTHER, .ppid = 1, .other = true });
	for (int i = 0; i <= CHILDREN; i++)
		write_process(k, (struct fake_process){
					 .pid = 500 + i, .ppid = i ? 500 : 1, .start = 10 });
	others = others_left = OTHERS;
	attach(k, 500);
	assert_int_equal(job(k, JOB_PROCESSES_LIVE), CHILDREN + 1);
}

static int is_of_chain(const struct dirent *entry)
{
	return entry->d_name[0] == '1';
}

/* Each is the parent of the one that is listed before it: none is known when its child is seen, and
 * of the others there are more than can be kept in mind. */
static void descendants_are_found_among_more_others_than_fit(void **state)
{
	enum { CHAIN = 3, MORE_THAN_FIT = 40000 };
	struct fake *k = *state;
	struct dirent **entry;
	int n, parent = 500;

	write_process(k, (struct fake_process){ .pid = OTHER, .ppid = 1, .other = true });
	for (int i = 0; i < CHAIN; i++)
		write_process(k, (struct fake_process){ .pid = 1000 + i, .ppid = 1, .start = 11 });
	n = scandir(k->dir, &entry, is_of_chain, NULL);
	assert_int_equal(n, CHAIN);
	for (; n-- > 0; free(entry[n])) {
		int pid = (int)strtol(entry[n]->d_name, NULL, 10);

		write_process(k, (struct fake_process){ .pid = pid, .ppid = parent, .start = 11 });
		parent = pid;
	}
	free(entry);
	write_process(k, (struct fake_process){ .pid = 500, .ppid = 1, .start = 10 });
	others = others_left = MORE_THAN_FIT;
	attach(k, 500);
	assert_int_equal(others_left, MORE_THAN_FIT); /* they were listed, to the last */
	assert_int_equal(job(k, JOB_PROCESSES_LIVE), 1 + CHAIN);
}

static void last_pid(const struct fake *k, int pid)
{
	char path[96], text[64];

	snprintf(path, sizeof path, "%s/loadavg", k->dir);
	snprintf(text, sizeof text, "0.00 0.00 0.00 1/100 %d\n", pid);
	write_file(path, text);
}

/* Between two samples; only the new numbers are looked at. */
static void a_child_is_found_behind_thousands_of_new_others(void **state)
{
	enum { OTHERS = 5000 };
	struct fake *k = *state;
	char path[96], self[16];

	snprintf(path, sizeof path, "%s/self", k->dir);
	snprintf(self, sizeof self, "%d", (int)getpid());
	assert_int_equal(symlink(self, path), 0);
	is_the_kernels = true;
	write_process(k, (struct fake_process){ .pid = 500, .ppid = 1, .start = 10 });
	last_pid(k, 500);
	attach(k, 500);
	made_up_from = 501;
	made_up_to = 501 + OTHERS;
	write_process(k, (struct fake_process){ .pid = 501 + OTHERS, .ppid = 500, .start = 20 });
	last_pid(k, 501 + OTHERS);
	next_sample(k, false);
	assert_int_equal(job(k, JOB_PROCESSES_LIVE), 2);
}

static void what_was_used_before_is_not_counted(void **state)
{
	struct fake *k = *state;

	write_process(k, (struct fake_process){ .pid = 500,
						.ppid = 1,
						.start = 10,
						.cutime = 700,
						.utime = 9000,
						.wchar = 70 });
	attach(k, 500);
	write_process(k, (struct fake_process){ .pid = 500,
						.ppid = 1,
						.start = 10,
						.cutime = 700,
						.utime = 9025,
						.wchar = 75 });
	next_sample(k, false);
	assert_int_equal(job(k, JOB_CPU), 250 * NS_PER_MS);
	assert_int_equal(job(k, JOB_WRITTEN), 5);
}

static void a_reaped_child_is_counted_once(void **state)
{
	struct fake *k = *state;

	write_process(k, (struct fake_process){ .pid = 500, .ppid = 1, .start = 10 });
	attach(k, 500);
	write_process(k, (struct fake_process){
				 .pid = 501, .ppid = 500, .start = 20, .utime = 30, .wchar = 7 });
	next_sample(k, false);
	assert_int_equal(job(k, JOB_CPU), 300 * NS_PER_MS);
	assert_int_equal(job(k, JOB_WRITTEN), 7);
	/* it ran on for 20 ticks, ended and was waited for: all of it is its parent's children's
	 * now */
	remove_process(k, 501);
	write_process(k, (struct fake_process){
				 .pid = 500, .ppid = 1, .start = 10, .cutime = 50, .wchar = 11 });
	next_sample(k, false);
	assert_int_equal(job(k, JOB_CPU), 500 * NS_PER_MS);
	assert_int_equal(job(k, JOB_WRITTEN), 11);
	assert_int_equal(job(k, JOB_PROCESSES_ENDED), 1);
	assert_int_equal(job(k, JOB_ATTRIBUTED_CPU), 300 * NS_PER_MS);
}

/* Their grandparent waited for the parent and has the time of both. */
static void a_parent_and_its_child_that_end_together_are_counted_once(void **state)
{
	struct fake *k = *state;
	struct tree_totals totals;

	write_process(k, (struct fake_process){ .pid = 500, .ppid = 1, .start = 10 });
	attach(k, 500);
	write_process(k,
		      (struct fake_process){ .pid = 501, .ppid = 500, .start = 20, .utime = 30 });
	write_process(k, (struct fake_process){
				 .pid = 502, .ppid = 501, .start = 21, .utime = 40, .wchar = 7 });
	next_sample(k, false);
	assert_int_equal(job(k, JOB_CPU), 700 * NS_PER_MS);
	remove_process(k, 501);
	remove_process(k, 502);
	write_process(k, (struct fake_process){
				 .pid = 500, .ppid = 1, .start = 10, .cutime = 75, .wchar = 9 });
	next_sample(k, false);
	assert_int_equal(job(k, JOB_CPU), 750 * NS_PER_MS);
	assert_int_equal(job(k, JOB_WRITTEN), 9);
	tree_totals(k->tree, &totals);
	assert_int_equal(totals.cpu_ns, 750 * NS_PER_MS);
}

/* Who waited for them is not seen: what they had when they were read last is the job's. */
static void what_ends_with_its_root_stays_counted(void **state)
{
	struct fake *k = *state;
	struct tree_totals totals;

	write_process(k, (struct fake_process){ .pid = 500, .ppid = 1, .start = 10 });
	attach(k, 500);
	write_process(k, (struct fake_process){
				 .pid = 500, .ppid = 1, .start = 10, .utime = 5, .cutime = 20 });
	write_process(k,
		      (struct fake_process){ .pid = 501, .ppid = 500, .start = 20, .utime = 30 });
	next_sample(k, false);
	assert_int_equal(job(k, JOB_CPU), 550 * NS_PER_MS);
	remove_process(k, 500);
	remove_process(k, 501);
	next_sample(k, false);
	next_sample(k, true);
	assert_int_equal(job(k, JOB_CPU), 550 * NS_PER_MS);
	tree_totals(k->tree, &totals);
	assert_int_equal(totals.cpu_ns, 550 * NS_PER_MS);
}

/* An end is recorded, and its parent has not waited yet: who looks at /proc finds it there. */
static void who_ended_is_counted_once(void **state)
{
	struct fake *k = *state;
	struct table *t;
	int64_t started;

	write_process(k, (struct fake_process){ .pid = 500, .ppid = 1, .start = 10 });
	write_process(k, (struct fake_process){ .pid = 501, .ppid = 500, .start = 20 });
	attach(k, 500);
	t = &k->tree->table;
	started = k->tree->started;
	starts_end(k->tree, table_find(t, 501), k->tree->now_ns);
	write_process(k,
		      (struct fake_process){
			      .pid = 501, .ppid = 500, .start = 20, .threads = 1, .state = 'Z' });
	next_sample(k, false);
	assert_null(table_find(t, 501));
	assert_int_equal(k->tree->started, started);
	write_process(k, (struct fake_process){ .pid = 501, .ppid = 500, .start = 30 });
	next_sample(k, false);
	assert_non_null(table_find(t, 501));
	assert_int_equal(k->tree->started, started + 1);
}

/* Parents are read first, whoever came and went: what a child used is not seen twice, when it ends
 * while the others are read. */
static void processes_stay_in_the_order_of_their_births(void **unused)
{
	struct table t;
	pid_t pid = 0;

	(void)unused;
	assert_int_equal(table_init(&t), 0);
	for (pid_t i = 1; i <= 5; i++)
		assert_non_null(table_add(&t, i, 0));
	table_remove(&t, table_find(&t, 2));
	assert_non_null(table_add(&t, 6, 0));
	table_remove(&t, table_find(&t, 1));
	table_remove(&t, table_find(&t, 6));
	assert_int_equal(t.nlive, 3);
	for (uint32_t i = 0; i < t.nlive; i++) {
		assert_true(t.row[t.live[i]].pid > pid);
		pid = t.row[t.live[i]].pid;
	}
	table_free(&t);
}

static void a_child_of_before_does_not_bring_its_past(void **state)
{
	struct fake *k = *state;

	write_process(k, (struct fake_process){ .pid = 500, .ppid = 1, .start = 10 });
	write_process(k,
		      (struct fake_process){ .pid = 501, .ppid = 500, .start = 20, .utime = 5000 });
	attach(k, 500);
	remove_process(k, 501);
	write_process(k,
		      (struct fake_process){ .pid = 500, .ppid = 1, .start = 10, .cutime = 5010 });
	next_sample(k, false);
	assert_int_equal(job(k, JOB_CPU), 100 * NS_PER_MS);
}

static void a_pid_that_is_used_again_is_another_process(void **state)
{
	struct fake *k = *state;

	write_process(k, (struct fake_process){ .pid = 500, .ppid = 1, .start = 10 });
	write_process(k,
		      (struct fake_process){ .pid = 501, .ppid = 500, .start = 20, .utime = 40 });
	attach(k, 500);
	write_process(k, (struct fake_process){ .pid = 501, .ppid = 500, .start = 99, .utime = 3 });
	next_sample(k, false);
	next_sample(k, false);
	assert_int_equal(job(k, JOB_PROCESSES_ENDED), 1);
	assert_int_equal(job(k, JOB_PROCESSES_STARTED), 1);
	assert_int_equal(of_process(k, 501, PROCESS_CPU), 30 * NS_PER_MS);
}

static void io_that_cannot_be_read_is_absent_not_zero(void **state)
{
	struct fake *k = *state;

	write_process(k,
		      (struct fake_process){ .pid = 500, .ppid = 1, .start = 10, .no_io = true });
	attach(k, 500);
	assert_int_equal(job(k, JOB_WRITTEN), -1);
	assert_int_equal(of_process(k, 500, PROCESS_WRITTEN), -1);
	assert_int_equal(of_process(k, 500, PROCESS_THREADS), 2);
}

static void io_that_is_no_longer_known_is_absent_not_the_last(void **state)
{
	struct fake *k = *state;

	write_process(k, (struct fake_process){ .pid = 500, .ppid = 1, .start = 10 });
	attach(k, 500);
	assert_int_equal(job(k, JOB_WRITTEN), 0);
	write_process(k,
		      (struct fake_process){ .pid = 501, .ppid = 500, .start = 20, .no_io = true });
	next_sample(k, false);
	assert_int_equal(job(k, JOB_WRITTEN), -1);
}

static void a_zombie_is_not_alive(void **state)
{
	struct fake *k = *state;
	char names[200];
	pid_t pid[4];

	write_process(k, (struct fake_process){ .pid = 500, .ppid = 1, .start = 10 });
	write_process(k,
		      (struct fake_process){
			      .pid = 501, .ppid = 500, .start = 20, .threads = 1, .state = 'Z' });
	attach(k, 500);
	assert_int_equal(job(k, JOB_PROCESSES_LIVE), 1);
	assert_int_equal(tree_survivors(k->tree, names, sizeof names), 1);
	assert_string_equal(names, "p500 (500)");
	assert_int_equal(tree_pids(k->tree, pid, 4), 1);
	assert_int_equal(pid[0], 500);
}

static void a_process_outlives_its_first_thread(void **state)
{
	struct fake *k = *state;
	char names[200];

	write_process(k, (struct fake_process){
				 .pid = 500, .ppid = 1, .start = 10, .threads = 3, .state = 'Z' });
	attach(k, 500);
	assert_int_equal(job(k, JOB_PROCESSES_LIVE), 1);
	assert_int_equal(tree_survivors(k->tree, names, sizeof names), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_open, fake_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(descendants_are_found_whatever_their_pids),
		TEST(descendants_are_found_among_thousands_of_others),
		TEST(descendants_are_found_among_more_others_than_fit),
		TEST(a_child_is_found_behind_thousands_of_new_others),
		TEST(what_was_used_before_is_not_counted),
		TEST(a_reaped_child_is_counted_once),
		TEST(a_parent_and_its_child_that_end_together_are_counted_once),
		TEST(what_ends_with_its_root_stays_counted),
		TEST(who_ended_is_counted_once),
		cmocka_unit_test(processes_stay_in_the_order_of_their_births),
		TEST(a_child_of_before_does_not_bring_its_past),
		TEST(a_pid_that_is_used_again_is_another_process),
		TEST(io_that_cannot_be_read_is_absent_not_zero),
		TEST(io_that_is_no_longer_known_is_absent_not_the_last),
		TEST(a_zombie_is_not_alive),
		TEST(a_process_outlives_its_first_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
