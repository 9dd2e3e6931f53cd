/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.h - holds a terminal while another process uses it: when that ends, crashes or is killed,
 * the terminal is given back as it was; when it stops, this stops, and resumes it.
 */
#ifndef SONDE_TOP_KEEPER_H
#define SONDE_TOP_KEEPER_H

#include "base/err.h"
#include "top/terminal.h"

/* Does work in a process of its own: what that returns, with its sentence; the signal's number when
 * a signal ended it. Its process ends when this one does. */
int keeper_run(const struct terminal *t, int (*work)(const void *ctx, struct err *e),
	       const void *ctx, struct err *e);

#endif
