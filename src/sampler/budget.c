/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/budget.h"

#include "base/clock.h"
#include "base/text/args.h"

#include <stdio.h>
#include <string.h>

enum {
	STEP_REFRESH = 1, /* processes that do not run: read more rarely */
	STEP_IO,          /* input, output, open files: a quarter of the processes in each sample */
	STEP_FILES,       /* all files of a quarter of the processes, and the node's rarely */
	STEP_EIGHTH,      /* of an eighth */
	STEP_RATE,        /* from here on each step halves the rate */
	STEP_LAST = STEP_RATE + 6,

	WINDOW_SAMPLES = 16,
	WINDOWS_OVER = 2,
	WINDOWS_UNDER = 8, /* at first; doubled whenever a step back was too early */
	PATIENCE_MAX = 1024,

	RARE = 4,
	EIGHTH = 8,
};

/* Of what reading a process's files takes, those for input, output and open files. */
static const double io_part = 0.35;
/* What a step has to fit in, of the limit: the first samples, which open files, take more. */
static const double fits = 0.8, fits_again = 0.6;
static const int64_t settle_ns = 60 * NS_PER_S;

static const double walks_max = 0.005;

/* Ticks of user and system time are 10 ms: more often than this they say nothing new. */
static const int64_t stat_least_ns = 40 * NS_PER_MS, io_least_ns = 100 * NS_PER_MS;
static const int64_t files_least_ns = NS_PER_S;
static const int64_t window_least_ns = 2 * NS_PER_S, interval_max_ns = 60 * NS_PER_S;

double budget_default(int64_t interval_ns)
{
	double limit = 0.005 * (double)NS_PER_S / (double)interval_ns;

	return limit < 0.005 ? 0.005 : limit > 0.2 ? 0.2 : limit;
}

void budget_init(struct budget *b, double limit, int64_t interval_ns)
{
	*b = (struct budget){ .limit = limit, .asked_ns = interval_ns, .patience = WINDOWS_UNDER };
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t interval_at(const struct budget *b, int step)
{
	int halvings = step < STEP_RATE ? 0 : step - STEP_RATE + 1;
	int64_t interval = (b->quick_ns ? b->quick_ns : b->asked_ns) << halvings;

	return interval > interval_max_ns ? larger(b->asked_ns, interval_max_ns) : interval;
}

static uint64_t turns_at(int step)
{
	return step < STEP_FILES ? 1 : step == STEP_FILES ? RARE : EIGHTH;
}

struct cadence budget_cadence(const struct budget *b)
{
	int64_t interval = interval_at(b, b->step);
	int64_t in_time = larger(1, REFRESH_SECONDS * NS_PER_S / interval);
	int64_t shared = larger(1, SHARED_SECONDS * NS_PER_S / interval);
	int64_t refresh = in_time < REFRESH_SAMPLES ? in_time : REFRESH_SAMPLES;
	int rarer = b->step >= STEP_REFRESH ? RARE : 1;

	/* a refresh reads what the tenths of a second bring, not more */
	refresh = larger(refresh, REFRESH_SAMPLES * io_least_ns / interval);

	return (struct cadence){
		.interval_ns = interval,
		.stat_ns = stat_least_ns,
		.io_ns = io_least_ns,
		.files_ns = files_least_ns,
		.node_ns = larger(io_least_ns, b->step >= STEP_FILES ? RARE * interval : 0),
		.refresh = (uint64_t)(rarer * refresh),
		.turns = turns_at(b->step),
		.io_turns = b->step == STEP_IO ? RARE : turns_at(b->step),
		.rarer = rarer,
		.shared = (uint64_t)(rarer * larger(refresh, shared)),
	};
}

static bool can_go_down(const struct budget *b)
{
	return b->step < STEP_LAST &&
	       (b->step + 1 < STEP_RATE || interval_at(b, b->step + 1) > interval_at(b, b->step));
}

/* Until so long after the first sample, samples come so often. */
static const struct {
	int64_t until_ns, interval_ns;
} quick[] = {
	{ NS_PER_S, 50 * NS_PER_MS },
	{ 2 * NS_PER_S, 100 * NS_PER_MS },
	{ 5 * NS_PER_S, 250 * NS_PER_MS },
	{ 10 * NS_PER_S, 500 * NS_PER_MS },
};
enum { QUICK = sizeof quick / sizeof quick[0] };

void budget_begin_quickly(struct budget *b)
{
	if (b->asked_ns > quick[0].interval_ns)
		b->quick_ns = quick[0].interval_ns;
}

/* What a sample costs without the odd one that does more. */
static int64_t usual_cost(const struct budget *b)
{
	int64_t least = b->cost_ns[0];

	for (int i = 1; i < QUICK_COSTS; i++)
		if (b->cost_ns[i] < least)
			least = b->cost_ns[i];
	return least;
}

bool budget_slow_down(struct budget *b, int64_t mono_ns, int64_t cpu_ns)
{
	int64_t was = b->quick_ns, needed = 0;
	size_t i = 0;

	if (!was)
		return false;
	if (!b->begin_ns)
		b->begin_ns = mono_ns;
	else
		b->cost_ns[b->quick_samples++ % QUICK_COSTS] = cpu_ns - b->before_ns;
	b->before_ns = cpu_ns;
	if (b->limit > 0 && b->quick_samples >= QUICK_COSTS)
		needed = (int64_t)((double)usual_cost(b) / b->limit);
	while (i < QUICK &&
	       (mono_ns - b->begin_ns >= quick[i].until_ns || quick[i].interval_ns < needed))
		i++;
	b->quick_ns = i < QUICK && quick[i].interval_ns < b->asked_ns ? quick[i].interval_ns : 0;
	return b->quick_ns != was;
}

static int64_t usual(int64_t a_ns, int64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* Of reading files in a sample, how much a step leaves. */
static double files_left(int step)
{
	return step < STEP_IO    ? 1
	       : step == STEP_IO ? 1 - io_part * (1 - 1.0 / RARE)
				 : 1 / (double)turns_at(step);
}

/* The share of a core that a step would take, by what the last samples cost at this one. */
static double share_at(const struct budget *b, int step)
{
	double files = (double)usual(b->cost[0].files_ns, b->cost[1].files_ns);
	double rest = (double)usual(b->cost[0].cpu_ns, b->cost[1].cpu_ns) - files;
	int64_t interval = step < STEP_RATE ? b->asked_ns : interval_at(b, step);

	return ((rest > 0 ? rest : 0) + files / files_left(b->step) * files_left(step)) /
	       (double)interval;
}

/* Above those that lower the rate: what two samples tell is not enough for that. */
static int step_that_fits(const struct budget *b)
{
	int step = 0;

	while (step < STEP_EIGHTH &&
	       share_at(b, step) > b->limit * (step < b->step ? fits_again : fits))
		step++;
	return step;
}

bool budget_settle(struct budget *b, int64_t mono_ns, int64_t used_ns, int64_t files_ns)
{
	int was = b->step, step;
	int64_t cost = used_ns - b->used_ns;

	b->used_ns = used_ns;
	if (!b->first_ns)
		b->first_ns = mono_ns;
	else if (files_ns >= 0) {
		b->cost[1] = b->cost[0];
		b->cost[0].cpu_ns = cost;
		b->cost[0].files_ns = files_ns;
		b->costs++;
	}
	if (files_ns < 0 || b->costs < 2 || b->limit <= 0 || mono_ns - b->first_ns > settle_ns)
		return false;
	/* The first of them does what is done once, too, and the second may be the odd one. */
	if (b->costs == 2 && share_at(b, was) < 2 * b->limit)
		return false;
	step = step_that_fits(b);
	if (step > was || (was < STEP_RATE && step < was && b->costs % (2 * EIGHTH) == 0))
		b->step = step;
	if (b->step)
		b->quick_ns = 0; /* short intervals are for what fits easily */
	if (!b->quick_ns)
		b->share = share_at(b, b->step);
	if (b->step > b->worst)
		b->worst = b->step;
	return b->step != was;
}

/* A step back is tried when it would most likely fit: each halves the cost at most. */
static bool judge(struct budget *b)
{
	int step;

	b->over = b->share > b->limit ? b->over + 1 : 0;
	b->under = b->share < b->limit / 3 ? b->under + 1 : 0;
	if (b->over >= WINDOWS_OVER && can_go_down(b)) {
		step = step_that_fits(b);
		b->step = step > b->step ? step : b->step + 1;
		if (b->step <= b->worst && b->patience < PATIENCE_MAX)
			b->patience *= 2;
	} else if (b->under >= b->patience && b->step) {
		b->step--;
	} else {
		return false;
	}
	b->over = b->under = 0;
	if (b->step > b->worst)
		b->worst = b->step;
	return true;
}

bool budget_step(struct budget *b, int64_t mono_ns, int64_t cpu_ns, int64_t walks_ns)
{
	int64_t span = mono_ns - b->mono_ns;
	bool first = !b->mono_ns || b->quick_ns, changed = false;

	if (!first && (++b->samples < WINDOW_SAMPLES || span < window_least_ns))
		return false;
	if (!first) {
		b->share = (double)(cpu_ns - b->cpu_ns - (walks_ns - b->walks_ns)) / (double)span;
		changed = b->limit > 0 && judge(b);
	}
	b->samples = 0;
	b->mono_ns = mono_ns;
	b->cpu_ns = cpu_ns;
	b->walks_ns = walks_ns;
	return changed;
}

double budget_for_walks(const struct budget *b)
{
	double left = b->limit > 0 ? b->limit - b->share : walks_max;

	return left < 0 ? 0 : left > walks_max ? walks_max : left;
}

void budget_describe(const struct budget *b, int step, char *out, size_t size)
{
	static const char *const words[] = {
		[0] = "everything is read as asked",
		[STEP_REFRESH] = "processes that do not run are read again a quarter as often",
		[STEP_IO] = "input, output and open files of a process are read every 4th sample",
		[STEP_FILES] = "of a process, all but CPU time is read every 4th sample",
		[STEP_EIGHTH] = "of a process, all but CPU time is read every 8th sample",
	};
	char text[32];

	if (step < STEP_RATE) {
		snprintf(out, size, "%s", words[step]);
		return;
	}
	args_duration_text(interval_at(b, step), text, sizeof text);
	snprintf(out, size, "a sample every %s, and of a process all but CPU time every 8th", text);
}
