/* SPDX-License-Identifier: Apache-2.0 */
/*
 * followers.h - the processes beside the recorder, none of the job's, that follow what grows:
 * --progress of `run` and `attach`, the recording as a line on the terminal, for which nobody waits
 * but at the end, for a moment; --mark-log and --mark-rule, the job's logs (job/marklog.h); and
 * --openmetrics of `run` and `attach`, the recording as a file for a textfile collector.
 */
#ifndef SONDE_SESSION_FOLLOWERS_H
#define SONDE_SESSION_FOLLOWERS_H

#include "base/text/args.h"
#include "job/marklog.h"
#include "session/recording.h"

struct progressline {
	int fd; /* -1: there is none. It ends when this is closed */
	int pid;
};

/* When that was asked for, standard error is a terminal, and this is no other copy of rank 0's.
 * foreground: the process that has to be in the terminal's foreground for the line to be shown. */
void progressline_start(struct progressline *l, const struct recording_plan *p, pid_t foreground);
/* The line is gone when this returns. */
void progressline_end(struct progressline *l);

/* False when the options make no sense, and then it has said why. */
bool logmarks_read(struct mark_log *l, const struct option_list *logs,
		   const struct option_list *rules);
/* The socket that ends it, once it is shut down; 0: there is nothing to follow, or it could not be
 * started, which is said. l may be NULL. marks: the job's file of marks; it stays where it is. */
int logmarks_start(struct mark_log *l, const char *marks);

/* Say why the file cannot be written, if so: for a recorder that has no standard error. */
void openmetrics_check(const char *file);
/* In the recorder, when its recording is there: name is its file's in the plan's directory. plan is
 * a struct recording_plan. */
void openmetrics_start(const void *plan, const char *name);

#endif
