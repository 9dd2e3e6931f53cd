/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h - the terminal that a screen is shown on: what it can do, its size, its modes, and how
 * it is given back as it was.
 *
 * A keeper holds it while another process uses it: when that ends, crashes or is killed, the
 * terminal is given back as it was; when it stops, the keeper stops, and resumes it.
 *
 * No terminfo: what is sent is what a VT100 and all that came after it know.
 */
#ifndef SONDE_TOP_TERMINAL_H
#define SONDE_TOP_TERMINAL_H

#include "base/bytes.h"
#include "base/err.h"
#include "live/now.h"

#include <termios.h>

struct terminal {
	int in, out;
	bool moves;     /* its cursor can be moved: it is not TERM=dumb */
	bool colour;    /* and NO_COLOR does not forbid it */
	bool alternate; /* it may have a second screen */
	bool utf8;
	struct termios modes; /* as they were */
};

/* By the environment's TERM, NO_COLOR, and locale. False when in or out is no terminal; the rest
 * is found all the same. */
bool terminal_find(struct terminal *t, int in, int out);
/* 0 x 0 when it does not say. */
void terminal_size(const struct terminal *t, unsigned *rows, unsigned *columns);

/* Keys come one by one and are not echoed; the second screen, if there is one. */
void terminal_enter(const struct terminal *t);
/* As it was. For who did not enter it, but knows that another did, too. */
void terminal_leave(const struct terminal *t);
/* All of it; false when a signal came in between, or the terminal is gone. */
bool terminal_write(const struct terminal *t, const struct bytes *b);

/* Does work in a process of its own: what that returns, with its sentence; the signal's number when
 * a signal ended it. Its process ends when this one does. */
int keeper_run(const struct terminal *t, int (*work)(const void *ctx, struct err *e),
	       const void *ctx, struct err *e);

/*
 * A running job on one line, for `sonde run --progress`.
 */
/* Append the time and those figures that are known and fit whole into so many columns: plain ASCII.
 */
void line_put(struct bytes *out, const struct now *now, double elapsed_s, unsigned columns);

#endif
