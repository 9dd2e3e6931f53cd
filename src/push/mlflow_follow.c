/* SPDX-License-Identifier: Apache-2.0 */
#include "push/mlflow_follow.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the journal: the length of a window, in ns, and the host that was alone at first ("-": there
 * were several). */
#define EVERY "follow"
#define ALONE "alone"
#define SENT  "windows"
#define GOING "sending"

enum { HOST = 300 };

/* Of each node; windows from 0 on. */
struct reach {
	uint64_t *sent, *going;
	double *from_s, *to_s, *own_from_s, *own_to_s;
	void *memory;
};

static int reserve(struct reach *x, uint32_t nnodes)
{
	size_t n = nnodes + 1u;
	double *d = calloc(6 * n, sizeof *d);

	_Static_assert(sizeof(double) == sizeof(uint64_t), "one allocation has room for both");
	if (!d)
		return -ENOMEM;
	*x = (struct reach){ .memory = d,
			     .from_s = d,
			     .to_s = d + n,
			     .own_from_s = d + 2 * n,
			     .own_to_s = d + 3 * n,
			     .sent = (uint64_t *)(d + 4 * n),
			     .going = (uint64_t *)(d + 5 * n) };
	return 0;
}

bool mlflow_is_followed(const struct mlflow *m)
{
	return journal_number(&m->journal, EVERY) > 0;
}

/* How long windows are, and whose names have no node: as it was at first. */
static int begin(struct mlflow *m, double *every_s, char alone[HOST], struct err *e)
{
	int rc = 0;

	if (!mlflow_is_followed(m)) {
		const char *host = m->tracking.n == 1 ? m->tracking.host[0].name : NULL;

		rc = journal_add(&m->journal, ALONE, host && !strchr(host, '\n') ? host : "-", e);
		if (!rc)
			rc = journal_add_number(&m->journal, EVERY, (uint64_t)m->job->every_ns, e);
	}
	*every_s = (double)journal_number(&m->journal, EVERY) / NS_PER_S;
	if (!journal_find(&m->journal, ALONE, alone, HOST))
		*alone = '\0';
	return rc;
}

/* Windows that are over. */
static uint64_t complete(const struct run *r, uint32_t node, double every_s)
{
	double last_s = run_seconds(r, node, r->nodes[node].last_ns);

	return r->nodes[node].rows && last_s > 0 ? (uint64_t)floor(last_s / every_s) : 0;
}

/* A node's values from..to; of its own numbers, which come a moment later than samples, a window
 * less. to 0: all that there are. */
static void set(struct reach *x, uint32_t node, uint64_t to, double every_s)
{
	uint64_t from = x->sent[node];

	x->from_s[node] = from ? (double)from * every_s : -INFINITY;
	x->own_from_s[node] = from ? (double)(from - 1) * every_s : -INFINITY;
	x->to_s[node] = to ? (double)to * every_s : INFINITY;
	x->own_to_s[node] = to ? (double)(to - 1) * every_s : INFINITY;
}

/* What was on its way when a push was killed goes first, and as it was. *any: there is something to
 * send. *again: and more behind that. */
static void plan(struct reach *x, const struct mlflow *m, double every_s, bool last, bool *any,
		 bool *again)
{
	const struct run *r = m->job->run;
	char key[PUSH_KEY];

	*again = *any = false;
	for (uint32_t i = 1; i < r->nnodes; i++)
		*again |= journal_number(&m->journal, push_node_key(r, i, GOING, key)) >
			  journal_number(&m->journal, push_node_key(r, i, SENT, key));
	for (uint32_t i = 1; i < r->nnodes; i++) {
		x->sent[i] = journal_number(&m->journal, push_node_key(r, i, SENT, key));
		x->going[i] = journal_number(&m->journal, push_node_key(r, i, GOING, key));
		if (x->going[i] <= x->sent[i])
			x->going[i] = *again ? x->sent[i] : complete(r, i, every_s);
		if (x->going[i] < x->sent[i])
			x->going[i] = x->sent[i];
		*any |= x->going[i] > x->sent[i];
		set(x, i, x->going[i], every_s);
		if (last && !*again)
			set(x, i, 0, every_s);
		else if (!x->going[i])
			x->own_to_s[i] = x->to_s[i] = -INFINITY;
	}
	*any |= last;
}

static int note(struct mlflow *m, const struct reach *x, const char *word, struct err *e)
{
	const struct run *r = m->job->run;
	char key[PUSH_KEY];
	int rc = 0;

	for (uint32_t i = 1; i < r->nnodes && !rc; i++)
		if (x->going[i] > x->sent[i])
			rc = journal_set_number(&m->journal, push_node_key(r, i, word, key),
						x->going[i], e);
	return rc;
}

static int pass(struct mlflow *m, const struct mlflow_follow *f, struct reach *x,
		struct points_follow *p, bool *again, struct err *e)
{
	const struct points_wish wish = { .node_id =
						  m->job->variable("MLFLOW_SYSTEM_METRICS_NODE_ID"),
					  .follow = p,
					  .take = f->send,
					  .ctx = m };
	bool any;
	int rc;

	plan(x, m, p->every_s, f->last, &any, again);
	p->last = f->last && !*again;
	if (!any)
		return 0;
	rc = p->last ? 0 : note(m, x, GOING, e);
	if (!rc)
		rc = mlflow_points(m->job->run, &m->tracking, &wish, e);
	if (!rc)
		rc = f->flush(m, e);
	return rc || p->last ? rc : note(m, x, SENT, e);
}

int mlflow_follow(struct mlflow *m, const struct mlflow_follow *f, struct err *e)
{
	struct reach x = { 0 };
	struct points_follow p = { 0 };
	char alone[HOST];
	bool again = true;
	int rc = begin(m, &p.every_s, alone, e);

	p.alone = alone;
	if (!rc && reserve(&x, m->job->run->nnodes))
		rc = err_set(e, -ENOMEM, "out of memory for %u nodes", m->job->run->nnodes);
	p.from_s = x.from_s;
	p.to_s = x.to_s;
	p.own_from_s = x.own_from_s;
	p.own_to_s = x.own_to_s;
	while (x.memory && !rc && again)
		rc = pass(m, f, &x, &p, &again, e);
	free(x.memory);
	return rc;
}
