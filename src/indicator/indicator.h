/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indicator.h - a built-in benchmark: one const struct in its own file, one line in
 * indicators.def.
 *
 * It measures each figure several times, checks what it computed, and tells both under the contract
 * of docs/bench.md. Nothing is told of a measurement whose result was wrong.
 */
#ifndef SONDE_INDICATOR_INDICATOR_H
#define SONDE_INDICATOR_INDICATOR_H

#include "base/err.h"
#include "base/text/args.h"
#include "base/text/json.h"

#include <stdint.h>

/* What an indicator prints: parameters, figures with their variance, how they were made.
 *
 * A figure is NAME (the mean of its repeats), NAME_stdev (of a sample), NAME_min, NAME_max and
 * NAME_cv; without a repeat, all are null: it is not known, and not 0. */

enum { FIGURE_REPEATS = 1000 };

/* The repeats of one figure. */
struct figure {
	double value[FIGURE_REPEATS];
	uint32_t n;
};

void figure_add(struct figure *f, double value);
double figure_mean(const struct figure *f); /* NAN of none */

struct measured {
	struct bytes text[3];
	struct json parameters, result, info;
	char component[64]; /* what is measured, in lower case */
	double score;       /* NAN: none */
};

void measured_figure(struct measured *t, const char *name, const struct figure *f);
/* -1..1: 0 as fast as the reference, 1 ten times that and more, -1 a tenth and less. */
void measured_score(struct measured *t, double value, double reference);

/* What may be asked of one. Each has rows for those that it knows. */
struct wish {
	int64_t size, threads, repeats, seconds_ns, files;
	bool sync;
	const char *directory, *blas;
};

enum { THREADS_MAX = 1024 };

#define WISH_REPEATS                                                                               \
	{ .name = "repeats",                                                                       \
	  .letter = 'n',                                                                           \
	  .type = ARG_COUNT,                                                                       \
	  .value = "N",                                                                            \
	  .fallback = "5",                                                                         \
	  .min = 1,                                                                                \
	  .max = FIGURE_REPEATS,                                                                   \
	  .help = "How often each figure is measured.",                                            \
	  OPTION_OFFSET(struct wish, repeats) },                                                   \
	{                                                                                          \
		.name = "seconds", .type = ARG_DURATION, .value = "TIME", .fallback = "200ms",     \
		.min = 1000000, .max = INT64_C(3600000000000),                                     \
		.help = "How long each measurement takes at least.",                               \
		OPTION_OFFSET(struct wish, seconds_ns)                                             \
	}
#define WISH_THREADS                                                                               \
	{                                                                                          \
		.name = "threads", .letter = 't', .type = ARG_COUNT, .value = "N",                 \
		.fallback = "1", .min = 1, .max = THREADS_MAX,                                     \
		.help = "How many threads work at a time.", OPTION_OFFSET(struct wish, threads)    \
	}

struct indicator {
	const char *name;      /* "matmul", on the command line */
	const char *indicator; /* "SondeMatmul", in the store */
	const struct option *options;
	size_t noptions;
	/* 0; -EINVAL: what is asked cannot be, a sentence says why; -errno. */
	int (*measure)(const struct wish *w, struct measured *t, struct err *e);
};

/*
 * How much memory there is for a measurement, and how large the caches are that it has to
 * exceed.
 */

/* Of what is free, no indicator takes more than one part in so many. */
enum { ROOM_SHARE = 4 };

/* Bytes that are free, by MemAvailable and by the limits of the control groups this process is in;
 * -1: not known. */
int64_t room_free(void);
/* 0, or -EINVAL when that many bytes are more than the share. what is asked: "3 arrays of 64 MiB"
 */
int room_check(double bytes, const char *what, struct err *e);
/* Of the last level, all of them together; 0: not known. */
int64_t room_cache(void);

/*
 * Work that several threads do at a time, and how long it took: from the first that began
 * to the last that ended, by the monotonic clock.
 */

struct team {
	int64_t threads;
	void (*work)(void *ctx, int64_t thread); /* begun by all at once */
	void *ctx;
};

/* 0 and the seconds, or -errno when so many threads cannot be had: then nobody worked. */
int team_run(const struct team *t, double *seconds, struct err *e);

/* The same of work that is repeated *times times, which grows, at most to most, until that takes so
 * long at least. */
int team_measure(const struct team *t, int64_t seconds_ns, int64_t most, int64_t *times,
		 double *seconds, struct err *e);

#endif
