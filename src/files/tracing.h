/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracing.h - what system calls did to files, entered into the book.
 *
 * tracing_take is for rings_take; what launchers do themselves is not the job's.
 */
#ifndef SONDE_FILES_TRACING_H
#define SONDE_FILES_TRACING_H

#include "files/rings.h"

enum { LAUNCHERS_MOST = 64, ENTERED = 4096 };

struct tracing {
	struct book *book;
	pid_t launcher[LAUNCHERS_MOST];
	uint32_t nlaunchers;
	struct {
		pid_t tid;
		uint16_t nr;
		int64_t time_ns;
	} entered[ENTERED]; /* by thread */
};

void tracing_take(void *tracing, const struct traced *t, size_t later);

#endif
