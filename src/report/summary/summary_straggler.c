/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_straggler.c - the host that is slower than the others, and by what it differs.
 *
 * From footers alone: each host's figure is compared with the median of all. A job whose tasks
 * wait for each other by spinning uses as much CPU everywhere: there only the cause tells.
 */
#include "core/describe.h"
#include "report/summary/summary_part.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static double series_figure(const struct series_index *x, uint32_t series, enum how how)
{
	if (how == HOW_MEAN)
		return x->sum[series] / x->seconds[series];
	return x->last[series] - x->begin[series];
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
	for (uint32_t i = 1; f && metric && i < r->nseries; i++) {
		const struct run_series *row = &r->series[i];
		uint32_t h = row->node < r->nnodes ? host_of[row->node] : UINT32_MAX;
		double v;

		if (row->metric != metric || h >= s->nhosts || row->instance >= r->ninstances ||
		    r->instances[row->instance].flags & INSTANCE_ASIDE)
			continue;
		v = series_figure(x, i, c->how);
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
