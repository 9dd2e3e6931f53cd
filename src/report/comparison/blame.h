/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame.h - where the difference of two groups of runs lies. In CPU time: seconds a run of each
 * kind of code, function and command on both sides, from recordings with stacks. In the time of
 * threads: what they waited for, in which function, from recordings with waits. In wall time: its
 * phases, from recordings with spans or paired marks.
 *
 * The parts of a level add up to the whole difference: what no part has is in one named row. A part
 * is blamed when its interval, corrected for the number of parts of all levels, is on one side of
 * 0. Every name is hostile. {0} is empty and safe to free. docs/compare.md has the formulas.
 */
#ifndef SONDE_REPORT_COMPARISON_BLAME_H
#define SONDE_REPORT_COMPARISON_BLAME_H

#include "base/bytes.h"
#include "base/pool.h"
#include "core/statistics/compare.h"

struct json;
struct run;
struct summary;

enum blame_subject { BLAME_WALL, BLAME_CPU, BLAME_TIME, BLAME_SUBJECTS };

/* BLAME_CPU has no objects, BLAME_TIME no commands, BLAME_WALL has phases alone. */
enum blame_level {
	BLAME_CLASS,
	BLAME_FUNCTION,
	BLAME_COMMAND,
	BLAME_OBJECT,
	BLAME_PHASE,
	BLAME_LEVELS
};

enum blame_kind {
	BLAME_NAMED,  /* a class, a function, a command, what was waited for, a phase */
	BLAME_MODULE, /* functions of a program or library that may have been renamed or inlined */
	BLAME_OTHERS, /* all that are too small for a row */
	BLAME_SHORT,  /* processes too short to be sampled */
	BLAME_UNSAMPLED, /* user time without samples */
	BLAME_KERNEL,
	BLAME_ON_CPU,  /* BLAME_TIME: the threads did not wait */
	BLAME_READY,   /* they were ready, but others had the cores */
	BLAME_UNSEEN,  /* they waited, and nothing is known of it */
	BLAME_OUTSIDE, /* BLAME_WALL: no phase went on */
	BLAME_KINDS
};

enum {
	BLAME_SIDES = 2,
	BLAME_PARTS_SHOWN = 20, /* of a level, with names */
	BLAME_PARTS_MAX = BLAME_LEVELS * (BLAME_PARTS_SHOWN + BLAME_KINDS) /* once judged */
};

struct blame_part {
	enum blame_level level;
	enum blame_kind kind;
	uint64_t sum;                     /* of level, kind, name and module */
	const char *name;                 /* of kinds without one: what they are */
	const char *module;               /* BLAME_FUNCTION: without its version; or "" */
	bool follows;                     /* a wait for a child or thread: as long as that takes */
	double *value;                    /* [runs] seconds; 0: none were seen */
	double samples[BLAME_SIDES];      /* about as many */
	struct compared result;           /* low and high NAN: no spread is known */
	double counted_low, counted_high; /* interval by the counting of samples alone */
	double p;                         /* corrected for the number of parts */
	bool blamed;
};

struct blame_run {
	int side;         /* 0: A, 1: B */
	int64_t at;       /* when it began; 0: not known */
	double whole_s;   /* of CPU time what was sampled, if the exact time is not known */
	bool exact;       /* whole_s is the kernel's */
	double sampled_s; /* of it */
	double period_s;  /* of a sample, or of a look; INFINITY: nothing is sampled */
	double period_ns; /* that was asked for; NAN: not known */
	double after_s;   /* of CPU time, before which no process was sampled */
};

/* A program or library that has samples; texts: "" is not known. */
struct blame_module {
	const char *name;                                      /* without its version: "libz.so" */
	const char *file[BLAME_SIDES], *build_id[BLAME_SIDES]; /* file NULL: not on that side */
	bool mixed[BLAME_SIDES];                               /* not the same in all runs */
};

struct blame {
	enum blame_subject subject;
	struct blame_run *run;                          /* [nruns], those with stacks or waits */
	uint32_t nruns, runs_cap, without[BLAME_SIDES]; /* runs without */
	uint32_t brief[BLAME_SIDES]; /* of those, whose processes were too short by default */
	struct blame_part *part;     /* once judged: by level, most seconds first, unnamed last */
	uint32_t nparts, parts_cap;
	struct blame_module *module;
	uint32_t nmodules, modules_cap;
	uint32_t commands; /* runs whose commands are known */
	struct compared whole;
	bool independent, judged;
	double level;         /* of all intervals of parts together */
	struct bytes refused; /* why nothing is blamed, a sentence; empty: it is known */
	struct bytes note;    /* what was taken to be the same, and what could not be told apart */
	struct pool pool;
	bool failed; /* out of memory */
};

void blame_free(struct blame *b);

/* How a subject is spoken of. */
struct blame_words {
	const char *of, *whole;                                /* "CPU", "all CPU time" */
	const char *title, *key;                               /* "CPU time"; in JSON: "blame" */
	const char *nothing, *lacked, *option;                 /* "no code", "stacks", "--stacks" */
	const char *head[BLAME_LEVELS], *others[BLAME_LEVELS]; /* NULL: it has no such level */
	const char *alike;                                     /* no part differs for certain */
	enum blame_level order[3]; /* that of the first level with a blamed part is told */
	int norder;
};
extern const struct blame_words blame_words[BLAME_SUBJECTS];

/* The code, the waits and the phases of a run. Without stacks, waits or phases, it is counted as
 * one without; so is NULL. */
void blame_add(struct blame b[BLAME_SUBJECTS], int side, const struct run *r,
	       const struct summary *s);
/* Of the wall time of a run: each moment belongs to the phase that began last on its thread, or, of
 * marks, on its node; where there are several at a time, to each the same part of it. false: it has
 * none. */
bool blame_add_phases(struct blame *b, int side, const struct run *r, const struct summary *s);
/* What that is made of: a run, its parts, its programs and libraries. Parts of one name add up. */
void blame_add_run(struct blame *b, const struct blame_run *run);
void blame_put(struct blame *b, enum blame_level level, enum blame_kind kind, const char *name,
	       const char *module, double seconds);
/* "libz.so.1.2.13" -> "libz.so". */
void blame_without_version(const char *file, char *out, size_t size);
/* "/lib/libz.so.1.2.13" -> its name. */
const char *blame_see_module(struct blame *b, const char *path, const char *build_id);
/* 0 or -ENOMEM. */
int blame_judge(struct blame *b);
/* For its own files alone. */
struct blame_part *blame_find(struct blame *b, enum blame_level level, enum blame_kind kind,
			      const char *name, const char *module);

/* Neither side has stacks, or waits: then nothing is said. */
bool blame_is_empty(const struct blame *b);
/* "+7.3 % [6.1, 8.4] CPU: deflate +6.1 points (libz 1.2.13 -> 1.3.1); kernel +0.9 points", or why
 * nothing is blamed. Not escaped. */
void blame_sentence(struct bytes *out, const struct blame *b);
/* "libz 1.2.13 -> 1.3.1", "another build of app"; false: it is the same, or not known. */
bool blame_module_words(struct bytes *out, const struct blame *b, const char *module);
void blame_text(struct bytes *out, const struct blame *b, bool all);
void blame_markdown(struct bytes *out, const struct blame *b);
void blame_html(struct bytes *out, const struct blame *b);
/* An object; null: neither side has stacks, or waits. */
void blame_json(struct json *j, const struct blame *b);

extern const char *const blame_level_names[BLAME_LEVELS];

#endif
