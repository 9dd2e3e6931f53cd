/* SPDX-License-Identifier: Apache-2.0 */
#include "indicator/kernel.h"

#include <string.h>

typedef double pair __attribute__((vector_size(16)));

enum { ROWS = 4, COLUMNS = 4 }; /* of a tile, which stays in registers: 8 pairs */

struct block {
	const double *a, *b; /* b: packed, a panel of COLUMNS behind the other */
	double *c;
	size_t n, depth;
	size_t row, rows, column, columns; /* of the tile */
};

/* Columns from..from + width - 1 of depth rows from k on, so that a tile reads them one behind the
 * other; what is beyond is 0. */
static void pack(const struct product_part *p, size_t k, size_t depth, size_t from, size_t width)
{
	double *out = p->room;

	for (size_t panel = from; panel < from + width; panel += COLUMNS)
		for (size_t row = k; row < k + depth; row++)
			for (size_t j = panel; j < panel + COLUMNS; j++)
				*out++ = j < from + width ? p->b[row * p->n + j] : 0;
}

static inline pair pair_at(const double *p)
{
	pair v;

	memcpy(&v, p, sizeof v);
	return v;
}

static void add_row(const struct block *x, size_t row, pair left, pair right)
{
	const double v[COLUMNS] = { left[0], left[1], right[0], right[1] };
	double *c = x->c + (x->row + row) * x->n + x->column;

	for (size_t j = 0; j < x->columns && row < x->rows; j++)
		c[j] += v[j];
}

/* Rows beyond the last are computed of the last again, and not added. */
static void tile(const struct block *x)
{
	const double *a[ROWS], *b = x->b;
	pair c00 = { 0 }, c01 = { 0 }, c10 = { 0 }, c11 = { 0 };
	pair c20 = { 0 }, c21 = { 0 }, c30 = { 0 }, c31 = { 0 };

	for (size_t i = 0; i < ROWS; i++)
		a[i] = x->a + (i < x->rows ? i : x->rows - 1) * x->n;
	for (size_t k = 0; k < x->depth; k++, b += COLUMNS) {
		pair left = pair_at(b), right = pair_at(b + 2);

		c00 += a[0][k] * left;
		c01 += a[0][k] * right;
		c10 += a[1][k] * left;
		c11 += a[1][k] * right;
		c20 += a[2][k] * left;
		c21 += a[2][k] * right;
		c30 += a[3][k] * left;
		c31 += a[3][k] * right;
	}
	add_row(x, 0, c00, c01);
	add_row(x, 1, c10, c11);
	add_row(x, 2, c20, c21);
	add_row(x, 3, c30, c31);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* What the packed block adds to all rows. */
static void add_block(const struct product_part *p, size_t k, size_t depth, size_t from,
		      size_t width)
{
	for (size_t row = p->first; row < p->last; row += ROWS)
		for (size_t j = 0; j < width; j += COLUMNS)
			tile(&(struct block){ .a = p->a + row * p->n + k,
					      .b = p->room + j * depth,
					      .c = p->c,
					      .n = p->n,
					      .depth = depth,
					      .row = row,
					      .rows = least(ROWS, p->last - row),
					      .column = from + j,
					      .columns = least(COLUMNS, width - j) });
}

void kernel_multiply(const struct product_part *p)
{
	memset(p->c + p->first * p->n, 0, (p->last - p->first) * p->n * sizeof *p->c);
	for (size_t k = 0; k < p->n; k += KERNEL_DEPTH) {
		size_t depth = least(KERNEL_DEPTH, p->n - k);

		for (size_t from = 0; from < p->n; from += KERNEL_WIDTH) {
			size_t width = least(KERNEL_WIDTH, p->n - from);

			pack(p, k, depth, from, width);
			add_block(p, k, depth, from, width);
		}
	}
}
