/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracker.h"

#include "base/text/json.h"
#include "core/frame/rate.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define PERCENT 100.
#define MIB     (1. / 1048576)
#define HOURS   (1. / 3600)

const struct tracker_field_row tracker_fields[TRACKER_FIELDS] = {
	[TRACKER_CPU_MEAN] = { "cpu_pct_per_cpu_avg", PERCENT, TRACKER_MERGE_MEAN },
	[TRACKER_CPU_MIN] = { "cpu_pct_per_cpu_min", PERCENT, TRACKER_MERGE_MIN },
	[TRACKER_CPU_MAX] = { "cpu_pct_per_cpu_max", PERCENT, TRACKER_MERGE_MAX },
	[TRACKER_MEMORY] = { "mem_percent", PERCENT, TRACKER_MERGE_MAX },
	[TRACKER_DISK_USED] = { "disk_usage_percent", PERCENT, TRACKER_MERGE_MAX },
	[TRACKER_DISK_READ] = { "disk_io_read_mb", MIB, TRACKER_MERGE_LAST },
	[TRACKER_DISK_WRITTEN] = { "disk_io_write_mb", MIB, TRACKER_MERGE_LAST },
	[TRACKER_LOOPBACK_SENT] = { "net_io_lo_sent_mb", MIB, TRACKER_MERGE_LAST },
	[TRACKER_NETWORK_SENT] = { "net_io_ext_sent_mb", MIB, TRACKER_MERGE_LAST },
	[TRACKER_LOOPBACK_RECEIVED] = { "net_io_lo_recv_mb", MIB, TRACKER_MERGE_LAST },
	[TRACKER_NETWORK_RECEIVED] = { "net_io_ext_recv_mb", MIB, TRACKER_MERGE_LAST },
	[TRACKER_GPU_USED] = { "gpu_utilization_pct", PERCENT, TRACKER_MERGE_MEAN },
	[TRACKER_GPU_MEMORY] = { "gpu_memory_mb", MIB, TRACKER_MERGE_MAX },
	[TRACKER_GPU_JOB_MEMORY] = { "job_gpu_memory_mb", MIB, TRACKER_MERGE_MAX },
	[TRACKER_GPU_ENERGY] = { "gpu_energy_joules", 1, TRACKER_MERGE_LAST },
};

/* Percent, as they are shown: with one decimal place. */
static const double thresholds[TRACKER_THRESHOLDS] = { 100, 80, 40, 20 };

/* clang-format off */
#define MAXIMUM(name, unit, field, scale, what) \
	{ name, unit, what, TRACKER_TAKE_MAX, field, scale }
#define SHARE(percent, threshold) \
	{ "cpu_avg_utilization_" percent "_pct", "percent", \
	  "Share of the time in which the mean over the CPUs, rounded to 0.1 %, was at least that.", \
	  TRACKER_TAKE_SHARE, threshold, PERCENT }
#define TOTAL(name, field, what) \
	{ "total_" name "_mb", "MiB", "Rise of the counter during the job: " what, TRACKER_TAKE_TOTAL, field, MIB }

const struct tracker_figure tracker_figures[TRACKER_FIGURES] = {
	MAXIMUM("max_t_cpu_pct_per_cpu_avg", "percent", TRACKER_CPU_MEAN, PERCENT,
		"Largest mean over the CPUs."),
	{ "cpu_avg_utilization_pct", "percent", "Mean over the CPUs and, weighted by it, the time.",
	  TRACKER_TAKE_MEAN, TRACKER_CPU_MEAN, PERCENT },
	SHARE("at100", 0),
	SHARE("over80", 1),
	SHARE("over40", 2),
	SHARE("over20", 3),
	MAXIMUM("max_t_cpu_pct_per_cpu_min", "percent", TRACKER_CPU_MIN, PERCENT,
		"Largest value of the least busy CPU."),
	MAXIMUM("max_t_cpu_pct_per_cpu_max", "percent", TRACKER_CPU_MAX, PERCENT,
		"Largest value of the busiest CPU."),
	{ "node_cpu_hours", "hours", "Time watched, times the node's own CPUs.",
	  TRACKER_TAKE_CPU_HOURS, TRACKER_CPUS, HOURS },
	{ "node_unused_cpu_hours", "hours", "The part of these in which CPUs were not at work.",
	  TRACKER_TAKE_UNUSED_CPU_HOURS, TRACKER_CPUS, HOURS },
	MAXIMUM("max_t_mem_percent", "percent", TRACKER_MEMORY, PERCENT,
		"Largest share of the node's memory in use."),
	MAXIMUM("max_t_disk_usage_percent", "percent", TRACKER_DISK_USED, PERCENT,
		"Largest share of the file system at / in use."),
	TOTAL("disk_io_read", TRACKER_DISK_READ, "bytes read from disks."),
	TOTAL("disk_io_write", TRACKER_DISK_WRITTEN, "bytes written to disks."),
	TOTAL("net_io_lo_sent", TRACKER_LOOPBACK_SENT, "bytes sent within the node."),
	TOTAL("net_io_ext_sent", TRACKER_NETWORK_SENT, "bytes sent to networks."),
	TOTAL("net_io_lo_recv", TRACKER_LOOPBACK_RECEIVED, "bytes received within the node."),
	TOTAL("net_io_ext_recv", TRACKER_NETWORK_RECEIVED, "bytes received from networks."),
	/* of the job itself */
	{ "job_core_hours", "hours", "CPU time of the job's processes.", TRACKER_TAKE_SAID,
	  TRACKER_JOB_CPU, HOURS },
	{ "job_peak_memory_mb", "MiB", "Peak memory of the job.", TRACKER_TAKE_SAID,
	  TRACKER_JOB_PEAK_MEMORY, MIB },
	{ "job_energy_joules", "joules", "The job's share of the node's energy, by CPU time.",
	  TRACKER_TAKE_SAID, TRACKER_JOB_ENERGY, 1 },
	{ "node_energy_joules", "joules", "Energy that the node's meters counted.",
	  TRACKER_TAKE_SAID, TRACKER_NODE_ENERGY, 1 },
	{ "gpu_avg_utilization_pct", "percent", "Mean over the GPUs and, weighted by it, the time.",
	  TRACKER_TAKE_MEAN, TRACKER_GPU_USED, PERCENT },
	MAXIMUM("max_t_gpu_utilization_pct", "percent", TRACKER_GPU_USED, PERCENT,
		"Largest mean over the GPUs."),
	MAXIMUM("max_t_gpu_memory_mb", "MiB", TRACKER_GPU_MEMORY, MIB,
		"Largest memory in use of all GPUs together."),
	MAXIMUM("max_t_job_gpu_memory_mb", "MiB", TRACKER_GPU_JOB_MEMORY, MIB,
		"Largest memory that the job's processes held of all GPUs together."),
	{ "gpu_energy_joules", "joules", "Energy of all GPUs during the job.",
	  TRACKER_TAKE_TOTAL, TRACKER_GPU_ENERGY, 1 },
};
/* clang-format on */

struct tracker_sample tracker_sample_at(double utc_s, double seconds)
{
	struct tracker_sample s = { .utc_s = utc_s, .seconds = seconds };

	for (size_t i = 0; i < TRACKER_FIELDS; i++)
		s.value[i] = NAN;
	return s;
}

static double merged(enum tracker_merge how, double a, double a_s, double b, double b_s)
{
	if (isnan(a) || isnan(b))
		return isnan(b) ? a : b;
	switch (how) {
	case TRACKER_MERGE_MEAN:
		return a_s + b_s > 0 ? (a * a_s + b * b_s) / (a_s + b_s) : (a + b) / 2;
	case TRACKER_MERGE_MIN:
		return fmin(a, b);
	case TRACKER_MERGE_MAX:
		return fmax(a, b);
	case TRACKER_MERGE_LAST:
		break;
	}
	return b;
}

void tracker_merge(struct tracker_sample *into, const struct tracker_sample *later)
{
	for (size_t i = 0; i < TRACKER_FIELDS; i++)
		into->value[i] = merged(tracker_fields[i].merge, into->value[i], into->stands_s,
					later->value[i], later->stands_s);
	into->stands_s += later->stands_s;
	into->utc_s = later->utc_s;
	into->seconds = later->seconds;
}

void tracker_init(struct tracker *t)
{
	*t = (struct tracker){ .last_s = NAN, .span_s = NAN };
	for (size_t i = 0; i < TRACKER_FIELDS; i++)
		t->before[i] = NAN;
	for (size_t i = 0; i < TRACKER_SAID; i++)
		t->said[i] = NAN;
}

static void add_rise(struct tracker *t, size_t field, double now)
{
	double rise = counter_rise_of(t->before[field], now);

	t->before[field] = now;
	if (!isnan(rise))
		stats_add(&t->field[field], rise, 0);
}

static void add_busy(struct tracker *t, double ratio, double seconds)
{
	double percent = round(ratio * 1000) / 10;

	for (size_t i = 0; i < TRACKER_THRESHOLDS; i++)
		if (percent >= thresholds[i])
			t->busy_s[i] += seconds;
}

void tracker_add(struct tracker *t, const struct tracker_sample *s)
{
	/* Of the first sample, what it stands for was watched, too. */
	double since = isnan(t->last_s) ? s->stands_s : s->seconds - t->last_s;
	double seconds = s->stands_s > 0 ? s->stands_s : fmax(since, 0);

	t->span_s = (isnan(t->span_s) ? 0 : t->span_s) + fmax(since, 0);
	t->last_s = s->seconds;
	for (size_t i = 0; i < TRACKER_FIELDS; i++) {
		if (isnan(s->value[i]))
			continue;
		if (tracker_fields[i].merge == TRACKER_MERGE_LAST)
			add_rise(t, i, s->value[i]);
		else
			stats_add(&t->field[i], s->value[i], seconds);
	}
	if (!isnan(s->value[TRACKER_CPU_MEAN]))
		add_busy(t, s->value[TRACKER_CPU_MEAN], seconds);
}

void tracker_join(struct tracker *t, const struct tracker *later)
{
	if (isnan(later->span_s))
		return;
	for (size_t i = 0; i < TRACKER_FIELDS; i++)
		stats_join(&t->field[i], &later->field[i]);
	for (size_t i = 0; i < TRACKER_THRESHOLDS; i++)
		t->busy_s[i] += later->busy_s[i];
	t->span_s = (isnan(t->span_s) ? 0 : t->span_s) + later->span_s;
}

double tracker_value(const struct tracker *t, const struct tracker_figure *f)
{
	const struct stats *st = &t->field[f->of < TRACKER_FIELDS ? f->of : 0];
	const struct stats *cpu = &t->field[TRACKER_CPU_MEAN];

	switch (f->take) {
	case TRACKER_TAKE_MAX:
		return st->n ? st->max * f->scale : NAN;
	case TRACKER_TAKE_MEAN:
		return stats_mean(st) * f->scale;
	case TRACKER_TAKE_SHARE:
		return cpu->weight > 0 ? t->busy_s[f->of] / cpu->weight * f->scale : NAN;
	case TRACKER_TAKE_TOTAL:
		return st->n ? st->sum * f->scale : NAN;
	case TRACKER_TAKE_CPU_HOURS:
		return t->span_s * t->said[TRACKER_CPUS] * f->scale;
	case TRACKER_TAKE_UNUSED_CPU_HOURS:
		return t->span_s * t->said[TRACKER_CPUS] * f->scale * (1 - stats_mean(cpu));
	case TRACKER_TAKE_SAID:
		break;
	}
	return t->said[f->of] * f->scale;
}

const char *tracker_unknown(const struct tracker *t, const struct tracker_figure *f)
{
	bool cpus = f->take == TRACKER_TAKE_CPU_HOURS || f->take == TRACKER_TAKE_UNUSED_CPU_HOURS;

	if (cpus && isnan(t->said[TRACKER_CPUS]))
		return "the number of the node's CPUs is not known";
	if (f->take == TRACKER_TAKE_SHARE && t->field[TRACKER_CPU_MEAN].n)
		return "the time that the only sample covers is unknown";
	return "it was not measured";
}

static bool is_kept(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-. ", c));
}

/* Parts between slashes that are empty, . or .. are left out, slash and all, and points at the
 * beginning. */
const char *tracker_key(char *out, size_t size, const char *name)
{
	size_t n = 0, part = 0;

	for (; *name; name++) {
		if (is_kept(*name) && n + 1 < size && (n || *name != '.')) {
			out[n++] = *name;
		} else if (*name == '/') {
			bool dots = strspn(out + part, ".") >= n - part && n - part <= 2;

			n = dots || n + 1 >= size ? part : n;
			if (n > part)
				out[n++] = '/';
			part = n;
		}
		out[n] = '\0';
	}
	if (n == part || (n - part <= 2 && strspn(out + part, ".") == n - part))
		n = part ? part - 1 : 0;
	if (!n)
		out[n++] = '_';
	out[n] = '\0';
	return out;
}

void tracker_sample_json(const struct tracker_sample *s, struct json *j)
{
	json_object(j);
	for (unsigned f = 0; f < TRACKER_FIELDS; f++) {
		double v = s->value[f] * tracker_fields[f].scale;

		if (f >= TRACKER_PLAIN_FIELDS && !isfinite(v))
			continue;
		json_key(j, tracker_fields[f].key);
		json_real(j, v);
	}
	json_key(j, "timestamp");
	json_real(j, s->utc_s);
	json_object_end(j);
}
