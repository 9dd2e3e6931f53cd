/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - memory bandwidth as STREAM (McCalpin 1995) has it: copy, scale, add, triad. */
#include "indicator/indicator.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { KERNELS = 4, MIB = 1 << 20, UNKNOWN_CACHE_MIB = 64, TIMES_CACHE = 4 };
#define REFERENCE 10.0
/* sqrt(2) - 1: a pass leaves the numbers as large as they were, however many there are. */
#define SCALAR 0.41421356237309504880

static const struct option rows[] = {
	{ .name = "size",
	  .letter = 's',
	  .type = ARG_COUNT,
	  .value = "MIB",
	  .min = 1,
	  .max = 1 << 24,
	  .help = "MiB of each of three arrays; without it 4 times the caches of the last level.",
	  OPTION_OFFSET(struct wish, size) },
	WISH_THREADS,
	WISH_REPEATS,
};

/* STREAM counts what the program reads and writes, and not what a cache reads before it is
 * written to. */
static const struct {
	const char *name;
	double arrays;
} kernels[KERNELS] = {
	{ "copy_rate", 2 }, { "scale_rate", 2 }, { "add_rate", 3 }, { "triad_rate", 3 }
};

struct stream {
	double *a, *b, *c;
	size_t n; /* numbers of each */
	int64_t threads, times;
	unsigned kernel;
};

/* The kernels are functions of their own, so that no pass is left out for the next. */
#define KERNEL __attribute__((noinline)) static void

KERNEL fill(double *restrict a, double *restrict b, double *restrict c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		a[i] = 1;
		b[i] = 2;
		c[i] = 0;
	}
}

KERNEL copy(double *restrict c, const double *restrict a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		c[i] = a[i];
}

KERNEL scale(double *restrict b, const double *restrict c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b[i] = SCALAR * c[i];
}

KERNEL add(double *restrict c, const double *restrict a, const double *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		c[i] = a[i] + b[i];
}

KERNEL triad(double *restrict a, const double *restrict b, const double *restrict c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + SCALAR * c[i];
}

static void run_kernel(const struct stream *s, size_t from, size_t n)
{
	double *a = s->a + from, *b = s->b + from, *c = s->c + from;

	if (s->kernel == 0)
		copy(c, a, n);
	else if (s->kernel == 1)
		scale(b, c, n);
	else if (s->kernel == 2)
		add(c, a, b, n);
	else if (s->kernel == 3)
		triad(a, b, c, n);
	else
		fill(a, b, c, n); /* by who works on it later: on its NUMA node */
}

static void work(void *ctx, int64_t thread)
{
	struct stream *s = ctx;
	size_t share = (size_t)s->threads, t = (size_t)thread;
	size_t from = s->n / share * t, to = t + 1 == share ? s->n : s->n / share * (t + 1);

	for (int64_t i = 0; i < s->times; i++)
		run_kernel(s, from, to - from);
}

/* A repeat is each kernel so many times, which gives the same as once each: none reads what it
 * writes. */
static int repeat(struct stream *s, const struct wish *w, const struct team *team,
		  struct figure *rate, struct err *e)
{
	double seconds;
	int rc = 0;

	for (s->kernel = 0; s->kernel < KERNELS && !rc; s->kernel++) {
		rc = team_measure(team, w->seconds_ns, INT32_MAX, &s->times, &seconds, e);
		if (!rc)
			figure_add(&rate[s->kernel], kernels[s->kernel].arrays * sizeof(double) *
							     (double)s->n * (double)s->times /
							     seconds / 1e9);
	}
	return rc;
}

/* All numbers against those that the same passes make of one. */
static int check(const struct stream *s, int64_t passes, struct err *e)
{
	double a = 1, b = 2, c = 0, worst = 0;

	for (int64_t i = 0; i < passes; i++) {
		c = a;
		b = SCALAR * c;
		c = a + b;
		a = b + SCALAR * c;
	}
	for (size_t i = 0; i < s->n; i++) {
		double wrong = fmax(fabs(s->a[i] / a - 1),
				    fmax(fabs(s->b[i] / b - 1), fabs(s->c[i] / c - 1)));

		worst = wrong <= worst ? worst : wrong;
	}
	return worst < 1e-8
		       ? 0
		       : err_set(e, -EIO,
				 "the arrays do not hold what the kernels have to leave there: "
				 "the relative error is %.3g, and not below 1e-8",
				 worst);
}

static void tell_all(struct measured *t, const struct wish *w, int64_t mib, int64_t cache)
{
	snprintf(t->component, sizeof t->component, "memory");
	json_put_text(&t->parameters, "dtype", "float64");
	json_put_int(&t->parameters, "size", mib);
	json_put_int(&t->parameters, "threads", w->threads);
	json_put_int(&t->parameters, "repeats", w->repeats);
	json_put_real(&t->parameters, "seconds", (double)w->seconds_ns / 1e9);
	json_put_real(&t->parameters, "cache_mib", cache ? (double)cache / MIB : (double)NAN);
	json_put_text(&t->info, "formula",
		      "rate = bytes / seconds / 1e9, in GB/s, of copy c = a, scale b = q c, add c "
		      "= a + b, triad a = b + q c with q = sqrt(2) - 1; bytes by STREAM's "
		      "convention: 16, 16, 24, 24 for each number, without what a cache reads "
		      "before it is written to");
	json_put_text(&t->info, "score", "log10(triad_rate / (10 GB/s)), within -1 and 1");
	json_put_text(&t->info, "verified",
		      "all numbers of the three arrays after the last pass against what the same "
		      "passes make of one number, to 1e-8");
	json_put_text(&t->info, "warning",
		      cache && mib * MIB < TIMES_CACHE * cache
			      ? "the arrays are smaller than 4 times the last level of cache: this "
				"is in part the bandwidth of the cache"
			      : NULL);
}

static int take_room(struct stream *s, int64_t mib, struct err *e)
{
	char what[80];
	int rc;

	snprintf(what, sizeof what, "3 arrays of %" PRId64 " MiB", mib);
	rc = room_check(3.0 * (double)mib * MIB, what, e);
	if (rc)
		return rc;
	s->n = (size_t)mib * MIB / sizeof(double);
	s->a = aligned_alloc(64, 3 * s->n * sizeof(double));
	if (!s->a)
		return err_set(e, -ENOMEM, "out of memory for %s", what);
	s->b = s->a + s->n;
	s->c = s->b + s->n;
	return 0;
}

static int measure(const struct wish *w, struct measured *t, struct err *e)
{
	int64_t cache = room_cache(), mib = w->size;
	struct stream s = { .threads = w->threads, .times = 1, .kernel = KERNELS };
	const struct team team = { w->threads, work, &s };
	struct figure *rate = calloc(KERNELS, sizeof *rate);
	double seconds;
	int rc;

	if (!mib)
		mib = cache ? (TIMES_CACHE * cache + MIB - 1) / MIB : UNKNOWN_CACHE_MIB;
	rc = rate ? take_room(&s, mib, e) : err_set(e, -ENOMEM, "out of memory");
	if (!rc)
		rc = team_run(&team, &seconds, e);
	s.kernel = 0;
	if (!rc)
		rc = team_measure(&team, w->seconds_ns, INT32_MAX, &s.times, &seconds, e);
	for (int64_t i = 0; i < w->repeats && !rc; i++)
		rc = repeat(&s, w, &team, rate, e);
	if (!rc)
		rc = check(&s, w->repeats, e);
	if (!rc) {
		tell_all(t, w, mib, cache);
		for (size_t i = 0; i < KERNELS; i++)
			measured_figure(t, kernels[i].name, &rate[i]);
		measured_score(t, figure_mean(&rate[KERNELS - 1]), REFERENCE);
	}
	free(s.a);
	free(rate);
	return rc;
}

const struct indicator indicator_stream = {
	.name = "stream",
	.indicator = "SondeStream",
	.options = rows,
	.noptions = sizeof rows / sizeof rows[0],
	.measure = measure,
};
