/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pending.h - runs that have ended and are not in the history yet: a small file each in a folder.
 *
 * The end of a job must not wait for a database, and thousands may end at once: each only leaves a
 * file of its own, and whoever looks at the history next puts them there. A run without an uid is a
 * recording that is to be looked at: its path. Where nobody ever looks, the oldest go, and are
 * counted: about 10,000 are kept.
 */
#ifndef SONDE_STORE_PENDING_H
#define SONDE_STORE_PENDING_H

#include "store/history.h"

/* 0 or -errno. The folder is created if missing. */
int pending_leave(const char *folder, const struct history *h, const struct history_run *r,
		  struct err *e);

struct pending {
	char **name; /* of files, oldest first */
	int n;
	int64_t dropped; /* runs since somebody looked, for which there was no room */
};

/* 0 or -errno; a folder that is not there is empty. What killed processes left half written goes.
 */
int pending_find(struct pending *p, const char *folder, struct err *e);
/* Adds the run of file i to the history. 0; -EBADMSG when it holds none; -ENOENT when another took
 * it; -errno. */
int pending_read(const struct pending *p, const char *folder, int i, struct history *h,
		 struct err *e);
/* It is in the history, or holds nothing: the file goes. */
void pending_remove(const struct pending *p, const char *folder, int i);
/* It was said how many were dropped. */
void pending_told(const char *folder);
void pending_free(struct pending *p);

#endif
