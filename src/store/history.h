/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - runs with their summaries, as the store keeps them, and as JSON.
 *
 * Texts that are not known are NULL, numbers NAN. All of it may come from a hostile recording:
 * escape it where it goes. {0} is empty and safe to free.
 */
#ifndef SONDE_STORE_HISTORY_H
#define SONDE_STORE_HISTORY_H

#include "base/pool.h"
#include "base/text/json.h"
#include "store/database.h"

enum history_text {
	HISTORY_UID,  /* which recording: the same however often and from where it is told */
	HISTORY_NAME, /* of the job, else its program's */
	HISTORY_COMMAND,
	HISTORY_USER,
	HISTORY_CLUSTER,
	HISTORY_SCHEDULER,
	HISTORY_JOB_ID,
	HISTORY_ARRAY_ID,
	HISTORY_ARRAY_INDEX,
	HISTORY_ACCOUNT,
	HISTORY_QUEUE,
	HISTORY_PATH,
	HISTORY_STATE,
	HISTORY_VERSION, /* of the Sonde that recorded */
	HISTORY_TEXTS
};

enum history_number {
	HISTORY_WALL_SECONDS,
	HISTORY_EXIT_CODE,
	HISTORY_SIGNAL,
	HISTORY_NODES,
	HISTORY_NUMBERS
};

struct history_figure {
	const char *name, *text; /* text NULL: a number */
	double value;
};

struct history_run {
	const char *text[HISTORY_TEXTS];
	double number[HISTORY_NUMBERS];
	int64_t start_ns;
	int64_t id; /* in the store */
	uint32_t first_figure, nfigures, first_host, nhosts;
};

struct history {
	struct pool pool;
	struct history_run *run;
	struct history_figure *figure;
	const char **host;
	uint32_t n, cap, nfigures, figure_cap, nhosts, host_cap;
	bool failed; /* out of memory: something is missing */
};

void history_free(struct history *h);

/* Another run, of which nothing is known; what is added goes to the last one. Texts are copied. */
void history_add(struct history *h);
void history_add_text(struct history *h, enum history_text which, const char *text);
void history_add_figure(struct history *h, const char *name, double value, const char *text);
void history_add_host(struct history *h, const char *host);

/* What a figure that is a text says; NULL when the run has none such. */
const char *history_said(const struct history *h, const struct history_run *r, const char *name);
/* NAN when the run has no such figure; a number of its own is one by its column's name, too. */
double history_figure(const struct history *h, const struct history_run *r, const char *name);

/* Run i into the store, instead of what it has under its uid; within the caller's transaction. Its
 * id is then in *id. */
int history_put(struct database *s, const struct history *h, uint32_t i, int64_t *id,
		struct err *e);
/* All runs that began at since_ns or later, oldest first. */
int history_read(struct history *h, struct database *s, int64_t since_ns, struct err *e);

/* {"uid": ..., "start": ..., "hosts": [...], "figures": {...}} */
void history_json(struct json *j, const struct history *h, const struct history_run *r);
/* The reverse: one run is added, of hostile bytes. 0; -EBADMSG and nothing is added; -ENOMEM. */
int history_parse(struct history *h, const void *text, size_t n, struct err *e);

#endif
