/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive.h - from stored readings to public values, instant by instant: rates, what instances
 * combine into, derived metrics. The only place that makes them.
 *
 * A rate at a reading is its rise since the reading before it over the real time between the two; a
 * counter that went back has none. State is kept per series and per cell, never per row.
 */
#ifndef SONDE_CORE_DERIVE_H
#define SONDE_CORE_DERIVE_H

#include "core/derive_plan.h"

struct reading {
	uint32_t cell;
	double value, min, max; /* of one instant all three are the same */
	double seconds;         /* how long it stands for: 0 unknown */
};

/* The values that were there at one time on one node; borrowed until the next call. */
struct instant {
	uint32_t node;
	int64_t utc_ns;
	double seconds; /* since the run began */
	uint32_t n;
	struct reading *reading;
};

/* The value of a cell in row `serial`. */
struct now {
	double value, seconds;
	uint64_t serial;
	bool known;
};

struct derive {
	struct run *run;
	struct plan plan;
	double from_s, to_s;
	struct last_reading *last; /* of those series that are wanted */
	uint32_t *place;           /* [run->nseries] where in last; 0: not wanted */
	uint32_t nlast;
	int64_t *node_last_ns; /* [run->nnodes]: time of its last row; INT64_MIN: none yet */
	struct now *now;       /* [plan.ncells] */
	uint32_t *link;        /* [plan.ncells]: members of a combined cell, in this chunk */
	uint32_t *active;      /* holders with values in this chunk, the node first */
	uint8_t *is_active;    /* [plan.nholders] */
	uint32_t *shown;       /* cells of these that may give readings */
	uint32_t nactive, nshown, row;
	uint64_t serial; /* of the row: what now[] holds of other rows is void */
	double row_seconds;
	struct chunk chunk;
	struct reading *reading;
	uint32_t nreadings, reading_cap;
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
void derive_close(struct derive *d);

/* The value of a cell in this row, worked out when it is first asked for. Cell 0 is always absent.
 */
const struct now *derive_evaluate(struct derive *d, uint32_t cell);
/* Infinities and NaN are no values. */
void derive_put(struct derive *d, uint32_t cell, double value, double seconds);

static inline const struct quantity *derive_quantity(const struct derive *d, uint32_t cell)
{
	return &d->plan.quantity[d->plan.cell[cell].quantity];
}

#endif
