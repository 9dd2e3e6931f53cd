/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "job/scheduler/ask.h"

#define JOB "JobId=1 JobName=script UserId=u(1) "

static struct scheduler_answer job(const char *text)
{
	struct scheduler_answer a;

	scheduler_answer_job(&a, text);
	return a;
}

/* As Slurm 22.05.8 says it while the steps of the job end. */
static void what_ends_a_job_is_told_while_it_ends(void **state)
{
	static const struct {
		const char *says, *state;
	} rows[] = {
		{ JOB "JobState=COMPLETING Reason=TimeLimit ExitCode=0:15 X=1", "TIMEOUT" },
		{ JOB "JobState=TIMEOUT Reason=TimeLimit ExitCode=0:15 X=1", "TIMEOUT" },
		{ JOB "JobState=COMPLETING Reason=NodeDown ExitCode=0:0 X=1", "NODE_FAIL" },
		{ JOB "JobState=COMPLETING Reason=None ExitCode=0:15 X=1", "CANCELLED" },
		{ JOB "JobState=COMPLETING Reason=None ExitCode=0:0 X=1", "COMPLETING" },
		{ JOB "JobState=RUNNING Reason=None ExitCode=0:0 X=1", "RUNNING" },
		{ "slurm_load_jobs error: Invalid job id specified\n", "" },
		{ "", "" },
		{ "JobState=", "" },
		{ "JobState=\033[31mX", "" },
		{ "JobState=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA ", "AAAAAAAAAAAAAAAAAAAAAAA" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_string_equal(job(rows[i].says).state, rows[i].state);
}

static void accounts_name_the_end(void **state)
{
	static const struct {
		const char *says, *state;
		int64_t exit_code, left;
	} rows[] = {
		{ "CANCELLED by 0\n", "CANCELLED", 0, -1 },
		{ "CANCELLED+\n", "CANCELLED", 143, 143 },
		{ "COMPLETED\n", "COMPLETED", 0, 0 },
		{ "FAILED", "FAILED", 3, 3 },
		{ "OUT_OF_MEMORY\n", "OUT_OF_MEMORY", 1, 1 },
		{ "RUNNING\n", "", 3, 3 },
		{ "CANCEL", "", 3, 3 },
		{ "Slurm accounting storage is disabled\n", "", 0, 0 },
		{ "", "", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scheduler_answer a = { .exit_code = rows[i].exit_code };

		assert_int_equal(scheduler_answer_accounts(&a, rows[i].says),
				 rows[i].state[0] != '\0');
		assert_string_equal(a.state, rows[i].state);
		assert_int_equal(a.exit_code, rows[i].left);
	}
}

static void limits_are_seconds(void **state)
{
	static const struct {
		const char *says;
		int64_t seconds;
	} rows[] = {
		{ "JobState=TIMEOUT TimeLimit=00:01:00 TimeMin=N/A", 60 },
		{ "JobState=TIMEOUT TimeLimit=1-02:03:04 TimeMin=N/A", 93784 },
		{ "JobState=TIMEOUT TimeLimit=365-00:00:00 X=1", 31536000 },
		{ "JobState=TIMEOUT TimeLimit=UNLIMITED X=1", -1 },
		{ "JobState=TIMEOUT TimeLimit= X=1", -1 },
		{ "JobState=TIMEOUT TimeLimit=99999999999999999999:00 X=1", -1 },
		{ "JobState=TIMEOUT TimeLimit=1:-2 X=1", -1 },
		{ "JobState=TIMEOUT", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(job(rows[i].says).time_limit_s, rows[i].seconds);
}

static void nodes_that_are_down_are_named(void **state)
{
	struct scheduler_answer a = { .time_limit_s = -1 };

	(void)state;
	scheduler_answer_nodes(
		&a, "NodeName=n1 Arch=x86_64 State=IDLE ThreadsPerCore=1 ExtSensorsTemp=n/s\n"
		    "NodeName=n2 State=ALLOCATED* X=1\n"
		    "NodeName=n3 State=DOWN+NOT_RESPONDING X=1 Reason=Not responding "
		    "[root@2026-11-23T19:05:05]\n"
		    "NodeName=n4 State=DOWN* X=1 Reason=Power supply [root@now]\n"
		    "garbage State=DOWN\n");
	assert_string_equal(a.lost, "n2, n3, n4");
	assert_string_equal(a.lost_why, "Not responding");
	a = (struct scheduler_answer){ .time_limit_s = -1 };
	for (int i = 0; i < 100; i++)
		scheduler_answer_nodes(&a, "NodeName=a-rather-long-name State=DOWN\n");
	assert_true(a.lost[0] && !a.lost_why[0]);
}

#define OVER                                                                                       \
	"JobId=7 JobName=a long name UserId=u(1) GroupId=u(1) Account=physics QOS=normal JobState=COMPLETING "

static void what_a_prolog_is_not_told_is_asked(void **state)
{
	struct scheduler_answer a = job(OVER "ExitCode=3:0 MinMemoryNode=62.50G MinTmpDiskNode=0");

	(void)state;
	assert_string_equal(a.name, "a long name");
	assert_string_equal(a.account, "physics");
	assert_string_equal(a.qos, "normal");
	assert_true(a.exit_code == 3 && !a.signal);
	assert_true(a.node_memory_bytes == 125LL << 29 && a.cpu_memory_bytes == -1);
	a = job(OVER "Account=(null) QOS=(null) ExitCode=0:9 MinMemoryCPU=500M");
	assert_true(!a.exit_code && a.signal == 9);
	assert_true(a.cpu_memory_bytes == 500LL << 20 && a.node_memory_bytes == -1);
	a = job("JobName=(null) JobState=RUNNING Account=(null) QOS=(null)");
	assert_true(!a.name[0] && !a.account[0] && !a.qos[0] && a.exit_code == -1);
}

static void odd_answers_are_none(void **state)
{
	static const char *const memory[] = {
		"0", "", "G", "1X", "-1G", "1GG", "99999999999999999P", "1.5.5G"
	};
	static const char *const ends[] = { "", "1", "1:", ":1", "-1:0", "0:256", "256:0", "a:b" };
	char text[100];

	(void)state;
	for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
		snprintf(text, sizeof text, "JobState=X MinMemoryNode=%s Y=1", memory[i]);
		assert_int_equal(job(text).node_memory_bytes, -1);
	}
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		snprintf(text, sizeof text, "JobState=X ExitCode=%s Y=1", ends[i]);
		assert_int_equal(job(text).exit_code, -1);
		assert_int_equal(job(text).signal, -1);
	}
	assert_int_equal(job("JobState=X MinMemoryNode=512").node_memory_bytes, 512 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ends_a_job_is_told_while_it_ends),
		cmocka_unit_test(accounts_name_the_end),
		cmocka_unit_test(limits_are_seconds),
		cmocka_unit_test(nodes_that_are_down_are_named),
		cmocka_unit_test(what_a_prolog_is_not_told_is_asked),
		cmocka_unit_test(odd_answers_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
