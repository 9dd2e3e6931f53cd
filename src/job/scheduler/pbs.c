/* SPDX-License-Identifier: Apache-2.0 */
/* pbs.c - OpenPBS, PBS Pro and Torque.
 *
 * The file of nodes has a line for each MPI process, not for each core (Torque's: for each core).
 * Tasks on the first node may lack it; PBS_NODEFILE_LOCAL is perfmon's word for a copy that every
 * node can read.
 */
#include "job/scheduler/mpi.h"
#include "job/scheduler/row.h"
#include "job/slots.h"

#include <string.h>

/* Returns the processes that the scheduler was asked for here; -1: not told. */
static int64_t read_tasks(struct batch_job *j, char *const *environment, const char *host)
{
	static const struct slots_source files = {
		.variable = { "PBS_NODEFILE", "PBS_NODEFILE_LOCAL" },
		.are_files = true,
		.next = slot_word,
	};
	int64_t told = batch_number(batch_variable(environment, "PBS_NODENUM"));
	int64_t task = batch_number(batch_variable(environment, "PBS_TASKNUM"));
	struct slots n = slots_read(j, &files, environment, host);

	if (!mpi_copies_environment(j->launcher)) {
		if (!j->nodes.n && told >= 0)
			j->number[BATCH_NODE_INDEX] = told;
		if (task >= 1)
			j->part = task == 1 ? BATCH_PART_SCRIPT : BATCH_PART_STEP;
	}
	j->number[BATCH_TASKS_ASKED] = n.all;
	return n.here;
}

/* Its file has a line for each core; PBS_NUM_PPN and PBS_NUM_NODES are 1 and 0 where nodes were
 * asked for by name, or only cores (procs=8). */
static void torque_read(struct batch_job *j, char *const *environment, const char *host)
{
	int64_t cores = read_tasks(j, environment, host);

	if (cores > 0)
		j->number[BATCH_CORES_ASKED] = cores;
	if (j->number[BATCH_TASKS_ASKED] < 0)
		j->number[BATCH_TASKS_ASKED] = batch_number(batch_variable(environment, "PBS_NP"));
	if (j->number[BATCH_NODES] == 0)
		j->number[BATCH_NODES] = -1;
}

/* NCPUS is what a chunk has, or with ompthreads what a process has: where it is less than there are
 * processes, each has as many. */
static void pbs_read(struct batch_job *j, char *const *environment, const char *host)
{
	int64_t *cores = &j->number[BATCH_CORES_ASKED];
	int64_t tasks = read_tasks(j, environment, host);

	if (*cores > 0 && *cores < tasks && __builtin_mul_overflow(*cores, tasks, cores))
		*cores = -1;
}

#define PBS_TEXT                                                                                   \
	[BATCH_RAW_ID] = { "PBS_JOBID" }, [BATCH_ARRAY_ID] = { "PBS_ARRAY_ID" },                   \
	[BATCH_ARRAY_INDEX] = { "PBS_ARRAY_INDEX", "PBS_ARRAYID" },                                \
	[BATCH_NAME] = { "PBS_JOBNAME" }, [BATCH_USER] = { "PBS_O_LOGNAME" },                      \
	[BATCH_ACCOUNT] = { "PBS_ACCOUNT" }, [BATCH_QUEUE] = { "PBS_QUEUE" },                      \
	[BATCH_SUBMIT_DIR] = { "PBS_O_WORKDIR" }, [BATCH_SUBMIT_HOST] = { "PBS_O_HOST" }

const struct scheduler scheduler_torque = {
	.name = "torque",
	.title = "Torque",
	.sign = { "PBS_JOBID", "PBS_NUM_PPN" },
	.text = { PBS_TEXT },
	.number = {
		[BATCH_NODES] = { "PBS_NUM_NODES" },
		[BATCH_CORES_ASKED] = { "PBS_NUM_PPN" },
		[BATCH_TIME_LIMIT] = { "PBS_WALLTIME" },
	},
	.read = torque_read,
};

const struct scheduler scheduler_pbs = {
	.name = "pbs",
	.title = "PBS",
	.sign = { "PBS_JOBID" },
	.text = { PBS_TEXT },
	.number = { [BATCH_CORES_ASKED] = { "NCPUS", "PBS_NCPUS" } },
	.read = pbs_read,
};
