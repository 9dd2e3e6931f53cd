/* SPDX-License-Identifier: Apache-2.0 */
/* summary_nodes.c - the nodes of a run side by side, those that have no recording, and how well
 * their clocks agree. */
#include "core/glob.h"
#include "report/summary/summary_part.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What the job used of each host, exact where its summary is. */
static const struct compared_figure {
	const char *metric, *label, *of;
	enum unit unit;
	bool adds_up;
	size_t offset;
} figures[] = {
#define FIGURE(member) offsetof(struct summary_host, member)
	{ "job.cpu_seconds", "CPU time", "total", UNIT_SECONDS, true, FIGURE(cpu_s) },
	{ "job.peak_memory_bytes", "memory peak", "peak", UNIT_BYTES, true,
	  FIGURE(peak_memory_bytes) },
	{ "job.memory_limit_used_ratio", "of its limit", "peak", UNIT_RATIO, false,
	  FIGURE(limit_ratio) },
	{ "job.read_bytes", "read", "total", UNIT_BYTES, true, FIGURE(read_bytes) },
	{ "job.written_bytes", "written", "total", UNIT_BYTES, true, FIGURE(written_bytes) },
	{ "node.energy_joules", "energy", "total", UNIT_JOULES, true, FIGURE(energy_j) },
};

/* Means over the time that each node was recorded. */
static const struct compared_metric {
	const char *metric, *label;
} metrics[] = {
	{ "network.received_bytes_per_second", "network in" },
	{ "network.transmitted_bytes_per_second", "network out" },
	{ "infiniband.received_bytes_per_second", "fabric in" },
	{ "infiniband.transmitted_bytes_per_second", "fabric out" },
	{ "disk.read_bytes_per_second", "disk read" },
	{ "disk.written_bytes_per_second", "disk write" },
	{ "gpu.utilization_ratio", "GPU use" },
};

enum { FIGURES = sizeof figures / sizeof figures[0], METRICS = sizeof metrics / sizeof metrics[0] };

void summary_compared(struct bytes *names)
{
	for (size_t i = 0; i < METRICS; i++)
		bytes_printf(names, "%s%s", names->len ? "," : "", metrics[i].metric);
}

static void compare_figures(struct summary *s, double *value)
{
	for (size_t i = 0; i < FIGURES; i++) {
		const struct compared_figure *f = &figures[i];
		struct spread spread;

		for (uint32_t h = 0; h < s->nhosts; h++)
			memcpy(&value[h], (const char *)&s->hosts[h] + f->offset, sizeof *value);
		spread = spread_of(value, s->nhosts);
		if (spread.n)
			s->comparisons[s->ncomparisons++] =
				(struct summary_comparison){ f->metric, f->label,   f->of,
							     f->unit,   f->adds_up, spread };
	}
}

/* A metric of a node that is to be compared. */
struct candidate {
	size_t order; /* in metrics; METRICS: it was asked for */
	const struct summary_metric *metric;
	uint32_t host; /* in summary.hosts */
};

static size_t order_of(const char *name)
{
	size_t i = 0;

	while (i < METRICS && strcmp(metrics[i].metric, name) != 0)
		i++;
	return i;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int names;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	names = strcmp(x->metric->name, y->metric->name);
	return names ? names
		     : (x->metric->node > y->metric->node) - (x->metric->node < y->metric->node);
}

static uint32_t collect(struct candidate *out, const struct summary *s, const uint32_t *host_of,
			const char *compared)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nmetrics; i++) {
		const struct summary_metric *m = &s->metrics[i];
		size_t order = order_of(m->name);

		if (order < METRICS || (compared && glob_match(compared, m->name)))
			out[n++] = (struct candidate){ order, m, host_of[m->node] };
	}
	qsort(out, n, sizeof *out, compare_candidates);
	return n;
}

/* The first n candidates are one metric. Recordings of one host are one in time, too. */
static void compare_metric(struct summary *s, const struct candidate *c, uint32_t n,
			   struct stats *stats, double *value)
{
	struct spread spread;

	memset(stats, 0, s->nhosts * sizeof *stats);
	for (uint32_t i = 0; i < n; i++)
		stats_join(&stats[c[i].host], &c[i].metric->stats);
	for (uint32_t h = 0; h < s->nhosts; h++)
		value[h] = stats_mean(&stats[h]);
	spread = spread_of(value, s->nhosts);
	/* What is 0 everywhere was not used, and only said when it was asked for. */
	if (c->order < METRICS && !(spread.max > 0))
		return;
	s->comparisons[s->ncomparisons++] =
		(struct summary_comparison){ c->metric->name,
					     c->order < METRICS ? metrics[c->order].label : NULL,
					     "mean",
					     c->metric->unit,
					     c->metric->over_nodes == COMBINE_SUM,
					     spread };
}

static void compare_metrics(struct summary *s, struct candidate *c, uint32_t n, struct stats *stats,
			    double *value)
{
	for (uint32_t i = 0, same; i < n; i += same) {
		same = 1;
		while (i + same < n && !strcmp(c[i + same].metric->name, c[i].metric->name))
			same++;
		compare_metric(s, &c[i], same, stats, value);
	}
}

static int compare(struct summary *s, const struct run *r, const char *compared)
{
	uint32_t *host_of = calloc(r->nnodes + 1, sizeof *host_of);
	uint32_t *first = calloc(r->nnodes + 1, sizeof *first);
	struct candidate *c = calloc(s->nmetrics + 1, sizeof *c);
	struct stats *stats = calloc(s->nhosts + 1, sizeof *stats);
	double *value = calloc(s->nhosts + 1, sizeof *value);
	int rc = -ENOMEM;

	s->comparisons = calloc(FIGURES + s->nmetrics + 1, sizeof *s->comparisons);
	if (host_of && first && c && stats && value && s->comparisons)
		rc = run_hosts(r, first);
	if (!rc) {
		for (uint32_t h = 0; h < s->nhosts; h++)
			host_of[s->hosts[h].node] = h;
		for (uint32_t i = 1; i < r->nnodes; i++)
			host_of[i] = host_of[first[i]];
		compare_figures(s, value);
		compare_metrics(s, c, collect(c, s, host_of, compared), stats, value);
	}
	free(host_of);
	free(first);
	free(c);
	free(stats);
	free(value);
	return rc;
}

static int add_name(struct hostlist *h, const char *name)
{
	/* A name that is none is no node of the list either. */
	return hostlist_add(h, name, strlen(name), NULL) == -ENOMEM ? -ENOMEM : 0;
}

/* Nodes have the name that the job's list has, which need not be the host's. */
static int find_missing(struct summary *s, const struct run *r)
{
	const struct run_meta *list = run_find_meta(r, 0, "job.nodes");
	struct hostlist all = { 0 }, here = { 0 };
	int rc = 0;

	if (!list || list->type != META_TEXT || hostlist_expand(&all, list->text, NULL))
		return 0;
	for (uint32_t i = 1; !rc && i < r->nnodes; i++) {
		const struct run_meta *m = run_find_meta(r, i, "job.node");

		if (m && m->type == META_TEXT)
			rc = add_name(&here, m->text);
		else if (r->nodes[i].host)
			rc = add_name(&here, r->nodes[i].host);
	}
	for (uint32_t i = 0; !rc && i < all.n; i++)
		if (hostlist_find(&here, hostlist_name(&all, i)) < 0)
			rc = add_name(&s->missing, hostlist_name(&all, i));
	hostlist_free(&all);
	hostlist_free(&here);
	return rc;
}

static int find_clocks(struct summary *s, const struct run *r)
{
	double largest = 0, second = 0;
	bool known = s->nhosts > 1;

	for (uint32_t h = 0; h < s->nhosts; h++) {
		const struct run_node *n = &r->nodes[s->hosts[h].node];
		double error = (double)n->clock_error_ns * 1e-9;

		if (n->clock_known && !n->synchronised && n->host &&
		    add_name(&s->unsynchronised, n->host))
			return -ENOMEM;
		known &= n->clock_known && n->synchronised && error >= 0;
		if (error > largest) {
			second = largest;
			largest = error;
		} else if (error > second) {
			second = error;
		}
	}
	s->clock_error_s = known ? largest + second : NAN;
	return 0;
}

int summary_nodes_make(struct summary *s, const struct run *r, const char *compared, struct err *e)
{
	int rc = s->nhosts > 1 ? compare(s, r, compared) : 0;

	if (!rc)
		rc = find_missing(s, r);
	if (!rc)
		rc = find_clocks(s, r);
	return rc ? err_set(e, rc, "out of memory for the nodes of %.300s", r->path) : 0;
}

static const double part_that_matters = 0.5;

void summary_tightest_words(const struct summary *s, struct bytes *out)
{
	char peak[64], limit[64];

	if (s->nhosts < 2 || !s->tight_host ||
	    !(s->tight_peak_bytes >= part_that_matters * s->tight_limit_bytes))
		return;
	bytes_printf(out, "on %.100s %s of its %s", s->tight_host,
		     unit_format(UNIT_BYTES, s->tight_peak_bytes, peak, sizeof peak),
		     unit_format(UNIT_BYTES, s->tight_limit_bytes, limit, sizeof limit));
}

void summary_memory_words(const struct summary *s, struct bytes *out)
{
	const struct {
		double bytes;
		const char *where;
	} kinds[] = {
		{ s->peak_hugetlb_bytes, "huge pages (hugetlbfs)" },
		{ s->peak_anonymous_huge_bytes, "transparent huge pages, resident as a whole" },
		{ s->peak_memory_files_bytes, "files in memory (memfd, tmpfs)" },
	};
	char text[64];

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (kinds[i].bytes > 0 && kinds[i].bytes >= s->peak_memory_bytes / 20)
			bytes_printf(out, "%s%s in %s", out->len ? "; " : "",
				     unit_format(UNIT_BYTES, kinds[i].bytes, text, sizeof text),
				     kinds[i].where);
}

void summary_tightest_make(struct summary *s)
{
	double most = 0;

	s->tight_peak_bytes = s->tight_held_bytes = s->tight_limit_bytes = NAN;
	for (uint32_t i = 0; i < s->nhosts; i++) {
		const struct summary_host *h = &s->hosts[i];
		if (!(h->limit_ratio > most))
			continue;
		most = h->limit_ratio;
		s->tight_host = h->host;
		s->tight_peak_bytes = h->peak_memory_bytes;
		s->tight_held_bytes = h->held_bytes;
		s->tight_limit_bytes = h->limit_bytes;
	}
}
