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
#include "push/trials.h"
#include "report/summary/summary.h"

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
	bool database;    /* its address is that of a database (store/place.h) */
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
