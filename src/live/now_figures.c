/* SPDX-License-Identifier: Apache-2.0 */
/* now_figures.c - the rate of each counter between two looks at a recording, and the figures of
 * nodes, processes and GPUs that are made of them. */
#include "base/array.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "live/now_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures ---- */

const struct now_figure_row now_figures[] = {
	[NOW_CPU] = { "cpu_cores", UNIT_CORES },
	[NOW_CPU_RATIO] = { "cpu_ratio", UNIT_RATIO },
	[NOW_CORES] = { "cores_count", UNIT_COUNT },
	[NOW_CPU_TIME] = { "cpu_seconds", UNIT_SECONDS },
	[NOW_MEMORY] = { "memory_bytes", UNIT_BYTES },
	[NOW_MEMORY_RATIO] = { "memory_ratio", UNIT_RATIO },
	[NOW_MEMORY_LIMIT] = { "memory_limit_bytes", UNIT_BYTES },
	[NOW_READ] = { "read_bytes_per_second", UNIT_BYTES_PER_SECOND },
	[NOW_WRITTEN] = { "written_bytes_per_second", UNIT_BYTES_PER_SECOND },
	[NOW_PROCESSES] = { "processes_count", UNIT_COUNT },
	[NOW_THREADS] = { "threads_count", UNIT_COUNT },
	[NOW_GPU] = { "gpu_ratio", UNIT_RATIO },
	[NOW_GPU_MEMORY] = { "gpu_memory_bytes", UNIT_BYTES },
	[NOW_GPU_MEMORY_RATIO] = { "gpu_memory_ratio", UNIT_RATIO },
	[NOW_GPU_MEMORY_TOTAL] = { "gpu_memory_total_bytes", UNIT_BYTES },
	[NOW_POWER] = { "gpu_power_watts", UNIT_WATTS },
	[NOW_TEMPERATURE] = { "gpu_temperature_celsius", UNIT_CELSIUS },
	[NOW_NODE_CPU] = { "node_cpu_cores", UNIT_CORES },
	[NOW_OTHERS_CPU] = { "others_cpu_cores", UNIT_CORES },
	[NOW_NODE_CORES] = { "node_cores_count", UNIT_COUNT },
	[NOW_NODE_MEMORY] = { "node_memory_bytes", UNIT_BYTES },
	[NOW_OTHERS_MEMORY] = { "others_memory_bytes", UNIT_BYTES },
	[NOW_NODE_MEMORY_TOTAL] = { "node_memory_total_bytes", UNIT_BYTES },
	[NOW_NODE_MEMORY_FREE] = { "node_memory_available_bytes", UNIT_BYTES },
	[NOW_LOAD] = { "node_load", UNIT_ONE },
};
_Static_assert(sizeof now_figures / sizeof now_figures[0] == NOW_FIGURE_NUMBER_OF, "a row each");

/* Series of the node itself, and of things; in the order of preference where one figure has
 * several. */
enum role {
	ROLE_NONE = 0,
	ROLE_CPU,
	ROLE_PSS,
	ROLE_RSS,
	ROLE_READ,
	ROLE_WRITTEN,
	ROLE_PROCESSES,
	ROLE_THREADS,
	ROLE_CPU_LIMIT,
	ROLE_MEMORY_LIMIT,
	ROLE_MEMORY_TOTAL,
	ROLE_NODE_USER,
	ROLE_NODE_NICE,
	ROLE_NODE_SYSTEM,
	ROLE_NODE_IRQ,
	ROLE_NODE_SOFTIRQ,
	ROLE_NODE_AVAILABLE,
	ROLE_NODE_LOAD,
	ROLE_PROCESS_CPU,
	ROLE_PROCESS_RSS,
	ROLE_PROCESS_READ,
	ROLE_PROCESS_WRITTEN,
	ROLE_PROCESS_THREADS,
	ROLE_GPU,
	ROLE_GPU_MEMORY,
	ROLE_GPU_MEMORY_TOTAL,
	ROLE_POWER,
	ROLE_TEMPERATURE,
	ROLE_NUMBER_OF
};

static const struct role_row {
	const char *metric;
	enum now_figure figure;
} roles[] = {
	[ROLE_NONE] = { "", NOW_FIGURE_NUMBER_OF },
	[ROLE_CPU] = { "job.cpu_seconds", NOW_CPU },
	[ROLE_PSS] = { "job.pss_bytes", NOW_MEMORY },
	[ROLE_RSS] = { "job.resident_bytes", NOW_MEMORY },
	[ROLE_READ] = { "job.read_bytes", NOW_READ },
	[ROLE_WRITTEN] = { "job.written_bytes", NOW_WRITTEN },
	[ROLE_PROCESSES] = { "job.processes_live_count", NOW_PROCESSES },
	[ROLE_THREADS] = { "job.threads_count", NOW_THREADS },
	[ROLE_CPU_LIMIT] = { "cgroup.cpu_limit_cores", NOW_CORES },
	[ROLE_MEMORY_LIMIT] = { "cgroup.memory_limit_bytes", NOW_MEMORY_LIMIT },
	[ROLE_MEMORY_TOTAL] = { "node.memory_total_bytes", NOW_MEMORY_LIMIT },
	[ROLE_NODE_USER] = { "node.cpu_user_seconds", NOW_NODE_CPU },
	[ROLE_NODE_NICE] = { "node.cpu_nice_seconds", NOW_NODE_CPU },
	[ROLE_NODE_SYSTEM] = { "node.cpu_system_seconds", NOW_NODE_CPU },
	[ROLE_NODE_IRQ] = { "node.cpu_irq_seconds", NOW_NODE_CPU },
	[ROLE_NODE_SOFTIRQ] = { "node.cpu_softirq_seconds", NOW_NODE_CPU },
	[ROLE_NODE_AVAILABLE] = { "node.memory_available_bytes", NOW_NODE_MEMORY_FREE },
	[ROLE_NODE_LOAD] = { "node.load_1min", NOW_LOAD },
	[ROLE_PROCESS_CPU] = { "process.cpu_seconds", NOW_CPU },
	[ROLE_PROCESS_RSS] = { "process.resident_bytes", NOW_MEMORY },
	[ROLE_PROCESS_READ] = { "process.read_bytes", NOW_READ },
	[ROLE_PROCESS_WRITTEN] = { "process.written_bytes", NOW_WRITTEN },
	[ROLE_PROCESS_THREADS] = { "process.threads_count", NOW_THREADS },
	[ROLE_GPU] = { "gpu.utilization_ratio", NOW_GPU },
	[ROLE_GPU_MEMORY] = { "gpu.memory_used_bytes", NOW_GPU_MEMORY },
	[ROLE_GPU_MEMORY_TOTAL] = { "gpu.memory_total_bytes", NOW_GPU_MEMORY_TOTAL },
	[ROLE_POWER] = { "gpu.power_watts", NOW_POWER },
	[ROLE_TEMPERATURE] = { "gpu.temperature_celsius", NOW_TEMPERATURE },
};
_Static_assert(sizeof roles / sizeof roles[0] == ROLE_NUMBER_OF, "a row each");

static uint8_t role_of(const struct metric *m)
{
	for (unsigned r = 1; r < ROLE_NUMBER_OF; r++)
		if (!strcmp(roles[r].metric, m->name))
			return (uint8_t)r;
	return ROLE_NONE;
}

void now_figures_clear(double figure[NOW_FIGURE_NUMBER_OF])
{
	for (size_t i = 0; i < NOW_FIGURE_NUMBER_OF; i++)
		figure[i] = NAN;
}

static double quotient(double a, double b)
{
	return b > 0 ? a / b : (double)NAN;
}

/* Both are read a moment apart. */
static double rest(double whole, double part)
{
	return isnan(whole) || isnan(part) ? (double)NAN : fmax(whole - part, 0);
}

void now_figures_ratios(double figure[NOW_FIGURE_NUMBER_OF])
{
	figure[NOW_CPU_RATIO] = quotient(figure[NOW_CPU], figure[NOW_CORES]);
	figure[NOW_MEMORY_RATIO] = quotient(figure[NOW_MEMORY], figure[NOW_MEMORY_LIMIT]);
	figure[NOW_OTHERS_CPU] = rest(figure[NOW_NODE_CPU], figure[NOW_CPU]);
	figure[NOW_NODE_MEMORY] = rest(figure[NOW_NODE_MEMORY_TOTAL], figure[NOW_NODE_MEMORY_FREE]);
	figure[NOW_OTHERS_MEMORY] = rest(figure[NOW_NODE_MEMORY], figure[NOW_MEMORY]);
	figure[NOW_GPU_MEMORY_RATIO] =
		quotient(figure[NOW_GPU_MEMORY], figure[NOW_GPU_MEMORY_TOTAL]);
}

/* ---- a node ---- */

static void least(double *of, double v)
{
	if (v > 0)
		*of = fmin(*of, v); /* NAN gives way */
}

static void least_meta(double *of, const struct follow_node *n, const char *key)
{
	const struct follow_meta *m = follow_meta(n, key);

	if (m && m->type == META_INT)
		least(of, (double)m->value);
}

static double cpu_time_of(const struct follow_series *s)
{
	return s->seen_ns ? metric_value(s->metric, s->value) : (double)NAN;
}

/* The figures of one thing of the node, from one of its series. */
static void take(double figure[NOW_FIGURE_NUMBER_OF], const struct now_node *n, uint32_t i)
{
	enum role role = n->series[i].role;
	enum now_figure f = roles[role].figure;
	enum unit unit;
	double v = now_value(n, i, &unit);

	if (role == ROLE_CPU || role == ROLE_PROCESS_CPU)
		figure[NOW_CPU_TIME] = cpu_time_of(&n->from->series[i]);
	if (role == ROLE_MEMORY_TOTAL)
		figure[NOW_NODE_MEMORY_TOTAL] = v;
	if (f == NOW_CORES || f == NOW_MEMORY_LIMIT)
		least(&figure[f], v);
	else if (f == NOW_NODE_CPU)
		figure[f] = role == ROLE_NODE_USER ? v : figure[f] + v;
	else if (role != ROLE_RSS || isnan(figure[f]))
		figure[f] = isnan(v) ? figure[f] : v;
}

struct gpu_sum {
	double sum[NOW_FIGURE_NUMBER_OF];
	uint32_t n[NOW_FIGURE_NUMBER_OF];
};

/* Those of several GPUs, as their metric says. */
static void gpu_add(struct gpu_sum *g, const struct now_node *n, uint32_t i)
{
	const struct follow_series *s = &n->from->series[i];
	const struct follow_instance *in = follow_instance(n->from, s->instance);
	enum now_figure f = roles[n->series[i].role].figure;
	enum unit unit;
	double v = now_value(n, i, &unit);

	if (!in || in->aside || isnan(v))
		return;
	if (s->metric->over_instances == COMBINE_MAX)
		g->sum[f] = g->n[f] ? fmax(g->sum[f], v) : v;
	else
		g->sum[f] += v;
	g->n[f]++;
}

static void gpus_put(struct now_node *n, const struct gpu_sum *g)
{
	for (size_t f = 0; f < NOW_FIGURE_NUMBER_OF; f++)
		if (g->n[f])
			n->figure[f] = f == NOW_GPU ? g->sum[f] / g->n[f] : g->sum[f];
	n->ngpus = g->n[NOW_GPU];
}

void now_figures_look(struct now_node *n)
{
	struct gpu_sum gpus = { 0 };
	enum unit unit;

	now_figures_clear(n->figure);
	n->pss = false;
	for (uint32_t i = 0; i < n->nseries; i++) {
		enum role role = n->series[i].role;

		if (role == ROLE_NONE || (role >= ROLE_PROCESS_CPU && role < ROLE_GPU))
			continue;
		if (role >= ROLE_GPU) {
			gpu_add(&gpus, n, i);
			continue;
		}
		take(n->figure, n, i);
		if (role == ROLE_PSS)
			n->pss = !isnan(now_value(n, i, &unit));
	}
	gpus_put(n, &gpus);
	least_meta(&n->figure[NOW_CORES], n->from, "node.cores_present");
	least_meta(&n->figure[NOW_NODE_CORES], n->from, "node.cores_present");
	least_meta(&n->figure[NOW_CORES], n->from, "node.cores_allowed");
	least_meta(&n->figure[NOW_CORES], n->from, "job.cores_asked");
	least_meta(&n->figure[NOW_MEMORY_LIMIT], n->from, "node.memory_bytes");
	least_meta(&n->figure[NOW_MEMORY_LIMIT], n->from, "job.memory_asked_bytes");
	now_figures_ratios(n->figure);
}

/* ---- its things ---- */

static struct now_thing *thing_add(struct now_things *t, const struct follow_instance *in)
{
	struct now_thing *moved = array_room(t->thing, t->n, &t->cap, sizeof *moved), *to;

	if (!moved)
		return NULL;
	t->thing = moved;
	to = &moved[t->n++];
	*to = (struct now_thing){ .id = in->id,
				  .name = in->name,
				  .command_line = in->command_line,
				  .parent = in->parent,
				  .pid = in->pid };
	now_figures_clear(to->figure);
	return to;
}

static int by_id(const void *a, const void *b)
{
	const struct now_thing *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

int now_things(const struct now_node *n, const char *domain, struct now_things *out)
{
	struct idmap at = { 0 };
	int rc = 0;

	out->n = 0;
	for (uint32_t i = 0; !rc && i < n->nseries; i++) {
		uint32_t id = n->from->series[i].instance, k = id ? idmap_get(&at, id) : 0;
		const struct follow_instance *in;

		if (n->series[i].role < ROLE_PROCESS_CPU)
			continue;
		if (!k) {
			in = follow_instance(n->from, id);
			if (!in || strcmp(in->domain, domain) != 0)
				continue;
			k = out->n + 1;
			if (!thing_add(out, in) || idmap_put(&at, id, k))
				rc = -ENOMEM;
		}
		if (!rc)
			take(out->thing[k - 1].figure, n, i);
	}
	idmap_free(&at);
	for (uint32_t i = 0; i < out->n; i++)
		now_figures_ratios(out->thing[i].figure);
	if (out->n)
		qsort(out->thing, out->n, sizeof *out->thing, by_id);
	return rc;
}

void now_things_free(struct now_things *t)
{
	free(t->thing);
	*t = (struct now_things){ 0 };
}

/* ---- rates ---- */

/* What is read rarely stands for so long, or for three samples. */
enum { STALE_S = 10 };

int64_t now_interval_ns(const struct now_node *n)
{
	const struct follow_meta *m = follow_meta(n->from, "run.interval_ns");

	return m && m->type == META_INT && m->value > 0 && m->value < 3600 * NS_PER_S * 24
		       ? m->value
		       : NS_PER_S;
}

static bool is_counter(const struct metric *m)
{
	return m->kind == KIND_COUNTER;
}

static void series_look(struct now_series *to, const struct follow_series *s)
{
	const struct counter_reading now = { s->value, s->seen_ns, s->seen_ns != 0 };

	if (!now.known || (to->last.known && now.mono_ns == to->last.mono_ns))
		return;
	if (is_counter(s->metric) && to->last.known)
		to->rate = counter_rate(s->metric, &to->last, &now);
	to->last = now;
}

static void series_replay(struct now_series *to, const struct follow_series *s)
{
	const struct counter_reading before = { s->before, s->before_ns, s->before_ns != 0 };

	to->last = (struct counter_reading){ s->value, s->seen_ns, s->seen_ns != 0 };
	to->rate =
		is_counter(s->metric) ? counter_rate(s->metric, &before, &to->last) : (double)NAN;
}

int now_series_look(struct now_node *n, bool replays)
{
	const struct follow_node *from = n->from;
	struct now_series *to = calloc(from->nseries + 1, sizeof *to);
	uint32_t k = 0;

	if (!to)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->nseries; i++) {
		const struct follow_series *s = &from->series[i];

		while (k < n->nseries && n->series[k].id < s->id)
			k++;
		if (k < n->nseries && n->series[k].id == s->id)
			to[i] = n->series[k];
		else
			to[i] = (struct now_series){ .id = s->id,
						     .role = role_of(s->metric),
						     .rate = NAN };
		if (replays)
			series_replay(&to[i], s);
		else
			series_look(&to[i], s);
	}
	free(n->series);
	n->series = to;
	n->nseries = from->nseries;
	return 0;
}

static bool is_told(const struct now_node *n)
{
	return n->state == NOW_RUNNING || n->state == NOW_LATE;
}

double now_value(const struct now_node *n, uint32_t i, enum unit *unit)
{
	const struct follow_series *s = &n->from->series[i];
	int64_t stale = 3 * now_interval_ns(n);
	double v = is_counter(s->metric) ? n->series[i].rate : metric_value(s->metric, s->value);

	*unit = is_counter(s->metric) ? unit_rate(s->metric->unit) : s->metric->unit;
	if (stale < STALE_S * NS_PER_S)
		stale = STALE_S * NS_PER_S;
	if (!is_told(n) || s->state != STATE_PRESENT || !s->seen_ns ||
	    n->from->mono_ns - s->seen_ns > stale || !isfinite(v))
		return NAN;
	return v;
}
