/* SPDX-License-Identifier: Apache-2.0 */
/* derive_slice.c - some rows of a chunk: what is measured, series by series. */
#include "core/frame/derive_slice.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As in base/hash.c: the compiler's own check would ask the processor at every start. */
#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#define HAS_AVX2 CPU_FEATURE_ACTIVE(AVX2)
#elif defined(__x86_64__)
#define HAS_AVX2 __builtin_cpu_supports("avx2")
#endif

/* As many cells as stay in the processor's cache; a column has place for whole blocks. */
enum { SLICE_CELLS = 32768, BLOCK = 16 };
_Static_assert(SLICE_ROWS % BLOCK == 0, "a column is made of blocks");

/* A column of which nothing is known yet: several series may share it. */
void slice_clear(struct slice *s, uint32_t column)
{
	if (s->there[column] == SLICE_UNKNOWN) {
		memset(s->state + (size_t)column * s->rows, STATE_ABSENT, s->nrows);
		s->there[column] = 0;
	}
}

void slice_put(struct slice *s, uint32_t column, uint32_t row, double value, double seconds)
{
	size_t at = (size_t)column * s->rows + row;

	if (!isfinite(value)) /* it is no value */
		return;
	s->there[column] += s->state[at] != STATE_PRESENT;
	s->value[at] = value;
	s->stands[at] = seconds;
	s->state[at] = STATE_PRESENT;
}

/* ---- measured values, where some are absent or odd ---- */

static void put_values_singly(struct slice *s, uint32_t column, const struct metric *metric,
			      const int64_t *value, const uint8_t *present)
{
	const struct metric m = *metric; /* which no store below can change */

	slice_clear(s, column);
	for (uint32_t r = 0; r < s->nrows; r++)
		if (present[r])
			slice_put(s, column, r, metric_value(&m, value[r]), s->row_seconds[r]);
}

static void put_rates_singly(struct derive *d, uint32_t column, const struct metric *metric,
			     const int64_t *value, const uint8_t *present,
			     struct counter_reading *of_series)
{
	struct slice *s = &d->slice;
	const struct metric m = *metric;
	struct counter_reading last = *of_series;

	slice_clear(s, column);
	for (uint32_t r = 0; r < s->nrows; r++) {
		struct counter_reading now = { value[r], d->chunk.mono_ns[s->first + r], true };

		if (!present[r])
			continue;
		slice_put(s, column, r, counter_rate(&m, &last, &now),
			  counter_seconds(&last, &now));
		last = now;
	}
	*of_series = last;
}

/* ---- whole numbers in every row ---- */

/* n values: whether any is another than the one before them. */
static bool moves(const int64_t *value, uint32_t n, int64_t before)
{
	uint32_t r = 0;

	for (; n - r >= BLOCK; r += BLOCK) {
		const int64_t *v = value + r;
		uint64_t any = 0;

		for (size_t i = 0; i < BLOCK; i++)
			any |= (uint64_t)v[i] ^ (uint64_t)before;
		if (any)
			return true;
	}
	while (r < n && value[r] == before)
		r++;
	return r < n;
}

/* Blocks of a column; what is behind its rows is nobody's. */
static void multiply(double *v, const double *end, double by)
{
	for (; v < end; v += BLOCK)
		for (size_t i = 0; i < BLOCK; i++)
			v[i] *= by;
}

static void divide(double *v, const double *end, double by)
{
	for (; v < end; v += BLOCK)
		for (size_t i = 0; i < BLOCK; i++)
			v[i] /= by;
}

static void divide_each(double *restrict v, const double *end, const double *restrict by)
{
	for (; v < end; v += BLOCK, by += BLOCK)
		for (size_t i = 0; i < BLOCK; i++)
			v[i] /= by[i];
}

static void subtract(double *v, const double *end, double from)
{
	for (; v < end; v += BLOCK)
		for (size_t i = 0; i < BLOCK; i++)
			v[i] -= from;
}

/* To base units: as metric_value. */
static void scale(double *v, const double *end, const struct metric *m)
{
	if (m->mul > 1)
		multiply(v, end, m->mul);
	if (m->div > 1)
		divide(v, end, m->div);
}

/* What rose since the value before, as a double. False when one did not, or rose by too much. A
 * whole number below 2^52 is that double without its 2^52 that has these bits above it: unlike a
 * conversion, this is done for several at once. */
static bool put_rises(double *out, const int64_t *value, uint32_t n, int64_t before)
{
	const uint64_t bits_of_2_52 = UINT64_C(0x433) << 52;
	uint64_t bits[SLICE_ROWS] = { 0 }, odd = 0;
	uint32_t r = 1;

	bits[0] = (uint64_t)value[0] - (uint64_t)before;
	for (; n - r >= BLOCK; r += BLOCK) {
		const int64_t *to = value + r, *from = to - 1;

		for (size_t i = 0; i < BLOCK; i++)
			bits[r + i] = (uint64_t)to[i] - (uint64_t)from[i];
	}
	for (; r < n; r++)
		bits[r] = (uint64_t)value[r] - (uint64_t)value[r - 1];
	for (r = 0; r < SLICE_ROWS; r++) {
		odd |= bits[r];
		bits[r] |= bits_of_2_52;
	}
	memcpy(out, bits, n * sizeof(*out));
	subtract(out, out + n, 0x1p52);
	/* Together they do not rise by so much that they could come around. */
	return !(odd >> 52) && value[n - 1] >= before;
}

static void fill(double *v, const double *end, double with)
{
	for (; v < end; v += BLOCK)
		for (size_t i = 0; i < BLOCK; i++)
			v[i] = with;
}

/* Whether a series has a whole number in every row, the one before the first among them. */
static bool is_unbroken(const struct derive *d, const struct counter_reading *last,
			const uint8_t *present)
{
	const struct slice *s = &d->slice;

	return s->rises && last->known && last->mono_ns == s->before_ns[0] &&
	       !memchr(present, STATE_ABSENT, s->nrows);
}

static void say_all(struct derive *d, uint32_t column)
{
	struct slice *s = &d->slice;
	size_t at = (size_t)column * s->rows;

	memset(s->state + at, STATE_PRESENT, s->nrows);
	if (!d->values_only)
		memcpy(s->stands + at, s->row_seconds, s->nrows * sizeof(*s->stands));
	s->there[column] = s->nrows;
}

static void put_rates(struct derive *d, uint32_t column, const struct metric *m,
		      const int64_t *value, const uint8_t *present, struct counter_reading *last)
{
	struct slice *s = &d->slice;
	double *out = s->value + (size_t)column * s->rows;
	uint32_t n = s->nrows;

	if (m->storage != STORE_INT || !is_unbroken(d, last, present)) {
		put_rates_singly(d, column, m, value, present, last);
		return;
	}
	if (!moves(value, n, last->value)) {
		fill(out, out + n, 0);
	} else if (put_rises(out, value, n, last->value)) {
		scale(out, out + n, m);
		divide_each(out, out + n, s->row_seconds);
	} else {
		put_rates_singly(d, column, m, value, present, last);
		return;
	}
	*last = (struct counter_reading){ value[n - 1], d->chunk.mono_ns[s->first + n - 1], true };
	say_all(d, column);
}

static void put_values(struct derive *d, uint32_t column, const struct metric *m,
		       const int64_t *value, const uint8_t *present)
{
	struct slice *s = &d->slice;
	double *out = s->value + (size_t)column * s->rows;
	uint32_t n = s->nrows;

	if (m->storage != STORE_INT || memchr(present, STATE_ABSENT, n)) {
		put_values_singly(s, column, m, value, present);
		return;
	}
	if (moves(value, n, value[0])) {
		for (uint32_t r = 0; r < n; r++)
			out[r] = (double)value[r];
		scale(out, out + n, m);
	} else {
		fill(out, out + n, metric_value(m, value[0]));
	}
	say_all(d, column);
}

double slice_next_rate(const struct derive *d, const struct chunk_column *c)
{
	const struct counter_reading *last = &d->last[d->place[c->series]];
	uint32_t from = d->slice.first + d->slice.nrows;
	const uint8_t *present =
		from < d->chunk.nrows ? memchr(c->present + from, 1, d->chunk.nrows - from) : NULL;
	uint32_t r = present ? (uint32_t)(present - c->present) : 0;
	struct counter_reading next;

	if (!present)
		return NAN;
	next = (struct counter_reading){ c->value[r], d->chunk.mono_ns[r], true };
	return counter_rate(&d->run->metrics[d->run->series[c->series].metric].row, last, &next);
}

static void put_series(struct derive *d, const struct chunk_column *c)
{
	uint32_t cell = d->plan.series_cell[c->series], column = d->column[cell];
	const struct metric *m = &d->run->metrics[d->run->series[c->series].metric].row;
	const int64_t *value = c->value + d->slice.first;
	const uint8_t *present = c->present + d->slice.first;

	if (derive_quantity(d, cell)->rate)
		put_rates(d, column, m, value, present, &d->last[d->place[c->series]]);
	else
		put_values(d, column, m, value, present);
}

typedef void put_function(struct derive *, const struct chunk_column *);

/* The same for processors that take four numbers at once. */
#ifdef HAS_AVX2
__attribute__((target("avx2"), flatten)) static void put_series_avx2(struct derive *d,
								     const struct chunk_column *c)
{
	put_series(d, c);
}

static put_function *choose_put(void)
{
	return HAS_AVX2 ? put_series_avx2 : put_series;
}
#else
static put_function *choose_put(void)
{
	return put_series;
}
#endif

/* ---- rows ---- */

static void read_times(struct derive *d)
{
	struct slice *s = &d->slice;
	int64_t *before_ns = &d->node_last_ns[d->chunk.node];

	s->rises = true;
	for (uint32_t r = 0; r < s->nrows; r++) {
		int64_t mono_ns = d->chunk.mono_ns[s->first + r];
		bool known = *before_ns != INT64_MIN;

		s->before_ns[r] = *before_ns;
		s->row_seconds[r] = known ? real_seconds(*before_ns, mono_ns) : 0;
		s->rises &= known && mono_ns > *before_ns;
		*before_ns = mono_ns;
	}
}

void slice_next(struct derive *d)
{
	struct slice *s = &d->slice;
	put_function *put = choose_put();
	uint32_t left;

	s->first += s->nrows;
	left = d->chunk.nrows - s->first;
	s->nrows = s->rows < left ? s->rows : left;
	d->transposed.known = false;
	read_times(d);
	for (uint32_t c = 0; c <= d->ncolumns; c++)
		s->there[c] = SLICE_UNKNOWN;
	slice_clear(s, 0);
	for (uint32_t i = 0; i < d->chunk.ncolumns; i++)
		if (d->plan.series_cell[d->chunk.column[i].series])
			put(d, &d->chunk.column[i]);
}

/* ---- room ---- */

void slice_begin(struct derive *d)
{
	d->slice.first = d->slice.nrows = 0;
}

void slice_free(struct derive *d)
{
	struct slice *s = &d->slice;

	free(s->value);
	free(s->stands);
	free(s->state);
	free(s->there);
	free(d->cell);
	*s = (struct slice){ 0 };
	d->cell = NULL;
}

static int reserve(struct derive *d, uint32_t width)
{
	struct slice *s = &d->slice;
	size_t cells = (size_t)width * BLOCK > SLICE_CELLS ? (size_t)width * BLOCK : SLICE_CELLS;

	slice_free(d);
	s->value = calloc(cells, sizeof(*s->value));
	s->stands = calloc(cells, sizeof(*s->stands));
	s->state = calloc(cells, sizeof(*s->state));
	s->there = calloc(width, sizeof(*s->there));
	d->cell = calloc(width, sizeof(*d->cell));
	s->cells = cells;
	return s->value && s->stands && s->state && s->there && d->cell ? 0 : -ENOMEM;
}

int slice_reserve(struct derive *d, uint32_t width)
{
	struct slice *s = &d->slice;
	size_t rows;

	if (width > s->widest && reserve(d, width))
		return -ENOMEM;
	if (width > s->widest)
		s->widest = width;
	rows = s->cells / width / BLOCK * BLOCK;
	s->rows = rows < SLICE_ROWS ? (uint32_t)rows : SLICE_ROWS;
	return 0;
}

/* ---- as rows ---- */

/* An odd number of cache lines, so that a column of rows is not all in the same few sets of it. */
static uint32_t row_width(uint32_t n)
{
	return ((n + 7U) & ~7U) | 8U;
}

/* The shown columns that have values in this slice. */
static void list_shown(struct derive *d)
{
	const struct slice *s = &d->slice;
	struct transposed *t = &d->transposed;
	uint32_t n = 0;
	bool same = true;

	for (uint32_t c = 1; c <= d->nshown; c++) {
		if (!s->there[c])
			continue;
		same &= n < t->nlisted && t->listed[n] == d->cell[c];
		t->listed[n++] = d->cell[c];
	}
	t->layout += !same || n != t->nlisted || !t->layout;
	t->nlisted = n;
	t->width = row_width(n);
}

/* Columns side by side, so that what is written lies together. */
enum { ABREAST = 4 };

static void transpose_abreast(double *to, const double *const from[ABREAST], uint32_t nrows,
			      uint32_t width)
{
	const double *a = from[0], *b = from[1], *c = from[2], *d = from[3];

	for (uint32_t r = 0; r < nrows; r++, to += width) {
		to[0] = a[r];
		to[1] = b[r];
		to[2] = c[r];
		to[3] = d[r];
	}
}

/* A row has room for whole groups of columns: the last one's are there more than once. */
static void transpose_columns(const struct derive *d, double *to, const double *from)
{
	const struct slice *s = &d->slice;
	const struct transposed *t = &d->transposed;

	for (uint32_t i = 0; i < t->nlisted; i += ABREAST) {
		const double *column[ABREAST];

		for (uint32_t k = 0; k < ABREAST; k++) {
			uint32_t at = i + k < t->nlisted ? i + k : t->nlisted - 1;

			column[k] = from + (size_t)d->column[t->listed[at]] * s->rows;
		}
		transpose_abreast(to + i, column, s->nrows, t->width);
	}
}

/* Where rows lack a value that others have. */
static void find_gaps(struct derive *d)
{
	const struct slice *s = &d->slice;
	struct transposed *t = &d->transposed;

	memset(t->ngaps, 0, sizeof(t->ngaps));
	for (uint32_t i = 0; i < t->nlisted; i++) {
		uint32_t column = d->column[t->listed[i]];
		const uint8_t *state = s->state + (size_t)column * s->rows;

		for (uint32_t r = 0; r < s->nrows && s->there[column] < s->nrows; r++)
			if (state[r] != STATE_PRESENT)
				t->gap[(size_t)r * t->width + t->ngaps[r]++] = i;
	}
}

static void close_gaps(struct transposed *t, uint32_t row, bool stands)
{
	size_t at = (size_t)row * t->width;
	const uint32_t *gap = t->gap + at;
	uint32_t n = gap[0];

	memcpy(t->cell + at, t->listed, n * sizeof(*t->cell));
	for (uint32_t g = 0; g < t->ngaps[row]; g++) {
		uint32_t from = gap[g] + 1;
		uint32_t some = (g + 1 < t->ngaps[row] ? gap[g + 1] : t->nlisted) - from;

		memcpy(t->cell + at + n, t->listed + from, some * sizeof(*t->cell));
		memmove(t->value + at + n, t->value + at + from, some * sizeof(*t->value));
		if (stands)
			memmove(t->stands + at + n, t->stands + at + from,
				some * sizeof(*t->stands));
		n += some;
	}
}

static void transpose(struct derive *d)
{
	struct transposed *t = &d->transposed;

	list_shown(d);
	transpose_columns(d, t->value, d->slice.value);
	if (!d->values_only)
		transpose_columns(d, t->stands, d->slice.stands);
	find_gaps(d);
	for (uint32_t r = 0; r < d->slice.nrows; r++)
		if (t->ngaps[r])
			close_gaps(t, r, !d->values_only);
	t->known = true;
}

void transposed_row(struct derive *d, uint32_t row, struct instant *out)
{
	struct transposed *t = &d->transposed;
	size_t at;

	if (!t->known)
		transpose(d);
	at = (size_t)row * t->width;
	*out = (struct instant){ .n = t->nlisted - t->ngaps[row],
				 .cell = t->ngaps[row] ? t->cell + at : t->listed,
				 .value = t->value + at,
				 .stands = t->stands + at,
				 .layout = t->layout,
				 .nlisted = t->nlisted,
				 .listed = t->listed,
				 .ngaps = t->ngaps[row],
				 .gap = t->gap + at };
	out->min = out->max = out->value;
}

static void free_cells(struct transposed *t)
{
	free(t->cell);
	free(t->gap);
	free(t->value);
	free(t->stands);
}

int transposed_reserve(struct derive *d)
{
	struct transposed *t = &d->transposed;
	size_t cells = (size_t)row_width(d->slice.widest) * d->slice.rows;

	if (d->slice.widest > t->widest) {
		free(t->listed);
		t->listed = calloc(d->slice.widest, sizeof(*t->listed));
		t->widest = t->listed ? d->slice.widest : 0;
		t->nlisted = 0;
	}
	if (cells > t->cap) {
		free_cells(t);
		t->cell = calloc(cells, sizeof(*t->cell));
		t->gap = calloc(cells, sizeof(*t->gap));
		t->value = calloc(cells, sizeof(*t->value));
		t->stands = calloc(cells, sizeof(*t->stands));
		t->cap = t->cell && t->gap && t->value && t->stands ? cells : 0;
	}
	return t->widest && t->cap ? 0 : -ENOMEM;
}

void transposed_free(struct transposed *t)
{
	free(t->listed);
	free_cells(t);
	*t = (struct transposed){ 0 };
}
