/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rings.h - the tracepoints of the job's tasks, opened, and their records in order of time.
 *
 * A ring for each CPU, read by a thread there; the events are inherited by what a task starts. A
 * record is handed out once no older one can come. Closing all this takes the kernel seconds.
 */
#ifndef SONDE_FILES_RINGS_H
#define SONDE_FILES_RINGS_H

#include "base/err.h"
#include "files/records.h"

struct rings;

/* 0 or -errno with a sentence. Nothing is traced yet. */
int rings_new(struct rings **r, struct err *e);
/* This task and what it will start. */
int rings_add(struct rings *r, pid_t tid, struct err *e);
/* Wait for records or input of fd; whether fd has some. */
bool rings_wait(struct rings *r, int fd, int timeout_ms);
/* Hand out, and free, what is older than a moment ago; all: everything. */
void rings_take(struct rings *r, bool all, void (*take)(void *to, struct traced *t, size_t later),
		void *to);
uint64_t rings_lost(const struct rings *r);

#endif
