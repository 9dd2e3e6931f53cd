/* SPDX-License-Identifier: Apache-2.0 */
#include "session/attached_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENVIRONMENT_MAX = 256 << 10, VARIABLES_MAX = 4096 };

/* The variables of a process, which ends before the room does; 0: none can be read. */
static size_t read_environment(const struct root *proc, pid_t pid, char *text, char **variable)
{
	char path[32];
	ssize_t got;
	size_t n = 0;

	snprintf(path, sizeof path, "%d/environ", (int)pid);
	got = root_read(proc, path, text, ENVIRONMENT_MAX);
	for (ssize_t i = 0; i < got && n < VARIABLES_MAX - 1;
	     i += (ssize_t)strnlen(text + i, (size_t)(got - i)) + 1)
		variable[n++] = text + i;
	variable[n] = NULL;
	return n;
}

static bool is_script_of(const struct batch_job *script, const struct batch_job *job)
{
	const char *a = script->text[BATCH_RAW_ID], *b = job->text[BATCH_RAW_ID];

	return script->part == BATCH_PART_SCRIPT && a && b && strcmp(a, b) == 0;
}

void attached_script_tasks(struct batch_job *job, const struct root *proc, const pid_t *pids,
			   size_t n)
{
	char *text = malloc(ENVIRONMENT_MAX), **variable = calloc(VARIABLES_MAX, sizeof *variable);
	bool found = !text || !variable || job->part != BATCH_PART_STEP ||
		     job->number[BATCH_TASKS_ASKED] > 0;

	for (size_t i = 0; i < n && !found; i++) {
		struct batch_job script;

		if (!read_environment(proc, pids[i], text, variable))
			continue;
		batch_job_find(&script, variable, job->node);
		found = is_script_of(&script, job);
		if (found)
			job->number[BATCH_TASKS_ASKED] = script.number[BATCH_TASKS_ASKED] > 0
								 ? script.number[BATCH_TASKS_ASKED]
								 : 1;
		batch_job_free(&script);
	}
	free(text);
	free(variable);
}
