/* SPDX-License-Identifier: Apache-2.0 */
/* variables_functions.c - what rules may ask of a metric: mean(metric), grown(metric) ... */
#include "core/glob.h"
#include "report/judging/variables.h"
#include "report/summary/code.h"
#include "report/summary/reason.h"
#include "report/summary/touched.h"

#include <math.h>
#include <string.h>

/* disk.util_ratio[sda] is disk.util_ratio of one device. */
static bool of_device(const struct summary_metric *m, const char *metric)
{
	size_t n = strlen(metric);

	return strncmp(m->name, metric, n) == 0 && m->name[n] == '[';
}

double variable_largest(const struct summary *s, const char *metric)
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

static double risen(const struct summary *s, const char *metric)
{
	double found = NAN;

	for (uint32_t i = 0; i < s->nmetrics; i++) {
		const struct summary_metric *m = &s->metrics[i];

		if (strcmp(m->name, metric) == 0 || of_device(m, metric))
			found = fmax(found, m->stats.last - m->stats.min);
	}
	return found;
}

double variable_mean(const struct summary *s, const char *metric)
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

/* In expressions - is a minus: openmp_wait is the class openmp-wait. */
static bool is_class(const char *class, const char *name)
{
	for (; *class && *name; class ++, name++)
		if (*class != *name && !(*class == '-' && *name == '_'))
			return false;
	return !*class && !*name;
}

static const struct summary_share *share_find(const struct summary *s, const char *class)
{
	for (uint32_t i = 0; i < s->nshares; i++)
		if (is_class(s->share[i].class, class))
			return &s->share[i];
	return NULL;
}

static double share(const struct summary *s, const char *class)
{
	const struct summary_share *found = share_find(s, class);

	return found ? found->ratio : s->nshares ? 0 : NAN;
}

static double share_least(const struct summary *s, const char *class)
{
	const struct summary_share *found = share_find(s, class);

	return found ? fmax(0, found->ratio - found->error) : share(s, class);
}

static double share_function(const struct summary *s, const char *globs)
{
	if (!s->code || !s->code->stacks || !(s->code->account.whole_s > 0))
		return NAN;
	return stacks_matching(s->code->stacks, globs) / s->code->account.whole_s;
}

static double waits(const struct summary *s, const char *name)
{
	enum wait_kind kind;

	return s->waits_known && wait_kind_find(name, &kind) ? s->wait_ratio[kind] : NAN;
}

static bool is_wait_kind(const char *name)
{
	enum wait_kind kind;

	return wait_kind_find(name, &kind);
}

static bool is_holdup(const char *name)
{
	return holdup_find(name) < HOLDUP_NUMBER_OF;
}

static double held_up_seconds(const struct summary *s, const char *name)
{
	return is_holdup(name) ? s->holdup[holdup_find(name)].seconds : NAN;
}

static double held_up_threads(const struct summary *s, const char *name)
{
	return is_holdup(name) ? s->holdup[holdup_find(name)].threads : NAN;
}

static double memory_of(const struct summary *s, const char *name)
{
	double sum = NAN;

	for (uint32_t i = 0; s->touched && i < s->touched->owners.n; i++)
		if (glob_match(name, s->touched->owners.row[i].function->name))
			sum = (isnan(sum) ? 0 : sum) +
			      s->touched->owners.row[i].resident[OWNERS_PEAK];
	return sum;
}

/* Of a class by its name, else of the functions that are called so. */
static double time_of(const struct summary *s, const char *name)
{
	const struct stacks_rows *rows;
	double sum = NAN;

	if (!s->code || !s->code->stacks)
		return NAN;
	rows = s->code->stacks->rows;
	for (uint32_t i = 0; i < rows[STACKS_BY_CLASS].n; i++)
		if (is_class(classes_name(&s->code->classes, rows[STACKS_BY_CLASS].row[i].class),
			     name))
			return rows[STACKS_BY_CLASS].row[i].self;
	for (uint32_t i = 0; i < rows[STACKS_BY_FUNCTION].n; i++)
		if (glob_match(name, rows[STACKS_BY_FUNCTION].row[i].name))
			sum = (isnan(sum) ? 0 : sum) + rows[STACKS_BY_FUNCTION].row[i].self;
	return sum;
}

const struct variable_function variable_functions[] = {
	{ "mean", "Mean over time; nodes are combined as the metric says.", variable_mean, NULL },
	{ "max", "Largest value on any node or device.", variable_largest, NULL },
	{ "min", "Smallest value on any node or device.", smallest, NULL },
	{ "risen", "Last value less the smallest before it, on the node or device that has most.",
	  risen, NULL },
	{ "last", "Last value; nodes are combined as the metric says.", last, NULL },
	{ "total", "Sum of value x seconds: of a rate, what was counted.", total, NULL },
	{ "grown",
	  "How much a counter, by its stored name (`disk.reads`), rose over all nodes and devices; "
	  "costs no decoding.",
	  summary_grown, NULL },
	{ "error",
	  "In place of a metric a kind of errors (below), or `unknown`: 1 if the failed job printed "
	  "an error of it, 0 if it printed another one; unknown if it printed none that is "
	  "recognised.",
	  reason_error, NULL },
	{ "share",
	  "In place of a metric a class of code (classes.md), with `_` for `-`: its share of the CPU "
	  "time, kernel time included; unknown without samples.",
	  share, NULL },
	{ "share_least", "The same, less half the 95 % interval: few samples make it small.",
	  share_least, NULL },
	{ "share_function",
	  "In place of a metric quoted patterns of functions, as in `share_function(\"solve*,lu_*\")`: "
	  "their share of the CPU time, with what they call.",
	  share_function, NULL },
	{ "waits",
	  "In place of a metric a kind of wait, by its name in `sonde show --waits --json` (`mutex`, "
	  "`pipe_read`, `storage`): its share of the time of all threads; unknown without --waits.",
	  waits, is_wait_kind },
	{ "held_up_seconds",
	  "In place of a metric what waits held the job up with: `lock` (several threads for one "
	  "lock), `barrier` (for one thread that works), `reader`, `feeder` (the slow end of a "
	  "pipe), `workers` (busy threads or children, of one that works, too), `children` (of one "
	  "name, one after the other), `network`, `storage`, `file_lock`, `sleep`: how long a thread "
	  "waited, on average or at most; 0: there was no such thing; unknown without --waits.",
	  held_up_seconds, is_holdup },
	{ "held_up_threads",
	  "The same: how many threads waited; of `workers` and `children` how many there were.",
	  held_up_threads, is_holdup },
	{ "time",
	  "In place of a metric a class of code, with `_` for `-`, or a function, in quotes if it is no "
	  "plain name, as in `time(\"std::sort\")` or `time(\"lu_*\")`: its seconds of CPU time in user "
	  "mode, without what it calls; unknown if no sample is of it.",
	  time_of, NULL },
	{ "memory",
	  "Likewise of a function, with --memory: what it had touched first of the memory of the peak; "
	  "unknown if no sample is of it.",
	  memory_of, NULL },
};
const size_t nvariable_functions = sizeof variable_functions / sizeof variable_functions[0];

const struct variable_function *variable_function_find(const char *name)
{
	for (size_t i = 0; i < nvariable_functions; i++)
		if (strcmp(variable_functions[i].name, name) == 0)
			return &variable_functions[i];
	return NULL;
}
