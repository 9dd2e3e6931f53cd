/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmetrics.h - --openmetrics of `run` and `attach`: a process beside the recorder that follows
 * the recording and keeps a file for a textfile collector.
 */
#ifndef SONDE_SESSION_OPENMETRICS_H
#define SONDE_SESSION_OPENMETRICS_H

#include "session/recording.h"

/* Say why the file cannot be written, if so: for a recorder that has no standard error. */
void openmetrics_check(const char *file);
/* In the recorder, when its recording is there: name is its file's in the plan's directory. plan is
 * a struct recording_plan. */
void openmetrics_start(const void *plan, const char *name);

#endif
