/* SPDX-License-Identifier: Apache-2.0 */
/* flux.c - Flux: its tasks are told their ranks (job/scheduler/mpi.c) and the number of
 * nodes, no names. The script of flux-batch is told its id alone, as that of the instance it is in;
 * before flux-core had FLUX_ENCLOSING_ID, nothing. */
#include "job/scheduler/row.h"

static void flux_read(struct batch_job *j, char *const *environment, const char *host)
{
	(void)environment;
	(void)host;
	j->part = BATCH_PART_STEP;
}

static void flux_script_read(struct batch_job *j, char *const *environment, const char *host)
{
	(void)environment;
	(void)host;
	j->part = BATCH_PART_SCRIPT;
}

const struct scheduler scheduler_flux = {
	.name = "flux",
	.title = "Flux",
	.sign = { "FLUX_JOB_ID" },
	.text = {
		[BATCH_RAW_ID] = { "FLUX_JOB_ID" },
		[BATCH_ARRAY_INDEX] = { "FLUX_JOB_CC" },
	},
	.number = {
		[BATCH_NODES] = { "FLUX_JOB_NNODES" },
		[BATCH_TASKS_ASKED] = { "FLUX_JOB_SIZE" },
	},
	.read = flux_read,
};

const struct scheduler scheduler_flux_script = {
	.name = "flux",
	.title = "Flux",
	.sign = { "FLUX_ENCLOSING_ID", "FLUX_URI" },
	.text = {
		[BATCH_RAW_ID] = { "FLUX_ENCLOSING_ID" },
		[BATCH_ARRAY_INDEX] = { "FLUX_JOB_CC" },
	},
	.read = flux_script_read,
};
