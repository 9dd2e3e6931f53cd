/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - rows of texts under headings, lined up by what they take on a terminal.
 *
 * On a terminal that is too narrow, the columns that may shrink are cut with an ellipsis, those
 * that may be missing are left out, and then the last one is cut; into a pipe or a file goes
 * everything.
 */
#ifndef SONDE_BASE_TEXT_COLUMNS_H
#define SONDE_BASE_TEXT_COLUMNS_H

#include "base/bytes.h"

#include <stdint.h>

enum { COLUMNS_MAX = 12 };

struct column_look {
	const char *heading;
	bool right;   /* as numbers are */
	bool shrinks; /* names and paths; the last one does in any case */
	bool spare;   /* left out where the line would be too long, the last of them first */
};

/* {0} with look and ncolumns set is empty and safe to free. */
struct columns {
	const struct column_look *look;
	size_t ncolumns;
	struct bytes text;           /* the cells as a terminal may have them, each with its NUL */
	size_t ncells;               /* row by row */
	unsigned width[COLUMNS_MAX]; /* of the widest of each column */
};

/* The next cell, row by row; any text, NULL is a dash. */
void columns_cell(struct columns *c, const char *hostile);
/* With the headings; nothing when there is no row. room: of the terminal's line, 0: no bound. */
void columns_print(struct columns *c, struct bytes *out, unsigned room);
void columns_free(struct columns *c);
/* Of the terminal that standard output is; 0: it is none. */
unsigned columns_of_terminal(void);

#endif
