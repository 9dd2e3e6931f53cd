/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.h - a screen of character cells: text is put, and what differs from what the terminal shows
 * is painted.
 *
 * Text is hostile: it is escaped here, cut at its width, and a character that takes two columns
 * never half shown. Painting uses what a VT100 knows: moving the cursor, erasing, bold, reverse;
 * and, when there is colour, the eight of ANSI. It writes to no terminal.
 */
#ifndef SONDE_TOP_CELLS_H
#define SONDE_TOP_CELLS_H

#include "base/bytes.h"

enum {
	STYLE_PLAIN = 0,
	STYLE_RED = 1,
	STYLE_YELLOW = 3,
	STYLE_BLUE = 4,
	STYLE_CYAN = 6,
	STYLE_COLOUR = 7, /* mask */
	STYLE_BOLD = 8,
	STYLE_REVERSE = 16,
};

enum { CELLS_ROWS_MAX = 500, CELLS_COLUMNS_MAX = 1000 };

struct cells {
	unsigned rows, columns;
	bool colour; /* may be used */
	bool utf8;   /* else what is not ASCII is a question mark */
	/* private */
	struct cell *cell, *shown;
	bool known; /* shown is what the terminal shows */
};

/* Blank, of this size; what the terminal shows is not known then. 0 or -ENOMEM. */
int cells_resize(struct cells *c, unsigned rows, unsigned columns);
void cells_free(struct cells *c);
void cells_clear(struct cells *c);

/* Text at row and column, cut at `width` columns. Returns how many it took. */
unsigned cells_put(struct cells *c, unsigned row, unsigned column, unsigned width, uint8_t style,
		   const char *text);
/* The same, at the right end of the width. */
void cells_put_right(struct cells *c, unsigned row, unsigned column, unsigned width, uint8_t style,
		     const char *text);
/* A row's style from a column on, whatever is in it. */
void cells_style(struct cells *c, unsigned row, unsigned column, unsigned width, uint8_t style);

/* The terminal shows something else: the next painting is whole. */
void cells_forget(struct cells *c);
/* Append what makes the terminal show this. */
void cells_paint(struct cells *c, struct bytes *out);
/* Append the rows as lines of plain text, without blanks at their ends and blank lines at the end.
 */
void cells_lines(const struct cells *c, struct bytes *out);

#endif
