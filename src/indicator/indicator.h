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

#include "base/text/args.h"
#include "indicator/measured.h"

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

#endif
