/* SPDX-License-Identifier: Apache-2.0 */
/*
 * push.h - a service that a job is told to: one const struct in its own file, one line in
 * pushes.def.
 *
 * A push adds each value once, however often it is begun again: what has arrived is in a journal.
 * Passwords and tokens come from the environment and go into no file and no sentence.
 */
#ifndef SONDE_PUSH_PUSH_H
#define SONDE_PUSH_PUSH_H

#include "core/frame/run.h"
#include "report/summary/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The trials of a benchmark or of a sweep, as a service gets them: one group, and each
 * trial by itself.
 *
 * Everything is borrowed from whoever filled it in. What is not known is not in a list.
 */

struct push_text {
	const char *name, *text;
};

struct push_number {
	const char *name;
	double value; /* finite */
};

struct push_list {
	struct push_text *v; /* [n] no name twice */
	uint32_t n, cap;
};

struct push_file {
	const char *name; /* "locks/1a2b3c4d/requirements.lock" */
	const void *data;
	size_t length;
};

struct push_trial {
	const char *uid;  /* the same however often it is pushed */
	const char *name; /* "bench:3/2" */
	int64_t start_ms, end_ms;
	bool failed;
	struct push_list parameters, tags;
	const struct push_list *facts; /* of its machine and software; NULL: none */
	struct push_number *figure;    /* [nfigures] no name twice */
	uint32_t nfigures;
};

struct push_trials {
	const char *uid, *name, *note; /* note NULL: none */
	int64_t start_ms, end_ms;
	struct push_list tags;
	struct push_trial *trial; /* [n] */
	struct push_file *file;   /* [nfiles] */
	uint32_t n, cap, nfiles, file_cap, nskipped;
	bool is_sweep; /* nskipped: of its combinations */
};

enum push_artifacts { PUSH_ALL = 0, PUSH_REPORT, PUSH_NO_ARTIFACTS };

struct push_job {
	struct run *run;
	const char *url;     /* of --url; NULL: from the environment */
	const char *state;   /* directory of the journal */
	const char *metrics; /* globs; NULL: all */
	const char *labels;  /* NAME=VALUE,...; NULL: none */
	int64_t patience_ns;
	bool with_environment;
	int64_t every_ns; /* of --follow: it is pushed again that often; 0: once */
	bool last;        /* of these, nothing comes any more */
	enum push_artifacts artifacts;
	const char *(*variable)(const char *name); /* the environment; NULL: not set, or empty */
};

/* What came of it, also when it failed. */
struct push_result {
	char where[512];           /* for people: what was pushed to */
	char left_out[512];        /* a sentence, or "" */
	uint64_t values, requests; /* sent now */
	bool nothing_new;          /* everything was there already */
	bool kept;                 /* what arrived is known: the next push goes on from there */
};

struct push {
	const char *name;
	const char *what; /* a few words for people */
	bool database;    /* its address is that of a database (store/database.h) */
	bool follows;     /* what was pushed of a running job may be pushed on */
	/* 0 or -errno with a sentence. */
	int (*exec)(const struct push_job *j, struct push_result *r, struct err *e);
	/* The same of trials, of a job without a run; NULL: it takes none. */
	int (*exec_trials)(const struct push_job *j, const struct push_trials *t,
			   struct push_result *r, struct err *e);
};

/* All of pushes.def, in its order. */
extern const struct push *const pushes[];
extern const size_t npushes;
const struct push *push_find(const char *name); /* NULL when unknown */

enum { PUSH_KEY = 64 };
/* "word-NODE" for a journal; another one when another node comes before it. Returns key. */
const char *push_node_key(const struct run *r, uint32_t node, const char *word, char key[PUSH_KEY]);
/* Is the run still being recorded? Of a node that was not closed and gave a sample just now. */
bool push_is_running(const struct run *r, int64_t now_utc_ns);
/* May samples still come? Of a node that was not closed and gave one in the last five minutes. */
bool push_may_grow(const struct run *r, int64_t now_utc_ns);

#endif
