/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracker.h - the figures by which an experiment tracker knows a job, node by node: one value each
 * for the whole job.
 *
 * Pure arithmetic: samples in, in the order of time, figures out. Samples may come from a recording
 * or from a sampler in the process itself. Means are weighted by real time; totals are what a
 * counter rose by while it was watched, not since the machine started. A figure of which nothing is
 * known is NAN, never 0.
 */
#ifndef SONDE_CORE_TRACKER_H
#define SONDE_CORE_TRACKER_H

#include "core/statistics/stats.h"

#include <stddef.h>

struct json;

/* What a sample holds, in ratios and bytes. */
enum tracker_field {
	TRACKER_CPU_MEAN = 0, /* over the node's CPUs, of the time that the sample stands for */
	TRACKER_CPU_MIN,
	TRACKER_CPU_MAX,
	TRACKER_MEMORY,
	TRACKER_DISK_USED, /* of the file system at / */
	TRACKER_DISK_READ, /* from here on counters, since any time */
	TRACKER_DISK_WRITTEN,
	TRACKER_LOOPBACK_SENT,
	TRACKER_NETWORK_SENT,
	TRACKER_LOOPBACK_RECEIVED,
	TRACKER_NETWORK_RECEIVED,
	TRACKER_PLAIN_FIELDS,                    /* those that every sample has a key of */
	TRACKER_GPU_USED = TRACKER_PLAIN_FIELDS, /* mean of the GPUs */
	TRACKER_GPU_MEMORY,                      /* sum of the GPUs, bytes */
	TRACKER_GPU_JOB_MEMORY,
	TRACKER_GPU_ENERGY, /* counter, joules */
	TRACKER_FIELDS
};

/* How a field of two samples becomes one, so that extremes stay. */
enum tracker_merge { TRACKER_MERGE_MEAN, TRACKER_MERGE_MIN, TRACKER_MERGE_MAX, TRACKER_MERGE_LAST };

struct tracker_field_row {
	const char *key; /* in a file of samples */
	double scale;    /* of the value, for that */
	enum tracker_merge merge;
};
extern const struct tracker_field_row tracker_fields[TRACKER_FIELDS];

struct tracker_sample {
	double utc_s;    /* when it was made, since 1970 */
	double seconds;  /* the same on a clock that does not jump */
	double stands_s; /* the time before it that its CPU figures are of; 0: not known */
	double value[TRACKER_FIELDS]; /* NAN: not known */
};
/* A sample of which nothing is known yet. */
struct tracker_sample tracker_sample_at(double utc_s, double seconds);
/* One sample out of two that follow each other: it stands for the time of both. */
void tracker_merge(struct tracker_sample *into, const struct tracker_sample *later);

/* What is not sampled but said of the whole job on the node. */
enum tracker_said {
	TRACKER_CPUS = 0, /* logical CPUs of the node */
	TRACKER_JOB_CPU,  /* CPU time of the job, seconds */
	TRACKER_JOB_PEAK_MEMORY,
	TRACKER_JOB_ENERGY, /* joules: the job's share */
	TRACKER_NODE_ENERGY,
	TRACKER_SAID
};

enum { TRACKER_THRESHOLDS = 4 };

struct tracker {
	struct stats field[TRACKER_FIELDS]; /* of counters: their rises */
	double before[TRACKER_FIELDS];      /* counters at the last sample; NAN: not known */
	double busy_s[TRACKER_THRESHOLDS];  /* time in which the CPUs were at least so busy */
	double last_s, span_s;              /* time of the last sample; time watched */
	double said[TRACKER_SAID];
};

/* Nothing is known: also before the first tracker_add. */
void tracker_init(struct tracker *t);
void tracker_add(struct tracker *t, const struct tracker_sample *s);
/* Add what was watched of the same node at another time. What was said is left alone. */
void tracker_join(struct tracker *t, const struct tracker *later);

/* One figure: the first 18 have the names by which the trackers' users know them. */
struct tracker_figure {
	const char *name, *unit;
	const char *what; /* how it is made, one sentence */
	enum {
		TRACKER_TAKE_MAX,
		TRACKER_TAKE_MEAN,
		TRACKER_TAKE_SHARE, /* percent of the time at or over threshold `of` */
		TRACKER_TAKE_TOTAL,
		TRACKER_TAKE_CPU_HOURS,
		TRACKER_TAKE_UNUSED_CPU_HOURS,
		TRACKER_TAKE_SAID
	} take;
	unsigned of; /* enum tracker_field, threshold, or enum tracker_said */
	double scale;
};
enum { TRACKER_PLAIN_FIGURES = 18, TRACKER_FIGURES = 27 };
extern const struct tracker_figure tracker_figures[TRACKER_FIGURES];
/* NAN when it is not known. */
double tracker_value(const struct tracker *t, const struct tracker_figure *figure);
/* Why a figure is not known, a few words. */
const char *tracker_unknown(const struct tracker *t, const struct tracker_figure *figure);

/* A key that trackers take: letters, digits and _ - . / stay, blanks too, all else goes, and so
 * does what would make it a path upwards; cut to size - 1. Returns out, "_" when nothing is left.
 */
const char *tracker_key(char *out, size_t size, const char *name);

/*
 * A sample as files of samples have it: keys and scales of tracker_fields.
 */
/* An object. The plain keys are always there, with null where nothing is known. */
void tracker_sample_json(const struct tracker_sample *s, struct json *j);

#endif
