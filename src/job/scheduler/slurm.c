/* SPDX-License-Identifier: Apache-2.0 */
/* slurm.c - Slurm.
 *
 * SLURM_NODEID, SLURM_NNODES and SLURM_NTASKS are the step's, and under mpirun those of the step
 * that started the daemons; SLURM_JOB_* are the job's everywhere (seen on 22.05).
 */
#include "job/scheduler/row.h"
#include "job/scheduler/scheduler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { COMPONENTS_MAX = 128, YEAR_SECONDS = 365 * 24 * 3600 };

/* Steps that have a name and no number are numbers all the same. */
static const struct {
	const char *number, *name;
} steps[] = {
	{ "4294967290", "interactive" },
	{ "4294967291", "batch" },
	{ "4294967292", "extern" },
};

static void find_part(struct batch_job *j)
{
	const char *step = j->text[BATCH_STEP];

	for (size_t i = 0; step && i < sizeof steps / sizeof steps[0]; i++)
		if (!strcmp(step, steps[i].number))
			j->text[BATCH_STEP] = steps[i].name;
	if (mpi_copies_environment(j->launcher))
		j->text[BATCH_STEP] = NULL; /* it is the first node's */
	else if (step)
		j->part = j->text[BATCH_STEP] == step ? BATCH_PART_STEP : BATCH_PART_SCRIPT;
	else if (j->text[BATCH_NODE_TOLD])
		j->part = BATCH_PART_SCRIPT;
	else
		j->part = BATCH_PART_SUBMIT;
	if (j->part == BATCH_PART_SCRIPT && !step)
		j->text[BATCH_STEP] = "batch";
}

static void find_id(struct batch_job *j)
{
	const char *array = j->text[BATCH_ARRAY_ID], *index = j->text[BATCH_ARRAY_INDEX];

	if (array && index)
		snprintf(j->id, sizeof j->id, "%s_%s", array, index);
}

static void add_list(struct batch_job *j, const char *name, const char *list)
{
	struct err e;

	if (hostlist_expand(&j->nodes, list, &e))
		batch_fault(j, name, &e);
}

/* Each component of a heterogeneous job has variables of its own. */
static const char *of_component(char *const *environment, const char *name, int component)
{
	static const char *const forms[] = { "HET", "PACK" };
	const char *value = NULL;

	for (size_t i = 0; i < 2 && !value; i++) {
		char whole[64];

		snprintf(whole, sizeof whole, "%s_%s_GROUP_%d", name, forms[i], component);
		value = batch_variable(environment, whole);
	}
	return value;
}

static int components(const struct batch_job *j)
{
	int64_t n = j->number[BATCH_COMPONENTS];

	return n <= 1 ? 0 : n < COMPONENTS_MAX ? (int)n : COMPONENTS_MAX;
}

static void find_components(struct batch_job *j, char *const *environment)
{
	for (int i = 0; i < components(j); i++) {
		const char *list = of_component(environment, "SLURM_JOB_NODELIST", i);

		if (list)
			add_list(j, "SLURM_JOB_NODELIST", list);
	}
}

/* The component that has this node, and its place in there; -1: not told. */
static int component_here(const struct batch_job *j, char *const *environment, int64_t *place)
{
	*place = -1;
	for (int i = 0; i < components(j); i++) {
		const char *list = of_component(environment, "SLURM_JOB_NODELIST", i);
		struct hostlist nodes = { 0 };

		if (list && !hostlist_expand(&nodes, list, NULL))
			*place = hostlist_find(&nodes, j->node);
		hostlist_free(&nodes);
		if (*place >= 0)
			return i;
	}
	return -1;
}

/* What was asked for here. The plain variables are the first component's on all nodes. */
static const char *asked_here(const struct batch_job *j, char *const *environment, const char *name,
			      int64_t *place)
{
	const char *value;
	int component;

	*place = j->number[BATCH_NODE_INDEX];
	if (!components(j))
		return batch_variable(environment, name);
	component = component_here(j, environment, place);
	value = component >= 0 ? of_component(environment, name, component) : NULL;
	return value || component ? value : batch_variable(environment, name);
}

/* Of all components; -1 when one does not tell. */
static int64_t tasks_asked(const struct batch_job *j, char *const *environment)
{
	int64_t all = components(j) ? 0 : j->number[BATCH_TASKS_ASKED];

	for (int i = 0; i < components(j); i++) {
		int64_t n = batch_number(of_component(environment, "SLURM_NTASKS", i));

		if (n < 0 || __builtin_add_overflow(all, n, &all))
			return -1;
	}
	return all;
}

static void find_nodes(struct batch_job *j, char *const *environment)
{
	const char *list = batch_variable(environment, "SLURM_JOB_NODELIST");

	find_components(j, environment);
	if (!j->nodes.n && list)
		add_list(j, "SLURM_JOB_NODELIST", list);
}

static int64_t mebibytes(int64_t n)
{
	return n > 0 && n <= INT64_MAX >> 20 ? n << 20 : -1;
}

static int64_t cores_here(const struct batch_job *j, char *const *environment)
{
	int64_t place, n;
	const char *of_nodes = asked_here(j, environment, "SLURM_JOB_CPUS_PER_NODE", &place);

	n = batch_repeated(of_nodes, place);
	return n > 0 ? n : batch_number(batch_variable(environment, "SLURM_CPUS_ON_NODE"));
}

static int64_t memory_here(const struct batch_job *j, char *const *environment)
{
	int64_t cores = j->number[BATCH_CORES_ASKED], place, all;
	int64_t of_node = batch_number(asked_here(j, environment, "SLURM_MEM_PER_NODE", &place));
	int64_t of_cpu = batch_number(asked_here(j, environment, "SLURM_MEM_PER_CPU", &place));

	if (of_node > 0)
		return mebibytes(of_node);
	if (of_cpu <= 0 || cores <= 0 || __builtin_mul_overflow(of_cpu, cores, &all))
		return -1;
	return mebibytes(all);
}

static int64_t gpus_here(char *const *environment)
{
	int64_t n = batch_number(batch_variable(environment, "SLURM_GPUS_ON_NODE"));
	const char *list = batch_variable(environment, "SLURM_JOB_GPUS");
	struct hostlist gpus = { 0 };
	char text[512];

	if (n >= 0 || !list || (size_t)snprintf(text, sizeof text, "[%s]", list) >= sizeof text)
		return n;
	if (!hostlist_expand(&gpus, text, NULL))
		n = gpus.n;
	hostlist_free(&gpus);
	return n;
}

static void find_time(struct batch_job *j, char *const *environment)
{
	int64_t start = batch_number(batch_variable(environment, "SLURM_JOB_START_TIME"));
	int64_t end = j->number[BATCH_END_UTC];

	if (start > 0 && end > start && end - start < YEAR_SECONDS)
		j->number[BATCH_TIME_LIMIT] = end - start;
	else
		j->number[BATCH_END_UTC] = -1; /* without a limit it says: in a year */
}

static int64_t words_of(const char *list)
{
	int64_t n = list ? 1 : -1;

	for (; list && *list; list++)
		n += *list == ',';
	return n;
}

static void find_ranks(struct batch_job *j, char *const *environment)
{
	const struct batch_ranks ranks = {
		.rank = batch_number(batch_variable(environment, "SLURM_PROCID")),
		.ranks = batch_number(batch_variable(environment, "SLURM_STEP_NUM_TASKS")),
		.local_rank = batch_number(batch_variable(environment, "SLURM_LOCALID")),
		.local_ranks = words_of(batch_variable(environment, "SLURM_GTIDS")),
	};

	if (j->part == BATCH_PART_STEP) /* the script has some, too, and is none */
		batch_ranks(j, &ranks);
}

/* What makes no sense is reported, and not used. */
static void check_counts(struct batch_job *j, char *const *environment)
{
	const char *restarts = batch_variable(environment, "SLURM_RESTART_COUNT");
	int64_t of_task = batch_number(batch_variable(environment, "SLURM_CPUS_PER_TASK"));
	int64_t here = j->number[BATCH_CORES_ASKED];

	if (j->why.text[0])
		return;
	if (restarts && *restarts && batch_number(restarts) < 0)
		err_set(&j->why, -EINVAL,
			"SLURM_RESTART_COUNT is %.40s, which is no count: not used", restarts);
	else if (!components(j) && here > 0 && of_task > here)
		err_set(&j->why, -EINVAL,
			"SLURM_CPUS_PER_TASK is %lld, but the job has %lld CPUs on this node: using "
			"the latter",
			(long long)of_task, (long long)here);
}

static void slurm_read(struct batch_job *j, char *const *environment, const char *host)
{
	find_part(j);
	find_id(j);
	find_nodes(j, environment);
	batch_place(j, host);
	j->number[BATCH_CORES_ASKED] = cores_here(j, environment);
	j->number[BATCH_MEMORY_ASKED] = memory_here(j, environment);
	j->number[BATCH_GPUS_ASKED] = gpus_here(environment);
	j->number[BATCH_TASKS_ASKED] = j->part == BATCH_PART_SCRIPT || j->part == BATCH_PART_SUBMIT
					       ? tasks_asked(j, environment)
					       : -1;
	find_time(j, environment);
	find_ranks(j, environment);
	check_counts(j, environment);
}

const struct scheduler scheduler_slurm = {
	.name = "slurm",
	.title = "Slurm",
	.sign = { "SLURM_JOB_ID" },
	.text = {
		[BATCH_RAW_ID] = { "SLURM_JOB_ID" },
		[BATCH_ARRAY_ID] = { "SLURM_ARRAY_JOB_ID" },
		[BATCH_ARRAY_INDEX] = { "SLURM_ARRAY_TASK_ID" },
		[BATCH_STEP] = { "SLURM_STEP_ID", "SLURM_STEPID" },
		[BATCH_NAME] = { "SLURM_JOB_NAME" },
		[BATCH_USER] = { "SLURM_JOB_USER" },
		[BATCH_ACCOUNT] = { "SLURM_JOB_ACCOUNT" },
		[BATCH_QUEUE] = { "SLURM_JOB_PARTITION" },
		[BATCH_QOS] = { "SLURM_JOB_QOS" },
		[BATCH_RESERVATION] = { "SLURM_JOB_RESERVATION" },
		[BATCH_CLUSTER] = { "SLURM_CLUSTER_NAME" },
		[BATCH_SUBMIT_DIR] = { "SLURM_SUBMIT_DIR" },
		[BATCH_SUBMIT_HOST] = { "SLURM_SUBMIT_HOST" },
		[BATCH_NODE_TOLD] = { "SLURMD_NODENAME" },
	},
	.number = {
		[BATCH_NODES] = { "SLURM_JOB_NUM_NODES" },
		[BATCH_TASKS_ASKED] = { "SLURM_NTASKS" },
		[BATCH_END_UTC] = { "SLURM_JOB_END_TIME" },
		[BATCH_RESTARTS] = { "SLURM_RESTART_COUNT" },
		[BATCH_COMPONENTS] = { "SLURM_HET_SIZE", "SLURM_PACK_SIZE" },
	},
	.read = slurm_read,
};
