/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch job is known by, from environments as they were recorded in jobs. */
#include "base/bytes.h"
#include "job/scheduler/scheduler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VARIABLES_MAX = 200 };

struct environment {
	char text[16384], path[4096];
	char *variable[VARIABLES_MAX];
};

/* "NAME=@FILE" is a file beside. */
static char *with_path(struct environment *x, size_t *used, char *line)
{
	size_t name = strcspn(line, "="), room = sizeof x->path - *used;
	char *out = x->path + *used;

	if (strncmp(line + name, "=@", 2) != 0)
		return line;
	*used += 1 + (size_t)snprintf(out, room, "%.*s=%s/tests/fixtures/jobs/%s", (int)name, line,
				      getenv("TOP"), line + name + 2);
	assert_true(*used <= sizeof x->path);
	return out;
}

static void load(struct environment *x, const char *name)
{
	char path[256];
	size_t n = 0, used = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/fixtures/jobs/%s.env", getenv("TOP"), name);
	f = fopen(path, "r");
	assert_non_null(f);
	x->text[fread(x->text, 1, sizeof x->text - 1, f)] = '\0';
	fclose(f);
	for (char *line = x->text; *line && n < VARIABLES_MAX - 1;) {
		char *end = line + strcspn(line, "\n");

		char *next = end + (*end == '\n');

		*end = '\0';
		x->variable[n++] = with_path(x, &used, line);
		line = next;
	}
	x->variable[n] = NULL;
}

static void put_number(struct bytes *b, const char *name, int64_t v)
{
	if (v >= 0)
		bytes_printf(b, " %s=%lld", name, (long long)v);
}

/* All that was found, in a line. */
static void describe(const struct batch_job *j, struct bytes *b)
{
	const char *system = batch_job_system(j), *part = batch_part_name(j->part);

	bytes_reset(b);
	bytes_printf(b, "%s %s", system ? system : "none", j->id[0] ? j->id : "-");
	if (j->text[BATCH_STEP])
		bytes_printf(b, " step=%s", j->text[BATCH_STEP]);
	if (part)
		bytes_printf(b, " in=%s", part);
	if (j->nodes.n)
		bytes_puts(b, " nodes=");
	hostlist_compress(&j->nodes, b);
	bytes_printf(b, " node=%s", j->node);
	put_number(b, "index", j->number[BATCH_NODE_INDEX]);
	put_number(b, "of", j->number[BATCH_NODES]);
	if (j->launcher)
		bytes_printf(b, " by=%s", j->launcher);
	put_number(b, "rank", j->number[BATCH_RANK]);
	put_number(b, "ranks", j->number[BATCH_RANKS]);
	put_number(b, "local", j->number[BATCH_LOCAL_RANK]);
	put_number(b, "locals", j->number[BATCH_LOCAL_RANKS]);
	put_number(b, "tasks", j->number[BATCH_TASKS_ASKED]);
	put_number(b, "cores", j->number[BATCH_CORES_ASKED]);
	put_number(b, "memory", j->number[BATCH_MEMORY_ASKED]);
	put_number(b, "gpus", j->number[BATCH_GPUS_ASKED]);
	put_number(b, "seconds", j->number[BATCH_TIME_LIMIT]);
	put_number(b, "restarts", j->number[BATCH_RESTARTS]);
	put_number(b, "components", j->number[BATCH_COMPONENTS]);
	if (j->why.text[0])
		bytes_printf(b, " (%s)", j->why.text);
	bytes_u8(b, '\0');
}

static void found(const char *name, const char *host, const char *want)
{
	struct environment x;
	struct batch_job j;
	struct bytes b = { 0 };

	load(&x, name);
	batch_job_find(&j, x.variable, host);
	describe(&j, &b);
	assert_string_equal((const char *)b.data, want);
	bytes_free(&b);
	batch_job_free(&j);
}

static void slurm_in_a_script(void **unused)
{
	(void)unused;
	found("slurm-batch", "n1",
	      "slurm 4 step=batch in=script nodes=n[1-3] node=n1 index=0 of=3 tasks=6 cores=2");
	found("slurm-salloc", "head",
	      "slurm 4 in=submitting shell nodes=n[1-3] node=head of=3 tasks=6 cores=2");
	found("slurm-asked", "n1",
	      "slurm 4 step=batch in=script nodes=n[1-3] node=n1 index=0 of=3 tasks=6 cores=2 "
	      "memory=4294967296 gpus=3 seconds=3600 restarts=2");
}

/* Said, and nothing made up of both. */
static void variables_that_contradict_each_other(void **unused)
{
	(void)unused;
	found("contradicting-systems", "n1",
	      "slurm 4 step=batch in=script nodes=n[1-3] node=n1 index=0 of=3 tasks=6 cores=2 "
	      "(PBS_JOBID is set as in a PBS job, but this is taken as a Slurm job)");
	found("contradicting-nodes", "n1",
	      "slurm 4 step=batch in=script nodes=n[1-2] node=n1 index=0 of=2 tasks=6 cores=2 "
	      "(the node count is 3, but the node list has 2: using the list)");
	found("contradicting-ranks", "n2",
	      "slurm 4 step=1 in=step nodes=n[1-3] node=n2 index=1 of=3 cores=2 "
	      "(the rank is 7, but there are 2 ranks: using neither)");
	found("contradicting-restarts", "n2",
	      "slurm 4 step=1 in=step nodes=n[1-3] node=n2 index=1 of=3 rank=3 ranks=6 local=1 "
	      "locals=2 cores=2 "
	      "(SLURM_RESTART_COUNT is -1, which is no count: not used)");
	found("contradicting-cores", "n2",
	      "slurm 4 step=1 in=step nodes=n[1-3] node=n2 index=1 of=3 rank=3 ranks=6 local=1 "
	      "locals=2 cores=2 "
	      "(SLURM_CPUS_PER_TASK is 99, but the job has 2 CPUs on this node: using the latter)");
}

static void slurm_in_a_step(void **unused)
{
	(void)unused;
	found("slurm-srun", "n2",
	      "slurm 4 step=1 in=step nodes=n[1-3] node=n2 index=1 of=3 rank=3 ranks=6 local=1 "
	      "locals=2 cores=2");
	found("slurm-srun-pmix", "n2",
	      "slurm 4 step=1 in=step nodes=n[1-3] node=n2 index=1 of=3 rank=3 ranks=6 local=1 "
	      "locals=2 cores=2");
}

/* SLURM_NODEID is 0 on the second node, SLURM_NNODES is 2. */
static void slurms_node_of_a_step_is_not_the_jobs(void **unused)
{
	(void)unused;
	found("slurm-step-of-two", "n2.site",
	      "slurm 4 step=1 in=step nodes=n[1-3] node=n2 index=1 of=3 rank=0 ranks=2 local=0 "
	      "locals=1 cores=2");
}

static void slurm_with_ranks_of_mpirun(void **unused)
{
	(void)unused;
	/* in the batch step, whose SLURM_PROCID is 0 */
	found("slurm-mpirun-batch-host", "n1",
	      "slurm 4 step=batch in=script nodes=n[1-3] node=n1 index=0 of=3 by=openmpi rank=1 "
	      "ranks=6 local=1 locals=2 tasks=6 cores=2");
	/* below orted, whose SLURM_PROCID is 0 of 2 */
	found("slurm-mpirun-orted", "n2",
	      "slurm 4 step=1 in=step nodes=n[1-3] node=n2 index=1 of=3 by=openmpi rank=2 "
	      "ranks=6 local=0 locals=2 cores=2");
}

/* MPICH's ranks have the first node's environment on every node. */
static void mpichs_copied_node_name_is_not_believed(void **unused)
{
	(void)unused;
	found("slurm-mpich", "n2",
	      "slurm 4 nodes=n[1-3] node=n2 index=1 of=3 by=mpich rank=2 ranks=6 local=0 locals=2 "
	      "cores=2");
	found("slurm-mpich", "vm",
	      "slurm 4 nodes=n[1-3] node=vm of=3 by=mpich rank=2 ranks=6 local=0 locals=2 cores=2");
}

/* As MPICH's by mpirun; srun's own are the step's. */
static void slurm_with_intel_mpi(void **unused)
{
	(void)unused;
	found("slurm-intel-mpirun", "n3",
	      "slurm 4 nodes=n[1-3] node=n3 index=2 of=3 by=intel-mpi rank=5 ranks=6 local=1 "
	      "locals=2 cores=2");
	found("slurm-intel-srun", "n2",
	      "slurm 4 step=1 in=step nodes=n[1-3] node=n2 index=1 of=3 rank=3 ranks=6 local=1 "
	      "locals=2 cores=2");
}

static void slurm_names_nodes_oddly(void **unused)
{
	(void)unused;
	found("slurm-odd-list", "rack2n10-ib.site",
	      "slurm 8 step=0 in=step nodes=rack1n[09-10]-ib,rack2n[09-10]-ib,login,g0007 "
	      "node=rack2n10-ib index=3 of=6 rank=3 ranks=7 local=0 locals=1 cores=2");
}

static void slurm_has_several_nodes_on_one_host(void **unused)
{
	(void)unused;
	found("slurm-several-on-a-host", "vm",
	      "slurm 4 step=1 in=step nodes=n[1-3] node=n2 index=1 of=3 rank=1 ranks=3 local=0 "
	      "locals=1 cores=2");
}

static void slurm_arrays_and_components(void **unused)
{
	(void)unused;
	found("slurm-array", "n1",
	      "slurm 3_4 step=batch in=script nodes=n[1-3] node=n1 index=0 of=3 tasks=6 cores=2");
	found("slurm-het", "g2",
	      "slurm 4 step=batch in=script nodes=n1,g[1-2] node=g2 index=2 of=3 cores=2 "
	      "components=2");
	/* what was asked for is the component's */
	found("slurm-het-asked", "n1",
	      "slurm 4 step=batch in=script nodes=n1,g[1-2] node=n1 index=0 of=3 tasks=9 cores=2 "
	      "memory=1073741824 components=2");
	found("slurm-het-asked", "g2",
	      "slurm 4 step=batch in=script nodes=n1,g[1-2] node=g2 index=2 of=3 tasks=9 cores=8 "
	      "memory=17179869184 components=2");
}

static void a_list_that_cannot_be_read_does_no_harm(void **unused)
{
	(void)unused;
	found("slurm-broken-list", "n1",
	      "slurm 4 step=batch in=script node=n1 of=3 tasks=6 cores=2 (SLURM_JOB_NODELIST: "
	      "byte 6 of the list of nodes: a ']' is missing)");
}

static void pbs(void **unused)
{
	(void)unused;
	found("pbs-batch", "p2",
	      "pbs 0.phead in=script nodes=p[2,1] node=p2 index=0 of=2 tasks=4 cores=2");
	found("pbs-array", "p1.site",
	      "pbs 12[3].phead in=script nodes=p[2,1] node=p1 index=1 of=2 tasks=4 cores=2");
	/* of ompthreads=1: NCPUS is a process's */
	found("pbs-one-core-each", "p2",
	      "pbs 0.phead in=script nodes=p[2,1] node=p2 index=0 of=2 tasks=4 cores=2");
	found("torque-batch", "p1",
	      "torque 77.tsrv in=script nodes=p[2,1] node=p1 index=1 of=2 tasks=4 cores=2 "
	      "seconds=3600");
}

/* As jobs printed it; what they were asked for is in tests/fixtures/jobs/README.md. */
static void recorded_of_pbs_professional(void **unused)
{
	(void)unused;
	found("pbspro-batch", "p1",
	      "pbs 3089.psrv in=script nodes=p1 node=p1 index=0 of=1 tasks=16 cores=16");
	found("pbspro-interactive", "p7",
	      "pbs 41.psrv in=script nodes=p7.site node=p7.site index=0 of=1 tasks=1 cores=24");
}

/* PBS_NUM_PPN and PBS_NUM_NODES are not what the job has: the file of nodes is. */
static void recorded_of_torque(void **unused)
{
	(void)unused;
	found("torque-interactive", "p1",
	      "torque 5436.tsrv.site in=script nodes=p[1-2] node=p1 index=0 of=2 tasks=8 cores=3 "
	      "seconds=1800 (the node count is 1, but the node list has 2: using the list)");
	found("torque-node-by-name", "p1",
	      "torque 78.tsrv in=script nodes=p1 node=p1 index=0 of=1 tasks=16 cores=16 "
	      "seconds=3600");
	found("torque-array", "p1",
	      "torque 79[3].tsrv in=script nodes=p1 node=p1 index=0 of=1 tasks=16 cores=16 "
	      "seconds=3600");
	found("torque-one-core", "p1",
	      "torque 1399.tsrv in=script node=p1 index=0 of=1 tasks=1 cores=1 seconds=25920000 "
	      "(PBS_NODEFILE: cannot open the file of nodes /nonexistent/aux//1399.tsrv: No such "
	      "file or directory)");
}

static void recorded_of_lsf(void **unused)
{
	(void)unused;
	found("lsf7-pam", "h1", "lsf 748 nodes=h[3,5,1] node=h1 index=2 of=3 cores=2");
	found("lsf10-restarted", "h2",
	      "lsf 1234 nodes=h[1-2].example.com node=h2.example.com index=1 of=2 tasks=4 "
	      "cores=2 restarts=1");
}

/* A batch job's script knows its id alone; a job in it has an id of its own. */
static void recorded_of_flux(void **unused)
{
	(void)unused;
	found("flux-batch-script", "f1",
	      "flux \xc6\x92"
	      "D2e73NP in=script node=f1");
	found("flux-task-of-batch", "f2",
	      "flux \xc6\x92"
	      "DCB6RV in=step node=f2 of=2 by=flux rank=2 ranks=4 local=0 tasks=4");
}

/* The ranks of Intel MPI have the first node's environment on every node. */
static void pbs_with_intel_mpi(void **unused)
{
	(void)unused;
	found("pbs-intel-mpirun", "p1",
	      "pbs 0.phead nodes=p[2,1] node=p1 index=1 of=2 by=intel-mpi rank=2 ranks=4 local=0 "
	      "locals=2 tasks=4 cores=2");
	found("torque-second", "p1",
	      "torque 77.tsrv in=step node=p1 index=1 of=2 cores=2 seconds=3600 (PBS_NODEFILE: "
	      "cannot open the file of nodes /nonexistent/77.tsrv: No such file or directory)");
}

/* Tasks on the first node have no file of nodes; those of mpirun -x have a copy's path. */
static void pbs_tasks(void **unused)
{
	(void)unused;
	found("pbs-tm-sister", "p1",
	      "pbs 0.phead in=step nodes=p[2,1] node=p1 index=1 of=2 tasks=4 cores=2");
	found("pbs-tm-first", "p2", "pbs 0.phead in=step node=p2 index=0 cores=2");
	found("pbs-mpirun-x", "p1",
	      "pbs 0.phead nodes=p[2,1] node=p1 index=1 of=2 by=openmpi rank=2 ranks=4 local=0 "
	      "locals=2 tasks=4");
	found("pbs-no-file", "p2",
	      "pbs 0.phead in=script node=p2 index=0 (PBS_NODEFILE: cannot open the file of nodes "
	      "/nonexistent/0.phead: No such file or directory)");
}

static void oar(void **unused)
{
	(void)unused;
	found("oar-batch", "o1", "oar 1 nodes=o[1-2] node=o1 index=0 of=2 cores=2 seconds=120");
	found("oar-array", "o2", "oar 12 nodes=o[1-2] node=o2 index=1 of=2 cores=2 seconds=7200");
	found("oar-oarsh", "o2", "oar 1 nodes=o[1-2] node=o2 index=1 of=2 cores=2 seconds=120");
}

static void others(void **unused)
{
	(void)unused;
	found("lsf-batch", "h2", "lsf 900 nodes=h[1-2] node=h2 index=1 of=2 tasks=6 cores=2");
	found("lsf-array", "h1", "lsf 900[7] nodes=h[1-2] node=h1 index=0 of=2 tasks=6 cores=4");
	found("lsf-jsrun", "h36n05",
	      "lsf 901 nodes=batch5,h36n[05-06] node=h36n05 index=1 of=3 by=jsrun rank=1 ranks=2 "
	      "local=0 locals=1 cores=42");
	found("lsf-hosts", "h2", "lsf 902 nodes=h[1-2] node=h2 index=1 of=2 cores=2");
	found("sge-two-queues", "g1",
	      "sge 56 nodes=g[1-2].site node=g1.site index=0 of=2 cores=5 restarts=1");
	found("sge-batch", "g2",
	      "sge 55 nodes=g[1-2].site node=g2.site index=1 of=2 cores=2 restarts=0");
	found("sge-array", "g1", "sge 55.3 node=g1 of=1 cores=1 restarts=0");
	found("htcondor-vanilla", "w1",
	      "htcondor 4711.3 node=w1 of=1 cores=4 memory=2147483648 gpus=1 seconds=3600 "
	      "restarts=2");
	found("htcondor-parallel", "w1", "htcondor 12.0 node=w1 of=4 rank=2 ranks=4 cores=1");
	found("htcondor-no-ad", "w1",
	      "htcondor - node=w1 (_CONDOR_JOB_AD: the job's ad /dev/null is not a regular file)");
	found("htcondor-odd", "w1",
	      "htcondor - node=w1 of=1 (_CONDOR_JOB_AD: the job's ad has no ClusterId and ProcId)");
	found("flux-task", "f1",
	      "flux \xc6\x92"
	      "3ETxsR9H in=step node=f1 of=2 by=flux rank=5 ranks=8 local=1 tasks=8");
	found("flux-script", "f1", "none - node=f1");
	/* in an instance of Flux that is a step, whose task is Flux's daemon */
	found("flux-below-slurm", "n2",
	      "slurm 4 step=0 in=step nodes=n[1-3] node=n2 index=1 of=3 by=flux rank=7 ranks=12 "
	      "local=3");
}

static void mpirun_alone(void **unused)
{
	(void)unused;
	found("mpirun-openmpi", "a", "none - node=a by=openmpi rank=1 ranks=2 local=1 locals=2");
	found("mpirun-mpich", "a", "none - node=a by=mpich rank=1 ranks=2 local=1 locals=2");
	found("mpirun-intel", "a", "none - node=a by=intel-mpi rank=1 ranks=2 local=1 locals=2");
	found("mpirun-intel-hydra", "a",
	      "none - node=a by=intel-mpi rank=5 ranks=6 local=1 locals=2");
	found("plain", "a", "none - node=a");
}

static void one_with(char **environment, const char *want)
{
	struct batch_job j;
	struct bytes b = { 0 };

	batch_job_find(&j, environment, "here");
	describe(&j, &b);
	assert_string_equal((const char *)b.data, want);
	bytes_free(&b);
	batch_job_free(&j);
}

static void odd_values_are_absent(void **unused)
{
	(void)unused;
	one_with(NULL, "none - node=here");
	one_with((char *[]){ "HOME=/", "SLURM_JOB_ID=", NULL }, "none - node=here");
	one_with((char *[]){ "SLURM_JOB_ID=7", "SLURM_JOB_CPUS_PER_NODE=2(x", "SLURM_NTASKS=-3",
			     "SLURM_MEM_PER_NODE=9223372036854775807", "SLURM_JOB_NUM_NODES=x",
			     "SLURM_JOB_GPUS=GPU-12", NULL },
		 "slurm 7 in=submitting shell node=here");
	one_with((char *[]){ "LSB_JOBID=7", "LSB_MCPU_HOSTS=a b", NULL },
		 "lsf 7 node=here (LSB_MCPU_HOSTS: byte 3 is not the name of a node with its "
		 "slots)");
	one_with((char *[]){ "LSB_JOBID=7", "LSB_MCPU_HOSTS=he 5 here 3", NULL },
		 "lsf 7 nodes=he,here node=here index=1 of=2 cores=3");
	/* below a daemon of mpirun, whose own local id it is */
	one_with((char *[]){ "SLURM_JOB_ID=7", "SLURM_STEP_ID=0", "SLURM_PROCID=0",
			     "SLURM_LOCALID=5", "OMPI_COMM_WORLD_RANK=0", NULL },
		 "slurm 7 step=0 in=step node=here by=openmpi rank=0");
	one_with((char *[]){ "LSB_JOBID=7", "LSB_MCPU_HOSTS= ", NULL },
		 "lsf 7 node=here (LSB_MCPU_HOSTS: it names no node)");
	one_with((char *[]){ "PBS_JOBID=7", "PBS_NODEFILE=/dev/zero", NULL },
		 "pbs 7 node=here (PBS_NODEFILE: the file of nodes /dev/zero is not a regular "
		 "file)");
	/* no time limit: the end is a year away */
	one_with((char *[]){ "SLURM_JOB_ID=7", "SLURM_JOB_START_TIME=1763600000",
			     "SLURM_JOB_END_TIME=1795136000", "SLURM_JOB_CPUS_PER_NODE=8,4(x2)",
			     "SLURM_JOB_NODELIST=a,b,here", "SLURM_MEM_PER_CPU=1", NULL },
		 "slurm 7 in=submitting shell nodes=a,b,here node=here index=2 of=3 cores=4 "
		 "memory=4194304");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slurm_in_a_script),
		cmocka_unit_test(variables_that_contradict_each_other),
		cmocka_unit_test(slurm_in_a_step),
		cmocka_unit_test(slurms_node_of_a_step_is_not_the_jobs),
		cmocka_unit_test(slurm_with_ranks_of_mpirun),
		cmocka_unit_test(mpichs_copied_node_name_is_not_believed),
		cmocka_unit_test(slurm_with_intel_mpi),
		cmocka_unit_test(slurm_names_nodes_oddly),
		cmocka_unit_test(slurm_has_several_nodes_on_one_host),
		cmocka_unit_test(slurm_arrays_and_components),
		cmocka_unit_test(a_list_that_cannot_be_read_does_no_harm),
		cmocka_unit_test(pbs),
		cmocka_unit_test(recorded_of_pbs_professional),
		cmocka_unit_test(recorded_of_torque),
		cmocka_unit_test(recorded_of_lsf),
		cmocka_unit_test(recorded_of_flux),
		cmocka_unit_test(pbs_with_intel_mpi),
		cmocka_unit_test(pbs_tasks),
		cmocka_unit_test(oar),
		cmocka_unit_test(others),
		cmocka_unit_test(mpirun_alone),
		cmocka_unit_test(odd_values_are_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
