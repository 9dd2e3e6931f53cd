/* SPDX-License-Identifier: Apache-2.0 */
/* lsf.c - LSF. A job that is no element of an array has the index 0.
 *
 * LSB_CG_MEMLIMIT is not read: it is a task's or a host's, as the cluster is configured; the
 * control group itself has the limit.
 */
#include "job/scheduler/row.h"
#include "job/slots.h"

#include <stdio.h>
#include <string.h>

static void find_element(struct batch_job *j)
{
	const char *index = j->text[BATCH_ARRAY_INDEX], *id = j->text[BATCH_RAW_ID];

	if (!index || !strcmp(index, "0")) {
		j->text[BATCH_ARRAY_INDEX] = NULL;
		return;
	}
	j->text[BATCH_ARRAY_ID] = id;
	snprintf(j->id, sizeof j->id, "%s[%s]", id, index);
}

static void lsf_read(struct batch_job *j, char *const *environment, const char *host)
{
	static const struct slots_source lists[] = {
		{ { "LSB_MCPU_HOSTS" }, false, slot_pair },
		{ { "LSB_DJOB_HOSTFILE" }, true, slot_word },
		{ { "LSB_HOSTS" }, false, slot_word },
	};

	const char *restarted = batch_variable(environment, "LSB_RESTART");

	find_element(j);
	for (size_t i = 0; i < sizeof lists / sizeof lists[0] && !j->nodes.n; i++)
		j->number[BATCH_CORES_ASKED] = slots_read(j, &lists[i], environment, host).here;
	/* Where jsrun starts the tasks, slots are cores. */
	if (batch_variable(environment, "CSM_ALLOCATION_ID") ||
	    batch_variable(environment, "JSM_NAMESPACE_SIZE"))
		j->number[BATCH_TASKS_ASKED] = -1;
	if (restarted && !strcmp(restarted, "Y")) /* how often, it does not say */
		j->number[BATCH_RESTARTS] = 1;
}

const struct scheduler scheduler_lsf = {
	.name = "lsf",
	.title = "LSF",
	.sign = { "LSB_JOBID" },
	.text = {
		[BATCH_RAW_ID] = { "LSB_JOBID" },
		[BATCH_ARRAY_INDEX] = { "LSB_JOBINDEX" },
		[BATCH_NAME] = { "LSB_JOBNAME" },
		[BATCH_USER] = { "LSFUSER" },
		[BATCH_ACCOUNT] = { "LSB_PROJECT_NAME" },
		[BATCH_QUEUE] = { "LSB_QUEUE" },
		[BATCH_CLUSTER] = { "LSB_EXEC_CLUSTER" },
		[BATCH_SUBMIT_DIR] = { "LS_SUBCWD" },
		[BATCH_SUBMIT_HOST] = { "LSB_SUB_HOST" },
	},
	.number = { [BATCH_TASKS_ASKED] = { "LSB_DJOB_NUMPROC" } },
	.read = lsf_read,
};
