/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - the runs that have been: what the end of a recording leaves for them, and what `ls`
 * and `usage` ask of them.
 */
#ifndef SONDE_SESSION_HISTORY_H
#define SONDE_SESSION_HISTORY_H

#include "console/command.h"
#include "report/summary/summary.h"
#include "store/history.h"

/* Which runs, of which store. */
struct history_options {
	const char *store, *name, *user, *account, *host, *since;
};

/* Rows for a command whose options struct begins with struct history_options. */
/* clang-format off */
#define HISTORY_OPTIONS \
	{ .name = "store", .type = ARG_TEXT, .value = "WHERE", \
	  .help = "The history of this store: a file, or postgres://user@host/database without a " \
		  "password; else of SONDE_STORE, else of this user.", \
	  OPTION_OFFSET(struct history_options, store) }, \
	{ .name = "name", .type = ARG_TEXT, .value = "GLOBS", \
	  .help = "Only runs whose job name, or else program name, matches: 'train*,eval'.", \
	  OPTION_OFFSET(struct history_options, name) }, \
	{ .name = "user", .type = ARG_TEXT, .value = "GLOBS", \
	  .help = "Only runs of these users.", \
	  OPTION_OFFSET(struct history_options, user) }, \
	{ .name = "account", .type = ARG_TEXT, .value = "GLOBS", \
	  .help = "Only runs of these accounts, or projects, of the batch system.", \
	  OPTION_OFFSET(struct history_options, account) }, \
	{ .name = "host", .type = ARG_TEXT, .value = "GLOBS", \
	  .help = "Only runs that were on one of these hosts.", \
	  OPTION_OFFSET(struct history_options, host) }, \
	{ .name = "since", .type = ARG_TEXT, .value = "TIME", \
	  .help = "Only runs that began since then: a date as 2026-11-20 (UTC), or how long ago, " \
		  "as 30d, 2w or 12h.", \
	  OPTION_OFFSET(struct history_options, since) }
/* clang-format on */

/* Does one of them choose some of the runs? */
bool history_chooses(const struct history_options *o);
/* Does one of them say that the history is meant? */
bool history_wanted(const struct history_options *o);

/* The store that was chosen, with what has ended since somebody looked last. 0 or -errno. */
int history_open(struct database **s, const struct history_options *o, const char *verb,
		 struct err *e);

/* The runs that were chosen, oldest first, with what has ended since somebody looked last. EXIT_OK,
 * or another code, and then it has said why. Free in either case. */
int history_find(struct history *h, const struct history_options *o, const char *verb);

/* The same of a lake's files (sink/lake.h), which may be hostile. */
int history_find_in_lake(struct history *h, const struct history_options *o, const char *root,
			 const char *verb);

/* What the history keeps of the recording at path, as JSON with a NUL behind it. 0 or -errno. */
int history_describe(struct bytes *json, struct run *r, const char *path, struct err *e);

/* All runs of this user's own store, oldest first, as far as it is kept and can be read: nothing is
 * said when it cannot. */
void history_recall(struct history *h, const char *verb);

/* Put the recordings at these paths into the store. EXIT_OK, or another code, and it has said why.
 */
int history_add_recordings(const struct history_options *o, const char *verb, char *const *path,
			   size_t n);

/* False with SONDE_HISTORY=off. */
bool history_is_kept(void);
/* What the end of a recording leaves: it takes 2 s at most, and says nothing when it fails. s NULL:
 * the recording is looked at later. */
void history_leave(const struct run *r, const struct summary *s, const char *path);

#endif
