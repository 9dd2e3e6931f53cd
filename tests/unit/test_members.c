/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are the batch job's, in a /proc made for it. */
#include "sampler/tree/members.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct fake {
	char dir[64];
	struct root proc;
	struct batch_job job;
	struct members m;
};

static void put(const struct fake *f, pid_t pid, const char *name, const char *text, size_t len)
{
	char path[128];
	int fd;

	snprintf(path, sizeof path, "%s/%d", f->dir, (int)pid);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/%d/%s", f->dir, (int)pid, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && write(fd, text, len) == (ssize_t)len && !close(fd));
}

/* A process whose command line is its name, in the group. */
static void process(const struct fake *f, pid_t pid, pid_t ppid, const char *comm,
		    const char *group)
{
	char text[256];
	int n = snprintf(text, sizeof text,
			 "%d (%.15s) S %d 1 1 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 100 1000 10 "
			 "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n",
			 (int)pid, comm, (int)ppid);

	put(f, pid, "stat", text, (size_t)n);
	put(f, pid, "cmdline", comm, strlen(comm) + 1);
	put(f, pid, "cgroup", group, strlen(group));
}

/* Its title names the step; its name is the program's. */
static void stepd(const struct fake *f, pid_t pid, const char *title)
{
	process(f, pid, 1, "slurmstepd", "0::/\n");
	put(f, pid, "cmdline", title, strlen(title) + 1);
}

static void last_pid(const struct fake *f, pid_t pid)
{
	char text[64], path[128];
	FILE *out;

	snprintf(text, sizeof text, "0.00 0.00 0.00 1/2 %d\n", (int)pid);
	snprintf(path, sizeof path, "%s/loadavg", f->dir);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void begin(struct fake *f, char *const *environment, const char *group)
{
	memset(f, 0, sizeof *f);
	snprintf(f->dir, sizeof f->dir, "%s", "membersXXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(root_open(&f->proc, f->dir), 0);
	batch_job_find(&f->job, environment, "n1");
	process(f, getpid(), 1, "sonde", group);
}

static void end(struct fake *f)
{
	batch_job_free(&f->job);
	root_close(&f->proc);
}

/* The pids of what came, in their order, as text. */
static void came(struct fake *f, const char *want)
{
	pid_t pid[64];
	char text[512] = "";
	size_t n = members_next(&f->m, pid, 64), len = 0;

	for (pid_t next = 0; n && len + 16 < sizeof text;) {
		pid_t least = 0;

		for (size_t i = 0; i < n; i++)
			if (pid[i] > next && (!least || pid[i] < least))
				least = pid[i];
		if (!least)
			break;
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%d", len ? " " : "",
					(int)least);
		next = least;
	}
	assert_string_equal(text, want);
}

static char *slurm[] = { "SLURM_JOB_ID=4", "SLURM_STEP_ID=1", NULL };

static void opened(struct fake *f, const char *id, const char *how)
{
	struct err e = { "" };

	assert_int_equal(members_open(&f->m, &f->proc, &f->job, id, &e), 0);
	assert_string_equal(f->m.how, how);
}

static void of_all_steps_by_the_jobs_group(void **unused)
{
	struct fake f;

	(void)unused;
	begin(&f, slurm, "5:cpu:/\n4:freezer:/slurm_n1/uid_1/job_4/step_1\n0::/\n");
	process(&f, 100, 1, "app", "5:cpu:/\n4:freezer:/slurm_n1/uid_1/job_4/step_0/task_0\n");
	process(&f, 101, 1, "bash", "4:freezer:/slurm_n1/uid_1/job_4/step_batch\n");
	process(&f, 102, 1, "app", "4:freezer:/slurm_n1/uid_1/job_40/step_0\n");
	process(&f, 103, 1, "app", "5:cpu:/\n0::/\n");
	process(&f, 104, 1, "slurmstepd", "4:freezer:/slurm_n1/uid_1/job_4/step_0\n");
	opened(&f, NULL, "the processes in the control group /slurm_n1/uid_1/job_4");
	came(&f, "100 101");
	end(&f);
}

/* Slurm 26.05 does not name the job in its group. */
static void by_a_group_named_by_sluid(void **unused)
{
	struct fake f;

	(void)unused;
	begin(&f, slurm, "0::/system.slice/slurmstepd.scope/s5K1KKYAYG5D00/step_1/user/task_0\n");
	process(&f, 100, 1, "app",
		"0::/system.slice/slurmstepd.scope/s5K1KKYAYG5D00/step_0/user/task_1\n");
	process(&f, 101, 1, "app",
		"0::/system.slice/slurmstepd.scope/s5K1KKYAYG5D01/step_0/user/task_1\n");
	opened(&f, NULL,
	       "the processes in the control group /system.slice/slurmstepd.scope/s5K1KKYAYG5D00");
	came(&f, "100");
	end(&f);
}

static void by_the_group_of_a_named_job(void **unused)
{
	static const char *const groups[] = {
		"0::/system.slice/slurmstepd.scope/job_7/step_0\n",
		"3:cpuset:/oar/alice_7\n",
		"0::/oar.slice/oar-u1000.slice/oar-u1000-j7.slice\n",
		"0::/pbs_jobs.service/jobid/7\n",
	};

	(void)unused;
	for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
		struct fake f;
		struct err e = { "" };

		begin(&f, NULL, "0::/user.slice\n");
		process(&f, 99, 1, "app", "3:cpuset:/oar/alice_17\n0::/x/job_7\n");
		assert_int_equal(members_open(&f.m, &f.proc, &f.job, "7", &e), -ESRCH);
		assert_string_equal(e.text, "no process of job 7 is seen on this node; within the "
					    "job, give --job without a number");
		process(&f, 100, 1, "app", groups[i]);
		assert_int_equal(members_open(&f.m, &f.proc, &f.job, "7", &e), 0);
		came(&f, "100");
		end(&f);
	}
}

static void below_slurmstepd(void **unused)
{
	struct fake f;

	(void)unused;
	begin(&f, slurm, "0::/\n");
	stepd(&f, 50, "slurmstepd: [4.0]");
	process(&f, 51, 50, "app", "0::/\n");
	process(&f, 52, 51, "child", "0::/\n");
	stepd(&f, 60, "slurmstepd: [40.0]");
	process(&f, 61, 60, "app", "0::/\n");
	stepd(&f, 70, "slurmstepd: [4.batch]"); /* ranks of mpirun, inside the batch step */
	process(&f, 71, 70, "slurm_script", "0::/\n");
	process(&f, 72, 71, "mpirun", "0::/\n");
	process(&f, 73, 72, "rank", "0::/\n");
	process(&f, 74, 71, "srun", "0::/\n");
	process(&f, 80, 1, "sshd", "0::/\n");
	opened(&f, NULL, "the descendants of slurmstepd of job 4");
	/* slurmstepd is root's where this is not the root of a made-up /proc */
	came(&f, "51 52 71 72 73 74");
	assert_true(members_waits(&f.m, 71));
	assert_true(members_waits(&f.m, 74));
	assert_true(members_waits(&f.m, 72));
	assert_false(members_waits(&f.m, 73));
	assert_false(members_waits(&f.m, 51));
	end(&f);
}

static void environment(const struct fake *f, pid_t pid, const char *text, size_t len)
{
	process(f, pid, 1, "app", "0::/\n");
	put(f, pid, "environ", text, len);
}

static void by_a_variable(void **unused)
{
	static char longer[10000];
	struct fake f;
	char *pbs[] = { "PBS_JOBID=0.phead", NULL };

	(void)unused;
	begin(&f, pbs, "0::/\n");
#define ENVIRONMENT(pid, text) environment(&f, pid, text, sizeof text)
	ENVIRONMENT(100, "A=1\0PBS_JOBID=0.phead\0B=2");
	ENVIRONMENT(101, "PBS_JOBID=0.phead");
	environment(&f, 102, "A=1\0PBS_JOBID=0.phead", 21); /* without the last NUL */
	ENVIRONMENT(103, "A=1\0PBS_JOBID=0.phead2");
	ENVIRONMENT(104, "XPBS_JOBID=0.phead");
	ENVIRONMENT(105, "A=PBS_JOBID=0.phead");
	ENVIRONMENT(106, "PBS_JOBID=0.phea");
	memset(longer, 'x', sizeof longer);
	memcpy(longer + 4090, "\0PBS_JOBID=0.phead", 19); /* over the end of what is read at once */
	environment(&f, 107, longer, sizeof longer);
	process(&f, 108, 1, "forbidden", "0::/\n");
	opened(&f, NULL, "this user's processes with PBS_JOBID=0.phead in their environment");
	came(&f, "100 101 102 107");
	end(&f);
}

static void of_this_node_where_others_are_on_the_host(void **unused)
{
	char *job[] = { "SLURM_JOB_ID=4", "SLURM_JOB_NODELIST=a[1-2]", "SLURMD_NODENAME=a2", NULL };
	struct fake f;

	(void)unused;
	begin(&f, job, "0::/\n");
	ENVIRONMENT(100, "SLURM_JOB_ID=4\0SLURMD_NODENAME=a1");
	ENVIRONMENT(101, "SLURM_JOB_ID=4\0SLURMD_NODENAME=a2");
	opened(&f, NULL, "this user's processes with SLURM_JOB_ID=4 in their environment");
	came(&f, "101");
	end(&f);
}

/* Of Grid Engine and LSF all elements have the array's id. */
static void of_this_element_of_an_array(void **unused)
{
	char *job[] = { "JOB_ID=55", "SGE_TASK_ID=3", NULL };
	char *one[] = { "JOB_ID=55", "SGE_TASK_ID=undefined", NULL };
	struct fake f;

	(void)unused;
	begin(&f, job, "0::/\n");
	ENVIRONMENT(100, "JOB_ID=55\0SGE_TASK_ID=2");
	ENVIRONMENT(101, "JOB_ID=55\0SGE_TASK_ID=3");
	ENVIRONMENT(102, "JOB_ID=55\0SGE_TASK_ID=33");
	opened(&f, NULL,
	       "this user's processes with JOB_ID=55 in their environment, and SGE_TASK_ID=3");
	came(&f, "101");
	end(&f);
	begin(&f, one, "0::/\n");
	ENVIRONMENT(100, "JOB_ID=55\0SGE_TASK_ID=undefined");
	ENVIRONMENT(101, "JOB_ID=55");
	opened(&f, NULL, "this user's processes with JOB_ID=55 in their environment");
	came(&f, "100 101");
	end(&f);
}

/* HTCondor's variables have no id: the folder of the job tells. */
static void by_what_is_the_jobs_own(void **unused)
{
	char *job[] = { "_CONDOR_SCRATCH_DIR=/execute/dir_7", "_CONDOR_JOB_AD=/dev/null", NULL };
	struct fake f;

	(void)unused;
	begin(&f, job, "0::/\n");
	f.job.text[BATCH_RAW_ID] = "4.0";
	ENVIRONMENT(100, "_CONDOR_SCRATCH_DIR=/execute/dir_7");
	ENVIRONMENT(101, "_CONDOR_SCRATCH_DIR=/execute/dir_77");
	opened(&f, NULL,
	       "this user's processes with _CONDOR_SCRATCH_DIR=/execute/dir_7 in their environment");
	came(&f, "100");
	end(&f);
}

static void else_all_of_the_user(void **unused)
{
	struct fake f;
	char want[128];

	(void)unused;
	begin(&f, NULL, "0::/\n");
	process(&f, getpid(), 91, "sonde", "0::/\n");
	process(&f, 90, 1, "bash", "0::/\n");
	process(&f, 91, 90, "sh", "0::/\n");
	process(&f, 100, 1, "app", "0::/\n");
	process(&f, 101, 90, "app", "0::/\n");
	snprintf(want, sizeof want,
		 "every process of user %d but Sonde's own, because no batch job was found",
		 (int)geteuid());
	opened(&f, NULL, want);
	came(&f, "100 101");
	end(&f);
}

static void what_came_since(void **unused)
{
	static const char ours[] = "0::/system.slice/slurmstepd.scope/job_4/step_0\n";
	struct fake f;

	(void)unused;
	begin(&f, slurm, ours);
	process(&f, 100, 1, "app", ours);
	last_pid(&f, 100);
	opened(&f, NULL, "the processes in the control group /system.slice/slurmstepd.scope/job_4");
	came(&f, "100");
	process(&f, 105, 1, "later", ours);
	came(&f, ""); /* no pid was given out */
	last_pid(&f, 110);
	process(&f, 90, 1, "not looked at", ours);
	came(&f, "105");
	came(&f, "");
	last_pid(&f, 95); /* the numbers began again */
	came(&f, "90 100 105");
	end(&f);
}

/* Its number is given out as pids are, and its files can be read by it. */
/* Between fork and exec a process has still its parent's environment. */
static void one_that_had_not_executed_yet(void **unused)
{
	char *pbs[] = { "PBS_JOBID=0.phead", NULL };
	struct fake f;

	(void)unused;
	begin(&f, pbs, "0::/\n");
	last_pid(&f, 99);
	opened(&f, NULL, "this user's processes with PBS_JOBID=0.phead in their environment");
	came(&f, "");
	process(&f, 100, 1, "sh", "0::/\n");
	ENVIRONMENT(100, "A=1");
	last_pid(&f, 100);
	came(&f, "");
	ENVIRONMENT(100, "PBS_JOBID=0.phead");
	came(&f, "100");
	came(&f, "");
	end(&f);
}

static void a_thread_is_none(void **unused)
{
	static const char ours[] = "0::/system.slice/slurmstepd.scope/job_4/step_0\n";
	static const char thread[] = "Name:\tapp\nTgid:\t100\nPid:\t101\n";
	static const char leader[] = "Name:\tapp\nTgid:\t102\nPid:\t102\n";
	struct fake f;

	(void)unused;
	begin(&f, slurm, ours);
	process(&f, 100, 1, "app", ours);
	last_pid(&f, 100);
	opened(&f, NULL, "the processes in the control group /system.slice/slurmstepd.scope/job_4");
	came(&f, "100");
	process(&f, 101, 1, "app", ours);
	put(&f, 101, "status", thread, sizeof thread - 1);
	process(&f, 102, 1, "app", ours);
	put(&f, 102, "status", leader, sizeof leader - 1);
	last_pid(&f, 102);
	came(&f, "102");
	end(&f);
}

static void sondes_own_until_it_becomes_the_jobs(void **unused)
{
	static const char ours[] = "0::/system.slice/slurmstepd.scope/job_4/step_0\n";
	char self[512], exe[128], other[128];
	struct fake f;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	(void)unused;
	assert_true(n > 0);
	self[n] = '\0';
	begin(&f, slurm, ours);
	process(&f, 100, 1, "sonde", ours);
	snprintf(exe, sizeof exe, "%s/100/exe", f.dir);
	assert_int_equal(symlink(self, exe), 0);
	process(&f, 101, 1, "sonde-nvml", ours);
	process(&f, 103, 1, "sonde-unwind", ours); /* below who looks at waits */
	snprintf(other, sizeof other, "%s/103/exe", f.dir);
	assert_int_equal(symlink("/bin/sh", other), 0); /* a program of its own */
	process(&f, 102, 1, "app", ours);
	last_pid(&f, 102);
	opened(&f, NULL, "the processes in the control group /system.slice/slurmstepd.scope/job_4");
	came(&f, "102");
	came(&f, "");
	assert_true(members_is_own(&f.m, 100));
	assert_true(members_is_own(&f.m, 101));
	assert_true(members_is_own(&f.m, 103));
	assert_false(members_is_own(&f.m, 102));
	unlink(exe); /* it executes the job's program */
	came(&f, "100");
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_all_steps_by_the_jobs_group),
		cmocka_unit_test(by_a_group_named_by_sluid),
		cmocka_unit_test(by_the_group_of_a_named_job),
		cmocka_unit_test(below_slurmstepd),
		cmocka_unit_test(by_a_variable),
		cmocka_unit_test(of_this_element_of_an_array),
		cmocka_unit_test(of_this_node_where_others_are_on_the_host),
		cmocka_unit_test(by_what_is_the_jobs_own),
		cmocka_unit_test(else_all_of_the_user),
		cmocka_unit_test(what_came_since),
		cmocka_unit_test(one_that_had_not_executed_yet),
		cmocka_unit_test(a_thread_is_none),
		cmocka_unit_test(sondes_own_until_it_becomes_the_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
