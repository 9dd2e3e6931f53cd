/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_attempts.c - a batch job that was put back into the queue has begun again: its recordings in
 * one directory are of several attempts. The last one is the run; of those before it is told how
 * they ended.
 */
#include "recording/join_part.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS_TOLD = 8 };

static const struct run_meta *meta_of(const struct run *r, uint32_t node, const char *key)
{
	for (uint32_t i = 1; i < r->nmetas; i++)
		if (r->metas[i].node == node && !strcmp(r->metas[i].key, key))
			return &r->metas[i];
	return NULL;
}

static int64_t number_of(const struct run *r, uint32_t node, const char *key, int64_t otherwise)
{
	const struct run_meta *m = meta_of(r, node, key);

	return m && m->type == META_INT ? m->value : otherwise;
}

/* Which attempt a node's recording is of, from 0 on; -1: it does not say what job it is of. */
static int64_t attempt_of(const struct run *r, uint32_t node)
{
	return number_of(r, node, "job.restarts_count", meta_of(r, node, "job.scheduler") ? 0 : -1);
}

static int64_t next_attempt(const struct run *r, int64_t after)
{
	int64_t next = INT64_MAX;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		int64_t a = attempt_of(r, i);

		if (a > after && a < next)
			next = a;
	}
	return next;
}

static void say_attempt(const struct run *r, int64_t attempt, char *out, size_t size)
{
	int64_t signal = 0, code = -1, longest = 0;
	uint32_t recordings = 0;
	char ending[48] = "end not seen";
	const char *name;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		const struct run_node *n = &r->nodes[i];

		if (attempt_of(r, i) != attempt)
			continue;
		recordings++;
		signal = number_of(r, i, "job.signal", 0) > signal
				 ? number_of(r, i, "job.signal", 0)
				 : signal;
		code = number_of(r, i, "job.exit_code", -1) > code
			       ? number_of(r, i, "job.exit_code", -1)
			       : code;
		if (n->rows && n->last_ns - n->first_ns > longest)
			longest = n->last_ns - n->first_ns;
	}
	name = signal > 0 && signal < 65 ? sigabbrev_np((int)signal) : NULL;
	if (name)
		snprintf(ending, sizeof ending, "killed by SIG%s", name);
	else if (signal > 0)
		snprintf(ending, sizeof ending, "killed by signal %lld", (long long)signal);
	else if (code >= 0)
		snprintf(ending, sizeof ending, "exit code %lld", (long long)code);
	snprintf(out, size, "attempt %lld (recordings: %u, %s, %.1f s)", (long long)attempt + 1,
		 recordings, ending, (double)longest / 1e9);
}

/* Of all attempts before the last one. */
static char *say_all(const struct run *r, int64_t last)
{
	enum { ROOM = 160 };
	char *out = calloc(ATTEMPTS_TOLD + 1, ROOM);
	size_t len = 0;
	int64_t a = next_attempt(r, -1);

	for (int n = 0; out && n < ATTEMPTS_TOLD && a < last; n++, a = next_attempt(r, a)) {
		char one[ROOM - 2];

		say_attempt(r, a, one, sizeof one);
		len += (size_t)snprintf(out + len, (ATTEMPTS_TOLD + 1) * ROOM - len, "%s%s",
					n ? ", " : "", one);
	}
	return out;
}

static int keep(struct join_attempts *x, const char *path)
{
	const char **moved = realloc(x->keep, (x->nkeep + 1) * sizeof *moved);

	if (!moved)
		return -ENOMEM;
	x->keep = moved;
	x->keep[x->nkeep] = strdup(path);
	return x->keep[x->nkeep++] ? 0 : -ENOMEM;
}

int join_attempts_find(struct join_attempts *x, const struct run *r)
{
	int64_t last = 0, first = INT64_MAX;
	int rc = 0;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		int64_t a = attempt_of(r, i);

		last = a > last ? a : last;
		first = a >= 0 && a < first ? a : first;
	}
	if (first >= last)
		return 0;
	x->last = last;
	x->before = say_all(r, last);
	for (uint32_t i = 1; i < r->nnodes && !rc; i++)
		if (attempt_of(r, i) == last || attempt_of(r, i) < 0)
			rc = keep(x, r->nodes[i].file);
	return rc || !x->before ? -ENOMEM : 1;
}

void join_attempts_free(struct join_attempts *x)
{
	for (size_t i = 0; i < x->nkeep; i++)
		free((void *)(uintptr_t)x->keep[i]);
	free(x->keep);
	free(x->before);
	*x = (struct join_attempts){ 0 };
}

void join_attempts_leave(struct join *j, const struct join_attempts *x)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < j->nfiles; i++)
		for (size_t k = 0; k < x->nkeep; k++)
			if (!strcmp(j->files[i].path, x->keep[k])) {
				j->files[kept++] = j->files[i];
				break;
			}
	j->nfiles = kept;
}

int join_attempts_report(struct join *j, const struct join_attempts *x)
{
	struct run *r = &j->run;
	struct run_meta *moved =
		x->before ? array_room(r->metas, r->nmetas, &j->cap.metas, sizeof *moved) : NULL;
	const char *text = x->before ? join_text(j, x->before) : NULL;

	if (!x->before || r->nnodes < 2)
		return 0;
	if (!moved || !text)
		return -ENOMEM;
	r->metas = moved;
	r->metas[r->nmetas++] = (struct run_meta){
		.node = 1, .type = META_TEXT, .key = "run.attempts_before", .text = text
	};
	return 0;
}
