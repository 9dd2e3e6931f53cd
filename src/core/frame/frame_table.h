/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_table.h - what a table of the frame is made of: its columns at open, then its rows, one by
 * one.
 *
 * Private to core/frame*.c and core/table*.c. A row is begun with frame_row (all of it absent),
 * then filled; fill() stops when frame_full().
 */
#ifndef SONDE_CORE_FRAME_FRAME_TABLE_H
#define SONDE_CORE_FRAME_FRAME_TABLE_H

#include "base/bytes.h"
#include "core/frame/frame.h"
#include "core/frame/losses.h"

#include <math.h>

struct table {
	const char *name;
	size_t size; /* of its private state, zeroed before open */
	bool keeps;  /* it fills every cell of a row, so that what is there may stay */
	/* Adds the columns with frame_column. 0 or -errno; close follows in either case. */
	int (*open)(struct frame *f, const struct selection *sel, struct err *e);
	/* Rows until full or the end. 0 or -errno. */
	int (*fill)(struct frame *f, struct err *e);
	int (*rewind)(struct frame *f);
	void (*close)(struct frame *f);
};

extern const struct table table_tidy, table_wide, table_mapped, table_instances, table_marks,
	table_spans, table_states, table_counters;

struct frame {
	struct run *run;
	double from_s, to_s; /* to_s 0: the end */
	const struct table *table;
	void *state;                /* the table's */
	struct frame_schema schema; /* its table is the table's name, unless open() sets another */
	struct bytes losses;        /* schema.losses */
	struct losses lost;         /* schema.lost */
	struct column *columns;
	struct cells *cells;
	struct cells *given; /* of this batch: cells, unless fill() has put others there */
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
static inline uint8_t frame_state(bool there)
{
	return there ? STATE_PRESENT : STATE_ABSENT;
}

/* Begin a row. There must be room. */
static inline void frame_row(struct frame *f)
{
	f->nrows++;
}
static inline uint32_t frame_room(const struct frame *f)
{
	return f->row_cap - f->nrows;
}
/* Many rows at once: their cells first, of each column, then the rows. There must be room. */
void frame_same_text(struct frame *f, uint32_t column, uint32_t n, const char *text);
void frame_same_int(struct frame *f, uint32_t column, uint32_t n, int64_t v);
void frame_same_real(struct frame *f, uint32_t column, uint32_t n, double v);
void frame_reals(struct frame *f, uint32_t column, uint32_t n, const double *v);
void frame_finite(struct frame *f, uint32_t column, uint32_t n, const double *v); /* all are */
static inline void frame_rows(struct frame *f, uint32_t n)
{
	f->nrows += n;
}
/* The cells of a column behind the last row. */
static inline struct cells frame_end(const struct frame *f, uint32_t column)
{
	const struct cells *c = &f->cells[column];

	return (struct cells){ { .i = c->i + f->nrows }, c->state + f->nrows };
}
/* Cells of the row begun last. NULL and NAN are absent. */
static inline void frame_text(struct frame *f, uint32_t column, const char *text)
{
	f->cells[column].s[f->nrows - 1] = text;
	f->cells[column].state[f->nrows - 1] = frame_state(text);
}
static inline void frame_int(struct frame *f, uint32_t column, int64_t v)
{
	f->cells[column].i[f->nrows - 1] = v;
	f->cells[column].state[f->nrows - 1] = STATE_PRESENT;
}
static inline void frame_real(struct frame *f, uint32_t column, double v)
{
	f->cells[column].d[f->nrows - 1] = v;
	f->cells[column].state[f->nrows - 1] = frame_state(isfinite(v));
}
/* A monotonic time of a node: its UTC in `column`, seconds since the run began in the next. */
void frame_time(struct frame *f, uint32_t column, uint32_t node, int64_t mono_ns);

/* Whether begin..end (monotonic times of a node; INT64_MAX: no end) has a part in the selection. */
bool frame_selects(const struct frame *f, uint32_t node, int64_t begin_ns, int64_t end_ns);
const char *frame_host(const struct frame *f, uint32_t node);
/* The text that stands for an instance in every table: its name, made unique where many of a name
 * come and go. *key is NULL for none. 0 or -ENOMEM. */
int frame_key(struct frame *f, uint32_t instance, const char **key);

#endif
