/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - what a record of the kernel's says: a system call, or the start or end of a task.
 *
 * The name that an open or stat was given is looked for at once, where the process still is. What
 * is no record of these is nothing.
 */
#ifndef SONDE_FILES_RECORDS_H
#define SONDE_FILES_RECORDS_H

#include "files/calls.h"
#include "files/names.h"

enum traced_kind {
	TRACED_ENTER = 1,
	TRACED_EXIT,
	TRACED_FORK,
	TRACED_END,
	TRACED_EXEC,
	TRACED_MAP
};

struct traced {
	int64_t time_ns, seen_ns; /* seen: when its name was looked for */
	enum traced_kind kind;
	const struct call *call;
	pid_t pid, tid, parent; /* parent: of a fork, its process */
	int64_t result;         /* of a mapping: its bytes, if it is of data */
	int64_t took_ns;        /* for tracing.c; 0: not known */
	bool has_arguments;     /* else its entry has them */
	uint64_t arg[4];
	char comm[16];
	char *name;             /* of an open or stat, as it was given; NULL: not known */
	char *link;             /* of an open: what its descriptor leads to; NULL: not known */
	bool from_memory;       /* the name; else it is certain */
	bool writable;          /* a mapping: it changes the file */
	uint64_t device, inode; /* of a stat or a mapping; inode 0: not known */
};

/* Bits of the kernel's numbers of registers: AX DX SI DI SP R10, in the order of a record. */
enum { RECORD_REGISTERS = 1 << 0 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 18 };
enum { RECORD_IDS = 65536 };

struct records {
	struct calls_ids ids;
	uint8_t what[RECORD_IDS]; /* of a tracepoint: index of its call * 2 + exit, + 1 */
};

/* 0 or -errno with a sentence. */
int records_open(struct records *r, struct err *e);
/* One that is whole, `size` bytes as its header says, aligned to 8. False: it is nothing; one that
 * says how many were lost adds them to *lost. */
bool record_take(const struct records *r, const uint8_t *at, size_t size, struct traced *t,
		 uint64_t *lost);

bool call_is_named(const struct call *c);
bool call_opens(const struct call *c);
bool call_is_at(const struct call *c); /* is a directory its first argument? */
/* Where the entry is recorded it has the arguments: registers would cost 0.3 us more. */
bool call_has_registers(const struct call *c);
/* What an open said can no longer be trusted: its descriptor was closed, or its name was
 * overwritten, before it was looked for. later: how many records follow it. */
bool traced_link_spoiled(const struct traced *t, size_t later);
bool traced_name_spoiled(const struct traced *t, size_t later);

#endif
