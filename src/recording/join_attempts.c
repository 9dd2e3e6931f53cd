/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_attempts.c - a batch job that was put back into the queue has begun again: its recordings in
 * one directory are of several attempts. The last one is the run; of those before it is told how
 * they ended.
 */
#include "core/frame/run.h"
#include "recording/join_part.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS_TOLD = 8 };

/* A run, and which metadata is whose: there are as many nodes as thousands of it. */
struct told {
	const struct run *run;
	struct run_index metas;
};

static const struct run_meta *meta_of(const struct told *t, uint32_t node, const char *key)
{
	for (uint32_t i = t->metas.first[node]; i < t->metas.first[node + 1]; i++) {
		const struct run_meta *m = &t->run->metas[t->metas.id[i]];

		if (!strcmp(m->key, key))
			return m;
	}
	return NULL;
}

static int64_t number_of(const struct told *t, uint32_t node, const char *key, int64_t otherwise)
{
	const struct run_meta *m = meta_of(t, node, key);

	return m && m->type == META_INT ? m->value : otherwise;
}

/* Which attempt a node's recording is of, from 0 on; -1: it does not say what job it is of. */
static int64_t attempt_of(const struct told *t, uint32_t node)
{
	return number_of(t, node, "job.restarts_count", meta_of(t, node, "job.scheduler") ? 0 : -1);
}

static int64_t next_attempt(const struct told *t, int64_t after)
{
	int64_t next = INT64_MAX;

	for (uint32_t i = 1; i < t->run->nnodes; i++) {
		int64_t a = attempt_of(t, i);

		if (a > after && a < next)
			next = a;
	}
	return next;
}

static void say_attempt(const struct told *t, int64_t attempt, char *out, size_t size)
{
	int64_t signal = 0, code = -1, longest = 0;
	uint32_t recordings = 0;
	char ending[48] = "end not seen";
	const char *name;

	for (uint32_t i = 1; i < t->run->nnodes; i++) {
		const struct run_node *n = &t->run->nodes[i];

		if (attempt_of(t, i) != attempt)
			continue;
		recordings++;
		signal = number_of(t, i, "job.signal", 0) > signal
				 ? number_of(t, i, "job.signal", 0)
				 : signal;
		code = number_of(t, i, "job.exit_code", -1) > code
			       ? number_of(t, i, "job.exit_code", -1)
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
static char *say_all(const struct told *t, int64_t last)
{
	enum { ROOM = 160 };
	char *out = calloc(ATTEMPTS_TOLD + 1, ROOM);
	size_t len = 0;
	int64_t a = next_attempt(t, -1);

	for (int n = 0; out && n < ATTEMPTS_TOLD && a < last; n++, a = next_attempt(t, a)) {
		char one[ROOM - 2];

		say_attempt(t, a, one, sizeof one);
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

static int find(struct join_attempts *x, const struct told *t)
{
	int64_t last = 0, first = INT64_MAX;
	int rc = 0;

	for (uint32_t i = 1; i < t->run->nnodes; i++) {
		int64_t a = attempt_of(t, i);

		last = a > last ? a : last;
		first = a >= 0 && a < first ? a : first;
	}
	if (first >= last)
		return 0;
	x->last = last;
	x->before = say_all(t, last);
	for (uint32_t i = 1; i < t->run->nnodes && !rc; i++)
		if (attempt_of(t, i) == last || attempt_of(t, i) < 0)
			rc = keep(x, t->run->nodes[i].file);
	return rc || !x->before ? -ENOMEM : 1;
}

int join_attempts_find(struct join_attempts *x, const struct run *r)
{
	struct told t = { .run = r };
	int rc = run_index_metas(&t.metas, r);

	if (!rc)
		rc = find(x, &t);
	run_index_free(&t.metas);
	return rc;
}

void join_attempts_free(struct join_attempts *x)
{
	for (size_t i = 0; i < x->nkeep; i++)
		free((void *)(uintptr_t)x->keep[i]);
	free(x->keep);
	free(x->before);
	*x = (struct join_attempts){ 0 };
}

/* The file itself, or a timeline that was imported into it. */
static bool is_kept(const struct join_file *f, const char *kept)
{
	size_t n = strlen(kept);

	if (!strcmp(f->path, kept))
		return true;
	n -= n > 6 ? 6 : n; /* ".sonde" */
	return !strncmp(f->path, kept, n) && !strncmp(f->path + n, ".timeline", 9);
}

void join_attempts_leave(struct join *j, const struct join_attempts *x)
{
	uint32_t kept = 0;
	size_t next = 0; /* they are in the same order, mostly */

	for (uint32_t i = 0; i < j->nfiles; i++)
		for (size_t k = 0; k < x->nkeep; k++) {
			size_t at = (next + k) % x->nkeep;

			if (!is_kept(&j->files[i], x->keep[at]))
				continue;
			j->files[kept++] = j->files[i];
			next = at;
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
