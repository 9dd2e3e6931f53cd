/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.c - products of square matrices: by Sonde's own kernel, and by a BLAS. */
#include "base/err.h"
#include "base/random.h"
#include "indicator/indicator.h"

#include <dlfcn.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The product of matrices of a BLAS that this machine has, loaded when it is measured. */

struct blas {
	/* Its numbers are int, or 64 bits wide where it was built so: a little-endian one is both.
	 */
	void (*dgemm)(const char *, const char *, const int64_t *, const int64_t *, const int64_t *,
		      const double *, const double *, const int64_t *, const double *,
		      const int64_t *, const double *, double *, const int64_t *, ...);
	char library[PATH_MAX]; /* the file it came from */
};

/* Debian's libblas.so.3 is whichever implementation was chosen there. */
static const char *const known[] = { "libopenblas.so.0", "libblis.so.4", "libmkl_rt.so.2",
				     "libmkl_rt.so",     "libblas.so.3", "libarmpl_lp64.so" };
static const char *const thread_variables[] = { "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
						"MKL_NUM_THREADS", "BLIS_NUM_THREADS" };

static bool load(struct blas *b, const char *name)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL), *function;
	Dl_info from;

	if (!library)
		return false;
	function = dlsym(library, "dgemm_");
	if (!function) {
		dlclose(library);
		return false;
	}
	memcpy(&b->dgemm, &function, sizeof function);
	snprintf(b->library, sizeof b->library, "%s",
		 dladdr(function, &from) && from.dli_fname ? from.dli_fname : name);
	return true;
}

/* name: a file or a library's name; NULL: the first that is found of those that are known. It is
 * told to use so many threads. False with a sentence when there is none; and the process stays as
 * it is. */
static bool blas_load(struct blas *b, const char *name, int64_t threads, struct err *e)
{
	char number[24];

	snprintf(number, sizeof number, "%" PRId64, threads);
	for (size_t i = 0; i < sizeof thread_variables / sizeof thread_variables[0]; i++)
		setenv(thread_variables[i], number, 1);
	if (name) {
		if (load(b, name))
			return true;
		err_set(e, -ENOENT, "%.300s is not a library with dgemm_", name);
		return false;
	}
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (load(b, known[i]))
			return true;
	err_set(e, -ENOENT,
		"there is none: libopenblas.so.0, libblis.so.4, libmkl_rt.so, libblas.so.3 and "
		"libarmpl_lp64.so were looked for");
	return false;
}

/* c = a * b, of matrices of n rows and columns, a row behind the other. Those of a BLAS are columns
 * behind each other, which makes a row of ours a column of theirs: the product of the transposed is
 * the transposed of the product in the other order. */
static void blas_multiply(const struct blas *x, double *c, const double *a, const double *b,
			  int64_t n)
{
	const double one = 1, zero = 0;

	x->dgemm("N", "N", &n, &n, &n, &one, b, &n, a, &n, &zero, c, &n, (size_t)1, (size_t)1);
}

/* Sonde's own product of matrices: blocked for the caches, in vectors of two numbers,
 * which every architecture has. Not what a tuned library reaches, but the same everywhere. */

/* Numbers of room that one call needs beside the matrices. */
enum { KERNEL_DEPTH = 256, KERNEL_WIDTH = 128, KERNEL_ROOM = KERNEL_DEPTH * KERNEL_WIDTH };

/* Matrices of n rows and columns, a row behind the other. */
struct product_part {
	const double *a, *b;
	double *c;
	size_t n, first, last; /* its rows are first..last - 1 */
	double *room;          /* [KERNEL_ROOM] */
};

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

/* Those rows of c = a * b. */
static void kernel_multiply(const struct product_part *p)
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

/* LAPACK's own tests take a product whose scaled residual is below this for right. */
#define RESIDUAL_MAX 30.0
/* What a score of 0 stands for. */
#define REFERENCE 10.0

static const struct option rows[] = {
	{ .name = "size",
	  .letter = 's',
	  .type = ARG_COUNT,
	  .value = "N",
	  .fallback = "512",
	  .min = 1,
	  .max = 46340,
	  .help = "Rows and columns of each matrix.",
	  OPTION_OFFSET(struct wish, size) },
	WISH_THREADS,
	WISH_REPEATS,
	{ .name = "blas",
	  .type = ARG_TEXT,
	  .value = "LIBRARY",
	  .help = "This BLAS, a file or a library's name; none: no BLAS. Without it, the first "
		  "that is found.",
	  OPTION_OFFSET(struct wish, blas) },
};

struct product {
	double *a, *b, *c, *x, *room; /* room: of each thread */
	size_t n;
	int64_t threads, times;
	const struct blas *blas; /* NULL: by the own kernel */
	double residual;         /* the greatest there was */
};

/* -1 <= x < 1. */
static double random_number(struct random *r)
{
	return 2 * random_unit(r) - 1;
}

static void multiply(void *ctx, int64_t thread)
{
	struct product *p = ctx;
	size_t share = (size_t)p->threads, t = (size_t)thread;
	const struct product_part part = { .a = p->a,
					   .b = p->b,
					   .c = p->c,
					   .n = p->n,
					   .first = p->n * t / share,
					   .last = p->n * (t + 1) / share,
					   .room = p->room + t * KERNEL_ROOM };

	for (int64_t i = 0; i < p->times; i++) {
		if (p->blas)
			blas_multiply(p->blas, p->c, p->a, p->b, (int64_t)p->n);
		else
			kernel_multiply(&part);
	}
}

/* y = m * x; the greatest sum of absolute values in a row is returned. */
static double apply(double *y, const double *m, const double *x, size_t n)
{
	double norm = 0;

	for (size_t i = 0; i < n; i++) {
		double sum = 0, row = 0;

		for (size_t j = 0; j < n; j++) {
			sum += m[i * n + j] * x[j];
			row += fabs(m[i * n + j]);
		}
		y[i] = sum;
		norm = fmax(norm, row);
	}
	return norm;
}

/* Freivalds 1977: c x = a (b x) of a random x, whatever way c was computed. */
static int check(struct product *p, struct err *e)
{
	double *x = p->x, *bx = x + p->n, *abx = bx + p->n, *cx = abx + p->n;
	double most = 0, largest = 0, scale;
	struct random seed = { 4711 };

	for (size_t i = 0; i < p->n; i++) {
		x[i] = random_number(&seed);
		largest = fmax(largest, fabs(x[i]));
	}
	scale = largest * apply(bx, p->b, x, p->n);
	scale *= apply(abx, p->a, bx, p->n) * (double)p->n * DBL_EPSILON;
	apply(cx, p->c, x, p->n);
	for (size_t i = 0; i < p->n; i++) {
		double wrong = fabs(cx[i] - abx[i]) / scale;

		most = wrong <= most ? most : wrong; /* NaN stays */
	}
	p->residual = most <= p->residual ? p->residual : most;
	if (p->residual < RESIDUAL_MAX)
		return 0;
	return err_set(e, -EIO,
		       "the product of %s is wrong: its scaled residual is %.3g, not below %.0f",
		       p->blas ? p->blas->library : "the own kernel", p->residual, RESIDUAL_MAX);
}

static int repeat(struct product *p, const struct wish *w, struct figure *rate, struct err *e)
{
	/* A BLAS brings threads of its own. */
	const struct team team = { p->blas ? 1 : w->threads, multiply, p };
	double n = (double)p->n, seconds;
	int rc;

	p->threads = team.threads;
	p->times = 1;
	/* The first is warm-up. */
	rc = team_measure(&team, w->seconds_ns, INT32_MAX, &p->times, &seconds, e);
	for (int64_t i = 0; i < w->repeats && !rc; i++) {
		memset(p->c, 0xff, p->n * p->n * sizeof *p->c); /* NaN: nothing is left over */
		rc = team_measure(&team, w->seconds_ns, INT32_MAX, &p->times, &seconds, e);
		if (!rc)
			rc = check(p, e);
		if (!rc)
			figure_add(rate, 2 * n * n * n * (double)p->times / seconds / 1e9);
	}
	return rc;
}

static int take_room(struct product *p, const struct wish *w, struct err *e)
{
	size_t n = (size_t)w->size, square = n * n, room = (size_t)w->threads * KERNEL_ROOM;
	size_t all = 3 * square + 4 * n + room;
	char what[80];
	struct random seed = { 1 };
	int rc;

	snprintf(what, sizeof what, "3 matrices of %zu x %zu numbers", n, n);
	rc = room_check((double)all * sizeof(double), what, e);
	if (rc)
		return rc;
	p->a = calloc(all, sizeof(double));
	if (!p->a)
		return err_set(e, -ENOMEM, "out of memory for %s", what);
	p->b = p->a + square;
	p->c = p->b + square;
	p->x = p->c + square;
	p->room = p->x + 4 * n;
	p->n = n;
	for (size_t i = 0; i < 2 * square; i++)
		p->a[i] = random_number(&seed);
	return 0;
}

static void tell_all(struct measured *t, const struct wish *w, const struct product *own,
		     const struct product *other, const struct err *absent)
{
	const char *library = other->blas ? other->blas->library : NULL;

	snprintf(t->component, sizeof t->component, "sonde");
	json_put_text(&t->parameters, "dtype", "float64");
	json_put_int(&t->parameters, "size", w->size);
	json_put_int(&t->parameters, "threads", w->threads);
	json_put_int(&t->parameters, "repeats", w->repeats);
	json_put_real(&t->parameters, "seconds", (double)w->seconds_ns / 1e9);
	json_put_text(&t->parameters, "blas", library);
	json_put_real(&t->result, "residual", own->residual);
	json_put_real(&t->result, "blas_residual", library ? other->residual : (double)NAN);
	json_put_text(&t->info, "formula",
		      "rate = 2 size^3 products / seconds / 1e9, in GFLOP/s; blas_rate: the same "
		      "of the BLAS");
	json_put_text(&t->info, "score", "log10(rate / (10 GFLOP/s)), within -1 and 1");
	json_put_text(&t->info, "verified",
		      "each repeat, after Freivalds: |C x - A (B x)| / (|A| |B| |x| size epsilon) "
		      "of a random x is below 30, in maximum norms");
	json_put_text(&t->info, "blas_absent", library ? NULL : absent->text);
}

static int measure(const struct wish *w, struct measured *t, struct err *e)
{
	struct product own = { .n = 0 }, other;
	struct figure *rate = calloc(2, sizeof *rate);
	struct blas blas;
	struct err absent = { "none was asked for" };
	int rc = rate ? take_room(&own, w, e) : err_set(e, -ENOMEM, "out of memory");

	if (!rc)
		rc = repeat(&own, w, &rate[0], e);
	other = own;
	other.residual = 0;
	if (!rc && (!w->blas || strcmp(w->blas, "none") != 0)) {
		if (blas_load(&blas, w->blas, w->threads, &absent)) {
			other.blas = &blas;
			rc = repeat(&other, w, &rate[1], e);
		} else if (w->blas) {
			rc = err_set(e, -EINVAL, "%s", absent.text);
		}
	}
	if (!rc) {
		tell_all(t, w, &own, &other, &absent);
		measured_figure(t, "rate", &rate[0]);
		measured_figure(t, "blas_rate", &rate[1]);
		measured_score(t, figure_mean(&rate[0]), REFERENCE);
	}
	free(own.a);
	free(rate);
	return rc;
}

const struct indicator indicator_matmul = {
	.name = "matmul",
	.indicator = "SondeMatmul",
	.options = rows,
	.noptions = sizeof rows / sizeof rows[0],
	.measure = measure,
};
