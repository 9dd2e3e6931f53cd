/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracing.h - what system calls did to files, entered into the book.
 *
 * tracing_take is for rings_take; what launchers do themselves is not the job's.
 */
#ifndef SONDE_FILES_TRACING_H
#define SONDE_FILES_TRACING_H

#include "files/inodes.h"
#include "files/rings.h"

enum { LAUNCHERS_MOST = 64, ENTERED_SETS = 8192, ENTERED_WAYS = 8 };

/* A call that a thread is in; nr 0xffff: in none. */
struct entered {
	pid_t tid; /* 0: free */
	uint16_t nr;
	int64_t time_ns;
	uint64_t arg[4];
};

struct tracing {
	struct book *book;
	struct inodes *inodes;
	pid_t launcher[LAUNCHERS_MOST];
	uint32_t nlaunchers;
	struct entered entered[ENTERED_SETS][ENTERED_WAYS]; /* by thread */
	uint64_t unpaired;                                  /* returns whose entry was lost */
	uint64_t io_urings;                                 /* that were set up */
};

void tracing_take(void *tracing, struct traced *t, size_t later);

#endif
