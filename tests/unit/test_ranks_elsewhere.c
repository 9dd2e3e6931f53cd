/* SPDX-License-Identifier: Apache-2.0 */
/* A recording of a launcher of ranks says so before all else; one that has the ranks does not. */
#include "summary_made.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct {
	const char *seen[4]; /* names of processes of the first recording */
	const char *other;   /* and one of a second, if there is one */
	bool attached;
	const char *launcher;  /* NULL: its ranks are recorded */
	const char *scheduler; /* of a job on n1 and n2, n2 not recorded */
} cases[] = {
	{ { "bash", "srun" }, NULL, false, "srun", NULL },
	{ { "srun", "srun", "gzip" }, NULL, false, "srun", NULL },
	{ { "aprun" }, NULL, false, "aprun", NULL },
	{ { "bash", "jsrun" }, NULL, false, "jsrun", NULL },
	{ { "palsrun" }, NULL, false, "palsrun", NULL },
	{ { "prun" }, NULL, false, "prun", NULL },
	{ { "python3 flux-run.py" }, NULL, false, "flux run", NULL },
	/* under Slurm mpirun starts its daemons by srun, else by a remote shell */
	{ { "mpiexec.mpich", "srun" }, NULL, false, "mpiexec", NULL },
	{ { "srun", "mpirun.openmpi" }, NULL, false, "mpirun", NULL },
	{ { "mpirun", "ssh", "app" }, NULL, false, "mpirun", NULL },
	{ { "mpiexec.hydra", "pbs_tmrsh" }, NULL, false, "mpiexec", NULL },
	{ { "bash", "mpirun", "oarsh" }, NULL, false, "mpirun", NULL },
	{ { "srun" }, "srun", false, "srun", NULL }, /* two launches of one job */
	{ { "poe" }, NULL, false, "poe", NULL },
	{ { "pbsdsh" }, NULL, false, "pbsdsh", NULL },
	{ { "mpiexec_mpt" }, NULL, false, "mpiexec_mpt", NULL },
	{ { "python3 flux-submit.py" }, NULL, false, "flux submit", NULL },
	{ { "mpirun_rsh", "ssh" }, NULL, false, "mpirun_rsh", NULL },
	{ { "charmrun", "ssh", "app" }, NULL, false, "charmrun", NULL },
	{ { "python3 deepspeed", "pdsh" }, NULL, false, "deepspeed", NULL },
	/* these start daemons on other nodes by a call */
	{ { "mpirun", "app" }, NULL, false, "mpirun", "pbs" },
	{ { "sh", "mpirun.real", "app" }, NULL, false, "mpirun", "torque" },
	{ { "mpiexec", "app" }, NULL, false, "mpiexec", "lsf" },
	{ { "mpirun", "app" }, NULL, false, NULL, "slurm" },
	{ { "sh", "app" }, NULL, false, NULL, "pbs" },
	{ { "mpirun", "app" }, "app", false, NULL, "pbs" }, /* both are recorded */
	/* ranks of this node alone, and what is no launcher */
	{ { "mpirun", "app" }, NULL, false, NULL, NULL },
	{ { "mpiexec.hydra", "hydra_pmi_proxy", "app" }, NULL, false, NULL, NULL },
	{ { "ssh" }, NULL, false, NULL, NULL },
	{ { "srunner", "mprun" }, NULL, false, NULL, NULL },
	{ { "srun" }, "app", false, NULL, NULL }, /* recorded behind it, too */
	{ { "srun", "app" }, NULL, true, NULL, NULL },
};

static void test_a_launcher_without_its_ranks_is_told(void **state)
{
	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		struct synthetic *x = with_work(cases[c].other ? 2 : 1);
		struct summary s;

		for (size_t i = 0; i < 4 && cases[c].seen[i]; i++)
			instance(x, 1, i % 2 ? "command" : "process", cases[c].seen[i], true);
		if (cases[c].other)
			instance(x, 2, "process", cases[c].other, true);
		if (cases[c].attached)
			meta_text(x, "job.members", "of the job's control group");
		if (cases[c].scheduler) {
			meta_text(x, "job.scheduler", cases[c].scheduler);
			meta_text(x, "job.nodes", "n[1-2]");
		}
		/* What else would be told to ask for less. */
		meta_int(x, 1, "job.cores_asked", 64);
		meta_int(x, 1, "job.exit_code", 0);
		s = made(x);
		assert_true(s.nverdicts > 0);
		if (cases[c].launcher) {
			assert_string_equal(s.verdicts[0].rule, "ranks-elsewhere");
			assert_string_equal(s.story.launcher, cases[c].launcher);
			assert_int_equal(s.nverdicts, 1);
		} else {
			assert_string_equal(s.story.launcher, "");
			assert_string_not_equal(s.verdicts[0].rule, "ranks-elsewhere");
		}
		done(&s, x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_launcher_without_its_ranks_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
