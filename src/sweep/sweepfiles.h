/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweepfiles.h - what a sweep keeps in its directory besides recordings: its specification, the
 * files that trials find, the script when it is a text, and locks.
 */
#ifndef SONDE_SWEEP_SWEEPFILES_H
#define SONDE_SWEEP_SWEEPFILES_H

#include "sweep/sweeping.h"

/* Those that are there stay. The directory has to be there. */
int sweepfiles_put(struct sweeping *x, struct err *e);
/* -EBUSY with a sentence: another process leads this sweep. */
int sweepfiles_lock(struct sweeping *x, struct err *e);
/* Waits for one that was killed a moment ago, whose trial may still be ending. A descriptor, or
 * -EAGAIN: it is held, or -errno. */
int sweepfiles_hold(const char *path, int seconds);

#endif
