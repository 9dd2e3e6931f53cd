/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - one sentence about a run, with everything that proves it.
 *
 * Made by a rule (rules.h), shown by `show`, the page and JSON. Texts may hold names of the run:
 * they are hostile, escape them where they go.
 */
#ifndef SONDE_REPORT_JUDGING_VERDICT_H
#define SONDE_REPORT_JUDGING_VERDICT_H

#include "core/metric.h"

enum {
	VERDICT_NAME = 64,
	VERDICT_SENTENCE = 2000, /* with the longest that a look at a hang says: STORY_WHERE */
	VERDICT_NEXT = 160,
	VERDICT_ABOUT = 400,
	VERDICT_NUMBERS = 8,
	VERDICT_COST = 80
};

/* Worst first is the order they are shown in: BAD, WARN, CANNOT_TELL, NOTE, GOOD; of one severity,
 * the dearest first. */
enum severity {
	SEVERITY_NOTE = 0,
	SEVERITY_GOOD,
	SEVERITY_WARN,
	SEVERITY_BAD,
	SEVERITY_CANNOT_TELL,
	SEVERITY_NUMBER_OF
};

/* How sure it is: HIGH follows from what was counted, MEDIUM may have another cause in rare cases,
 * LOW is a guess from circumstances. */
enum confidence { CONFIDENCE_LOW = 0, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH, CONFIDENCE_NUMBER_OF };

/* What a batch system is asked for. */
enum resource {
	RESOURCE_NONE = 0,
	RESOURCE_CORES,  /* of each node */
	RESOURCE_MEMORY, /* bytes of each node */
	RESOURCE_GPUS,   /* of each node */
	RESOURCE_TIME,   /* seconds */
	RESOURCE_NUMBER_OF
};

/* A number of the sentence. */
struct verdict_number {
	char name[VERDICT_NAME]; /* the figure or the expression as the rule has it */
	enum unit unit;
	double value;
};

struct summary_verdict {
	char rule[VERDICT_NAME];
	char theme[VERDICT_NAME], about[VERDICT_ABOUT]; /* of the rule; "": it gives none */
	enum severity severity;
	enum confidence confidence;
	char sentence[VERDICT_SENTENCE + VERDICT_COST]; /* with its cost */
	char metric[VERDICT_NAME];   /* the proof: a public metric name; "" = none */
	char instance[VERDICT_NAME]; /* the device it is about: "sda"; "" = none */
	uint32_t node;               /* of the run, that it is about; 0: the whole job */
	double from_s, to_s;         /* since the run began: when it was so */
	double threshold;            /* in the unit of the metric; NAN: none */
	double cost_s;               /* wall time lost, at most; NAN: not known */
	double weight_s;             /* for the order: the cost, or the time that it is about */
	bool yields;                 /* shown last of its severity: another one has the cause */
	struct verdict_number number[VERDICT_NUMBERS];
	uint32_t nnumbers;
	enum resource resource;  /* what to ask for next time */
	double amount, margin;   /* of it, with the margin, a ratio; NAN: none */
	char next[VERDICT_NEXT]; /* the line for the job script: "#SBATCH --mem=8G"; "" = none */
};

/* In the order of the enums, NULL at the end. */
extern const char *const severity_names[], *const confidence_names[], *const resource_names[];

/* "bad", "warn", ... */
const char *severity_name(enum severity severity);
const char *confidence_name(enum confidence confidence);
const char *resource_name(enum resource resource); /* "cores", "memory", "gpus", "time" */
/* "Next time: #SBATCH --mem=8G (20 % to spare)"; "" when there is no such line. Returns out. */
const char *verdict_next(const struct summary_verdict *v, char *out, size_t size);

struct summary;
/* Fills `next` of all verdicts that have a resource; "" where the batch system has no such line.
 * Slurm takes a line a resource. PBS and OAR take several resources in one, so that there each
 * verdict's line holds what all of them advise, and what was asked for of the rest. */
void requests_write(struct summary *s);

#endif
