/* SPDX-License-Identifier: Apache-2.0 */
/*
 * said.h - where a job says what it does: its scripts (markfile.h) and its programs
 * (spanfolder.h).
 *
 * These lie below $TMPDIR, whose server may be gone: then the job begins without them, and its end
 * does not wait for them either.
 */
#ifndef SONDE_JOB_SAID_H
#define SONDE_JOB_SAID_H

#include "base/err.h"
#include "job/markfile.h"
#include "job/spanfolder.h"

struct said {
	struct mark_file marks;
	struct span_folder spans;
};

/* And the job's environment names them. 0, or -ETIMEDOUT with a sentence: there are none. */
int said_make(struct said *x, struct err *e);
/* The recorder has them open itself: closing a file may wait for its server, and the launcher's end
 * closes what it has open. */
void said_taken(struct said *x);
/* Nothing that is executed from then on is told of them. */
void said_remove(struct said *x);

#endif
