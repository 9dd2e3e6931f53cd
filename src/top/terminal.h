/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h - the terminal that a screen is shown on: what it can do, its size, its modes, and how
 * it is given back as it was.
 *
 * No terminfo: what is sent is what a VT100 and all that came after it know.
 */
#ifndef SONDE_TOP_TERMINAL_H
#define SONDE_TOP_TERMINAL_H

#include "base/bytes.h"

#include <termios.h>

struct terminal {
	int in, out;
	bool moves;     /* its cursor can be moved: it is not TERM=dumb */
	bool colour;    /* and NO_COLOR does not forbid it */
	bool alternate; /* it may have a second screen */
	bool utf8;
	struct termios modes; /* as they were */
};

/* The environment's TERM, NO_COLOR, and locale tell. False when in or out is no terminal; the rest
 * is told all the same. */
bool terminal_find(struct terminal *t, int in, int out);
/* 0 x 0 when it does not say. */
void terminal_size(const struct terminal *t, unsigned *rows, unsigned *columns);

/* Keys come one by one and are not echoed; the second screen, if there is one. */
void terminal_enter(const struct terminal *t);
/* As it was. For who did not enter it, but knows that another did, too. */
void terminal_leave(const struct terminal *t);
/* All of it; false when a signal came in between, or the terminal is gone. */
bool terminal_write(const struct terminal *t, const struct bytes *b);

#endif
