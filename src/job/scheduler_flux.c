/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_flux.c - Flux: its tasks are told their ranks (job/mpi.c) and the number of nodes, no
 * names. The script of flux-batch is told nothing, not even its id. */
#include "job/scheduler_row.h"

static void flux_read(struct batch_job *j, char *const *environment, const char *host)
{
	(void)environment;
	(void)host;
	j->part = BATCH_PART_STEP;
}

const struct scheduler scheduler_flux = {
	.name = "flux",
	.title = "Flux",
	.sign = { "FLUX_JOB_ID" },
	.text = { [BATCH_RAW_ID] = { "FLUX_JOB_ID" } },
	.number = {
		[BATCH_NODES] = { "FLUX_JOB_NNODES" },
		[BATCH_TASKS_ASKED] = { "FLUX_JOB_SIZE" },
	},
	.read = flux_read,
};
