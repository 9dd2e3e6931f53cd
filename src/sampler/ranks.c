/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/ranks.h"

#include "core/stacks/rollcall.h"
#include "job/scheduler/scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENVIRONMENT_MAX = 1 << 18, VARIABLES_MAX = 4096 };

struct environment {
	char text[ENVIRONMENT_MAX], host[256];
	char *variable[VARIABLES_MAX + 1];
};

/* What does not fit is left out. */
static void split(struct environment *e, size_t n)
{
	uint32_t k = 0;

	e->text[n] = '\0';
	for (char *at = e->text; at < e->text + n && k < VARIABLES_MAX; at += strlen(at) + 1)
		e->variable[k++] = at;
	e->variable[k] = NULL;
}

static bool rank_of(const struct root *proc, pid_t pid, struct environment *e, int64_t *rank,
		    int64_t *ranks)
{
	struct batch_job j;
	char path[32];
	ssize_t n;

	snprintf(path, sizeof path, "%d/environ", (int)pid);
	n = root_read(proc, path, e->text, sizeof e->text);
	if (n <= 0)
		return false;
	split(e, (size_t)n < sizeof e->text ? (size_t)n : sizeof e->text - 1);
	batch_job_find(&j, e->variable, e->host);
	*rank = j.number[BATCH_RANK];
	*ranks = j.number[BATCH_RANKS];
	batch_job_free(&j);
	return *rank >= 0 && *rank < ROLLCALL_RANKS;
}

void ranks_find(struct waits *w, const struct root *proc)
{
	struct environment *e = calloc(1, sizeof *e);
	int64_t rank = -1, ranks = -1;

	if (e)
		gethostname(e->host, sizeof e->host - 1);
	for (uint32_t i = 0; e && i < w->n; i++) {
		if (!i || w->thread[i].pid != w->thread[i - 1].pid)
			rank = rank_of(proc, w->thread[i].pid, e, &rank, &ranks) ? rank : -1;
		w->thread[i].rank = (int32_t)rank;
		if (rank >= 0 && ranks > w->ranks && ranks <= ROLLCALL_RANKS)
			w->ranks = (uint32_t)ranks;
	}
	free(e);
}
