/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive.h - from stored readings to public values, instant by instant: rates (core/frame/rate.h),
 * what instances combine into, derived metrics.
 *
 * State is kept per series and for a few rows, never for all.
 */
#ifndef SONDE_CORE_FRAME_DERIVE_H
#define SONDE_CORE_FRAME_DERIVE_H

#include "core/frame/derive_plan.h"

/* The values that were there at one time on one node, side by side; borrowed until the next call.
 */
struct instant {
	uint32_t node;
	int64_t utc_ns;
	double seconds; /* since the run began */
	uint32_t n;
	const uint32_t *cell;
	const double *value, *min, *max; /* of one instant all three are the same */
	const double *stands;            /* seconds that each stands for: 0 unknown */
	/* Of an instant of samples: what it is a part of. Those of one layout not 0 have the cells
	 * listed[nlisted], but the ones at gap[ngaps]. */
	uint32_t layout, nlisted, ngaps;
	const uint32_t *listed, *gap;
};

/* One of them. */
struct reading {
	uint32_t cell;
	double value, seconds;
};

static inline struct reading instant_reading(const struct instant *in, uint32_t i)
{
	return (struct reading){ in->cell[i], in->value[i], in->stands[i] };
}

enum { SLICE_ROWS = 64 };

/* The values of some rows of a chunk, a column for each cell: measured ones are worked out at once,
 * others when they are asked for. */
struct slice {
	uint32_t first, nrows; /* of the chunk */
	uint32_t at;           /* of its rows the one that is read */
	uint32_t rows;         /* places of a column, at least nrows: column c begins at c * rows */
	uint32_t widest;       /* columns there is room for */
	size_t cells;          /* places of all columns */
	double *value, *stands;
	uint8_t *state;                 /* enum state */
	uint32_t *there;                /* [column] rows that have a value, or SLICE_UNKNOWN */
	int64_t before_ns[SLICE_ROWS];  /* time of the node's row before; INT64_MIN: none */
	double row_seconds[SLICE_ROWS]; /* since then; 0 unknown */
	bool rises;                     /* each row has one before it, which is earlier */
};

/* The same, row by row: of the columns that are shown those which have any. */
struct transposed {
	bool known;      /* it is that of this slice */
	uint32_t layout; /* counts lists */
	uint32_t nlisted, width, widest;
	size_t cap;
	uint32_t *listed; /* their cells */
	double *value, *stands;
	uint32_t *cell, *gap; /* of each row; cell: where it has gaps */
	uint32_t ngaps[SLICE_ROWS];
};

struct derive {
	struct run *run;
	struct plan plan;
	double from_s, to_s;
	struct counter_reading *last; /* of those series that are wanted */
	uint32_t *place;              /* [run->nseries] where in last; 0: not wanted */
	uint32_t nlast;
	int64_t *node_last_ns; /* [run->nnodes]: time of its last row; INT64_MIN: none yet */
	uint32_t *link;        /* [plan.ncells]: members of a combined cell, in this chunk */
	struct member *member; /* [plan.nmembers + 1]: what lasting things were last read to have */
	uint32_t *source;      /* [plan.ncells]: of a member, its column of the chunk; 0: none */
	uint32_t *active;      /* holders with values in this chunk, the node first */
	uint8_t *is_active;    /* [plan.nholders] */
	uint32_t *column;      /* [plan.ncells]: of the slice, in this chunk; 0: none */
	uint32_t *cell;        /* of each column of the slice */
	uint32_t nactive, nshown, ncolumns; /* columns 1..nshown may give readings */
	uint32_t row;                       /* of the chunk: the next one */
	bool values_only; /* set by who does not ask how long values stand: instants do not say */
	struct chunk chunk;
	struct slice slice;
	struct transposed transposed;
	double *stack; /* [EXPR_STACK_MAX * SLICE_ROWS] to work in */
};

/* Rows of the slice, one behind the other. */
struct slice_rows {
	uint32_t node, first, n;
};

/* 0 or -errno. Close in either case. */
int derive_open(struct derive *d, struct run *r, const struct selection *sel, struct err *e);
/* 1 and an instant (which may hold nothing), 0 at the end, -errno. */
int derive_next(struct derive *d, struct instant *out, struct err *e);
int derive_rewind(struct derive *d);

/* For who reads the chunks: take one (borrowed until its last row), then its rows, one by one,
 * until false. 0 or -errno. */
int derive_chunk(struct derive *d, const struct chunk *c, struct err *e);
bool derive_row(struct derive *d, struct instant *out);
/* Instead of instants: the next rows, at most so many, whose columns lie in d->slice. 1, 0 at the
 * end, -errno. */
int derive_next_rows(struct derive *d, uint32_t most, struct slice_rows *out, struct err *e);
void derive_close(struct derive *d);

/* A cell's values in the rows of the slice. */
struct derived {
	const double *value, *stands;
	const uint8_t *state; /* enum state */
};

/* For who wants columns, which is quicker than rows: take a chunk, then its slices until false, and
 * of each slice any cell of the plan, chosen or needed for what is; false when the chunk has
 * nothing of it. from_s and to_s are not looked at. */
bool derive_slice(struct derive *d);
bool derive_column(struct derive *d, uint32_t cell, struct derived *out);

/* The value of a cell in this row, worked out when it is first asked for. Cell 0 is always absent.
 */
struct expr_value derive_evaluate(struct derive *d, uint32_t cell);
/* When and where a row of the slice was read. */
int64_t derive_row_utc_ns(const struct derive *d, uint32_t row);
double derive_row_seconds(const struct derive *d, uint32_t row);

static inline const struct quantity *derive_quantity(const struct derive *d, uint32_t cell)
{
	return &d->plan.quantity[d->plan.cell[cell].quantity];
}

#endif
