/* SPDX-License-Identifier: Apache-2.0 */
/*
 * said.h - where a job says what it does: its scripts (markfile.h) and its programs
 * (the folder of spans).
 *
 * These lie below $TMPDIR, whose server may be gone: then the job begins without them, and its end
 * does not wait for them either.
 */
#ifndef SONDE_JOB_SAID_H
#define SONDE_JOB_SAID_H

#include "base/err.h"
#include "job/markfile.h"

/* The folder in which a job's processes leave their spans (core/ring.h):
 * $SONDE_SPANS.
 *
 * On this node and in memory where that can be: what is mapped from a disk may make who writes
 * into it wait. Its launcher makes it and takes it away (leftover.h). */
enum { SPAN_FOLDER_SIZE = 256 };

struct span_folder {
	char path[SPAN_FOLDER_SIZE]; /* "": there is none */
	int fd;
};

/* And the variable names it. */
void span_folder_make(struct span_folder *f);
/* It stays where it is. */
void span_folder_close(struct span_folder *f);
/* Nothing that is executed from then on is told of it. */
void span_folder_remove(struct span_folder *f);
/* The variable names it; there is no such variable where there is none. */
void span_folder_export(const struct span_folder *f);

struct said {
	struct mark_file marks;
	struct span_folder spans;
};

/* And the job's environment names them. 0, or -ETIMEDOUT with a sentence: there are none. */
int said_make(struct said *x, struct err *e);
/* What killed jobs left beside them goes, which the job need not wait for. */
void said_tidy(const struct said *x);
/* The recorder has them open itself: closing a file may wait for its server, and the launcher's end
 * closes what it has open. */
void said_taken(struct said *x);
/* Nothing that is executed from then on is told of them. */
void said_remove(struct said *x);

#endif
