/* SPDX-License-Identifier: Apache-2.0 */
/* The job's totals are kept up as its processes change: they must be what adding all of them up
 * anew gives, whatever comes and goes. The processes are real. */
#include "base/clock.h"
#include "sampler/tree_state.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { SAMPLES = 60, SAMPLES_MAX = 2000, STEP_MS = 5, WORK_KB = 512 };

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

static void follow(enum births births)
{
	pid_t root = fork();
	struct root proc;
	struct sample s;
	struct tree_options o = { .proc = &proc, .roots = &root, .nroots = 1, .births = births };
	struct tree *t;
	struct err e = { "" };
	int64_t ended;

	if (root == 0)
		live();
	assert_int_equal(root_open(&proc, "/proc"), 0);
	assert_int_equal(sample_init(&s, 32768, 65536), 0);
	sample_begin(&s, clock_utc_ns(), clock_mono_ns());
	assert_int_equal(tree_open(&t, &o, &s, &e), 0);
	/* More of them where the processes get little CPU. */
	for (int i = 0; i < SAMPLES || (i < SAMPLES_MAX && t->ended <= 5); i++) {
		tree_sample(t, &s, false);
		assert_sums_hold(t);
		wait_ms(STEP_MS);
		sample_clear_events(&s);
		sample_begin(&s, clock_utc_ns(), clock_mono_ns());
	}
	ended = t->ended;
	assert_true(t->parts[PART_LIVE] > 5);
	assert_true(ended > 5);
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
	follow(BIRTHS_POLLING);
}

static void totals_hold_when_births_are_told(void **state)
{
	(void)state;
	follow(BIRTHS_AUTO); /* perf's records or the connector's, where they are permitted */
}

static void what_was_waited_for_is_the_total(void **state)
{
	struct tree t = { .launched = true, .waited_ns = 1000, .cpu_ns = 1040 };
	struct tree_totals totals;

	(void)state;
	t.job[JOB_ATTRIBUTED_CPU] = 1040;
	tree_totals(&t, &totals);
	assert_int_equal(totals.cpu_ns, 1000);
	assert_int_equal(totals.attributed_ns, 1000);
	t.cpu_ns = t.job[JOB_ATTRIBUTED_CPU] = 2000; /* nobody waited for a half of them */
	tree_totals(&t, &totals);
	assert_int_equal(totals.cpu_ns, 2000);
	assert_int_equal(totals.attributed_ns, 2000);
	t.launched = false; /* attached: who waits is not known */
	t.cpu_ns = t.job[JOB_CPU] = t.job[JOB_ATTRIBUTED_CPU] = 1040;
	tree_totals(&t, &totals);
	assert_int_equal(totals.cpu_ns, 1040);
	t.job[JOB_CPU] = 1050; /* was shown before */
	tree_totals(&t, &totals);
	assert_int_equal(totals.cpu_ns, 1050);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_hold_when_pids_are_looked_for),
		cmocka_unit_test(totals_hold_when_births_are_told),
		cmocka_unit_test(what_was_waited_for_is_the_total),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
