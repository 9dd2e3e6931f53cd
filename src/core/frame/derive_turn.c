/* SPDX-License-Identifier: Apache-2.0 */
/* derive_turn.c - the columns of a slice as rows. */
#include "core/frame/derive_slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An odd number of cache lines, so that a column of rows is not all in the same few sets of it. */
static uint32_t width_of(uint32_t n)
{
	return ((n + 7U) & ~7U) | 8U;
}

/* The shown columns that have values in this slice. */
static void list(struct derive *d)
{
	const struct slice *s = &d->slice;
	struct turned *t = &d->turned;
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
	t->width = width_of(n);
}

/* Columns side by side, so that what is written lies together. */
enum { ABREAST = 4 };

static void turn_abreast(double *to, const double *const from[ABREAST], uint32_t nrows,
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
static void turn_columns(const struct derive *d, double *to, const double *from)
{
	const struct slice *s = &d->slice;
	const struct turned *t = &d->turned;

	for (uint32_t i = 0; i < t->nlisted; i += ABREAST) {
		const double *column[ABREAST];

		for (uint32_t k = 0; k < ABREAST; k++) {
			uint32_t at = i + k < t->nlisted ? i + k : t->nlisted - 1;

			column[k] = from + (size_t)d->column[t->listed[at]] * s->rows;
		}
		turn_abreast(to + i, column, s->nrows, t->width);
	}
}

/* Where rows lack a value that others have. */
static void find_gaps(struct derive *d)
{
	const struct slice *s = &d->slice;
	struct turned *t = &d->turned;

	memset(t->ngaps, 0, sizeof(t->ngaps));
	for (uint32_t i = 0; i < t->nlisted; i++) {
		uint32_t column = d->column[t->listed[i]];
		const uint8_t *state = s->state + (size_t)column * s->rows;

		for (uint32_t r = 0; r < s->nrows && s->there[column] < s->nrows; r++)
			if (state[r] != STATE_PRESENT)
				t->gap[(size_t)r * t->width + t->ngaps[r]++] = i;
	}
}

static void close_gaps(struct turned *t, uint32_t row, bool stands)
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

static void turn(struct derive *d)
{
	struct turned *t = &d->turned;

	list(d);
	turn_columns(d, t->value, d->slice.value);
	if (!d->values_only)
		turn_columns(d, t->stands, d->slice.stands);
	find_gaps(d);
	for (uint32_t r = 0; r < d->slice.nrows; r++)
		if (t->ngaps[r])
			close_gaps(t, r, !d->values_only);
	t->known = true;
}

void turned_row(struct derive *d, uint32_t row, struct instant *out)
{
	struct turned *t = &d->turned;
	size_t at;

	if (!t->known)
		turn(d);
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

static void free_cells(struct turned *t)
{
	free(t->cell);
	free(t->gap);
	free(t->value);
	free(t->stands);
}

int turned_reserve(struct derive *d)
{
	struct turned *t = &d->turned;
	size_t cells = (size_t)width_of(d->slice.widest) * d->slice.rows;

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

void turned_free(struct turned *t)
{
	free(t->listed);
	free_cells(t);
	*t = (struct turned){ 0 };
}
