/* SPDX-License-Identifier: Apache-2.0 */
/* Threads are looked at in rounds, over a made /proc in which every figure is known. */
#include "base/clock.h"
#include "sampler/tree/tree_state.h"
#include "unit/tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

#include <cmocka.h>

/* ---- files that may not be read, as hidepid and security modules make them ---- */

static const char *forbidden;
static const char *ending; /* a thread that ends when its first file has been read */
static bool ended;

static bool is_gone(const char *path)
{
	bool of_thread = strstr(path, "/status") || strstr(path, "/sched");

	if (!ending || !of_thread || strncmp(path, ending, strlen(ending)) != 0)
		return false;
	if (ended)
		return true;
	ended = true;
	return false;
}

int openat(int dir, const char *path, int flags, ...)
{
	if (is_gone(path)) {
		errno = ENOENT;
		return -1;
	}
	if (forbidden && strstr(path, forbidden)) {
		errno = EACCES;
		return -1;
	}
	return (int)syscall(SYS_openat, dir, path, flags, 0600);
}

/* ---- a made /proc ---- */

struct fake {
	char dir[64];
	struct root proc;
	struct sample sample;
	struct tree *tree;
	int64_t now_ns;
};

struct fake_thread {
	int pid, tid;
	char state;
	int voluntary, involuntary;
	int64_t waited;
	int migrations;
	const char *cpus;
};

static void put_process(const struct fake *k, int pid, int ppid, int threads)
{
	char path[64];

	snprintf(path, sizeof path, "%d/stat", pid);
	tree_put(k->dir, path,
		 "%d (x) R (y) S %d 1 1 0 -1 0 10 20 0 0 5 0 0 0 20 0 %d 0 77 4096000 100 0\n", pid,
		 ppid, threads);
	snprintf(path, sizeof path, "%d/statm", pid);
	tree_put(k->dir, path, "1000 500 10 0 0 0 0\n");
	snprintf(path, sizeof path, "%d/io", pid);
	tree_put(k->dir, path,
		 "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\n");
}

static void put_files(const struct fake *k, const char *where, const struct fake_thread *t)
{
	char path[128];

	snprintf(path, sizeof path, "%s/status", where);
	tree_put(k->dir, path,
		 "Name:\tx) R (y\nState:\t%c (whatever)\nCpus_allowed_list:\t%s\n"
		 "Mems_allowed_list:\t0,8,252-255\nvoluntary_ctxt_switches:\t%d\n"
		 "nonvoluntary_ctxt_switches:\t%d\n",
		 t->state, t->cpus ? t->cpus : "0-1", t->voluntary, t->involuntary);
	snprintf(path, sizeof path, "%s/schedstat", where);
	tree_put(k->dir, path, "1000000 %lld 3\n", (long long)t->waited);
	snprintf(path, sizeof path, "%s/sched", where);
	tree_put(k->dir, path, "x (1, #threads: 1)\nse.nr_migrations : %d\n", t->migrations);
}

static void put_thread(const struct fake *k, struct fake_thread t)
{
	char where[64];

	snprintf(where, sizeof where, "%d/task/%d", t.pid, t.tid);
	put_files(k, where, &t);
	snprintf(where, sizeof where, "%d", t.pid);
	if (t.tid == t.pid)
		put_files(k, where, &t);
}

static void take_away(const struct fake *k, const char *path)
{
	char command[160];

	snprintf(command, sizeof command, "rm -rf %s/%s", k->dir, path);
	assert_int_equal(system(command), 0);
}

static int fake_open(void **state)
{
	struct fake *k = calloc(1, sizeof *k);

	snprintf(k->dir, sizeof k->dir, "sonde-looks-XXXXXX");
	assert_non_null(mkdtemp(k->dir));
	assert_int_equal(root_open(&k->proc, k->dir), 0);
	assert_int_equal(sample_init(&k->sample, 32768, 4096), 0);
	k->now_ns = clock_mono_ns();
	sample_begin(&k->sample, 0, k->now_ns);
	forbidden = ending = NULL;
	ended = false;
	*state = k;
	return 0;
}

static int fake_close(void **state)
{
	struct fake *k = *state;

	forbidden = NULL;
	tree_close(k->tree);
	sample_free(&k->sample);
	root_close(&k->proc);
	take_away(k, "");
	free(k);
	return 0;
}

static void attach(struct fake *k, pid_t root)
{
	const struct tree_options o = { .proc = &k->proc,
					.roots = &root,
					.nroots = 1,
					.process_events = PROCESS_EVENTS_POLLING,
					.pss = PSS_OFF };
	struct cadence often = { .interval_ns = NS_PER_S,
				 .refresh = 16,
				 .shared = 16,
				 .rarer = 1,
				 .turns = 1,
				 .io_turns = 1 };
	struct err e = { "" };

	assert_int_equal(tree_open(&k->tree, &o, &k->sample, &e), 0);
	tree_pace(k->tree, &often, 0);
	tree_sample(k->tree, &k->sample, false);
}

static void after(struct fake *k, int64_t ms, bool last)
{
	k->now_ns += ms * NS_PER_MS;
	sample_clear_events(&k->sample);
	sample_begin(&k->sample, 0, k->now_ns);
	tree_sample(k->tree, &k->sample, last);
}

/* Until a round is over, however long the kernel takes to read these files here. */
static void a_round_later(struct fake *k)
{
	for (int i = 0; i < 100; i++) {
		after(k, 2000, false);
		if (k->tree->looks.complete)
			return;
	}
	fail_msg("no round in 100 samples");
}

static int rows_of(const struct fake *k, pid_t pid)
{
	const struct threads *t = &k->tree->looks.threads;
	int n = 0;

	for (uint32_t i = table_find(&k->tree->table, pid)->threads; i; i = t->row[i].next)
		n++;
	return n;
}

static enum state job_state(const struct fake *k, enum job_metric row)
{
	return k->sample.state[k->tree->job_slot + row];
}

static int64_t job(const struct fake *k, enum job_metric row)
{
	assert_int_equal(job_state(k, row), STATE_PRESENT);
	return k->sample.value[k->tree->job_slot + row];
}

/* What the last sample said of the job under this key; "": nothing. */
static const char *told(const struct fake *k, const char *key)
{
	for (uint32_t i = 0; i < k->sample.nevents; i++)
		if (k->sample.event[i].kind == EVENT_META && !strcmp(k->sample.event[i].name, key))
			return k->sample.event[i].text;
	return "";
}

/* A first thread that waits for storage, one that runs, one that sleeps. */
static void put_three(const struct fake *k)
{
	put_process(k, 500, 1, 3);
	put_thread(k, (struct fake_thread){ 500, 500, 'D', 100, 10, 1000, 1, "0-1" });
	put_thread(k, (struct fake_thread){ 500, 501, 'R', 200, 20, 2000, 2, "2" });
	put_thread(k, (struct fake_thread){ 500, 502, 'S', 300, 30, 3000, 3, "2-3" });
}

static void every_thread_of_a_process_counts(void **state)
{
	struct fake *k = *state;

	put_three(k);
	attach(k, 500);
	if (!k->tree->looks.complete)
		a_round_later(k);
	assert_int_equal(job(k, JOB_THREADS_BLOCKED), 1);
	assert_int_equal(job(k, JOB_THREADS_RUNNING), 1);
	assert_int_equal(job(k, JOB_THREADS_SLEEPING), 1);
	assert_int_equal(job(k, JOB_THREADS_STOPPED), 0);
	assert_int_equal(job(k, JOB_AFFINITY), 4);
	assert_string_equal(told(k, "job.affinity"), "0-3");
	assert_string_equal(told(k, "job.memory_nodes"), "0,8,252-255");
	/* What was before the recording is not the recording's. */
	assert_int_equal(job(k, JOB_VOLUNTARY), 0);
	put_thread(k, (struct fake_thread){ 500, 500, 'T', 101, 12, 1004, 1, "0-1" });
	put_thread(k, (struct fake_thread){ 500, 502, 'S', 350, 37, 3600, 9, "2-3" });
	a_round_later(k);
	assert_int_equal(job(k, JOB_VOLUNTARY), 51);
	assert_int_equal(job(k, JOB_INVOLUNTARY), 9);
	assert_int_equal(job(k, JOB_WAITED), 604);
	assert_int_equal(job(k, JOB_MIGRATIONS), 6);
	assert_int_equal(job(k, JOB_THREADS_BLOCKED), 0);
	assert_int_equal(job(k, JOB_THREADS_STOPPED), 1);
	assert_int_equal(job_state(k, JOB_VOLUNTARY_TOTAL), STATE_ABSENT);
}

static void between_rounds_nothing_is_said(void **state)
{
	struct fake *k = *state;

	put_three(k);
	attach(k, 500);
	if (!k->tree->looks.complete)
		a_round_later(k);
	after(k, 100, false);
	assert_int_equal(job_state(k, JOB_VOLUNTARY), STATE_ABSENT);
	assert_int_equal(job_state(k, JOB_THREADS_RUNNING), STATE_ABSENT);
	assert_int_equal(job_state(k, JOB_LOOKS_AGE), STATE_ABSENT);
}

static void rounds_are_nearer_in_the_first_seconds(void **state)
{
	struct fake *k = *state;
	const struct looks *l;

	put_three(k);
	attach(k, 500);
	l = &k->tree->looks;
	for (int i = 0; i < 90 && !l->complete; i++)
		after(k, 100, false);
	assert_true(l->complete);
	assert_int_equal(l->again_ns - l->began_ns, NS_PER_S / 2);
	k->now_ns += 10 * NS_PER_S;
	put_thread(k, (struct fake_thread){ 500, 501, 'R', 201, 20, 2000, 2, "2" });
	a_round_later(k);
	assert_int_equal(l->again_ns - l->began_ns, 2 * NS_PER_S);
}

/* Of one that takes longer than what short intervals allow for at a time. */
static void a_slow_look_is_made_all_the_same(void **state)
{
	struct fake *k = *state;

	put_three(k);
	attach(k, 500);
	k->tree->pace.interval_ns = NS_PER_MS;
	k->tree->looks.thread_ns = 5 * NS_PER_MS;
	k->tree->looks.budget_ns = 0;
	a_round_later(k);
}

static void what_an_ended_thread_had_stays(void **state)
{
	struct fake *k = *state;

	put_three(k);
	attach(k, 500);
	a_round_later(k);
	put_thread(k, (struct fake_thread){ 500, 502, 'S', 400, 30, 3000, 3, "2-3" });
	a_round_later(k);
	assert_int_equal(job(k, JOB_VOLUNTARY), 100);
	take_away(k, "500/task/502");
	put_process(k, 500, 1, 2);
	a_round_later(k);
	assert_int_equal(job(k, JOB_VOLUNTARY), 100);
	assert_int_equal(job(k, JOB_THREADS_SLEEPING), 0);
	assert_int_equal(job(k, JOB_AFFINITY), 3);
	assert_int_equal(rows_of(k, 500), 2);
	/* Another thread gets the id. */
	put_process(k, 500, 1, 3);
	put_thread(k, (struct fake_thread){ 500, 502, 'S', 7, 0, 0, 0, "2-3" });
	a_round_later(k);
	assert_int_equal(job(k, JOB_VOLUNTARY), 107);
	/* And another one, unseen in between, with fewer. */
	put_thread(k, (struct fake_thread){ 500, 502, 'S', 2, 0, 0, 0, "2-3" });
	a_round_later(k);
	assert_int_equal(job(k, JOB_VOLUNTARY), 109);
}

static void what_an_ended_process_had_stays(void **state)
{
	struct fake *k = *state;

	put_three(k);
	put_process(k, 600, 500, 1);
	put_thread(k, (struct fake_thread){ 600, 600, 'S', 10, 0, 100, 0, "0" });
	attach(k, 500);
	a_round_later(k);
	put_thread(k, (struct fake_thread){ 600, 600, 'S', 25, 3, 700, 0, "0" });
	a_round_later(k);
	assert_int_equal(job(k, JOB_VOLUNTARY), 15);
	take_away(k, "600");
	a_round_later(k);
	assert_int_equal(job(k, JOB_VOLUNTARY), 15);
	assert_int_equal(job(k, JOB_INVOLUNTARY), 3);
	assert_int_equal(job(k, JOB_WAITED), 600);
	put_thread(k, (struct fake_thread){ 500, 501, 'R', 201, 20, 2000, 2, "2" });
	a_round_later(k);
	assert_int_equal(job(k, JOB_VOLUNTARY), 16);
}

/* In the list, and gone when its files are opened; or one that is listed and says nothing. */
static void a_thread_that_vanishes_is_no_harm(void **state)
{
	struct fake *k = *state;

	put_three(k);
	tree_put(k->dir, "500/task/503/comm", "gone\n");
	tree_put(k->dir, "500/task/504/status", "Name:\tx\n");
	tree_put(k->dir, "500/task/x/status", "Name:\tx\n");
	attach(k, 500);
	a_round_later(k);
	assert_int_equal(job(k, JOB_THREADS_BLOCKED) + job(k, JOB_THREADS_RUNNING) +
				 job(k, JOB_THREADS_SLEEPING),
			 3);
	take_away(k, "500/task/502/status");
	a_round_later(k);
	assert_int_equal(job(k, JOB_THREADS_SLEEPING), 0);
}

static void a_process_that_may_not_be_looked_at_leaves_nothing_known(void **state)
{
	struct fake *k = *state;

	put_three(k);
	put_process(k, 600, 500, 1);
	put_thread(k, (struct fake_thread){ 600, 600, 'S', 10, 0, 100, 0, "0" });
	forbidden = "600/status";
	attach(k, 500);
	a_round_later(k);
	assert_int_equal(job_state(k, JOB_VOLUNTARY), STATE_ABSENT);
	assert_int_equal(job_state(k, JOB_THREADS_RUNNING), STATE_ABSENT);
	take_away(k, "600"); /* what is left may be looked at */
	a_round_later(k);
	assert_int_equal(job_state(k, JOB_THREADS_RUNNING), STATE_PRESENT);
}

static void what_a_kernel_does_not_account_is_unsupported(void **state)
{
	struct fake *k = *state;
	bool said = false;

	put_process(k, 500, 1, 1);
	put_thread(k, (struct fake_thread){ 500, 500, 'S', 10, 0, 0, 0, "0" });
	tree_put(k->dir, "500/schedstat", "0 0 0\n");
	take_away(k, "500/sched");
	attach(k, 500);
	for (uint32_t i = 0; i < k->sample.nevents; i++)
		said |= k->sample.event[i].kind == EVENT_STATE &&
			k->sample.event[i].state == STATE_UNSUPPORTED &&
			k->sample.event[i].id ==
				k->sample.slot[k->tree->job_slot + JOB_WAITED].series;
	assert_true(said);
	a_round_later(k);
	assert_int_equal(job_state(k, JOB_VOLUNTARY), STATE_PRESENT);
	assert_int_equal(job_state(k, JOB_WAITED), STATE_ABSENT);
	assert_int_equal(job_state(k, JOB_MIGRATIONS), STATE_ABSENT);
}

/* A thread that waits for a core since it began has no figures yet. */
static void a_thread_that_has_not_run_says_nothing_of_the_kernel(void **state)
{
	struct fake *k = *state;

	put_process(k, 500, 1, 1);
	put_thread(k, (struct fake_thread){ 500, 500, 'R', 0, 0, 0, 0, "0" });
	tree_put(k->dir, "500/schedstat", "0 0 0\n");
	attach(k, 500);
	put_thread(k, (struct fake_thread){ 500, 500, 'R', 1, 0, 700, 0, "0" });
	a_round_later(k);
	assert_int_equal(job_state(k, JOB_WAITED), STATE_PRESENT);
}

static void a_thread_that_ends_says_nothing_of_the_kernel(void **state)
{
	struct fake *k = *state;

	put_three(k);
	put_process(k, 600, 500, 1);
	put_thread(k, (struct fake_thread){ 600, 600, 'S', 10, 0, 100, 0, "0" });
	ending = "600/";
	attach(k, 500);
	a_round_later(k);
	assert_int_equal(job_state(k, JOB_WAITED), STATE_PRESENT);
	assert_int_equal(job_state(k, JOB_MIGRATIONS), STATE_PRESENT);
}

static void many_threads_take_several_samples(void **state)
{
	enum { THREADS = 400 };
	struct fake *k = *state;
	int samples = 0;

	put_process(k, 500, 1, THREADS);
	for (int i = 0; i < THREADS; i++)
		put_thread(k, (struct fake_thread){ 500, 500 + i, 'S', 1, 0, 0, 0, "0" });
	attach(k, 500);
	while (!k->tree->looks.complete && samples++ < 1000)
		after(k, 1000, false);
	assert_in_range(samples, 2, 999);
	assert_int_equal(job(k, JOB_THREADS_SLEEPING), THREADS);
	assert_int_equal(job(k, JOB_LOOKS_AGE), samples);
}

/* It ended amid the first look at its threads. */
static void what_was_done_before_is_never_counted(void **state)
{
	enum { THREADS = 400 };
	struct fake *k = *state;

	put_process(k, 500, 1, 1);
	put_thread(k, (struct fake_thread){ 500, 500, 'S', 1000, 0, 0, 0, "0" });
	put_process(k, 600, 500, THREADS);
	for (int i = 0; i < THREADS; i++)
		put_thread(k, (struct fake_thread){ 600, 600 + i, 'S', 1000, 0, 0, 0, "0" });
	attach(k, 500);
	for (int i = 0; i < 1000 && !table_find(&k->tree->table, 600)->used[USE_VOLUNTARY]; i++)
		after(k, 1000, false);
	assert_in_range(table_find(&k->tree->table, 600)->used[USE_VOLUNTARY], 1000,
			(THREADS - 1) * 1000);
	take_away(k, "600");
	a_round_later(k);
	assert_int_equal(job(k, JOB_VOLUNTARY), 0);
}

/* What the launcher waited for is exact; who has ended and was not, stands in for itself. */
static void the_total_follows_what_was_waited_for(void **state)
{
	struct fake *k = *state;
	struct message m = { .total_voluntary_switches = 1000 };

	put_process(k, 500, 1, 1);
	put_thread(k, (struct fake_thread){ 500, 500, 'S', 10, 0, 0, 0, "0" });
	put_process(k, 600, 500, 1);
	put_thread(k, (struct fake_thread){ 600, 600, 'S', 10, 0, 0, 0, "0" });
	attach(k, 500);
	a_round_later(k);
	k->tree->launched = true;
	k->tree->task = calloc(1, sizeof *k->tree->task);
	assert_non_null(k->tree->task);
	k->tree->ntasks = k->tree->tasks_max = 1;
	put_thread(k, (struct fake_thread){ 600, 600, 'S', 40, 0, 0, 0, "0" });
	a_round_later(k);
	assert_int_equal(job(k, JOB_VOLUNTARY_TOTAL), 30);
	take_away(k, "600");
	a_round_later(k);
	assert_int_equal(job(k, JOB_VOLUNTARY_TOTAL), 30);
	put_thread(k, (struct fake_thread){ 500, 500, 'S', 15, 0, 0, 0, "0" });
	a_round_later(k);
	assert_int_equal(job(k, JOB_VOLUNTARY_TOTAL), 35);
	tree_reaped(k->tree, 0, &m);
	take_away(k, "500");
	after(k, 2000, true);
	assert_int_equal(job(k, JOB_VOLUNTARY_TOTAL), 1000);
	/* nobody saw what they did last: a rate of it would be 0 */
	assert_int_equal(job_state(k, JOB_VOLUNTARY), STATE_ABSENT);
	assert_int_equal(job_state(k, JOB_WAITED), STATE_ABSENT);
	assert_int_equal(job(k, JOB_THREADS_SLEEPING), 0);
}

enum { IN_TURNS = 40, TURNS = 4 };

/* What a sample reads of processes is the same in each: a part of them has its turn. */
static void processes_are_read_in_turns(void **state)
{
	const struct cadence rare = { .interval_ns = NS_PER_S,
				      .refresh = 16,
				      .shared = 16,
				      .rarer = 1,
				      .turns = TURNS,
				      .io_turns = TURNS };
	struct fake *k = *state;

	for (int i = 0; i < IN_TURNS; i++)
		put_process(k, 500 + i, i ? 500 : 1, 1);
	attach(k, 500);
	assert_int_equal(k->tree->reads, IN_TURNS);
	tree_pace(k->tree, &rare, 0);
	for (int turn = 0; turn < TURNS; turn++) {
		uint64_t before = k->tree->reads;

		after(k, 1000, false);
		assert_int_equal(k->tree->reads - before, IN_TURNS / TURNS);
		assert_int_equal(job(k, JOB_RESIDENT),
				 IN_TURNS * 100 * k->tree->reading.page_bytes);
	}
	for (int i = 0; i < IN_TURNS; i++) {
		const struct process *p = table_find(&k->tree->table, 500 + i);

		assert_true(k->now_ns - p->read_ns < TURNS * NS_PER_S);
	}
}

/* 2,500 switches a second, wanted ones or not, in a time in which it waits for a CPU so long. */
static bool switches_too_often(struct fake *k, int64_t waited_ms, bool wanted)
{
	struct fake_thread t = { .pid = 10, .tid = 10, .state = 'R' };

	put_process(k, 10, 1, 1);
	put_thread(k, t);
	attach(k, 10);
	for (int i = 0; i < 100 && !k->tree->cheaper.wanted; i++) {
		t.voluntary += wanted ? 5000 : 0;
		t.involuntary += wanted ? 0 : 5000;
		t.waited += waited_ms * NS_PER_MS;
		put_thread(k, t);
		after(k, 2000, false);
	}
	return k->tree->cheaper.wanted;
}

static void few_switches_are_few(void **state)
{
	assert_false(switches_too_often(*state, 0, true));
}

static void few_switches_are_many_for_who_hardly_gets_a_cpu(void **state)
{
	assert_true(switches_too_often(*state, 1950, true));
}

static void who_computes_on_a_crowded_machine_does_not_switch_often(void **state)
{
	assert_false(switches_too_often(*state, 1950, false));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_open, fake_close)
	const struct CMUnitTest tests[] = {
		TEST(every_thread_of_a_process_counts),
		TEST(rounds_are_nearer_in_the_first_seconds),
		TEST(between_rounds_nothing_is_said),
		TEST(a_slow_look_is_made_all_the_same),
		TEST(what_an_ended_thread_had_stays),
		TEST(what_an_ended_process_had_stays),
		TEST(a_thread_that_vanishes_is_no_harm),
		TEST(a_process_that_may_not_be_looked_at_leaves_nothing_known),
		TEST(what_a_kernel_does_not_account_is_unsupported),
		TEST(a_thread_that_has_not_run_says_nothing_of_the_kernel),
		TEST(few_switches_are_few),
		TEST(few_switches_are_many_for_who_hardly_gets_a_cpu),
		TEST(who_computes_on_a_crowded_machine_does_not_switch_often),
		TEST(a_thread_that_ends_says_nothing_of_the_kernel),
		TEST(many_threads_take_several_samples),
		TEST(what_was_done_before_is_never_counted),
		TEST(the_total_follows_what_was_waited_for),
		TEST(processes_are_read_in_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
