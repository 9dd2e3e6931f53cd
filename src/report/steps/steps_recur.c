/* SPDX-License-Identifier: Apache-2.0 */
/* steps_recur.c - steps that events show: processes that one process starts again and again, and
 * collective calls of MPI that all come out of together. Their times are known however rarely the
 * job was sampled. */
#include "base/array.h"
#include "report/steps/steps.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Steps that are enough; events of all kinds that are looked at; ancestors of a process. */
enum { LEAST = 8, MOST = 1 << 18, ANCESTORS = 64 };

/* parent: what started it, or whose call it is. */
struct occurrence {
	const char *name;
	uint32_t node, parent;
	bool call;
	double at_s;
};

struct occurrences {
	struct occurrence *event;
	uint32_t n, cap;
	bool failed;
};

/* What repeats: events first .. first + n - 1; gap_s: nearer ones are of one step. */
struct recurring {
	uint32_t first, n;
	double gap_s, every_s, beyond; /* beyond: how much more even than by chance */
	uint32_t steps;
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ---- which events there are ---- */

static void add(struct occurrences *x, const struct occurrence *v)
{
	void *room;

	if (x->failed || x->n == MOST || !v->name || !*v->name)
		return;
	room = array_room(x->event, x->n, &x->cap, sizeof *x->event);
	x->failed = !room;
	if (!room)
		return;
	x->event = room;
	x->event[x->n++] = *v;
}

static void add_starts(struct occurrences *x, const struct run *r)
{
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];

		if (!in->domain || strcmp(in->domain, "process") != 0 || !in->parent)
			continue;
		add(x, &(struct occurrence){ .name = in->name,
					     .node = in->node,
					     .parent = in->parent,
					     .at_s = run_seconds(r, in->node, in->birth_ns) });
	}
}

/* Those that no rank leaves before all have come. */
static bool is_collective(const char *name)
{
	static const char *const names[] = { "Barrier",  "Allreduce", "Allgather", "Allgatherv",
					     "Alltoall", "Alltoallv", "Alltoallw" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(name + strlen("MPI_"), names[i]))
			return true;
	return false;
}

static void add_call(struct occurrences *x, const struct run *r, const struct run_span *s)
{
	if (step_is_call(s->name) && is_collective(s->name) && s->end_ns != INT64_MAX)
		add(x, &(struct occurrence){ .name = s->name,
					     .node = s->node,
					     .parent = s->track,
					     .call = true,
					     .at_s = run_seconds(r, s->node, s->end_ns) });
}

static void add_calls(struct occurrences *x, const struct run *r)
{
	for (uint32_t i = 1; i < r->nspans; i++)
		add_call(x, r, &r->spans[i]);
	for (uint32_t i = 0; i < r->npacks && r->npacked <= MOST; i++) {
		const struct run_span *s;
		struct err e;
		int n = r->unpack ? r->unpack(r, i, &s, &e) : 0;

		for (int k = 0; k < n; k++)
			add_call(x, r, &s[k]);
	}
}

/* Those of one name and of one process. */
static int by_row(const void *a, const void *b)
{
	const struct occurrence *x = a, *y = b;
	int name = strcmp(x->name, y->name);

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return name ? name : x->call - y->call;
}

static int in_order(const void *a, const void *b)
{
	const struct occurrence *x = a, *y = b;
	int row = by_row(a, b);

	return row ? row : (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

/* ---- whether they repeat ---- */

/* Of events that are not nearer than the gap: distances from one to the next. How many. */
static uint32_t distances(const struct occurrence *v, uint32_t n, double gap_s, double *out)
{
	uint32_t count = 0;
	double last = NAN, before = NAN;

	for (uint32_t i = 0; i < n; i++) {
		if (v[i].at_s - before < gap_s) {
			before = v[i].at_s;
			continue;
		}
		if (isfinite(last))
			out[count++] = v[i].at_s - last;
		last = before = v[i].at_s;
	}
	return count;
}

/* What chance gives to this many: distances that nothing keeps even, as of compilers (log-normal,
 * of a deviation of a half), are this near to their median by 0.4, twice as near by 0.6. A few may
 * be much longer: with a checkpoint. */
double steps_even(double *d, uint32_t n, bool ordered, uint32_t *steps, double *beyond)
{
	const double near = ordered ? 0.4 : 0.2, chance = ordered ? 0.6 : 0.4;
	const double longer = 1.5, few = 0.35, share = 0.7, sure = 2.33;
	uint32_t usual = 0, even = 0;
	double middle;

	if (n < LEAST)
		return NAN;
	qsort(d, n, sizeof *d, by_value);
	middle = d[n / 2];
	for (uint32_t i = 0; i < n; i++) {
		usual += d[i] <= longer * middle;
		even += fabs(d[i] / middle - 1) <= near;
	}
	*steps = n;
	*beyond = (even - chance * usual) / sqrt(chance * (1 - chance) * usual);
	if (usual < LEAST || n - usual > few * n || even < share * usual || *beyond < sure)
		return NAN;
	return middle;
}

/* Whether b comes once between two of a, nearly always. */
static bool alternates(const struct occurrence *a, uint32_t na, const struct occurrence *b,
		       uint32_t nb)
{
	const double mostly = 0.9;
	uint32_t k = 0, once = 0;

	for (uint32_t i = 0; i + 1 < na; i++) {
		uint32_t n = 0;

		while (k < nb && b[k].at_s < a[i].at_s)
			k++;
		for (; k < nb && b[k].at_s < a[i + 1].at_s; k++)
			n++;
		once += n == 1;
	}
	return once >= mostly * (na - 1);
}

/* Whether their parent starts two others, each once between two of these: the order of a loop, in
 * which distances need not be as even. */
static bool keeps_order(const struct recurring *x, const struct occurrences *all)
{
	const struct occurrence *v = all->event;
	uint32_t from = x->first, to, others = 0, n;

	while (from && v[from - 1].parent == v[x->first].parent &&
	       v[from - 1].node == v[x->first].node)
		from--;
	for (uint32_t i = from;
	     i < all->n && v[i].parent == v[x->first].parent && v[i].node == v[x->first].node;
	     i += n) {
		for (to = i + 1; to < all->n && !by_row(&v[i], &v[to]);)
			to++;
		n = to - i;
		others += i != x->first && n + 1 >= x->n - x->n / 10 &&
			  alternates(v + x->first, x->n, v + i, n);
	}
	return others >= 2;
}

/* Where nearer ones are of one step: between two distances, one of which is three times as long as
 * the other. 0: there is no such place. */
static double find_gap(double *d, uint32_t n)
{
	const double apart = 3;
	double most = apart, gap = 0;

	qsort(d, n, sizeof *d, by_value);
	for (uint32_t i = 1; i + LEAST <= n; i++) {
		double low = fmax(d[i - 1], 1e-3);

		if (d[i] > most * low) {
			most = d[i] / low;
			gap = sqrt(d[i] * low);
		}
	}
	return gap;
}

/* orders: how often it may look for an order. */
static bool recurs(struct recurring *x, const struct occurrences *all, double wall_s, double *room,
		   int *orders)
{
	const double covers = 0.4, least_s = 0.1;
	const struct occurrence *v = all->event + x->first;

	if (x->n <= LEAST || v[x->n - 1].at_s - v[0].at_s < covers * wall_s)
		return false;
	for (int pass = 0; pass < 2; pass++) {
		uint32_t n = distances(v, x->n, x->gap_s, room);

		x->every_s = steps_even(room, n, false, &x->steps, &x->beyond);
		if (!(x->every_s > 0) && !pass && !v->call && (*orders)-- > 0 &&
		    keeps_order(x, all))
			x->every_s = steps_even(room, n, true, &x->steps, &x->beyond);
		if (x->every_s >= least_s)
			return true;
		x->gap_s = find_gap(room, n);
		if (!(x->gap_s > 0))
			return false;
	}
	return false;
}

/* ---- whose loop it is ---- */

/* CPU time of the job, and the part of it that is the owner's and of what it started and waited
 * for: without processes that went on over several repeats. */
static double share_of_owner(const struct summary *s, const struct run *r, uint32_t owner,
			     double every_s)
{
	const double over = 4;
	double all = 0, part = 0;

	for (uint32_t i = 0; i < s->nprocesses; i++) {
		uint32_t at = s->processes[i].instance, below = at;
		double cpu_s = fmax(0, s->processes[i].cpu_s);

		all += cpu_s;
		for (int n = 0; n < ANCESTORS && at && at != owner; n++) {
			below = at;
			at = r->instances[at].parent;
		}
		if (at == owner && (below == owner || (r->instances[below].end_ns != INT64_MAX &&
						       (double)(r->instances[below].end_ns -
								r->instances[below].birth_ns) <
							       1e9 * over * every_s)))
			part += cpu_s;
	}
	return all > 0 ? part / all : 1;
}

/* One of the name may be of what comes before the loop: so near to the first step that it is none.
 */
static void drop_prelude(struct steps *x, double every_s)
{
	const double least = 0.6;

	if (x->n <= LEAST || x->step[0].to_s - x->step[0].from_s >= least * every_s)
		return;
	x->n--;
	memmove(x->step, x->step + 1, x->n * sizeof *x->step);
}

static int take(struct steps *x, const struct occurrences *all, const struct recurring *best)
{
	const struct occurrence *v = all->event + best->first;
	double before = NAN;
	uint32_t n = 0;

	if (!all->event || !best->n)
		return 0;
	x->step = calloc(best->n, sizeof *x->step);
	if (!x->step)
		return -ENOMEM;
	for (uint32_t i = 0; i < best->n; i++) {
		bool begins = !(v[i].at_s - before < best->gap_s);

		before = v[i].at_s;
		if (!begins)
			continue;
		if (n)
			x->step[n - 1].to_s = v[i].at_s;
		x->step[n++].from_s = v[i].at_s;
	}
	x->n = n - 1;
	drop_prelude(x, best->every_s);
	x->node = v->node;
	x->source = v->call ? STEPS_OF_CALLS : STEPS_OF_STARTS;
	snprintf(x->name, sizeof x->name, "%s", v->name);
	return 0;
}

/* The longest that repeats, since what repeats more often is a part of it; but a checkpoint that
 * repeats much less often is none. Of those that are as long, the most even; but a step begins
 * with what its loop starts first, as often as that. */
static void choose(const struct recurring *found, uint32_t n, const struct occurrences *all,
		   struct recurring *best)
{
	const double parts = 4.5, alike = 0.85;
	double shortest = INFINITY, longest = 0;
	const struct occurrence *v = all->event;
	struct recurring even;

	for (uint32_t i = 0; i < n; i++)
		shortest = fmin(shortest, found[i].every_s);
	for (uint32_t i = 0; i < n; i++)
		if (found[i].every_s <= parts * shortest)
			longest = fmax(longest, found[i].every_s);
	for (uint32_t i = 0; i < n; i++)
		if (found[i].every_s <= longest && found[i].every_s >= alike * longest &&
		    !(found[i].beyond <= best->beyond))
			*best = found[i];
	even = *best;
	for (uint32_t i = 0; i < n; i++)
		if (found[i].steps == even.steps && found[i].every_s >= alike * even.every_s &&
		    found[i].every_s <= even.every_s / alike &&
		    v[found[i].first].parent == v[even.first].parent &&
		    v[found[i].first].at_s < v[best->first].at_s)
			*best = found[i];
}

int steps_of_events(struct steps *x, const struct summary *s, const struct run *r)
{
	enum { FOUND = 64 };
	const double owns = 0.4;
	struct recurring found[FOUND], best = { .beyond = NAN };
	struct occurrences all = { 0 };
	uint32_t nfound = 0, n;
	double *room = NULL;
	int rc, orders = FOUND;

	add_starts(&all, r);
	add_calls(&all, r);
	room = malloc((all.n + 1u) * sizeof *room);
	rc = all.failed || !room ? -ENOMEM : 0;
	if (!rc && all.n)
		qsort(all.event, all.n, sizeof *all.event, in_order);
	for (uint32_t i = 0; !rc && i < all.n && nfound < FOUND; i += n) {
		struct recurring one = { .first = i };

		for (n = 1; i + n < all.n && !by_row(&all.event[i], &all.event[i + n]);)
			n++;
		one.n = n;
		if (recurs(&one, &all, s->wall_s, room, &orders) &&
		    (all.event[i].call ||
		     share_of_owner(s, r, all.event[i].parent, one.every_s) >= owns))
			found[nfound++] = one;
	}
	if (nfound)
		choose(found, nfound, &all, &best);
	if (!rc && best.every_s > 0)
		rc = take(x, &all, &best);
	free(room);
	free(all.event);
	return rc;
}
