/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.h - nodes, processes or GPUs as rows of a table, or as one character each of a heat map:
 * sorted, with a cursor that stays on its row, and columns that go when there is no room.
 */
#ifndef SONDE_TOP_GRID_H
#define SONDE_TOP_GRID_H

#include "live/now.h"
#include "top/cells.h"

enum column_kind { COLUMN_FIGURE = 0, COLUMN_NAME, COLUMN_STATE, COLUMN_PID, COLUMN_WAIT };

struct column {
	char key; /* sorts by it */
	enum column_kind kind;
	enum now_figure figure;
	uint8_t width; /* of a name: the least */
	uint8_t rank;  /* the highest goes first when there is no room */
	const char *heading;
	const char *what; /* for the help */
};

struct row {
	uint32_t id; /* not 0 */
	int64_t pid;
	const char *name, *state; /* hostile; NULL: none */
	const char *line;         /* instead of the name, where there is room; NULL: none */
	uint32_t parent;          /* id, in a tree */
	uint8_t depth;
	char mark; /* on a map, instead of a figure; 0: none */
	uint8_t style;
	const double *figure;
};

struct grid {
	const struct column *column;
	unsigned ncolumns;
	unsigned sort; /* which column; of figures the largest is first */
	bool reversed;
	bool tree;    /* children behind their parent */
	bool here;    /* pids are those of this machine: what they wait for can be asked */
	bool by_name; /* whatever it is sorted by: on a map each has its place */
	struct row *row;
	uint32_t n, cap;
	uint32_t at, first; /* the cursor; the first row that is seen */
	uint32_t chosen;    /* id of the row at the cursor; 0: the first */
	unsigned step;      /* rows of a map's line; a page */
};

void grid_free(struct grid *t);
/* Rows anew: begin, add all, end. False when out of memory. */
void grid_begin(struct grid *t);
bool grid_add(struct grid *t, const struct row *r);
void grid_end(struct grid *t);

/* The row at the cursor; NULL when there is none. */
const struct row *grid_chosen(const struct grid *t);
/* A key that moves the cursor or sorts; false when it is none. */
bool grid_key(struct grid *t, int key, bool is_map);

/* Put the cursor on the next row, or with this one, whose name or line holds the text. */
void grid_find(struct grid *t, const char *text, bool with_this);

/* A line of headings, then rows; what does not fit is counted in the last line. */
void grid_draw(struct grid *t, struct cells *c, unsigned top, unsigned height, bool cursor);
/* A character for each row: the tenths of the column's figure, of the largest where it is no ratio.
 */
void grid_map(struct grid *t, struct cells *c, unsigned top, unsigned height);

/* A figure as the text of a cell: "-" when it is not known. */
enum { FIGURE_TEXT = 16 };
const char *figure_text(char out[FIGURE_TEXT], enum now_figure f, double v);

#endif
