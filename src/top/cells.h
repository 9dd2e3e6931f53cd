/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.h - a screen of character cells: text is put, and what differs from what the terminal shows
 * is painted; and what the terminal sends when keys are pressed, as keys.
 *
 * Text is hostile: it is escaped here, cut at its width, and a character that takes two columns
 * never half shown. Painting uses what a VT100 knows: moving the cursor, erasing, bold, reverse;
 * and, when there is colour, the eight of ANSI. Sequences of keys may come in parts; unknown ones
 * are passed over. It writes to no terminal and reads from none.
 */
#ifndef SONDE_TOP_CELLS_H
#define SONDE_TOP_CELLS_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>

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

/* Characters are themselves. */
enum key {
	KEY_NONE = 0,
	KEY_ENTER = 256,
	KEY_ESCAPE,
	KEY_BACK,
	KEY_UP,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_F1,
	KEY_F3 = KEY_F1 + 2,
	KEY_F5 = KEY_F1 + 4,
	KEY_F6,
	KEY_F10 = KEY_F1 + 9
};

struct keys {
	char held[16]; /* of a sequence whose end has not come */
	size_t n;
};

/* The next byte: a key, or KEY_NONE. */
int keys_take(struct keys *k, char byte);
/* Nothing came for a while: what is held is the escape key, if it was that alone. */
int keys_wait_over(struct keys *k);
static inline bool keys_waits(const struct keys *k)
{
	return k->n > 0;
}

#endif
