/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres.h - a whole run as rows of the store's tables, in the text form of PostgreSQL's COPY.
 *
 * They stream: memory does not grow with the run.
 */
#ifndef SONDE_PUSH_POSTGRES_H
#define SONDE_PUSH_POSTGRES_H

#include "core/frame/run.h"
#include "store/database.h"

struct job_rows {
	struct run *run;
	struct database *store;
	int64_t id;            /* of the run in the store */
	bool with_environment; /* of the job, of which else nothing is put */
	uint64_t samples;      /* put so far */
	struct bytes text;     /* rows on their way */
	bool begun;            /* the last one has a cell */
};

/* Instead of what the store has of the run; within the caller's transaction. 0 or -errno. */
int job_rows_put(struct job_rows *w, struct err *e);
void job_rows_free(struct job_rows *w);

#endif
