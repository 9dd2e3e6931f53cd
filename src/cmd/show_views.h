/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_views.h - what `sonde show` prints in place of the summary, each as text or, with --json, as
 * a schema of its own.
 *
 * Each returns 0, or -errno with a sentence. That a recording has nothing of it is no error, but
 * said.
 */
#ifndef SONDE_CMD_SHOW_VIEWS_H
#define SONDE_CMD_SHOW_VIEWS_H

#include "base/err.h"
#include "core/frame/run.h"
#include "core/stacks/stacks.h"
#include "core/stacks/waiting.h"
#include "report/summary/filesused.h"
#include "report/summary/summary.h"

#include <stdbool.h>
#include <stdint.h>

/* Rows of a table. */
enum { SHOW_ROWS = 10 };
/* Of --by, behind the tables of stacks. */
enum { BY_OBJECT = STACKS_BY_NUMBER_OF + 1, BY_PLACE, BY_FILE, BY_MOUNT = BY_FILE + 3 };

struct show_options {
	bool json, markdown, spans, all, code, waits, memory, mpi, path, files, peers, pipelines,
		steps;
	int views;   /* of these, and of tracker, that were asked for */
	bool newest; /* it was not named */
	int64_t tracker, by;
	const char *rules, *metrics, *classes, *pipeline_rules;
};

int show_code(const struct show_options *o, const struct summary *s, struct run *r, struct err *e);
int show_waits(const struct show_options *o, struct run *r, struct err *e);
int show_mpi(const struct show_options *o, const struct summary *s, struct run *r, struct err *e);
int show_memory(const struct show_options *o, const struct summary *s, struct run *r,
		struct err *e);
int show_path(const struct show_options *o, const struct summary *s, struct run *r, struct err *e);
int show_pipelines(const struct show_options *o, const struct summary *s, struct run *r,
		   struct err *e);
int show_steps(const struct show_options *o, const struct summary *s, struct run *r, struct err *e);
int show_files(const struct show_options *o, const struct summary *s, struct run *r, struct err *e);
int show_peers(const struct show_options *o, const struct summary *s, const struct run *r,
	       struct err *e);

/* The table of --by; false: there is none. */
bool show_waits_table(int64_t by, enum waiting_by *out);
bool show_files_table(int64_t by, enum used_by *out);

#endif
