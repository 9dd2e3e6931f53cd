/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "job/scheduler/scheduler.h"
#include "perfmon/aside.h"

#define BATCH    "StepId=17.batch UserId=0 State=RUNNING SrunHost:Pid=(null):0\n"
#define OWN      "StepId=17.0 UserId=0 State=RUNNING Tasks=3 Name=perfmon SrunHost:Pid=n1:100\n"
#define WAITS    "StepId=17.TBD UserId=0 StartTime=Unknown State=PENDING SrunHost:Pid=n1:200\n"
#define RUNS     "StepId=17.1 UserId=0 State=RUNNING SrunHost:Pid=n1:200\n"
#define ELEMENT  "StepId=17_3.0 UserId=0 State=RUNNING SrunHost:Pid=n1:100"
#define EXTERNAL "StepId=17.extern UserId=0 State=RUNNING SrunHost:Pid=(null):0\n"

/* Sruns 100, which started this step 0, and `other`. */
static bool blocks(const char *steps, pid_t other)
{
	struct batch_job job = { .text = { [BATCH_STEP] = "0" } };
	struct aside a = { .job = &job, .waiter = { 100, other }, .nwaiters = 2 };

	return aside_blocks(&a, steps);
}

static void an_srun_without_a_step_waits(void **state)
{
	(void)state;
	assert_true(blocks(BATCH OWN, 200));                /* 20.11, 21.08 */
	assert_true(blocks(BATCH EXTERNAL OWN WAITS, 200)); /* since 22.05 */
	assert_true(blocks(ELEMENT, 200));
}

static void a_step_that_runs_is_not_waited_for(void **state)
{
	(void)state;
	assert_false(blocks(BATCH OWN RUNS, 200));
	assert_false(blocks(BATCH OWN, 100));
}

/* What it waits for may be the other step. */
static void another_step_may_be_what_it_waits_for(void **state)
{
	(void)state;
	assert_false(blocks(BATCH OWN RUNS, 300));
	assert_false(blocks(BATCH OWN RUNS WAITS, 300));
}

static void nothing_is_concluded_from_no_answer(void **state)
{
	static const char *const answers[] = {
		"",
		"\n",
		"slurm_load_job_step error: Unable to contact slurm controller\n",
		BATCH, /* this step is not in it */
		"StepId= State=RUNNING SrunHost:Pid=n1:100\n",
		"State=RUNNING SrunHost:Pid=:\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
		assert_false(blocks(answers[i], 200));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_srun_without_a_step_waits),
		cmocka_unit_test(a_step_that_runs_is_not_waited_for),
		cmocka_unit_test(another_step_may_be_what_it_waits_for),
		cmocka_unit_test(nothing_is_concluded_from_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
