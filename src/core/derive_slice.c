/* SPDX-License-Identifier: Apache-2.0 */
/* derive_slice.c - some rows of a chunk: what is measured, series by series. */
#include "core/derive_slice.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As many cells as stay in the processor's cache. */
enum { SLICE_CELLS = 32768 };

static double seconds_between(int64_t from_ns, int64_t to_ns)
{
	return (double)((uint64_t)to_ns - (uint64_t)from_ns) / (double)NS_PER_S;
}

/* A place of the slice, and what is put there; infinities and NaN are no values. */
static inline void put(struct slice *s, size_t at, double value, double seconds)
{
	if (!isfinite(value))
		return;
	s->value[at] = value;
	s->stands[at] = seconds;
	s->state[at] = STATE_PRESENT;
}

void slice_put_column(struct derive *d, uint32_t cell, const double *value)
{
	struct slice *s = &d->slice;
	size_t at = d->column[cell];

	for (uint32_t r = 0; r < s->nrows; r++, at += s->width) {
		s->state[at] = STATE_ABSENT;
		put(s, at, value[r], s->row_seconds[r]);
	}
}

/* ---- measured values ---- */

static void put_values(struct slice *s, size_t at, const struct metric *metric,
		       const int64_t *value, const uint8_t *present)
{
	const struct metric m = *metric; /* which no store below can change */

	for (uint32_t r = 0; r < s->nrows; r++, at += s->width)
		if (present[r])
			put(s, at, metric_value(&m, value[r]), s->row_seconds[r]);
}

/* The rise of a counter, exact for integers; negative or NAN when it is no rise. */
static inline double rise(const struct metric *m, int64_t from, int64_t to)
{
	int64_t difference;

	if (m->storage == STORE_REAL)
		return metric_value(m, to) - metric_value(m, from);
	return __builtin_sub_overflow(to, from, &difference) ? NAN : metric_value(m, difference);
}

static void put_rates(struct derive *d, size_t at, const struct metric *metric,
		      const struct chunk_column *c)
{
	struct slice *s = &d->slice;
	const struct metric m = *metric;
	struct last_reading *of_series = &d->last[d->place[c->series]], last = *of_series;

	for (uint32_t r = 0; r < s->nrows; r++, at += s->width) {
		struct last_reading before = last;
		double seconds, v;

		if (!c->present[s->first + r])
			continue;
		last.value = c->value[s->first + r];
		last.mono_ns = d->chunk.mono_ns[s->first + r];
		last.known = true;
		if (!before.known || last.mono_ns <= before.mono_ns)
			continue;
		seconds = before.mono_ns == s->before_ns[r]
				  ? s->row_seconds[r] /* which is the same, without a division */
				  : seconds_between(before.mono_ns, last.mono_ns);
		v = rise(&m, before.value, last.value);
		if (v >= 0)
			put(s, at, v / seconds, seconds);
	}
	*of_series = last;
}

static void put_series(struct derive *d, const struct chunk_column *c)
{
	uint32_t cell = d->plan.series_cell[c->series];
	const struct metric *m = &d->run->metrics[d->run->series[c->series].metric].row;
	struct slice *s = &d->slice;

	if (derive_quantity(d, cell)->rate)
		put_rates(d, d->column[cell], m, c);
	else
		put_values(s, d->column[cell], m, c->value + s->first, c->present + s->first);
}

/* ---- rows ---- */

static void read_times(struct derive *d)
{
	struct slice *s = &d->slice;
	int64_t *before_ns = &d->node_last_ns[d->chunk.node];

	for (uint32_t r = 0; r < s->nrows; r++) {
		int64_t mono_ns = d->chunk.mono_ns[s->first + r];

		s->before_ns[r] = *before_ns;
		s->row_seconds[r] = 0;
		if (*before_ns != INT64_MIN && mono_ns > *before_ns)
			s->row_seconds[r] = seconds_between(*before_ns, mono_ns);
		*before_ns = mono_ns;
	}
}

void slice_next(struct derive *d)
{
	struct slice *s = &d->slice;
	uint32_t rows = s->cap / s->width, left;

	s->first += s->nrows;
	left = d->chunk.nrows - s->first;
	rows = rows < SLICE_ROWS ? rows : SLICE_ROWS;
	s->nrows = rows < left ? rows : left;
	read_times(d);
	for (uint32_t r = 0; r < s->nrows; r++)
		memcpy(s->state + (size_t)r * s->width, s->blank, d->ncolumns + 1u);
	for (uint32_t i = 0; i < d->chunk.ncolumns; i++)
		if (d->plan.series_cell[d->chunk.column[i].series])
			put_series(d, &d->chunk.column[i]);
}

bool slice_row_is_whole(const struct derive *d)
{
	const uint8_t *state = d->slice.state + (size_t)d->slice.at * d->slice.width + 1;

	return !memchr(state, STATE_ABSENT, d->nshown);
}

/* ---- room ---- */

void slice_begin(struct derive *d)
{
	d->slice.first = d->slice.nrows = 0;
	d->nmade = 0;
	d->slice.blank[0] = STATE_ABSENT;
	for (uint32_t i = 1; i <= d->ncolumns; i++) {
		bool measured = d->plan.cell[d->cell[i]].role == CELL_MEASURED;

		d->slice.blank[i] = measured ? STATE_ABSENT : SLICE_UNKNOWN;
		if (!measured && i <= d->nshown)
			d->made[d->nmade++] = d->cell[i];
	}
}

void slice_free(struct derive *d)
{
	struct slice *s = &d->slice;

	free(s->value);
	free(s->stands);
	free(s->state);
	free(s->blank);
	free(d->cell);
	free(d->made);
	free(d->kept.cell);
	free(d->kept.value);
	free(d->kept.stands);
	*s = (struct slice){ 0 };
	d->kept = (struct kept){ 0 };
	d->cell = d->made = NULL;
}

static int reserve(struct derive *d, uint32_t width)
{
	struct slice *s = &d->slice;

	slice_free(d);
	s->cap = width > SLICE_CELLS ? width : SLICE_CELLS;
	s->value = calloc(s->cap, sizeof(*s->value));
	s->stands = calloc(s->cap, sizeof(*s->stands));
	s->state = calloc(s->cap, sizeof(*s->state));
	s->blank = calloc(width, sizeof(*s->blank));
	d->cell = calloc(width, sizeof(*d->cell));
	d->made = calloc(width, sizeof(*d->made));
	d->kept.cell = calloc(width, sizeof(*d->kept.cell));
	d->kept.value = calloc(width, sizeof(*d->kept.value));
	d->kept.stands = calloc(width, sizeof(*d->kept.stands));
	return s->value && s->stands && s->state && s->blank && d->cell && d->made &&
			       d->kept.cell && d->kept.value && d->kept.stands
		       ? 0
		       : -ENOMEM;
}

int slice_reserve(struct derive *d, uint32_t want)
{
	/* an odd number of cache lines, so that a column is not all in the same few sets of it */
	uint32_t width = ((want + 7U) & ~7U) | 8U;

	if (width > d->slice.widest && reserve(d, width))
		return -ENOMEM;
	if (width > d->slice.widest)
		d->slice.widest = width;
	d->slice.width = width;
	return 0;
}
