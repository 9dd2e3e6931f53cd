/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - labelled rows of text, as wide as the terminal: 60 to 120 columns, 80 in a file; or
 * as Markdown.
 *
 * Text is escaped by whoever appends it. Verdicts that do not fit are counted in one line. It knows
 * no summary.
 */
#ifndef SONDE_REPORT_LINES_H
#define SONDE_REPORT_LINES_H

#include "base/bytes.h"
#include "core/metric.h"

#include <stddef.h>
#include <stdio.h>

enum {
	LINES_COLUMNS = 80,
	LINES_LEAST = 60,
	LINES_MOST = 120,
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
	unsigned text_columns; /* right of the labels; 0: LINES_TEXT */
};

/* Empty, for what out is: a terminal of some width, or a file. */
void lines_fit(struct lines *l, FILE *out);
/* Columns right of the labels. */
unsigned lines_room(const struct lines *l);
/* A new row, whose text the caller appends to; NULL colour: a figure. */
struct bytes *lines_add(struct lines *l, const char *label, const char *colour);
/* Verdicts take at most so many lines, but the first one is written in any case; what says how to
 * see those that were left out. */
void lines_write(struct lines *l, FILE *out, bool colour, unsigned most, const char *what);
/* The same for a pull request: the first row as a heading, verdicts as a list, figures as a table.
 */
void lines_markdown(struct lines *l, struct bytes *out);
void lines_free(struct lines *l);
/* A value with its unit; a hostile name, cut to so many bytes. */
void lines_number(struct bytes *b, enum unit u, double v);
void lines_name(struct bytes *b, const char *text, size_t most);
/* A command line: where it is too long the folders of the program and of its script go first. */
void lines_command(struct bytes *b, const char *text, size_t most);

/*
 * A number with its unit as the text of a table's cell on a terminal.
 */
enum { CELL = 16 };

/* What is not known (NAN) is a dash, not a 0. Returns out. */
const char *cell_text(char out[CELL], enum unit unit, double v);

/* Cores in use: two digits after the point are all that a reader takes in. Returns out. */
const char *cell_cores(char out[CELL], double v);
/* A part of a whole in whole percent: "under 1 %" is not 0. Returns out. */
const char *cell_share(char out[CELL], double v);

/*
 * A sentence about a hang in a few lines: who waits for whom, and what to do.
 *
 * Its stacks, "in read < load (io.c:8) < main (app.c:3)", are left to whoever asks for all of it.
 */

/* To so many columns if it is longer and has stacks: each as its outermost function with a line,
 * else none; if that is still longer by a quarter with a gap before the last sentence. One without
 * stacks stays as it is. */
void sentence_shorten(char *text, size_t most);

#endif
