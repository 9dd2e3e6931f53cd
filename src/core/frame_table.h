/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_table.h - what a table of the frame is made of: its columns at open, then its rows, one by
 * one.
 *
 * Private to core/frame*.c and core/table*.c. A row is begun with frame_row (all of it absent),
 * then filled; fill() stops when frame_full().
 */
#ifndef SONDE_CORE_FRAME_TABLE_H
#define SONDE_CORE_FRAME_TABLE_H

#include "core/frame.h"

struct table {
	const char *name;
	size_t size; /* of its private state, zeroed before open */
	/* Adds the columns with frame_column. 0 or -errno; close follows in either case. */
	int (*open)(struct frame *f, const struct selection *sel, struct err *e);
	/* Rows until full or the end. 0 or -errno. */
	int (*fill)(struct frame *f, struct err *e);
	int (*rewind)(struct frame *f);
	void (*close)(struct frame *f);
};

extern const struct table table_tidy, table_wide, table_mapped, table_instances, table_marks,
	table_spans, table_states;

struct frame {
	struct run *run;
	double from_s, to_s; /* to_s 0: the end */
	const struct table *table;
	void *state;                /* the table's */
	struct frame_schema schema; /* its table is the table's name, unless open() sets another */
	struct column *columns;
	struct cells *cells;
	uint32_t ncolumns, column_cap, nrows, row_cap;
	char **key; /* [run->ninstances] identity texts made so far */
};

/* Strings are borrowed and must outlive the frame. 0 or -ENOMEM. */
int frame_column(struct frame *f, const struct column *c);
/* Several at once. */
int frame_columns(struct frame *f, const struct column *c, size_t n);

static inline bool frame_full(const struct frame *f)
{
	return f->nrows >= f->row_cap;
}
/* Begin a row. There must be room. */
void frame_row(struct frame *f);
/* Cells of the row begun last. NULL and NAN are absent. */
void frame_text(struct frame *f, uint32_t column, const char *text);
void frame_int(struct frame *f, uint32_t column, int64_t v);
void frame_real(struct frame *f, uint32_t column, double v);
/* A monotonic time of a node: its UTC in `column`, seconds since the run began in the next. */
void frame_time(struct frame *f, uint32_t column, uint32_t node, int64_t mono_ns);

/* Whether begin..end (monotonic times of a node; INT64_MAX: no end) has a part in the selection. */
bool frame_selects(const struct frame *f, uint32_t node, int64_t begin_ns, int64_t end_ns);
const char *frame_host(const struct frame *f, uint32_t node);
/* The text that stands for an instance in every table: its name, made unique where many of a name
 * come and go. *key is NULL for none. 0 or -ENOMEM. */
int frame_key(struct frame *f, uint32_t instance, const char **key);

#endif
