/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - the steps (iterations) of a job: how many there are, how long they take, which took
 * longer, and what was different in those.
 *
 * Spans or marks that repeat under one name are its steps; numbers in names do not count. Else
 * processes that one process starts at even distances, or calls of MPI; else what repeats in the
 * samples of one node (core/statistics/cycle.h). Figures are those of plain steps:
 * without the first ones, while these are longer; without those that are longer again and again or
 * write more, which are taken for checkpoints; and without slow and short ones. Seconds are since
 * the run began. Texts are the run's, and hostile. {0} is empty and safe to free.
 */
#ifndef SONDE_REPORT_STEPS_STEPS_H
#define SONDE_REPORT_STEPS_STEPS_H

#include "base/bytes.h"
#include "core/frame/run.h"
#include "core/metric.h"
#include "core/stacks/waiting.h"
#include "report/summary/summary.h"

enum step_kind { STEP_PLAIN = 0, STEP_WARM_UP, STEP_CHECKPOINT, STEP_SLOW, STEP_SHORT, STEP_KINDS };
/* What shows them; the others are from one to the next, but spans. */
enum steps_source {
	STEPS_OF_SAMPLES = 0,
	STEPS_OF_SPANS,
	STEPS_OF_MARKS,
	STEPS_OF_STARTS, /* of processes, by one process */
	STEPS_OF_CALLS,  /* of MPI, by one rank: from the end of one */
	STEPS_SOURCES
};
enum { STEP_NAME = 96, STEP_DIFFERENCES = 2, STEP_LOOKS = 24, STEP_GROWTHS = 12 };

/* What is measured of each step: means over its time. */
struct step_measure {
	const char *metric, *label;
	enum unit unit;
};

enum {
	STEP_CPU,
	STEP_READ,
	STEP_WRITTEN,
	STEP_RESIDENT,
	STEP_GPU,
	STEP_CALLS, /* of MPI, by one rank */
	STEP_READY,
	STEP_OTHERS, /* CPU that others used */
	STEP_STORAGE_READ,
	STEP_STORAGE_WRITTEN,
	STEP_FAULTS,
	STEP_TELLS, /* the first ones tell how a step differs; the rest only show bursts */
	STEP_WRITE_CALLS = STEP_TELLS,
	STEP_READ_CALLS,
	STEP_MEASURES
};
/* "plain", "slow" ... */
extern const char *const step_kind_names[STEP_KINDS];
/* "From mark to mark" ... */
extern const char *const steps_source_words[STEPS_SOURCES];
extern const struct step_measure step_measures[STEP_MEASURES];

/* A measure that is far from what plain steps have. */
struct step_difference {
	uint32_t measure;
	double here, usual;
};

/* Code or a wait that took longer than in plain steps, in proportion to their length: seconds of
 * threads, in a step or on average in those of a kind. Texts are of the summary's code and waits.
 */
struct step_growth {
	enum step_kind of;
	enum sample_kind kind;  /* of CPU time, of Python's functions, of waits */
	enum waiting_part part; /* of waits */
	const char *function;   /* "": not known; NULL: there is no growth */
	const char *module;     /* its program or library: a path, "": not known */
	double here_s, usual_s;
};

struct step {
	double from_s, to_s;
	enum step_kind kind;
	bool vague; /* its begin or end fits badly: figures are not of it */
	struct step_difference different[STEP_DIFFERENCES]; /* most first */
	uint32_t ndifferent;
	struct step_growth grew; /* what grew most, of those with STEP_LOOKS most seconds */
};

struct steps {
	struct step *step; /* [n] in the order of time; n 0: none were found */
	uint32_t n, count[STEP_KINDS];
	uint32_t node;        /* on which they were found; 0: none */
	char name[STEP_NAME]; /* of the spans, marks or events: "epoch #"; "": found in samples */
	enum steps_source source;
	const char *metric; /* in whose samples; NULL: not found in samples */
	double grain_s;     /* how exact they are */
	double interval_s;  /* of these samples; steps shorter than four are not found */
	double mean_s, median_s, error_s; /* of plain steps; half the 95 % interval of the mean */
	double low_s, high_s;             /* nine of ten are in here */
	double spread_ratio;              /* standard deviation / mean */
	double before_s;                  /* from the start to the first step */
	double every;                     /* steps from one checkpoint to the next; NAN */
	struct step_growth
		grew[STEP_GROWTHS]; /* in slow steps, then with a checkpoint; most first */
	uint32_t ngrew;
	double checkpoint_s; /* by how much those with a checkpoint are longer, on average; NAN */
};

/* 0 or -errno with a sentence. Reads samples of one node, unless there are spans or marks. */
int steps_make(struct steps *x, const struct summary *s, struct run *r, struct err *e);
void steps_free(struct steps *x);
/* What grew in slow steps and those with a checkpoint, if code or waits were sampled
 * (steps_code.c). 0 or -errno with a sentence. */
int steps_code_make(struct steps *x, const struct summary *s, struct err *e);
/* Its part that looks at spans and marks. 0 or -ENOMEM. */
int steps_of_names(struct steps *x, const struct summary *s, const struct run *r);
/* Its part that looks at processes that start and at calls of MPI. Likewise. */
int steps_of_events(struct steps *x, const struct summary *s, const struct run *r);
/* Of n distances, whether they are even, as those of steps are: their median, how many they are,
 * and by how many standard deviations more of them are near to it than chance would have it. NAN:
 * they are not. ordered: something else shows that they repeat. Sorts them. */
double steps_even(double *distance, uint32_t n, bool ordered, uint32_t *steps, double *beyond);
/* Whether a span is a call of MPI. */
bool step_is_call(const char *name);
/* The summary's, with its figures. After the job's. 0 or -errno. */
int summary_steps_make(struct summary *s, struct run *r, struct err *e);

/* x may be NULL. "240 of 1.25 s (1.1 to 1.4 s); 3 slow, 4 with a checkpoint": nothing where there
 * are none; not escaped. */
void steps_words(const struct steps *x, struct bytes *out);
void steps_text(struct bytes *b, const struct steps *x, const struct run *r, bool all);
/* Schema sonde/steps/1. */
void steps_json(struct bytes *b, const struct steps *x, const struct run *r);
/* "CPU 0.3 cores, usually 2.0": what was different, and what grew; not escaped. */
void step_words(const struct step *p, struct bytes *out);
/* "waits for data from a pipe in load", not escaped. */
void step_growth_words(const struct step_growth *g, struct bytes *out);

#endif
