/* SPDX-License-Identifier: Apache-2.0 */
#include "report/variables.h"

#include <math.h>
#include <string.h>

static double samples(const struct summary *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->nnodes; i++)
		if (i == 0 || s->nodes[i].samples < n)
			n = s->nodes[i].samples;
	return (double)n;
}

static double cores_available(const struct summary *s)
{
	if (!isnan(s->cores_asked))
		return s->cores_asked;
	return isnan(s->cores_allowed) ? s->cores_present : s->cores_allowed;
}

static double memory_available(const struct summary *s)
{
	return isnan(s->memory_asked_bytes) ? s->memory_present : s->memory_asked_bytes;
}

static double monitor_ratio(const struct summary *s)
{
	return s->wall_s > 0 ? s->monitor_cpu_s / s->wall_s : NAN;
}

static double nodes(const struct summary *s)
{
	return s->nnodes;
}

static double damages(const struct summary *s)
{
	return s->ndamages;
}

static double complete(const struct summary *s)
{
	return s->complete;
}

#define FIGURE(member) .offset = offsetof(struct summary, member)

const struct variable variables[] = {
	{ "samples", UNIT_COUNT, "Samples of the node that has fewest.", .make = samples },
	{ "nodes", UNIT_COUNT, "Recordings that were joined, one a node.", .make = nodes },
	{ "complete", UNIT_ONE,
	  "1 when every recording was closed in order, or another one went on, else 0.",
	  .make = complete },
	{ "damages", UNIT_COUNT, "Damaged places found in the recording.", .make = damages },
	{ "wall_seconds", UNIT_SECONDS, "From the job's start to its end.", FIGURE(wall_s) },
	{ "exit_code", UNIT_ONE, "The job's exit code.", FIGURE(exit_code) },
	{ "signal", UNIT_ONE, "The signal that ended the job.", FIGURE(signal) },
	{ "cpu_seconds", UNIT_SECONDS, "CPU time of all of the job's processes.", FIGURE(cpu_s) },
	{ "cpu_user_seconds", UNIT_SECONDS, "The part spent in user mode.", FIGURE(cpu_user_s) },
	{ "cpu_system_seconds", UNIT_SECONDS, "The part spent in the kernel.",
	  FIGURE(cpu_system_s) },
	{ "attributed_ratio", UNIT_RATIO, "Share of the CPU time that named processes account for.",
	  FIGURE(attributed_ratio) },
	{ "cores_present", UNIT_CORES, "Cores of the nodes.", FIGURE(cores_present) },
	{ "cores_allowed", UNIT_CORES, "Cores that the job's affinity allows.",
	  FIGURE(cores_allowed) },
	{ "cores_asked", UNIT_CORES, "Cores that the scheduler was asked for.",
	  FIGURE(cores_asked) },
	{ "cores_available", UNIT_CORES, "Cores asked for, else allowed, else present.",
	  .make = cores_available },
	{ "cores_used", UNIT_CORES, "CPU time divided by wall time.", FIGURE(cores_used_mean) },
	{ "cores_used_peak", UNIT_CORES,
	  "Most cores in use over half a second, or over an interval that is longer.",
	  FIGURE(cores_used_peak) },
	{ "memory_present_bytes", UNIT_BYTES, "Memory of the nodes.", FIGURE(memory_present) },
	{ "memory_asked_bytes", UNIT_BYTES, "Memory that the scheduler was asked for.",
	  FIGURE(memory_asked_bytes) },
	{ "memory_available_bytes", UNIT_BYTES, "Memory asked for, else present.",
	  .make = memory_available },
	{ "peak_memory_bytes", UNIT_BYTES, "Most memory that the job held at a time.",
	  FIGURE(peak_memory_bytes) },
	{ "oom_kills", UNIT_COUNT,
	  "Processes of the job's control groups that the kernel killed for want of memory.",
	  FIGURE(oom_kills) },
	{ "processes_started", UNIT_COUNT, "Processes that the job started.",
	  FIGURE(processes_started) },
	{ "processes_peak", UNIT_COUNT, "Most processes at a time.", FIGURE(processes_peak) },
	{ "read_bytes", UNIT_BYTES, "Returned to the job by read calls, from cache or not.",
	  FIGURE(read_bytes) },
	{ "written_bytes", UNIT_BYTES, "Given by the job to write calls.", FIGURE(written_bytes) },
	{ "energy_joules", UNIT_JOULES,
	  "Energy that the hardware of the nodes measured, whoever used it.", FIGURE(energy_j) },
	{ "energy_apportioned_joules", UNIT_JOULES,
	  "The job's part of it by its share of the CPU time used.", FIGURE(energy_job_j) },
	{ "unequal_tasks", UNIT_COUNT,
	  "Tasks of the step whose tasks used the most unequal CPU time.", FIGURE(unequal_tasks) },
	{ "unequal_ratio", UNIT_RATIO, "By how much one of them exceeded their average.",
	  FIGURE(unequal_ratio) },
	{ "unequal_mean_seconds", UNIT_SECONDS, "Their average CPU time.", FIGURE(unequal_mean_s) },
	{ "unequal_most_seconds", UNIT_SECONDS, "CPU time of the one that used most.",
	  FIGURE(unequal_most_s) },
	{ "unequal_rank", UNIT_COUNT, "The rank of that one.", FIGURE(unequal_rank) },
	{ "idle_head_seconds", UNIT_SECONDS,
	  "From the start until the job first used 5 % of a core.", FIGURE(idle_head_s) },
	{ "idle_tail_seconds", UNIT_SECONDS,
	  "From when the job last used 5 % of a core until its end.", FIGURE(idle_tail_s) },
	{ "monitor_cpu_seconds", UNIT_SECONDS, "CPU time of Sonde itself.", FIGURE(monitor_cpu_s) },
	{ "monitor_cores", UNIT_CORES, "Sonde's CPU time divided by wall time.",
	  .make = monitor_ratio },
	{ "recorder_lost_seconds", UNIT_SECONDS,
	  "When a recorder was lost, since the run began; another one went on.",
	  FIGURE(recorder_lost_s) },
	{ "late_samples", UNIT_COUNT, "Samples taken late.", FIGURE(monitor_late) },
	{ "skipped_samples", UNIT_COUNT, "Samples that were not taken.", FIGURE(monitor_skipped) },
};
const size_t nvariables = sizeof variables / sizeof variables[0];

/* disk.util_ratio[sda] is disk.util_ratio of one device. */
static bool of_device(const struct summary_metric *m, const char *metric)
{
	size_t n = strlen(metric);

	return strncmp(m->name, metric, n) == 0 && m->name[n] == '[';
}

static double largest(const struct summary *s, const char *metric)
{
	double found = NAN;

	for (uint32_t i = 0; i < s->nmetrics; i++) {
		const struct summary_metric *m = &s->metrics[i];

		if (strcmp(m->name, metric) == 0 || of_device(m, metric))
			found = fmax(found, m->stats.max);
	}
	return found;
}

static double smallest(const struct summary *s, const char *metric)
{
	double found = NAN;

	for (uint32_t i = 0; i < s->nmetrics; i++) {
		const struct summary_metric *m = &s->metrics[i];

		if (strcmp(m->name, metric) == 0 || of_device(m, metric))
			found = fmin(found, m->stats.min);
	}
	return found;
}

static double combine(enum combine how, double all, double one)
{
	switch (how) {
	case COMBINE_SUM:
	case COMBINE_MEAN:
		return all + one;
	case COMBINE_MAX:
		return fmax(all, one);
	case COMBINE_MIN:
		return fmin(all, one);
	default:
		return NAN;
	}
}

/* One figure of each node, made one as the metric's row says. */
static double over_nodes(const struct summary *s, const char *metric,
			 double (*figure)(const struct stats *st))
{
	double all = NAN;
	uint32_t n = 0;
	enum combine how = COMBINE_NONE;

	for (uint32_t i = 0; i < s->nmetrics; i++) {
		const struct summary_metric *m = &s->metrics[i];

		if (strcmp(m->name, metric) != 0)
			continue;
		how = m->over_nodes;
		all = n++ ? combine(how, all, figure(&m->stats)) : figure(&m->stats);
	}
	return how == COMBINE_MEAN ? all / n : all;
}

static double last_value(const struct stats *st)
{
	return st->last;
}

static double mean(const struct summary *s, const char *metric)
{
	return over_nodes(s, metric, stats_mean);
}

static double last(const struct summary *s, const char *metric)
{
	return over_nodes(s, metric, last_value);
}

static double total(const struct summary *s, const char *metric)
{
	double all = NAN;

	for (uint32_t i = 0; i < s->nmetrics; i++)
		if (strcmp(s->metrics[i].name, metric) == 0)
			all = (isnan(all) ? 0 : all) + s->metrics[i].stats.weighted_sum;
	return all;
}

const struct variable_function variable_functions[] = {
	{ "mean", "Mean over time; nodes are combined as the metric says.", mean },
	{ "max", "Largest value on any node or device.", largest },
	{ "min", "Smallest value on any node or device.", smallest },
	{ "last", "Last value; nodes are combined as the metric says.", last },
	{ "total", "Sum of value x seconds: of a rate, what was counted.", total },
};
const size_t nvariable_functions = sizeof variable_functions / sizeof variable_functions[0];

const struct variable *variable_find(const char *name)
{
	for (size_t i = 0; i < nvariables; i++)
		if (strcmp(variables[i].name, name) == 0)
			return &variables[i];
	return NULL;
}

const struct variable_function *variable_function_find(const char *name)
{
	for (size_t i = 0; i < nvariable_functions; i++)
		if (strcmp(variable_functions[i].name, name) == 0)
			return &variable_functions[i];
	return NULL;
}

struct expr_value variable_lookup(void *ctx, const char *function, const char *name)
{
	const struct summary *s = ctx;
	double v = NAN;

	if (function) {
		const struct variable_function *f = variable_function_find(function);

		if (f)
			v = f->of(s, name);
	} else {
		const struct variable *var = variable_find(name);

		if (var && var->make)
			v = var->make(s);
		else if (var)
			memcpy(&v, (const char *)s + var->offset, sizeof v);
	}
	return (struct expr_value){ .known = !isnan(v), .v = v };
}
