/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marklog.h - follows the logs that a program writes, and makes lines of its file of marks
 * (job/marklog.h) of what rules match (core/phase/mark.h).
 *
 * It runs in a process of its own, which the job does not know: at the lowest priority, within a
 * twentieth of one core and 256 MB. A log may come later, be emptied, or be another file of the
 * same name later; what is in it at the start is not the job's and is left out, as is what is too
 * much to be kept up with. An expression that takes half a second of CPU time for 64 KiB ends it
 * all, with a mark that says so.
 */
#ifndef SONDE_JOB_MARKLOG_H
#define SONDE_JOB_MARKLOG_H

#include "core/phase/mark.h"

#include <limits.h>
#include <stdbool.h>

enum { MARK_LOGS_MAX = 16, MARK_RULES_MAX = 64 };

struct mark_log {
	const char *path[MARK_LOGS_MAX]; /* borrowed */
	uint32_t npaths, nrules;
	struct mark_rule rule[MARK_RULES_MAX];
	const char *marks; /* the file of marks */
	int ended; /* socket; readable: read what is left and return. A byte in it: the job failed,
		      and the logs' last lines are a mark, too (logtail.h) */
};

/* In the process that was forked for it; returns at the end. */
void mark_log_follow(const struct mark_log *l);

/*
 * The file that a job writes its marks into: $SONDE_MARKS.
 *
 * A regular file on this node, in a directory that only its user may enter: who writes never waits
 * for who reads, and loses nothing by its death. Its launcher makes it and takes it away.
 */
#define MARK_FILE_VARIABLE "SONDE_MARKS"

struct mark_file {
	char path[PATH_MAX]; /* "": there is none */
	int fd, folder;      /* to read it, and what holds it; closed when something is executed */
};

/* And the variable names it; /dev/null, where none can be made, so that `echo >>"$SONDE_MARKS"`
 * does not fail. */
void mark_file_make(struct mark_file *f);
/* The variable goes to /dev/null for what is executed from then on. */
void mark_file_remove(struct mark_file *f);
/* The variable names the file, or /dev/null where there is none. */
void mark_file_export(const struct mark_file *f);
/* It stays where it is. */
void mark_file_close(struct mark_file *f);
/* By path alone, where its launcher was killed. */
void mark_file_unlink(const char *path);

#endif
