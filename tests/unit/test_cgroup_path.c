/* SPDX-License-Identifier: Apache-2.0 */
/* What the paths of control groups tell. */
#include "source/cgroup/cgroup_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void names_tell_the_level(void **unused)
{
	static const struct {
		const char *path;
		enum cgroup_level level;
		const char *job;
	} cases[] = {
		{ "/slurm/uid_1/job_2/step_batch/task_0", LEVEL_TASK, "/slurm/uid_1/job_2" },
		{ "/slurm_n1/uid_1/job_2/step_3", LEVEL_STEP, "/slurm_n1/uid_1/job_2" },
		{ "/system.slice/slurmstepd.scope/job_2/step_0/slurm", LEVEL_STEP,
		  "/system.slice/slurmstepd.scope/job_2" },
		{ "/system.slice/n1_slurmstepd.scope/s5K1/step_0/user/task_0", LEVEL_TASK,
		  "/system.slice/n1_slurmstepd.scope/s5K1" },
		{ "/system.slice/slurmstepd.scope/system", LEVEL_SLICE, "" },
		{ "/oar/alice_77", LEVEL_JOB, "/oar/alice_77" },
		{ "/oar.slice/oar-u1000.slice/oar-u1000-j77.slice/x", LEVEL_JOB,
		  "/oar.slice/oar-u1000.slice/oar-u1000-j77.slice" },
		{ "/pbs_jobs.service/jobid/0.phead", LEVEL_JOB, "/pbs_jobs.service/jobid/0.phead" },
		{ "/site.service/jobid/1.p", LEVEL_JOB, "/site.service/jobid/1.p" },
		{ "/pbspro/jobid/1.p/x", LEVEL_JOB, "/pbspro/jobid/1.p" },
		{ "/user.slice/user-0.slice/session-1.scope", LEVEL_SLICE, "" },
		{ "/sessions/job_1/step_2/task_3", LEVEL_SLICE, "" },
		{ "/", LEVEL_SLICE, "" },
		{ "//", LEVEL_SLICE, "" },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t job;

		assert_int_equal(cgroup_path_level(cases[i].path, &job), cases[i].level);
		assert_int_equal(job, strlen(cases[i].job));
		assert_memory_equal(cases[i].path, cases[i].job, job);
	}
}

static void paths_are_below_their_mount(void **unused)
{
	(void)unused;
	assert_string_equal(cgroup_path_below("/", "/a/b"), "a/b");
	assert_string_equal(cgroup_path_below("/", "/"), "");
	assert_string_equal(cgroup_path_below("/a", "/a/b"), "b");
	assert_string_equal(cgroup_path_below("/a/b", "/a/b"), "");
	assert_string_equal(cgroup_path_below("/..", "/../x"), "x");
	assert_string_equal(cgroup_path_below("/", "/..x"), "..x");
	assert_null(cgroup_path_below("/a", "/ab"));
	assert_null(cgroup_path_below("/a/b", "/a"));
	assert_null(cgroup_path_below("/", "/.."));
	assert_null(cgroup_path_below("/", "/../x"));
	assert_null(cgroup_path_below("/..", "/"));
	assert_null(cgroup_path_below("/..", "/../../x"));
}

static void each_controller_has_its_path(void **unused)
{
	static const char text[] = "12:cpu,cpuacct:/a:b c\n3:memory:\n2:name=systemd:/s\n0::/u/v\n";
	char path[CGROUP_PATH_SIZE];

	(void)unused;
	assert_true(cgroup_path_find(text, "cpuacct", path));
	assert_string_equal(path, "/a:b c");
	assert_true(cgroup_path_find(text, "cpu", path));
	assert_true(cgroup_path_find(text, "", path));
	assert_string_equal(path, "/u/v");
	assert_false(cgroup_path_find(text, "cpua", path));
	assert_false(cgroup_path_find(text, "memory", path));
	assert_false(cgroup_path_find(text, "pids", path));
	assert_false(cgroup_path_find("", "", path));
}

static void what_is_one_tasks_is_cut(void **unused)
{
	static const struct {
		const char *path, *step;
	} cases[] = {
		{ "/system.slice/slurmstepd.scope/job_7/step_0/user/task_3",
		  "/system.slice/slurmstepd.scope/job_7/step_0/user" },
		{ "/slurm/uid_1000/job_7/step_batch/task_0/mine",
		  "/slurm/uid_1000/job_7/step_batch" },
		{ "/slurm/uid_1000/job_7/step_0", "/slurm/uid_1000/job_7/step_0" },
		{ "/oar/someone_12", "/oar/someone_12" },
		{ "/sessions/job_1/step_2/task_3", "/sessions/job_1/step_2/task_3" },
		{ "/", "/" },
		{ "", "" },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char path[CGROUP_PATH_SIZE];

		snprintf(path, sizeof path, "%s", cases[i].path);
		cgroup_path_to_step(path);
		assert_string_equal(path, cases[i].step);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_the_level),
		cmocka_unit_test(what_is_one_tasks_is_cut),
		cmocka_unit_test(paths_are_below_their_mount),
		cmocka_unit_test(each_controller_has_its_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
