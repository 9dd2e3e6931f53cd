/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - the system calls that files are used by, and their tracepoints.
 *
 * A tracepoint has an id that tracefs tells, to root. Others find it out: each id that may be
 * opened is opened on this process, each call is made once, and the record names id and call. They
 * are kept in the cache until the next boot. A record of an id names its call, too, so that an old
 * cache does no harm.
 */
#ifndef SONDE_FILES_CALLS_H
#define SONDE_FILES_CALLS_H

#include "base/err.h"

#include <stdint.h>

enum calls_kind {
	CALL_READ = 1, /* fd, memory, bytes */
	CALL_READ_AT,  /* and the offset */
	CALL_WRITE,
	CALL_WRITE_AT,
	CALL_COPY, /* out fd, in fd: sendfile; copy_file_range has in fd, .., out fd */
	CALL_COPY_RANGE,
	CALL_OPEN,     /* name */
	CALL_OPEN_AT,  /* directory's fd, name */
	CALL_OPEN_AT2, /* likewise; flags are elsewhere */
	CALL_CLOSE,
	CALL_DUP, /* fd; the result is another */
	CALL_FCNTL,
	CALL_SEEK,
	CALL_STAT, /* name */
	CALL_STAT_AT,
	CALL_STAT_FD, /* fd, memory */
	CALL_SYNC,
	CALL_IO_URING /* what it reads and writes is in no call */
};

struct call {
	uint16_t nr;
	uint8_t kind;
	uint8_t timed; /* the entry is recorded, too */
	const char *name;
};

extern const struct call calls[];
extern const uint32_t ncalls;

struct calls_ids {
	uint32_t enter[64], exit[64]; /* of calls[i]; 0: not known */
};

/* 0 or -errno with a sentence. May leave a child that the kernel takes half a minute to end. */
int calls_find(struct calls_ids *ids, struct err *e);

#endif
