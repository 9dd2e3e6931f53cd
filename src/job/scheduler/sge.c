/* SPDX-License-Identifier: Apache-2.0 */
/* sge.c - Grid Engine. JOB_ID alone is set by many; SGE_TASK_ID is in every job,
 * "undefined" where there is no array. */
#include "job/scheduler/row.h"
#include "job/slots.h"

#include <stdio.h>
#include <string.h>

static void find_element(struct batch_job *j)
{
	const char *index = j->text[BATCH_ARRAY_INDEX], *id = j->text[BATCH_RAW_ID];

	if (batch_number(index) < 0) {
		j->text[BATCH_ARRAY_INDEX] = NULL;
		return;
	}
	j->text[BATCH_ARRAY_ID] = id;
	snprintf(j->id, sizeof j->id, "%s.%s", id, index);
}

static void sge_read(struct batch_job *j, char *const *environment, const char *host)
{
	static const struct slots_source file = { { "PE_HOSTFILE" }, true, slot_row };
	struct slots n = slots_read(j, &file, environment, host);

	find_element(j);
	if (n.all >= 0)
		j->number[BATCH_CORES_ASKED] = n.here;
	else if (j->number[BATCH_NODES] > 1)
		j->number[BATCH_CORES_ASKED] = -1; /* NSLOTS are those of all nodes */
}

const struct scheduler scheduler_sge = {
	.name = "sge",
	.title = "Grid Engine",
	.sign = { "JOB_ID", "SGE_TASK_ID" },
	.text = {
		[BATCH_RAW_ID] = { "JOB_ID" },
		[BATCH_ARRAY_INDEX] = { "SGE_TASK_ID" },
		[BATCH_NAME] = { "JOB_NAME" },
		[BATCH_USER] = { "SGE_O_LOGNAME" },
		[BATCH_ACCOUNT] = { "SGE_ACCOUNT" },
		[BATCH_QUEUE] = { "QUEUE" },
		[BATCH_CLUSTER] = { "SGE_CLUSTER_NAME" },
		[BATCH_SUBMIT_DIR] = { "SGE_O_WORKDIR" },
		[BATCH_SUBMIT_HOST] = { "SGE_O_HOST" },
	},
	.number = {
		[BATCH_NODES] = { "NHOSTS" },
		[BATCH_CORES_ASKED] = { "NSLOTS" },
		[BATCH_RESTARTS] = { "RESTARTED" },
	},
	.read = sge_read,
};
