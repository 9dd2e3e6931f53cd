/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c - the nodes of a run side by side, those that have no recording, how well their clocks
 * agree, and the one that is slower. */
#include "core/describe.h"
#include "core/glob.h"
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
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

		/* What was imported has the time that its file says. */
		if (run_find_text(r, s->hosts[h].node, "import.from"))
			known = false;
		else if (n->clock_known && !n->synchronised && n->host &&
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

/* ---- the host that is slower ---- */

/*
 * The host that is slower than the others, and by what it differs.
 *
 * From footers alone: each host's figure is compared with the median of all. A job whose tasks
 * wait for each other by spinning uses as much CPU everywhere: there only the cause tells.
 */

enum how { HOW_MEAN, HOW_PER_SECOND, HOW_OF_WORK /* per second of the job's CPU time */ };

/* In the order of asking: the first that stands out is the cause. */
static const struct cause {
	const char *metric;
	enum how how;
	enum unit unit;
	bool less;    /* less than the others is what makes slow */
	double part;  /* by how much of the median it must differ */
	double least; /* and by how much in its unit */
	const char *words;
} causes[] = {
	{ "cpu.throttled_seconds", HOW_PER_SECOND, UNIT_RATIO, false, 1, 0.05,
	  "slowed down by heat" },
	{ "package.throttled_seconds", HOW_PER_SECOND, UNIT_RATIO, false, 1, 0.05,
	  "slowed down by heat" },
	{ "cpu.frequency_hertz", HOW_MEAN, UNIT_HERTZ, true, 0.1, 100e6, "clock" },
	{ "gpu.clock_hertz", HOW_MEAN, UNIT_HERTZ, true, 0.1, 50e6, "clock of the GPUs" },
	{ "cgroup.throttled_seconds", HOW_PER_SECOND, UNIT_CORES, false, 1, 0.1,
	  "held back by its CPU limit" },
	{ "node.cpu_steal_seconds", HOW_OF_WORK, UNIT_RATIO, false, 1, 0.1,
	  "taken by the hypervisor, of its CPU time:" },
	{ "job.run_queue_seconds", HOW_OF_WORK, UNIT_RATIO, false, 1, 0.25,
	  "waiting for a core, of its CPU time:" },
	{ "node.cpu_iowait_seconds", HOW_PER_SECOND, UNIT_CORES, false, 1, 0.25,
	  "waiting for storage" },
	{ "job.major_faults", HOW_PER_SECOND, UNIT_PER_SECOND, false, 1, 50,
	  "page faults from disk" },
};
enum { CAUSES = sizeof causes / sizeof causes[0] };

void summary_straggler_ask(struct series_index *x)
{
	for (size_t i = 0; i < CAUSES; i++)
		series_index_ask(x, causes[i].metric,
				 causes[i].how == HOW_MEAN ? SERIES_MEAN : SERIES_RISE);
}

struct figure {
	double sum;
	uint32_t n;
};

/* From the first node of each node's host to the host's place in the summary. */
static void to_hosts(uint32_t *host_of, uint32_t nnodes)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < nnodes; i++) /* hosts are in the order of their first nodes */
		host_of[i] = host_of[i] == i ? n++ : host_of[host_of[i]];
}

/* Of each host: the mean of its cores and sensors, or the sum of what was counted a second. */
static void take_figures(const struct summary *s, const struct run *r, const struct series_index *x,
			 const struct cause *c, const uint32_t *host_of, double *value)
{
	uint32_t metric = run_find_metric(r, c->metric);
	struct figure *f = calloc(s->nhosts, sizeof *f);

	for (uint32_t i = 0; i < s->nhosts; i++)
		value[i] = NAN;
	for (uint32_t k = 1; f && metric && k < x->nkept; k++) {
		const struct run_series *row = &r->series[x->kept[k].series];
		uint32_t h = row->node < r->nnodes ? host_of[row->node] : UINT32_MAX;
		double v;

		if (row->metric != metric || h >= s->nhosts || row->instance >= r->ninstances ||
		    r->instances[row->instance].flags & INSTANCE_ASIDE)
			continue;
		v = c->how == HOW_MEAN ? series_index_mean(x, k) : series_index_rise(x, k);
		if (isnan(v))
			continue;
		f[h].sum += v;
		f[h].n++;
	}
	for (uint32_t i = 0; f && i < s->nhosts; i++)
		if (f[i].n)
			value[i] = f[i].sum / (c->how == HOW_MEAN         ? f[i].n
					       : c->how == HOW_PER_SECOND ? s->wall_s
									  : s->hosts[i].cpu_s);
	free(f);
}

static double median(const double *value, uint32_t n, double *room)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!isnan(value[i]))
			room[known++] = value[i];
	if (known < 3)
		return NAN;
	sort_values(room, known);
	return quantile_of(room, known, 0.5);
}

/* Clocks are low where little runs: that makes nobody wait. */
static void leave_out_idle(const struct summary *s, double usual_cpu_s, double *value)
{
	for (uint32_t i = 0; i < s->nhosts; i++)
		if (s->hosts[i].cpu_s < usual_cpu_s / 2)
			value[i] = NAN;
}

/* The host that differs most; nhosts: none does by enough, or many do. */
static uint32_t outlier(const struct cause *c, const double *value, uint32_t n, double middle)
{
	uint32_t found = n, beyond = 0;
	double most = 0;

	for (uint32_t i = 0; i < n; i++) {
		double by = c->less ? middle - value[i] : value[i] - middle;

		if (!(by >= c->least) || !(by >= c->part * middle))
			continue;
		beyond++;
		if (by > most) {
			most = by;
			found = i;
		}
	}
	return beyond == 1 || beyond * 4 <= n ? found : n;
}

static void tell(struct story *y, const struct summary *s, const struct cause *c, uint32_t host,
		 double value, double middle)
{
	char here[32], there[32];

	snprintf(y->straggler_host, sizeof y->straggler_host, "%s",
		 s->hosts[host].host ? s->hosts[host].host : "?");
	y->straggler_node = s->hosts[host].node;
	snprintf(y->straggler_cause, sizeof y->straggler_cause, "%s %s, the others %s", c->words,
		 unit_format(c->unit, value, here, sizeof here),
		 unit_format(c->unit, middle, there, sizeof there));
}

static void compare_work(struct summary *s, double *value)
{
	struct spread cpu;

	for (uint32_t i = 0; i < s->nhosts; i++)
		value[i] = s->hosts[i].cpu_s;
	cpu = spread_of(value, s->nhosts);
	if (cpu.n < 2)
		return;
	s->story.hosts_unequal_ratio = cpu.imbalance;
	snprintf(s->story.busiest_host, sizeof s->story.busiest_host, "%s",
		 s->hosts[cpu.most].host ? s->hosts[cpu.most].host : "?");
}

int summary_straggler_make(struct summary *s, const struct run *r, const struct series_index *x,
			   struct err *e)
{
	double *value = calloc(s->nhosts + 1, 2 * sizeof *value), *room = value + s->nhosts + 1;
	uint32_t *host_of = calloc(r->nnodes + 1, sizeof *host_of);
	int rc = value && host_of ? run_hosts(r, host_of) : -ENOMEM;
	double usual_cpu_s = NAN;

	if (!rc) {
		to_hosts(host_of, r->nnodes);
		compare_work(s, value);
		usual_cpu_s = median(value, s->nhosts, room);
	}
	for (size_t i = 0; !rc && s->nhosts >= 3 && i < CAUSES; i++) {
		uint32_t found;
		double middle;

		take_figures(s, r, x, &causes[i], host_of, value);
		if (causes[i].how == HOW_MEAN)
			leave_out_idle(s, usual_cpu_s, value);
		middle = median(value, s->nhosts, room);
		found = isnan(middle) ? s->nhosts : outlier(&causes[i], value, s->nhosts, middle);
		if (found < s->nhosts) {
			tell(&s->story, s, &causes[i], found, value[found], middle);
			break;
		}
	}
	free(value);
	free(host_of);
	return rc ? err_set(e, rc, "out of memory for the summary of %.300s", r->path) : 0;
}
