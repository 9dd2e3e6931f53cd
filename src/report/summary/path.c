/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/path.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tree ---- */

struct member {
	double start_s, end_s;      /* INFINITY: it has none */
	double own_s, cpu_s;        /* on the path by itself; of the whole of it */
	double unknown_s;           /* of own_s, it may have waited for what is not known */
	uint32_t parent;            /* UINT32_MAX: none */
	uint32_t first, n;          /* its children, in tree.child */
	bool alone;                 /* it computes while its children run: it waits for none */
	double length_s, at_most_s; /* in a simulation */
};

struct tree {
	const struct summary *s;
	struct member *member; /* [s->nprocesses] */
	uint32_t *child;       /* of one after the other, each in the order of their ends */
	uint32_t *by_start;    /* all, the latest first */
};

static const double at_once_s = 1e-4; /* what a clock of two CPUs may be off */

static void tree_free(struct tree *t)
{
	free(t->member);
	free(t->child);
	free(t->by_start);
}

static const struct member *sorted_members;

static int by_end(const void *a, const void *b)
{
	double x = sorted_members[*(const uint32_t *)a].end_s;
	double y = sorted_members[*(const uint32_t *)b].end_s;

	return (x > y) - (x < y);
}

static int latest_first(const void *a, const void *b)
{
	const struct member *x = &sorted_members[*(const uint32_t *)a];
	const struct member *y = &sorted_members[*(const uint32_t *)b];

	if (x->start_s == y->start_s)
		return x->end_s == y->end_s ? 0 : x->end_s < y->end_s ? -1 : 1;
	return x->start_s < y->start_s ? 1 : -1;
}

/* By the ids of instances. */
static int find_parents(struct tree *t, const struct run *r)
{
	uint32_t *of = malloc((r->ninstances + 1u) * sizeof *of);

	if (!of)
		return -ENOMEM;
	for (uint32_t i = 0; i <= r->ninstances; i++)
		of[i] = UINT32_MAX;
	for (uint32_t i = 0; i < t->s->nprocesses; i++)
		of[t->s->processes[i].instance] = i;
	for (uint32_t i = 0; i < t->s->nprocesses; i++) {
		uint32_t parent = of[r->instances[t->s->processes[i].instance].parent];

		/* Nobody starts before its parent, so that there is no circle. */
		if (parent != UINT32_MAX && parent != i &&
		    t->member[parent].start_s <= t->member[i].start_s)
			t->member[i].parent = parent;
	}
	free(of);
	return 0;
}

static void place_children(struct tree *t)
{
	uint32_t n = t->s->nprocesses, at = 0;

	for (uint32_t i = 0; i < n; i++)
		if (t->member[i].parent != UINT32_MAX)
			t->member[t->member[i].parent].n++;
	for (uint32_t i = 0; i < n; i++) {
		t->member[i].first = at;
		at += t->member[i].n;
		t->member[i].n = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct member *parent = &t->member[t->member[i].parent];

		if (t->member[i].parent != UINT32_MAX)
			t->child[parent->first + parent->n++] = i;
	}
	sorted_members = t->member;
	for (uint32_t i = 0; i < n; i++)
		qsort(t->child + t->member[i].first, t->member[i].n, sizeof *t->child, by_end);
}

static int tree_make(struct tree *t, const struct summary *s, const struct run *r)
{
	uint32_t n = s->nprocesses;
	int rc;

	*t = (struct tree){ .s = s,
			    .member = calloc(n + 1u, sizeof *t->member),
			    .child = calloc(n + 1u, sizeof *t->child),
			    .by_start = calloc(n + 1u, sizeof *t->by_start) };
	if (!t->member || !t->child || !t->by_start)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct summary_process *p = &s->processes[i];

		t->member[i] = (struct member){ .start_s = p->start_s,
						.end_s = isnan(p->end_s) ? INFINITY : p->end_s,
						.cpu_s = p->cpu_s,
						.parent = UINT32_MAX };
		t->by_start[i] = i;
	}
	rc = find_parents(t, r);
	if (rc)
		return rc;
	place_children(t);
	qsort(t->by_start, n, sizeof *t->by_start, latest_first);
	return 0;
}

/* Of its first so many children, how many ended until then. */
static uint32_t ended_until(const struct tree *t, const struct member *m, double at)
{
	uint32_t low = 0, high = m->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->member[t->child[m->first + middle]].end_s <= at + at_once_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The child that ended last until then, of those that started before; UINT32_MAX: none did. */
static uint32_t waited_for(const struct tree *t, const struct member *m, double at)
{
	uint32_t i = m->alone ? 0 : ended_until(t, m, at);

	for (; i; i--) {
		uint32_t child = t->child[m->first + i - 1];

		if (t->member[child].start_s < at)
			return child;
	}
	return UINT32_MAX;
}

/* ---- the path ---- */

/* Which waited for none of their children: of the time that these are on its path, it computed for
 * more than half. */
static void find_alone(struct tree *t)
{
	for (uint32_t i = 0; i < t->s->nprocesses; i++) {
		struct member *m = &t->member[i];
		double at = m->end_s, own = 0, waiting = 0;
		uint32_t child;

		if (!(m->cpu_s > 0) || !m->n || isinf(m->end_s))
			continue;
		while ((child = waited_for(t, m, at)) != UINT32_MAX) {
			own += fmax(0, at - t->member[child].end_s);
			waiting += fmin(at, t->member[child].end_s) - t->member[child].start_s;
			at = t->member[child].start_s;
		}
		own += at - m->start_s;
		m->alone = m->cpu_s - own > waiting / 2;
	}
}

struct walk {
	struct path *path;
	uint32_t cap;
	bool failed;
};

static void add_part(struct walk *w, uint32_t process, double from, double to)
{
	struct path *p = w->path;

	if (!(to > from) || w->failed)
		return;
	if (p->nparts == w->cap) {
		uint32_t cap = w->cap ? 2 * w->cap : 64;
		struct path_part *more = realloc(p->part, cap * sizeof *more);

		w->failed = !more;
		if (!more)
			return;
		p->part = more;
		w->cap = cap;
	}
	p->part[p->nparts++] = (struct path_part){ process, from, to };
}

/* Backward: into the child that it waited for, and, from where that started, on in its parent. */
static void walk_back(struct tree *t, struct walk *w)
{
	uint32_t at = w->path->root;
	double now = t->member[at].end_s;

	while (!w->failed) {
		struct member *m = &t->member[at];
		uint32_t child = waited_for(t, m, now);

		if (child != UINT32_MAX) {
			double end = fmin(now, t->member[child].end_s);

			add_part(w, at, end, now);
			at = child;
			now = end;
			continue;
		}
		add_part(w, at, m->start_s, now);
		now = fmin(now, m->start_s);
		if (at == w->path->root)
			break;
		at = m->parent;
	}
	for (uint32_t i = 0; i < w->path->nparts / 2; i++) {
		struct path_part *a = &w->path->part[i];
		struct path_part *b = &w->path->part[w->path->nparts - 1 - i], kept = *a;

		*a = *b;
		*b = kept;
	}
	for (uint32_t i = 0; i < w->path->nparts; i++) {
		const struct path_part *x = &w->path->part[i];

		t->member[x->process].own_s += x->to_s - x->from_s;
	}
}

/* The first process that ended last; what outlived it is not waited for. */
static uint32_t root_of(const struct tree *t)
{
	uint32_t root = UINT32_MAX;

	for (uint32_t i = 0; i < t->s->nprocesses; i++) {
		const struct member *m = &t->member[i];

		if (m->parent == UINT32_MAX && !isinf(m->end_s) && m->end_s > m->start_s &&
		    (root == UINT32_MAX ||
		     m->end_s - m->start_s > t->member[root].end_s - t->member[root].start_s))
			root = i;
	}
	return root;
}

/* ---- half as long ---- */

/* How long it takes when its children take what they do now. all: it waited, before it started a
 * child, for all that had ended, and not for the last of them alone. */
static double length_of(const struct tree *t, uint32_t i, double share, bool all, double *end)
{
	const struct member *m = &t->member[i];
	double whole = m->end_s - m->start_s, last_s = m->start_s, last = 0, latest = 0;

	if (m->alone || !m->n)
		return whole * share;
	for (uint32_t at = 0; at < m->n; at++) /* in the order of their starts */
		end[at] = NAN;
	for (uint32_t at = 0; at < m->n; at++) {
		uint32_t c = t->child[m->first + at], before;
		const struct member *x = &t->member[c];
		double start, from = m->start_s, length = all ? x->at_most_s : x->length_s;

		if (x->end_s > m->end_s + at_once_s)
			break;
		before = ended_until(t, m, x->start_s);
		before = before > at ? at : before;
		start = 0;
		for (uint32_t j = before; j; j--) {
			if (!(t->member[t->child[m->first + j - 1]].start_s < x->start_s))
				continue;
			from = t->member[t->child[m->first + j - 1]].end_s;
			start = end[j - 1];
			break;
		}
		if (all && before)
			start = fmax(start, end[m->n + before - 1]);
		end[at] = start + fmax(0, x->start_s - from) * share + length;
		latest = fmax(latest, end[at]);
		end[m->n + at] = latest;
		last_s = x->end_s;
		last = latest;
	}
	return last + fmax(0, m->end_s - last_s) * share;
}

/* Children start after their parents, so that they are done first. */
static void simulate(struct tree *t, const char *name, double *end)
{
	for (uint32_t i = 0; i < t->s->nprocesses; i++) {
		uint32_t at = t->by_start[i];
		struct member *m = &t->member[at];
		double share = !strcmp(t->s->processes[at].name, name) ? 0.5 : 1;

		if (m->unknown_s > 0)
			share += (1 - share) * m->unknown_s / m->own_s;
		if (isinf(m->end_s))
			continue;
		m->length_s = length_of(t, at, share, false, end);
		m->at_most_s = length_of(t, at, share, true, end);
	}
}

/* ---- names ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct path_name *)a)->name, ((const struct path_name *)b)->name);
}

static int most_first(const void *a, const void *b)
{
	double x = ((const struct path_name *)a)->on_path_s;
	double y = ((const struct path_name *)b)->on_path_s;

	return x == y ? by_name(a, b) : x < y ? 1 : -1;
}

static void join(const struct tree *t, struct path_name *into, const struct path_name *x)
{
	if (t->member[x->longest].own_s > t->member[into->longest].own_s)
		into->longest = x->longest;
	into->on_path_s += x->on_path_s;
	into->unknown_s += x->unknown_s;
	into->cpu_s += x->cpu_s;
	into->processes += x->processes;
}

/* It is not what computed while its children ran that nobody has a name for: what it waited then is
 * theirs. */
static struct path_name name_of(struct tree *t, uint32_t i)
{
	const struct summary_process *x = &t->s->processes[i];
	struct member *m = &t->member[i];
	double cpu_s = fmin(m->cpu_s, m->cpu_s * m->own_s / (m->end_s - m->start_s));

	m->unknown_s = fmin(x->unnamed_s, fmax(0, m->own_s - (cpu_s > 0 ? cpu_s : 0)));
	return (struct path_name){ .name = x->name,
				   .longest = i,
				   .on_path_s = m->own_s - m->unknown_s,
				   .unknown_s = m->unknown_s,
				   .cpu_s = cpu_s,
				   .processes = 1,
				   .shorter_s = NAN,
				   .at_most_s = NAN };
}

static int make_names(struct path *p, struct tree *t)
{
	uint32_t n = 0, kept = 0;

	p->name = calloc(t->s->nprocesses + 1u, sizeof *p->name);
	if (!p->name)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->s->nprocesses; i++) {
		if (!(t->member[i].own_s > 0))
			continue;
		p->name[n] = name_of(t, i);
		p->unknown_s += p->name[n++].unknown_s;
	}
	qsort(p->name, n, sizeof *p->name, by_name);
	for (uint32_t i = 0; i < n; i++)
		if (kept && !by_name(&p->name[kept - 1], &p->name[i]))
			join(t, &p->name[kept - 1], &p->name[i]);
		else
			p->name[kept++] = p->name[i];
	p->nnames = kept;
	qsort(p->name, kept, sizeof *p->name, most_first);
	return 0;
}

static int ask_what_if(struct path *p, struct tree *t)
{
	double *end = calloc(2 * (t->s->nprocesses + 1u), sizeof *end);

	if (!end)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nnames && i < PATH_SIMULATED; i++) {
		simulate(t, p->name[i].name, end);
		p->name[i].shorter_s = t->member[p->root].length_s;
		p->name[i].at_most_s = t->member[p->root].at_most_s;
	}
	free(end);
	return 0;
}

int path_make(struct path *p, const struct summary *s, const struct run *r, struct err *e)
{
	struct tree t;
	struct walk w = { .path = p };
	int rc;

	*p = (struct path){ .root = UINT32_MAX, .wall_s = NAN };
	p->known_ratio = s->nprocesses / s->processes_started;
	rc = tree_make(&t, s, r);
	if (!rc)
		p->root = root_of(&t);
	if (!rc && p->root != UINT32_MAX) {
		p->wall_s = t.member[p->root].end_s - t.member[p->root].start_s;
		find_alone(&t);
		walk_back(&t, &w);
		rc = w.failed ? -ENOMEM : make_names(p, &t);
		if (!rc)
			rc = ask_what_if(p, &t);
	}
	tree_free(&t);
	return rc ? err_set(e, rc, "out of memory for the path through %u processes", s->nprocesses)
		  : 0;
}

double path_computing_ratio(const struct path_name *n)
{
	return n->on_path_s > 0 ? fmin(1, n->cpu_s / n->on_path_s) : NAN;
}

void path_free(struct path *p)
{
	free(p->part);
	free(p->name);
	*p = (struct path){ .root = UINT32_MAX };
}
