/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ending.h - how a job ended, in words: the one place for them.
 *
 * A summary's signal or exit code is named and explained; beside it, the process that ended first
 * by a signal or failed with the job's own exit code. What is not known is not said.
 */
#ifndef SONDE_REPORT_SUMMARY_ENDING_H
#define SONDE_REPORT_SUMMARY_ENDING_H

#include "report/summary/summary.h"

/* The words of a heading: "Failed (exit code 3)", and what the wall time behind it is: "after". */
struct ending_heading {
	enum severity severity;
	const char *joint, *time; /* joint: between words and time: "", "," or ";" */
	char words[2 * STORY_TEXT];
};

struct ending_heading ending_heading_of(const struct summary *s);
/* Fills s->ending from the signal, the exit code and what the story has found. */
void ending_make(struct summary *s);
/* The signal that ended a task, or what its exit code says of one that ended what it ran, as shells
 * do; 0: none. NAN is neither. */
int ending_signal(double signal, double exit_code);
/* Did timeout end it, which ran? */
bool ending_is_by_timeout(const struct summary *s);
/* Is an end by this signal an accident, not somebody's wish? */
bool ending_is_crash(double signal);
/* story.died_*: the first that crashed; else that failed and may be why the job did. */
void ending_find_first(struct summary *s, const struct run *r);
/* Did somebody end it from outside: timeout, a signal that asks to end or kills? */
bool ending_is_from_outside(const struct summary *s);
/* Did one of several tasks fail first, and not by a signal that launchers and users end others by?
 */
bool ending_has_own_cause(const struct summary *s);

#endif
