/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - which code the CPU time went to: the samples of stacks (core/stacks/stacks.h), held
 * against what is known exactly.
 *
 * The exact CPU time is the sum of: what was sampled, by kind of code; processes that ended before
 * their first sample; the rest of user time; and kernel time, whose samples, where they are
 * permitted, tell who called the kernel.
 */
#ifndef SONDE_REPORT_SUMMARY_CODE_H
#define SONDE_REPORT_SUMMARY_CODE_H

#include "base/bytes.h"
#include "core/stacks/stacks.h"

#include <stdio.h>

struct json;
struct summary;

/* Processes of a name that were too short to be sampled, mostly. */
struct code_short {
	const char *command; /* hostile text */
	double processes, seconds;
};

enum { CODE_SHORT = 10 };

struct code_account {
	double user_s, system_s; /* exact; NAN: not known */
	double sampled_s;
	double short_s; /* in processes too short to be sampled */
	double rest_s;  /* user_s less these two: below 0, as far as samples are chance; NAN */
	double whole_s; /* user and system; where these are not known, what was sampled */
	struct code_short shorts[CODE_SHORT]; /* most first */
	uint32_t nshort;
};

/* What is missing although stacks were asked for; all texts are hostile. */
struct code_gaps {
	double lost;                      /* records that there was no room for */
	double tasks;                     /* that were not sampled */
	double turns;                     /* threads sampled at a time; 0: all */
	double after_s;                   /* of CPU time until a process is sampled; 0: none */
	double restless;                  /* threads that get a CPU too often to be sampled */
	double unsampled, unsampled_s;    /* threads that ended before that, and their user time */
	char files[400];                  /* names of those left out, "a, b"; "": none */
	const char *note, *noted;         /* what a recorder said, and its host; NULL: nothing */
	const char *refused;              /* "forbidden: ..."; NULL: no node refused */
	const char *fix_user, *fix_admin; /* against it; NULL: nothing is known */
	uint32_t nrefused, nnodes;
};

struct code {
	struct classes classes;
	struct stacks *stacks; /* NULL: none were recorded */
	struct stacks *python; /* the CPU time of Python's threads by its functions; NULL: none */
	struct stacks *kernel; /* what of the kernel's CPU time was sampled; NULL: nothing */
	struct code_account account;
	struct code_gaps gaps;
};

/* The built-in classes; then those of a file or directory, if one is named. Free in either case. */
int code_classes(struct classes *c, const char *site, struct err *e);
/* docs/classes.md. 0 or -errno with a sentence. */
int code_classes_markdown(struct bytes *out, struct err *e);

void code_free(struct code *code);
/* Rows by phase, which take another pass. 0 or -errno with a sentence. */
int code_phases(struct code *code, struct run *r, struct err *e);

/* What a command with so much CPU time in all (user and kernel), of which so much was sampled, used
 * unseen. */
struct code_command {
	const char *name;
	double processes, cpu_s, sampled_s;
};
/* The i-th of its sentences, not escaped; false: there is none. */
bool code_gaps_say(const struct code_gaps *g, unsigned i, struct bytes *out);
void code_gaps_json(struct json *j, const struct code_gaps *g);
/* From commands, largest first; period_s: between two samples of a thread. */
void code_account_make(struct code_account *a, const struct code_command *c, uint32_t n,
		       double period_s);

/* The share 0..1 that every view has: of all CPU time, kernel time and what has no samples
 * included; of Python's rows (s is code->python), of the time of Python that has looks. */
double code_share(const struct code *code, const struct stacks *s, double seconds);
/* Half its 95 % interval. */
double code_error(const struct code *code, const struct stacks *s, double seconds);
/* There are samples, but too few to say which code it was; and in words, "" where there are enough.
 */
bool code_is_thin(const struct code *code);
void code_thin_words(const struct code *code, struct bytes *out);

/* Is it worth a line of a summary? Not where nobody asked and nothing was sampled, nor of the
 * shortest jobs. */
bool code_says_something(const struct code *code);
/* "own code 61 %, compression 22 %, kernel 4 %", of the whole, the largest `most`; not escaped: it
 * has no text of others. */
void code_classes_words(const struct code *code, unsigned most, struct bytes *out);
/* "solve (solver.c:41) 38 %, inflate (libz.so.1) 22 %", those of 1 % and more, escaped for a
 * terminal. */
void code_functions_words(const struct code *code, unsigned most, struct bytes *out);

/* Is the kernel's name of a process, of 15 bytes at most, that of this command? "python" is of
 * "python train.py". */
bool code_is_of(const char *comm, const char *command);
/* The command that has nearly all CPU time, or half of what was sampled. NULL: none. */
const struct summary_command *code_command(const struct summary *s);
/* CPU time of the commands that have samples, in seconds: of the others nothing is known. INFINITY:
 * not known. */
double code_sampled_s(const struct summary *s);

/* Likewise of Python's functions; nothing where there are none. */
void code_python_words(const struct code *code, unsigned most, struct bytes *out);

/* `show --code`: the account, classes and functions; or with `by` one table. most: rows. */
/* One sentence a line, each escaped for a terminal. */
void code_print_gaps(const struct code *code, FILE *out);
void code_print(const struct code *code, FILE *out, unsigned most);
void code_print_by(const struct code *code, enum stacks_by by, FILE *out, unsigned most);
void code_markdown(const struct code *code, unsigned most, struct bytes *out);
/* An object: in `show --json`, code with the ten first functions; null: not recorded. most: rows of
 * each table of `show --code --json`, schema sonde/code/1. */
void code_json_briefly(struct json *j, const struct code *code);
void code_json(const struct code *code, const struct run *r, unsigned most, struct bytes *out);

#endif
