/* SPDX-License-Identifier: Apache-2.0 */
#include "store/usage.h"

#include "core/describe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct usage_row rows[USAGE_FIGURES] = {
	{ "cores_used", "cores_asked", "cores used", UNIT_CORES, 1 },
	{ "peak_memory_bytes", "memory_asked_bytes", "peak memory", UNIT_BYTES, 100 * 1048576. },
	{ "wall_seconds", "time_limit_seconds", "time", UNIT_SECONDS, 60 },
	{ "gpu_utilization_ratio", NULL, "GPU use", UNIT_RATIO, 0 },
};

/* Over a run's whole time; used: a number of them, or a share of those that were asked for. */
static const struct {
	const char *name, *label, *asked, *used;
	bool is_share;
} totals[USAGE_TOTALS] = {
	{ "core_hours", "core hours", "cores_asked", "cores_used", false },
	{ "gpu_hours", "GPU hours", "gpus_asked", "gpu_utilization_ratio", true },
};

static const char *const by_names[] = {
	[USAGE_NAME] = "name", [USAGE_ARRAY] = "array",     [USAGE_HOST] = "host",
	[USAGE_USER] = "user", [USAGE_ACCOUNT] = "account",
};

const char *usage_by_name(enum usage_by by)
{
	return by_names[by];
}

/* A run in a group. */
struct member {
	const char *group, *cluster;
	const struct history_run *run;
};

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_group(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = compare_text(x->cluster, y->cluster);

	return order ? order : compare_text(x->group, y->group);
}

static int by_runs(const void *a, const void *b)
{
	const struct usage_group *x = a, *y = b;

	if (x->runs != y->runs)
		return x->runs < y->runs ? 1 : -1;
	return strcmp(x->name, y->name);
}

double usage_percentile(double *v, uint32_t n, double p)
{
	double rank = ceil(p * n - 1e-9);

	sort_values(v, n);
	return v[rank < 1 ? 0 : rank > n ? n - 1 : (uint32_t)rank - 1];
}

static void add(struct member *m, uint32_t *n, const char *group, const char *cluster,
		const struct history_run *r)
{
	if (group && *group)
		m[(*n)++] = (struct member){ group, cluster, r };
}

static void add_run(struct member *m, uint32_t *n, const struct history *h,
		    const struct history_run *r, enum usage_by by)
{
	const char *state = r->text[HISTORY_STATE];

	if (state && !strcmp(state, "running"))
		return;
	switch (by) {
	case USAGE_NAME:
		add(m, n, r->text[HISTORY_NAME], NULL, r);
		break;
	case USAGE_USER:
		add(m, n, r->text[HISTORY_USER], NULL, r);
		break;
	case USAGE_ACCOUNT:
		add(m, n, r->text[HISTORY_ACCOUNT], NULL, r);
		break;
	case USAGE_ARRAY: /* numbers of jobs are those of a cluster */
		add(m, n, r->text[HISTORY_ARRAY_ID], r->text[HISTORY_CLUSTER], r);
		break;
	case USAGE_HOST:
		for (uint32_t i = 0; i < r->nhosts; i++)
			add(m, n, h->host[r->first_host + i], NULL, r);
		break;
	}
}

/* Also one whose recorder was killed with it: nobody knows its exit code. */
static bool has_failed(const struct history_run *r)
{
	const char *state = r->text[HISTORY_STATE];

	return (state && !strcmp(state, "cut")) || r->number[HISTORY_EXIT_CODE] > 0 ||
	       r->number[HISTORY_SIGNAL] > 0;
}

static struct usage_figure make_figure(const struct usage_row *row, double *v, uint32_t n,
				       double percentile, double margin)
{
	struct usage_figure f = { row, n, NAN, NAN, NAN, NAN, NAN, NAN };
	double wanted;

	if (!n)
		return f;
	f.p50 = usage_percentile(v, n, .5);
	f.p90 = usage_percentile(v, n, .9);
	f.p95 = usage_percentile(v, n, .95);
	f.max = v[n - 1];
	wanted = usage_percentile(v, n, percentile) * (1 + margin);
	if (row->step > 0)
		f.next = fmax(ceil(wanted / row->step - 1e-9), 1) * row->step;
	return f;
}

/* What the members know of a figure, into v; how many do. */
static uint32_t known_values(double *v, const struct history *h, const struct member *m, uint32_t n,
			     const char *figure)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < n && figure; i++) {
		v[known] = history_figure(h, m[i].run, figure);
		known += isnan(v[known]) ? 0 : 1;
	}
	return known;
}

static struct usage_total make_total(const struct history *h, const struct member *m, uint32_t n,
				     size_t which)
{
	struct usage_total t = { totals[which].name, totals[which].label, 0, 0, 0 };

	for (uint32_t i = 0; i < n; i++) {
		double hours = m[i].run->number[HISTORY_WALL_SECONDS] / 3600;
		double asked_h = history_figure(h, m[i].run, totals[which].asked) * hours;
		double used_h = history_figure(h, m[i].run, totals[which].used) *
				(totals[which].is_share ? asked_h : hours);

		if (!(asked_h > 0) || isnan(used_h))
			continue;
		t.n++;
		t.asked_h += asked_h;
		t.used_h += used_h;
	}
	return t;
}

static void make_group(struct usage_group *g, const struct history *h, const struct member *m,
		       uint32_t n, double *v, const double asked[2])
{
	*g = (struct usage_group){ .name = m->group, .runs = n };
	if (m->run->text[HISTORY_ARRAY_ID] == m->group)
		g->of = m->run->text[HISTORY_NAME];
	for (uint32_t i = 0; i < n; i++)
		g->failed += has_failed(m[i].run);
	for (size_t f = 0; f < USAGE_FIGURES; f++) {
		uint32_t known = known_values(v, h, m, n, rows[f].name);

		g->figure[f] = make_figure(&rows[f], v, known, asked[0], asked[1]);
		known = known_values(v, h, m, n, rows[f].asked);
		if (known)
			g->figure[f].asked = usage_percentile(v, known, .5);
	}
	for (size_t t = 0; t < USAGE_TOTALS; t++)
		g->total[t] = make_total(h, m, n, t);
}

int usage_make(struct usage *u, const struct history *h, enum usage_by by, double percentile,
	       double margin)
{
	const double asked[2] = { percentile, margin };
	size_t most = (size_t)h->n + h->nhosts + 1;
	struct member *m = calloc(most, sizeof *m);
	double *v = calloc(most, sizeof *v);
	uint32_t n = 0;

	*u = (struct usage){ .group = calloc(most, sizeof *u->group) };
	if (m && v && u->group) {
		for (uint32_t i = 0; i < h->n; i++)
			add_run(m, &n, h, &h->run[i], by);
		qsort(m, n, sizeof *m, by_group);
		for (uint32_t first = 0, end; first < n; first = end) {
			for (end = first + 1; end < n && !by_group(&m[first], &m[end]);)
				end++;
			make_group(&u->group[u->n++], h, m + first, end - first, v, asked);
		}
		qsort(u->group, u->n, sizeof *u->group, by_runs);
	}
	free(m);
	free(v);
	return m && v && u->group ? 0 : -ENOMEM;
}

void usage_free(struct usage *u)
{
	free(u->group);
	*u = (struct usage){ 0 };
}
