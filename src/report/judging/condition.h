/* SPDX-License-Identifier: Apache-2.0 */
/*
 * condition.h - in which state a recording is.
 */
#ifndef SONDE_REPORT_JUDGING_CONDITION_H
#define SONDE_REPORT_JUDGING_CONDITION_H

#include "core/frame/run.h"

enum condition { COMPLETE = 0, RUNNING, CUT, DAMAGED, UNREADABLE, CONDITION_NUMBER_OF };

/* A recording that was not closed is running when its recorder has it open; where that cannot be
 * seen (another machine, another user's), when it gave a sample just now. */
enum condition condition_of(const struct run *r, int64_t now_utc_ns);
const char *condition_name(enum condition c);
/* The largest number that a node said; NAN: none did. */
double condition_number(const struct run *r, const char *key);

struct summary;
/* "at the end", "the end": a recording that still goes on, or was cut off, lacks the job's. */
const char *condition_at_the_end(const struct summary *s);
const char *condition_the_end(const struct summary *s);

#endif
