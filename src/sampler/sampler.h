/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - one sample of everything: the node's sources, the process tree, Sonde itself.
 *
 * A source that fails fails alone, with its reason in the recording. Nothing is allocated by
 * sampler_take.
 */
#ifndef SONDE_SAMPLER_SAMPLER_H
#define SONDE_SAMPLER_SAMPLER_H

#include "core/sample.h"
#include "sampler/hang.h"
#include "sampler/inspection.h"
#include "sampler/marks.h"
#include "sampler/pauses.h"
#include "sampler/reopens.h"
#include "sampler/rereads.h"
#include "sampler/span_files.h"
#include "sampler/tree/tree.h"
#include "source/perf/perf.h"
#include "source/source.h"

/*
 * Notices that the machine was suspended: then the clock of samples stands still, and the one that
 * counts from the boot goes on.
 *
 * Rates and durations are by the former, so that they are right without the time of the suspend.
 */
/* {0} has seen nothing yet. */
struct suspend {
	int64_t ahead_ns; /* how far the clock from the boot is ahead, at most */
	int64_t total_ns; /* of all suspends */
	bool seen;
};

struct sampler_options {
	const char *procfs, *sysfs; /* NULL: /proc, /sys */
	const char *output;         /* directory of the recording */
	int64_t interval_ns;
	bool quickly;             /* shorter intervals in the first seconds (sampler/budget.h) */
	double max_overhead;      /* share of one core; 0: no limit */
	int64_t watch_hang_ns;    /* 0: no watch */
	struct tree_options tree; /* its proc is filled in */
	struct perf_options perf;
	enum files_by files;     /* how the files that the job uses are recorded */
	bool peers;              /* whether its TCP connections are recorded */
	int64_t memory_hz;       /* samples of page faults a second; 0: as fits; < 0: none */
	int64_t waits_hz;        /* looks a second; 0: as fits; < 0: waits are not watched */
	int64_t stacks_hz;       /* of each busy CPU; 0: as fits; < 0: stacks are not sampled */
	int64_t stacks_after_ns; /* as struct source_env has it */
	bool no_paths;           /* of the files in stacks and waits record the names alone */
};

struct sampler {
	struct source_env env;
	struct perf_options perf;
	struct sample sample;
	struct tree *tree;
	void **state; /* of each source; NULL: off */
	uint8_t *failed;
	bool *later; /* it is opened behind the first sample */
	struct suspend suspend;
	struct budget budget;
	struct cadence cadence;
	struct hang hang;
	struct rank_watch rank_watch;
	struct pauses pauses;
	struct rereads rereads;
	struct reopens reopens;
	struct marks *marks;      /* NULL: no memory for them */
	struct span_files *spans; /* likewise */
	int statm;
	uint32_t monitor_slot;
	int64_t page_bytes;
	int64_t clock_ns, node_ns, self_ns; /* when clocks, node and itself were read last */
	int64_t node_late_ns; /* how long after the begin of its sample the node was read */
	int64_t cpu_ns, children_ns, resident_bytes, peak_resident_bytes;
};

struct sampler_figures { /* what only the recorder knows */
	int64_t written_bytes, late, skipped;
};

/* s is zeroed; o is borrowed until sampler_close. */
int sampler_open(struct sampler *s, const struct sampler_options *o, struct err *e);
/* With the first sample, behind sampler_take: the sources that need not have read anything before
 * the job began, which may have begun by then. */
void sampler_open_rest(struct sampler *s);
void sampler_close(struct sampler *s);
/* A launcher was added to the tree; whether its task ran already. */
void sampler_joined(struct sampler *s, pid_t launcher, bool runs);
/* These processes were added to the tree, and none of them descends from one that was in it. */
void sampler_adopted(struct sampler *s, const pid_t *pids, size_t n);
/* cadence.interval_ns may be another one afterwards. */
void sampler_take(struct sampler *s, const struct sampler_figures *f, bool last);

#endif
