/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreted.h - CPU time by Python's functions and lines, of threads that run.
 *
 * A sample tells which thread used CPU time, and its native stack, which is the interpreter's. Such
 * a thread is looked at from outside (unwind/python.h), unstopped, and gives all CPU time that it
 * has used since its last look to where it is, if it was on a CPU during the look. Else it
 * keeps the time for a later one: where a thread waits, for a core too, is not where it uses CPU
 * time. On a busy machine threads lose their core at system calls more often than elsewhere.
 */
#ifndef SONDE_UNWIND_INTERPRETED_H
#define SONDE_UNWIND_INTERPRETED_H

#include "unwind/profile.h"

struct interpreted;

struct interpreted *interpreted_make(struct spaces *s, struct profile *p); /* NULL: no memory */
/* A thread has used so much CPU time; the space's mappings are known. */
void interpreted_sample(struct interpreted *i, struct space *x, const struct sampled *s);
/* When a look is due; INT64_MAX: there is nothing to look at. */
int64_t interpreted_due_ns(const struct interpreted *i);
void interpreted_look(struct interpreted *i);
/* How long until the next look, by what was used since the last one. */
int64_t interpreted_gap_ns(int64_t before_ns, int64_t cpu_ns, int64_t passed_ns);

#endif
