/* SPDX-License-Identifier: Apache-2.0 */
/* oar.c - OAR: its file of nodes has a line for each core; it knows no ranks. */
#include "job/scheduler/row.h"
#include "job/slots.h"

static void oar_read(struct batch_job *j, char *const *environment, const char *host)
{
	/* Not OAR_RESOURCE_FILE: behind oarsh it is another kind of file. */
	static const struct slots_source files = {
		.variable = { "OAR_NODEFILE", "OAR_NODE_FILE", "OAR_FILE_NODES" },
		.are_files = true,
		.next = slot_word,
	};

	j->number[BATCH_CORES_ASKED] = slots_read(j, &files, environment, host).here;
}

const struct scheduler scheduler_oar = {
	.name = "oar",
	.title = "OAR",
	.sign = { "OAR_JOB_ID" },
	.text = {
		[BATCH_RAW_ID] = { "OAR_JOB_ID" },
		[BATCH_ARRAY_ID] = { "OAR_ARRAY_ID" },
		[BATCH_ARRAY_INDEX] = { "OAR_ARRAY_INDEX" },
		[BATCH_NAME] = { "OAR_JOB_NAME" },
		[BATCH_USER] = { "OAR_USER" },
		[BATCH_ACCOUNT] = { "OAR_PROJECT_NAME" },
		[BATCH_SUBMIT_DIR] = { "OAR_WORKDIR", "OAR_WORKING_DIRECTORY" },
	},
	.number = { [BATCH_TIME_LIMIT] = { "OAR_JOB_WALLTIME_SECONDS" } },
	.read = oar_read,
};
