/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recover.h - writes what can be read of a run as clean recordings in another directory.
 *
 * Good blocks are copied as they are, rows of a tail become blocks. The source is only read. A
 * recording that lost anything, or was never closed, is marked as not closed in its copy, too. All
 * of them get their names when the last one is whole: who is killed before leaves none, and what he
 * leaves (.NAME.part) is replaced the next time.
 */
#ifndef SONDE_RECORDING_RECOVER_H
#define SONDE_RECORDING_RECOVER_H

#include "core/frame/run.h"

/* The run as run_open gave it. to is an open directory; nothing in it is overwritten. public:
 * without what is private (key_is_private). wrote is told the name of each file; or NULL. 0 or
 * -errno. */
int recover(struct run *r, int to, bool public, void (*wrote)(void *ctx, const char *name),
	    void *ctx, struct err *e);

#endif
