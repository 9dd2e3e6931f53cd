/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobline.h - --progress of `run` and `attach`: a process beside the recorder that follows the
 * recording and keeps a line on the terminal. It is none of the job's, nor of its session, and
 * nobody waits for it but at the end, for a moment.
 */
#ifndef SONDE_SESSION_JOBLINE_H
#define SONDE_SESSION_JOBLINE_H

#include "session/recording.h"

struct jobline {
	int fd; /* -1: there is none. It ends when this is closed */
	int pid;
};

/* When that was asked for, standard error is a terminal, and this is no other copy of rank 0's.
 * foreground: the process that has to be in the terminal's foreground for the line to be shown. */
void jobline_start(struct jobline *l, const struct recording_plan *p, pid_t foreground);
/* The line is gone when this returns. */
void jobline_end(struct jobline *l);

#endif
