/* SPDX-License-Identifier: Apache-2.0 */
/* The job's totals are kept up as its processes change: they must be what adding all of them up
 * anew gives, whatever comes and goes. The processes are real. */
#include "base/clock.h"
#include "sampler/tree/tree_state.h"
#include "source/procfile.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { SAMPLES = 60, SAMPLES_MAX = 6000, STEP_MS = 5, WORK_KB = 512 };

static void wait_ms(int ms)
{
	const struct timespec t = { 0, ms * 1000000L };

	nanosleep(&t, NULL);
}

/* Computes, takes memory and writes for a moment. */
static void work(void)
{
	int64_t until = clock_cpu_ns() + NS_PER_MS;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char *memory = malloc(WORK_KB << 10);

	memset(memory, 1, WORK_KB << 10);
	while (clock_cpu_ns() < until)
		if (write(null, memory, 1000) != 1000)
			break;
	free(memory);
	close(null);
}

/* Sleepers stay as they are; others are born, work, and end, some of them with children that nobody
 * waits for. */
static _Noreturn void live(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 5; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
		}
	for (int i = 0;; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			work();
			if (i % 3 == 0 && fork() == 0)
				wait_ms(12);
			_exit(0);
		}
		wait_ms(3);
		if (i % 2)
			waitpid(pid, NULL, 0);
		work();
	}
}

static void assert_sums_hold(struct tree *t)
{
	int64_t kept[PART_NUMBER_OF], job[JOB_NUMBER_OF];

	memcpy(kept, t->parts, sizeof kept);
	memcpy(job, t->job, sizeof job);
	memset(t->parts, 0, sizeof t->parts);
	for (uint32_t i = 0; i < t->table.nlive; i++) {
		struct process *p = &t->table.row[t->table.live[i]];

		memset(p->part, 0, sizeof p->part);
		p->part_due = true;
	}
	sums_make(t);
	assert_memory_equal(kept, t->parts, sizeof kept);
	assert_memory_equal(job, t->job, sizeof job);
}

/* On a busy machine it takes a while until they live and end. */
static bool is_early(const struct tree *t)
{
	return t->parts[PART_LIVE] <= 5 || t->ended <= 5;
}

/* slow: a sample has time for one thread, so that it ends amid the looks at a process. */
static void follow(enum process_events events, bool slow)
{
	pid_t root = fork();
	struct root proc;
	struct sample s;
	struct tree_options o = {
		.proc = &proc, .roots = &root, .nroots = 1, .process_events = events
	};
	struct tree *t;
	struct err e = { "" };

	if (root == 0)
		live();
	assert_int_equal(root_open(&proc, "/proc"), 0);
	assert_int_equal(sample_init(&s, 32768, 65536), 0);
	sample_begin(&s, clock_utc_ns(), clock_mono_ns());
	assert_int_equal(tree_open(&t, &o, &s, &e), 0);
	for (int i = 0; i < SAMPLES || (i < SAMPLES_MAX && is_early(t)); i++) {
		if (slow)
			t->looks.budget_ns = t->looks.thread_ns = 50000;
		tree_sample(t, &s, false);
		assert_sums_hold(t);
		wait_ms(STEP_MS);
		sample_clear_events(&s);
		sample_begin(&s, clock_utc_ns(), clock_mono_ns());
	}
	assert_false(is_early(t));
	kill(root, SIGKILL);
	waitpid(root, NULL, 0);
	tree_sample(t, &s, true);
	assert_sums_hold(t);
	tree_close(t);
	sample_free(&s);
	root_close(&proc);
}

static void totals_hold_when_pids_are_looked_for(void **state)
{
	(void)state;
	follow(PROCESS_EVENTS_POLLING, false);
}

static void totals_hold_when_there_is_little_time_for_threads(void **state)
{
	(void)state;
	follow(PROCESS_EVENTS_POLLING, true);
}

static void totals_hold_when_births_are_told(void **state)
{
	(void)state;
	/* perf's records or the connector's, where they are permitted */
	follow(PROCESS_EVENTS_AUTO, false);
}

static int64_t recorded_cpu(struct tree *t, struct sample *s, bool last)
{
	sample_clear_events(s);
	sample_begin(s, clock_utc_ns(), clock_mono_ns());
	s->last = last;
	tree_sample(t, s, last);
	return s->value[t->job_slot + JOB_CPU];
}

/* Hours of CPU time that become known at once are recorded at the machine's pace, and in full in
 * the end. */
static void no_sample_tells_more_than_the_cores_can_do(void **state)
{
	enum { LATE_S = 7200 };
	pid_t self = getpid();
	struct root proc;
	struct sample s;
	struct tree_options o = { .proc = &proc, .launcher = self };
	struct tree *t;
	struct err e = { "" };
	int64_t before, at_ns, cpu, row[RECORDED_NUMBER_OF];

	(void)state;
	assert_int_equal(root_open(&proc, "/proc"), 0);
	assert_int_equal(sample_init(&s, 32768, 65536), 0);
	sample_begin(&s, clock_utc_ns(), clock_mono_ns());
	assert_int_equal(tree_open(&t, &o, &s, &e), 0);
	assert_int_equal(t->cores, sysconf(_SC_NPROCESSORS_ONLN));
	before = recorded_cpu(t, &s, false);
	at_ns = s.mono_ns;
	t->unattributed_ns += LATE_S * NS_PER_S;
	for (int i = 0; i < 3; i++) {
		wait_ms(STEP_MS);
		cpu = recorded_cpu(t, &s, false);
		assert_true(cpu > before);
		assert_true(cpu - before <= t->cores * (s.mono_ns - at_ns));
		assert_true(s.value[t->job_slot + JOB_ATTRIBUTED_CPU] <= cpu);
		before = cpu;
		at_ns = s.mono_ns;
		assert_int_equal(tree_recorded(t, false, at_ns, row, 1), 1);
		assert_true(row[RECORDED_CPU] <= cpu);
	}
	assert_true(recorded_cpu(t, &s, true) >= LATE_S * NS_PER_S);
	tree_close(t);
	sample_free(&s);
	root_close(&proc);
}

static bool says(const struct sample *s, const char *key)
{
	for (uint32_t i = 0; i < s->nevents; i++)
		if (s->event[i].kind == EVENT_META && !strcmp(s->event[i].name, key))
			return true;
	return false;
}

/* A recorder that goes on for a lost one knows by it that children are waited for by nobody. */
static void children_that_nobody_waits_for_are_passed_on(void **state)
{
	struct root proc;
	struct sample s;
	struct tree_options o = { .proc = &proc, .launcher = getpid(), .shared = true };
	int64_t row[RECORDED_NUMBER_OF] = { [RECORDED_AT] = 1 };
	uint32_t task;

	(void)state;
	assert_int_equal(root_open(&proc, "/proc"), 0);
	assert_int_equal(sample_init(&s, 32768, 65536), 0);
	for (int unwaited = 0; unwaited < 2; unwaited++) {
		struct tree *t;
		struct err e = { "" };

		sample_clear_events(&s);
		sample_begin(&s, clock_utc_ns(), clock_mono_ns());
		row[RECORDED_UNWAITED] = unwaited;
		assert_int_equal(tree_open(&t, &o, &s, &e), 0);
		assert_int_equal(tree_task_add(t, getpid(), row, &task), 0);
		assert_int_equal(says(&s, "job.io_is_lower_bound"), unwaited);
		tree_sample(t, &s, false);
		assert_int_equal(tree_recorded(t, false, s.mono_ns, row, 1), 1);
		assert_int_equal(row[RECORDED_UNWAITED], unwaited);
		row[RECORDED_AT] = s.mono_ns;
		tree_close(t);
	}
	sample_free(&s);
	root_close(&proc);
}

/* Between its end and the last of its counts its parent may have waited for it. */
static void what_ended_does_not_bring_what_was_before(void **state)
{
	struct tree *t = calloc(1, sizeof *t);
	struct process *parent, *p;

	(void)state;
	assert_non_null(t);
	assert_int_equal(table_init(&t->table), 0);
	t->reading.tick_ns = 10 * NS_PER_MS;
	parent = table_add(&t->table, 500, 1);
	p = table_add(&t->table, 501, 500);
	parent->stat.cutime = 90; /* of p, and 20 of p's children */
	parent->io_known = p->io_known = true;
	parent->io.rchar = p->io.rchar = 1000;
	p->cpu_ns = 700 * NS_PER_MS;
	p->cpu_base_ns = 600 * NS_PER_MS;
	p->children_base_ns = 200 * NS_PER_MS;
	p->io_base.rchar = 990;
	p->ended = true;
	process_changed(parent);
	process_changed(p);
	sums_make(t);
	assert_int_equal(t->job[JOB_CPU], 100 * NS_PER_MS);
	assert_int_equal(t->job[JOB_READ], 10);
	table_free(&t->table);
	free(t);
}

/* It does nothing, and ends with this process. */
static pid_t still_child(char *statm, int size)
{
	pid_t pid = fork();
	char path[40];
	FILE *in;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	usleep(50000);
	snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
	in = fopen(path, "r");
	assert_non_null(in);
	assert_non_null(fgets(statm, size, in));
	fclose(in);
	return pid;
}

/* Until it is walked again its PSS is what it was, whichever totals are made anew. */
static void what_may_be_shared_by_a_newcomer_keeps_its_estimate(void **state)
{
	enum { PAGE = 4096, RESIDENT_MB = 100, PSS_MB = 60 };
	struct tree *t = calloc(1, sizeof *t);
	struct process *p, *beside, *new;
	char statm[128];
	struct root proc;

	(void)state;
	assert_non_null(t);
	assert_int_equal(root_open(&proc, "/proc"), 0);
	assert_int_equal(table_init(&t->table), 0);
	t->reading.page_bytes = PAGE;
	t->reading.proc = &proc;
	t->now_ns = t->walk_time_ns = 2000 * NS_PER_MS;
	t->due = READ_STAT;
	new = table_add(&t->table, still_child(statm, sizeof statm), 1);
	assert_int_equal(proc_statm_parse(statm, &new->statm), 0);
	new->shared_known = true;
	new->read_ns = t->now_ns;
	new->stat.rss_pages = (RESIDENT_MB << 20) / PAGE;
	new->shared_bytes = RESIDENT_MB << 20;
	new->walk_due = true;
	t->walk_budget_ns = 20 * NS_PER_MS;
	/* Walked after the newcomer was read, and with it. */
	beside = table_add(&t->table, 501, 1);
	beside->read_ns = 1;
	beside->has_forked = true;
	beside->stat.rss_pages = new->stat.rss_pages;
	process_walked(&t->reading, beside);
	p = table_add(&t->table, 500, 1);
	p->read_ns = 1;
	p->shared_known = p->has_forked = true;
	p->stat.rss_pages = (RESIDENT_MB << 20) / PAGE;
	p->pss_bytes = PSS_MB << 20;
	process_walked(&t->reading, p);
	p->walk_ns = 1000 * NS_PER_MS;
	sums_make(t);
	assert_int_equal(t->parts[PART_PSS], PSS_MB << 20);
	assert_int_equal(p->estimated_ns, 0);
	walk_step(t);
	assert_int_equal(t->shared_since_ns, new->read_ns);
	assert_true(p->walk_due);
	assert_false(beside->walk_due);
	sums_make(t);
	assert_sums_hold(t);
	assert_int_equal(t->parts[PART_PSS], (PSS_MB << 20) + new->part[PART_PSS]);
	assert_int_equal(p->estimated_ns, p->walk_ns);
	kill(new->pid, SIGKILL);
	waitpid(new->pid, NULL, 0);
	root_close(&proc);
	table_free(&t->table);
	free(t);
}

#define MS INT64_C(1000000)

static void what_was_waited_for_is_the_total(void **state)
{
	struct tree t = { .launched = true,
			  .started = 2,
			  .waited_ns = 1000 * MS,
			  .cpu_ns = 1040 * MS,
			  .taken_ns = -1 };
	struct tree_totals totals;

	(void)state;
	t.job[JOB_ATTRIBUTED_CPU] = 1040 * MS;
	tree_totals(&t, &totals);
	assert_int_equal(totals.cpu_ns, 1000 * MS);
	assert_int_equal(totals.attributed_ns, 1000 * MS);
	assert_int_equal(totals.user_ns, 0);
	t.cpu_ns = t.job[JOB_ATTRIBUTED_CPU] = 2000 * MS; /* others took as much from it */
	tree_totals(&t, &totals);
	assert_int_equal(totals.cpu_ns, 1000 * MS);
	t.unwaited = true; /* nobody waited for a half of them */
	tree_totals(&t, &totals);
	assert_int_equal(totals.cpu_ns, 2000 * MS);
	t.unwaited = false; /* nobody was seen who does not wait, but so much is not taken */
	t.cpu_ns = t.job[JOB_ATTRIBUTED_CPU] = 4000 * MS;
	tree_totals(&t, &totals);
	assert_int_equal(totals.cpu_ns, 4000 * MS);
	t.cpu_ns = t.job[JOB_ATTRIBUTED_CPU] = 2000 * MS;
	t.unwaited = true;
	tree_totals(&t, &totals);
	assert_int_equal(totals.attributed_ns, 2000 * MS);
	assert_int_equal(totals.user_ns, -1); /* of a half of them */
	t.unwaited = false;
	t.started = 1; /* it was: the rest is interrupts and a hypervisor */
	tree_totals(&t, &totals);
	assert_int_equal(totals.cpu_ns, 1000 * MS);
	t.started = 2;
	t.launched = false; /* attached: who waits is not known */
	t.cpu_ns = t.job[JOB_CPU] = t.job[JOB_ATTRIBUTED_CPU] = 1040 * MS;
	tree_totals(&t, &totals);
	assert_int_equal(totals.cpu_ns, 1040 * MS);
	t.job[JOB_CPU] = 1050 * MS; /* was shown before */
	tree_totals(&t, &totals);
	assert_int_equal(totals.cpu_ns, 1050 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_hold_when_pids_are_looked_for),
		cmocka_unit_test(totals_hold_when_there_is_little_time_for_threads),
		cmocka_unit_test(totals_hold_when_births_are_told),
		cmocka_unit_test(children_that_nobody_waits_for_are_passed_on),
		cmocka_unit_test(no_sample_tells_more_than_the_cores_can_do),
		cmocka_unit_test(what_ended_does_not_bring_what_was_before),
		cmocka_unit_test(what_may_be_shared_by_a_newcomer_keeps_its_estimate),
		cmocka_unit_test(what_was_waited_for_is_the_total),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
