/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.c - products of square matrices: by Sonde's own kernel, and by a BLAS. */
#include "base/random.h"
#include "indicator/blas.h"
#include "indicator/indicator.h"
#include "indicator/kernel.h"
#include "indicator/room.h"
#include "indicator/team.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
