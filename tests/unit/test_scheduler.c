/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch job is known by, from environments as they were recorded in jobs. */
#include "base/bytes.h"
#include "job/scheduler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VARIABLES_MAX = 200 };

struct environment {
	char text[16384];
	char *variable[VARIABLES_MAX];
};

static void load(struct environment *x, const char *name)
{
	char path[256];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/fixtures/jobs/%s.env", getenv("TOP"), name);
	f = fopen(path, "r");
	assert_non_null(f);
	x->text[fread(x->text, 1, sizeof x->text - 1, f)] = '\0';
	fclose(f);
	for (char *line = x->text; *line && n < VARIABLES_MAX - 1;) {
		char *end = line + strcspn(line, "\n");

		x->variable[n++] = line;
		line = end + (*end == '\n');
		*end = '\0';
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
	      "slurm 4 step=batch in=script nodes=n1,g[1-2] node=g2 index=2 of=3 tasks=6 cores=2 "
	      "components=2");
}

static void a_list_that_cannot_be_read_does_no_harm(void **unused)
{
	(void)unused;
	found("slurm-broken-list", "n1",
	      "slurm 4 step=batch in=script node=n1 of=3 tasks=6 cores=2 (SLURM_JOB_NODELIST: "
	      "byte 6 of the list of nodes: a ']' is missing)");
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
		cmocka_unit_test(slurm_in_a_step),
		cmocka_unit_test(slurms_node_of_a_step_is_not_the_jobs),
		cmocka_unit_test(slurm_with_ranks_of_mpirun),
		cmocka_unit_test(mpichs_copied_node_name_is_not_believed),
		cmocka_unit_test(slurm_has_several_nodes_on_one_host),
		cmocka_unit_test(slurm_arrays_and_components),
		cmocka_unit_test(a_list_that_cannot_be_read_does_no_harm),
		cmocka_unit_test(odd_values_are_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
