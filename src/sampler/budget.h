/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - what Sonde may cost, and what it does without when it costs more.
 *
 * In the first minute what two samples cost tells which step of a ladder fits: costly readings are
 * made more rarely first, the rate is lowered last. Then the share of one core that its own CPU
 * took is measured over windows of samples: two windows in a row above the limit are a step down,
 * or as many as what was measured tells; a long time far below it is a step back. PSS is paid from
 * what the rest leaves. Pure: it reads no clock.
 */
#ifndef SONDE_SAMPLER_BUDGET_H
#define SONDE_SAMPLER_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	REFRESH_SAMPLES =
		64, /* a process that does not run is read again after so many samples ... */
	REFRESH_SECONDS = 10, /* ... or seconds, whichever is sooner; more rarely to save */
	SHARED_SECONDS = 30,  /* and shared memory of one whose resident memory stays as it is */
};

/* How often what is read. What is not due in a sample is absent in it. */
struct cadence {
	int64_t interval_ns; /* between samples */
	int64_t stat_ns;     /* memory, user and system time, threads of processes that run */
	int64_t io_ns;       /* their input and output */
	int64_t files_ns;    /* how many files they have open */
	int64_t node_ns;     /* the node's own files */
	uint64_t refresh;    /* a process that does not run is read again after so many samples */
	uint64_t turns, io_turns; /* one that does has its turn, and its input and output theirs,
				   * in one of so many of the samples in which they are read */
	int64_t rarer;            /* threads are looked at so many times more rarely */
	uint64_t shared;          /* and shared memory of any, that of SHARED_SECONDS */
};

enum { QUICK_COSTS = 3 };

struct budget {
	double limit; /* share of one core; 0: none */
	int64_t asked_ns;
	int64_t quick_ns; /* the interval in the first seconds, shorter than asked; 0: as asked */
	int step;         /* down the ladder; 0: everything as asked */
	int worst;        /* the lowest there was */
	double share;     /* of the last window, without PSS */
	/* private */
	int64_t mono_ns, cpu_ns, walks_ns;
	int samples, over, under, patience;
	int64_t begin_ns, before_ns, cost_ns[QUICK_COSTS]; /* of the last samples, CPU time */
	uint64_t quick_samples;
	struct { /* of the last two samples, without walks */
		int64_t cpu_ns, files_ns;
	} cost[2];
	int64_t first_ns, used_ns; /* the first sample; CPU time but for walks, at the last one */
	uint64_t costs;
};

/* The limit when none was given: 0.5 % of one core at a sample a second or fewer, as much a sample
 * at higher rates, and never more than 20 %. */
double budget_default(int64_t interval_ns);
void budget_init(struct budget *b, double limit, int64_t interval_ns);
/* Begin with short intervals, so that a short job has samples enough, and slow down to the one
 * asked for over ten seconds; as fast as the limit allows what the samples cost. */
void budget_begin_quickly(struct budget *b);
/* After each sample, with its time and the CPU time used so far. True when quick_ns has changed. */
bool budget_slow_down(struct budget *b, int64_t mono_ns, int64_t cpu_ns);
/* After a sample: when it was, CPU time so far without walks, and how much of this sample's was for
 * the files of processes; -1: some were new, and took what they take once. True when the step has
 * changed: it is the one that fits. */
bool budget_settle(struct budget *b, int64_t mono_ns, int64_t used_ns, int64_t files_ns);
/* After a sample: when it was, and what Sonde and the walks of it have used so far. True when the
 * step has changed. */
bool budget_step(struct budget *b, int64_t mono_ns, int64_t cpu_ns, int64_t walks_ns);
struct cadence budget_cadence(const struct budget *b);
/* Share of one core that reading PSS may take now. */
double budget_for_walks(const struct budget *b);
/* What a step does without, in words: "input, output and open files only every 4th sample". */
void budget_describe(const struct budget *b, int step, char *out, size_t size);

#endif
