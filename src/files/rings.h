/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rings.h - the tracepoints of the job's tasks, opened, and their records in order of time.
 *
 * A ring for each CPU; the events are inherited by what a task starts. A record is handed out once
 * no older one can come. Closing all this takes the kernel seconds.
 */
#ifndef SONDE_FILES_RINGS_H
#define SONDE_FILES_RINGS_H

#include "base/err.h"
#include "files/calls.h"
#include "files/names.h"

enum traced_kind { TRACED_ENTER = 1, TRACED_EXIT, TRACED_FORK, TRACED_END, TRACED_EXEC };

struct traced {
	int64_t time_ns, seen_ns; /* seen: when its name was looked for */
	enum traced_kind kind;
	const struct call *call;
	pid_t pid, tid, parent; /* parent: of a fork, its process */
	int64_t result;
	uint64_t arg[4];
	char comm[16];
	char *name;             /* of an open or stat, as it was given; NULL: not known */
	char *link;             /* of an open: what its descriptor leads to; NULL: not known */
	bool from_memory;       /* the name; else it is certain */
	uint64_t device, inode; /* what fstat said; inode 0: not known */
};

struct rings;

/* 0 or -errno with a sentence. Nothing is traced yet. */
int rings_new(struct rings **r, struct err *e);
/* This task and what it will start. */
int rings_add(struct rings *r, pid_t tid, struct err *e);
/* Wait for records or input of fd; whether fd has some. */
bool rings_wait(struct rings *r, int fd, int timeout_ms);
/* Hand out, and free, what is older than a moment ago; all: everything. */
void rings_take(struct rings *r, bool all,
		void (*take)(void *to, const struct traced *t, size_t later), void *to);
uint64_t rings_lost(const struct rings *r);
/* What an open said can no longer be trusted: its descriptor was closed, or its name was
 * overwritten, before it was looked for. later: as take got it. */
bool traced_link_spoiled(const struct traced *t, size_t later);
bool traced_name_spoiled(const struct traced *t, size_t later);

#endif
