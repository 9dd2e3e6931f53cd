/* SPDX-License-Identifier: Apache-2.0 */
/* What to ask for next time, in the words of each batch system. */
#include "report/judging/verdict.h"

#include "summary_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Four nodes of 16 cores, 64 GiB, 2 GPUs and 8 hours, of which less was needed; what "" says no
 * line can say. */
static const struct {
	const char *scheduler, *asked;
	enum resource resource;
	double amount;
	const char *line;
} cases[] = {
	{ "slurm", "tasks_asked=4", RESOURCE_CORES, 3.2, "#SBATCH --cpus-per-task=4" },
	{ "slurm", "tasks_asked=16", RESOURCE_CORES, 9, "#SBATCH --cpus-per-task=3" },
	{ "slurm", "tasks_asked=16", RESOURCE_CORES, 13, "" }, /* what it had */
	{ "slurm", "tasks_asked=16", RESOURCE_CORES, 21, "#SBATCH --cpus-per-task=6" },
	{ "slurm", "tasks_asked=64", RESOURCE_CORES, 5.5,
	  "#SBATCH --ntasks=24 --ntasks-per-node=6" },
	{ "slurm", "nodes_asked=1 tasks_asked=64", RESOURCE_CORES, 5.5, "#SBATCH --ntasks=6" },
	{ "slurm", "", RESOURCE_MEMORY, 5.01 * 1073741824, "#SBATCH --mem=5248M" },
	{ "slurm", "", RESOURCE_MEMORY, 8.01 * 1073741824, "#SBATCH --mem=9G" },
	{ "slurm", "", RESOURCE_MEMORY, 3.9 * 1073741824, "#SBATCH --mem=4G" },
	{ "slurm", "", RESOURCE_MEMORY, 33e6, "#SBATCH --mem=128M" },
	{ "slurm", "", RESOURCE_MEMORY, 200e6, "#SBATCH --mem=256M" },
	{ "slurm", "", RESOURCE_GPUS, 1, "#SBATCH --gres=gpu:1" },
	{ "slurm", "", RESOURCE_GPUS, 0, "" },
	{ "slurm", "", RESOURCE_TIME, 61 * 60, "#SBATCH --time=01:05:00" },
	{ "slurm", "", RESOURCE_TIME, 26.1 * 3600, "#SBATCH --time=26:15:00" },
	{ "pbs", "", RESOURCE_CORES, 4, "#PBS -l select=4:ncpus=4:mem=64gb:ngpus=2" },
	{ "pbs", "tasks_asked=16", RESOURCE_MEMORY, 1e10,
	  "#PBS -l select=4:ncpus=16:mpiprocs=4:mem=10gb:ngpus=2" },
	{ "pbs", "", RESOURCE_TIME, 1, "#PBS -l walltime=00:05:00" },
	{ "torque", "", RESOURCE_CORES, 4, "#PBS -l nodes=4:ppn=4:gpus=2" },
	{ "torque", "", RESOURCE_MEMORY, 1e10, "#PBS -l mem=38gb" },
	{ "oar", "gpus_asked=nan", RESOURCE_CORES, 4, "#OAR -l nodes=4/core=4,walltime=08:00:00" },
	{ "oar", "", RESOURCE_GPUS, 1, "#OAR -l nodes=4/gpu=1,walltime=08:00:00" },
	{ "oar", "", RESOURCE_MEMORY, 1e10, "" },
	{ "lsf", "", RESOURCE_CORES, 4, "" },
	{ NULL, "", RESOURCE_CORES, 4, "" },
};

static void test_each_system_has_its_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct fixture f;
		char text[256];

		snprintf(text, sizeof text,
			 "nodes=4 cores_asked=64 memory_asked_bytes=274877906944 gpus_asked=8 "
			 "time_limit_seconds=28800 nodes_asked=4 %s",
			 cases[i].asked);
		fixture_init(&f, text);
		f.s.scheduler = cases[i].scheduler;
		f.s.nverdicts = 1;
		f.s.verdicts[0].resource = cases[i].resource;
		f.s.verdicts[0].amount = cases[i].amount;
		requests_write(&f.s);
		assert_string_equal(f.s.verdicts[0].next, cases[i].line);
	}
}

/* What was needed, the rule's margin, and what is to spare in the line as it is rounded. */
static void test_what_is_to_spare_is_that_of_the_line(void **state)
{
	static const struct {
		const char *scheduler;
		enum resource resource;
		double needed, margin, spare;
		const char *next;
	} rows[] = {
		{ "slurm", RESOURCE_MEMORY, 70.0 * 1048576, 0.25, 128.0 / 70 - 1,
		  "Next time: #SBATCH --mem=128M (83 % to spare)" },
		{ "slurm", RESOURCE_MEMORY, 1024.0 * 1048576, 0.25, 0.25,
		  "Next time: #SBATCH --mem=1280M (25 % to spare)" },
		{ "slurm", RESOURCE_CORES, 5, 0.2, 0.6, /* 4 tasks a node */
		  "Next time: #SBATCH --cpus-per-task=2 (60 % to spare)" },
		{ "slurm", RESOURCE_TIME, 600, 0.5, 0.5,
		  "Next time: #SBATCH --time=00:15:00 (50 % to spare)" },
		{ "torque", RESOURCE_MEMORY, 100.0 * 1048576, 0.25, 0.28,
		  "Next time: #PBS -l mem=512mb (28 % to spare)" },
		{ "pbs", RESOURCE_TIME, 60, 0.5, 4,
		  "Next time: #PBS -l walltime=00:05:00 (400 % to spare)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct summary_verdict *v;
		struct fixture f;
		char text[128];

		fixture_init(&f, "nodes=4 nodes_asked=4 tasks_asked=16 cores_asked=64 "
				 "time_limit_seconds=28800");
		f.s.scheduler = rows[i].scheduler;
		f.s.nverdicts = 1;
		v = &f.s.verdicts[0];
		v->resource = rows[i].resource;
		v->margin = rows[i].margin;
		v->amount = rows[i].needed * (1 + rows[i].margin);
		requests_write(&f.s);
		assert_string_equal(verdict_next(v, text, sizeof text), rows[i].next);
		assert_true(fabs(v->margin - rows[i].spare) < 1e-9);
	}
}

/* A step's own layout is not the job's: without it nobody can say how many CPUs each task needs. */
static void test_without_the_jobs_layout_no_line_asks_for_cores(void **state)
{
	struct summary_task tasks[8] = { 0 };
	struct summary_step step = { .first = 0, .n = 8 };
	struct fixture f;

	(void)state;
	fixture_init(&f, "nodes=2 nodes_asked=2 cores_asked=64");
	f.s.scheduler = "slurm";
	f.s.nverdicts = 1;
	f.s.verdicts[0].resource = RESOURCE_CORES;
	f.s.verdicts[0].amount = 20;
	f.s.layout_unknown = true;
	requests_write(&f.s);
	assert_string_equal(f.s.verdicts[0].next, "");
	f.s.tasks = tasks; /* but those that ran tell it */
	f.s.steps = &step;
	f.s.ntasks = 8;
	f.s.nsteps = 1;
	requests_write(&f.s);
	assert_string_equal(f.s.verdicts[0].next, "#SBATCH --cpus-per-task=5");
	f.s.nsteps = 0;
	f.s.layout_unknown = false;
	requests_write(&f.s);
	assert_string_equal(f.s.verdicts[0].next, "#SBATCH --cpus-per-task=20");
}

static void test_memory_of_each_core_stays_so(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, "cores_asked=4 memory_asked_bytes=34359738368");
	f.s.scheduler = "slurm";
	f.s.memory_asked_per_core = true;
	f.s.nverdicts = 1;
	f.s.verdicts[0].resource = RESOURCE_MEMORY;
	f.s.verdicts[0].amount = 8.0 * 1073741824;
	requests_write(&f.s);
	assert_string_equal(f.s.verdicts[0].next, "#SBATCH --mem-per-cpu=2G");
}

/* In PBS one line asks for all: what two verdicts advise is in both of theirs. */
static void test_one_line_holds_what_all_verdicts_advise(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, "cores_asked=16 memory_asked_bytes=68719476736");
	f.s.scheduler = "pbs";
	f.s.nverdicts = 2;
	f.s.verdicts[0].resource = RESOURCE_CORES;
	f.s.verdicts[0].amount = 4;
	f.s.verdicts[1].resource = RESOURCE_MEMORY;
	f.s.verdicts[1].amount = 8.0 * 1073741824;
	requests_write(&f.s);
	assert_string_equal(f.s.verdicts[0].next, "#PBS -l select=1:ncpus=4:mem=8gb");
	assert_string_equal(f.s.verdicts[1].next, "#PBS -l select=1:ncpus=4:mem=8gb");
}

/* Killed near its limit, and near its limit: the first asks for more. */
static void test_the_worst_verdict_on_a_resource_has_the_word(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f, "memory_asked_bytes=8589934592");
	f.s.scheduler = "slurm";
	f.s.nverdicts = 2;
	for (int i = 0; i < 2; i++) {
		f.s.verdicts[i].resource = RESOURCE_MEMORY;
		f.s.verdicts[i].amount = (12.0 - 2 * i) * 1073741824;
	}
	requests_write(&f.s);
	assert_string_equal(f.s.verdicts[0].next, "#SBATCH --mem=12G");
	assert_string_equal(f.s.verdicts[1].next, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_system_has_its_words),
		cmocka_unit_test(test_what_is_to_spare_is_that_of_the_line),
		cmocka_unit_test(test_without_the_jobs_layout_no_line_asks_for_cores),
		cmocka_unit_test(test_memory_of_each_core_stays_so),
		cmocka_unit_test(test_one_line_holds_what_all_verdicts_advise),
		cmocka_unit_test(test_the_worst_verdict_on_a_resource_has_the_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
