/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reason.h - the reason of a failure as it stands in what the job printed: the one line of it, and
 * what rules know of errors of its kind.
 *
 * Of several tasks the first to fail is meant. What was printed is hostile, and may say anything.
 */
#ifndef SONDE_REPORT_SUMMARY_REASON_H
#define SONDE_REPORT_SUMMARY_REASON_H

#include "base/text/json.h"
#include "report/judging/rules.h"

/* The kind of an error whose kind is not known. */
#define REASON_UNKNOWN "unknown"

/* The text that the run has of the failure: of a task's instance, or where it is 0 of the node. */
void reason_take(struct summary_reason *x, const struct run *r, uint32_t node, uint32_t instance);
/* Its line, by the kinds of both; a site's come first. site may be NULL. */
void reason_find(struct summary_reason *x, const struct rules *site, const struct rules *builtin);

/* 1: the line is of this kind; 0: it is another error; NAN: there is no line that is one. */
double reason_error(const struct summary *s, const char *kind);
/* The line says that a process died: "A process in the pool was terminated abruptly". */
bool reason_is_of_a_death(const struct summary_reason *x);
/* Is this exit code of a command, or of a process of this name, an answer and no failure? *why:
 * "grep found no match", or NULL. Of git the command line tells: push fails, diff answers. */
bool reason_is_answer(const char *command, double code, const char **why);
/* Does it end with the exit code of what it ran, as timeout and shells do? */
bool reason_hands_on(const char *command, double code);
/* "Last lines of standard error" */
const char *reason_title(const struct summary_reason *x);
/* Under this title the text line by line, each escaped for a terminal; nothing where there is none.
 */
void reason_print(const struct summary_reason *x, FILE *out);
/* An object: the line, its kind, what to do, the text; null where the job did not fail. */
void reason_json(const struct summary_reason *x, struct json *j);

#endif
