/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - labelled rows of text on a terminal of 80 columns, in no more lines than there is room
 * for.
 *
 * Text is escaped by whoever appends it. Figures have their place first; verdicts that do not fit
 * are counted in one line. It knows no summary.
 */
#ifndef SONDE_REPORT_LINES_H
#define SONDE_REPORT_LINES_H

#include "base/bytes.h"

#include <stdio.h>

enum {
	LINES_COLUMNS = 80,
	LINES_LABEL = 12,
	LINES_TEXT = LINES_COLUMNS - LINES_LABEL,
	LINES_ROWS = 64
};

struct line_row {
	const char *label, *colour; /* colour NULL: a figure; else a verdict */
	struct bytes text;
};

struct lines {
	struct line_row row[LINES_ROWS];
	unsigned n;
};

/* A new row, whose text the caller appends to; NULL colour: a figure. */
struct bytes *lines_add(struct lines *l, const char *label, const char *colour);
/* Writes at most `most` lines; what says how to see the verdicts that were left out. */
void lines_write(struct lines *l, FILE *out, bool colour, unsigned most, const char *what);
void lines_free(struct lines *l);

#endif
