/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.h - what a run shows, or what changed between two, as few findings, the most important
 * first: each with its numbers, what proves it, what to do and which command settles the doubt.
 *
 * It judges nothing. Findings are the verdicts, the account of the time, stacks, waits, figures and
 * blame that others made, and each number says where `show --json`, `show --waits --json`,
 * `show --peers --json`, `show --mpi --json` or `compare --json` has it. As text or JSON it is at
 * most EXPLAIN_BYTES long: what comes last is left out, and counted. Texts are hostile. {0} is
 * empty and safe to free.
 */
#ifndef SONDE_REPORT_EXPLAIN_EXPLAIN_H
#define SONDE_REPORT_EXPLAIN_EXPLAIN_H

#include "report/comparison/comparison.h"
#include "report/summary/summary.h"

/* A token of a language model is taken to be four bytes. */
enum { EXPLAIN_TOKENS = 2000, EXPLAIN_BYTES = 4 * EXPLAIN_TOKENS };
enum { EXPLAIN_NUMBERS = 5, EXPLAIN_FINDINGS = SUMMARY_VERDICTS + 16 };

enum explain_topic {
	EXPLAIN_ALL, /* asked for, and of no finding */
	EXPLAIN_WHERE,
	EXPLAIN_MEMORY,
	EXPLAIN_IO,
	EXPLAIN_WAIT,
	EXPLAIN_NEXT,
	EXPLAIN_DIFF,
	EXPLAIN_TOPICS
};
extern const char *const explain_topic_names[EXPLAIN_TOPICS];

/* The number that says what a finding costs. */
#define EXPLAIN_COST "cost_at_most_seconds"

struct explain_number {
	char name[64];
	enum unit unit;
	double value;
	double low, high; /* of its 95 % interval; NAN: none is known */
	char at[72];      /* "show:/job/wall_seconds": whose JSON has it, and where (RFC 6901) */
};

struct explain_finding {
	enum explain_topic topic;
	char about[VERDICT_NAME]; /* the rule, or what it is a part of: "time", "code", "figure" */
	enum severity severity;
	enum confidence confidence;
	char claim[400], cause[VERDICT_ABOUT], next[320], settle[260]; /* "": nothing */
	char metric[VERDICT_NAME], instance[VERDICT_NAME], host[128], stack[320];
	double from_s, to_s; /* NAN: of no time */
	struct explain_number number[EXPLAIN_NUMBERS];
	uint32_t nnumbers;
	uint32_t order; /* as it was found */
};

struct explain {
	const char *path, *other;            /* other: of a comparison */
	const struct summary *summary;       /* of one run; NULL: of a comparison */
	const struct comparison *comparison; /* of two */
	enum explain_topic ask;
	struct explain_finding *finding; /* most important first */
	uint32_t n, left_out;            /* left_out: no room for them */
};

/* Of what is asked, borrowing what it is of. 0 or -ENOMEM. */
int explain_run(struct explain *x, const struct summary *s, const struct run *r,
		enum explain_topic ask);
int explain_pair(struct explain *x, const struct comparison *c, const char *a, const char *b,
		 enum explain_topic ask);
void explain_free(struct explain *x);

/* Schema sonde/explain/1, in one line. */
void explain_json(struct bytes *out, const struct explain *x);
/* For a terminal, the first findings. */
void explain_print(FILE *out, const struct explain *x);

/* ---- for its own files ---- */

/* A new one, with nothing but its kind; NULL: there is no room, and it is counted. */
struct explain_finding *explain_add(struct explain *x, enum explain_topic topic, const char *about);
/* at: a format of the place. What is not known (NAN) is left out. */
struct explain_number *explain_number(struct explain_finding *f, const char *name, enum unit unit,
				      double value, const char *at, ...)
	__attribute__((format(printf, 5, 6)));
/* "sonde show --code RUN", of this recording; other: of a second one, or NULL. */
void explain_settle(struct explain_finding *f, const char *command, const char *path,
		    const char *other);
/* Cut at a whole character. */
void explain_copy(char *out, size_t size, const char *text);
/* What `sonde show --steps`, `--peers` and `--mpi` have, in short; nothing where they have none. */
void explain_steps(struct explain *x);
void explain_mpi(struct explain *x);
void explain_peers(struct explain *x);
/* Sorts them, and keeps those that are asked for. */
void explain_rank(struct explain *x);

#endif
