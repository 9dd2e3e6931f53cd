/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h - jobs as numbers: 300 series, an hour at 1 Hz, the same on every machine.
 *
 * Made from a seed, after what was seen in real ones. Ten series side by side are one thing (a
 * process, a disk): it has phases of rest and of work, and each of its series works at a rate of
 * its own, drawn anew for every phase over all magnitudes that occur.
 */
#ifndef SONDE_BENCH_MATRIX_H
#define SONDE_BENCH_MATRIX_H

#include <stdint.h>
#include <string.h>

enum { MATRIX_SERIES = 300, MATRIX_ROWS = 3600, MATRIX_THING = 10 };

/* How a series moves. */
enum motion {
	MOTION_NONE,
	MOTION_TICKS,   /* CPU time in 10 ms: up to 128 a second */
	MOTION_CALLS,   /* calls, faults, switches: one in 16 s to 4096 a second */
	MOTION_BLOCKS,  /* bytes of whole 4 KiB blocks: one in 16 s to 16384 a second */
	MOTION_BYTES,   /* bytes of a network: 64 to 16 Mi a second */
	MOTION_PAGES,   /* resident pages: mostly still, then up or down by 1 to 4096 */
	MOTION_BALANCE, /* free memory in kB: never still, 1 to 256 pages up or down */
	MOTIONS
};

struct matrix_job {
	const char *name;
	uint64_t seed;
	unsigned busy_permille;    /* of a thing's phases */
	unsigned phase_rows;       /* mean length of a phase */
	unsigned percent[MOTIONS]; /* of the series; sums to 100 */
};

static const struct matrix_job matrix_jobs[] = {
	/* 120 series that never change and 180 that do in phases: a job of a dozen processes and
	 * its node. Seven values in ten are as before. */
	{ "mixed", 0x9e3779b97f4a7c15, 595, 40, { 40, 16, 14, 7, 5, 8, 10 } },
	/* All 300 series move, nearly always. Three values in ten are as before. */
	{ "busy", 0xd1b54a32d192ed03, 938, 60, { 0, 26, 24, 12, 8, 14, 16 } },
	/* A service that waits for work. */
	{ "waiting", 0x8cb92ba72f3d8dd7, 20, 20, { 55, 15, 12, 4, 4, 8, 2 } },
};
enum { MATRIX_JOBS = sizeof matrix_jobs / sizeof matrix_jobs[0] };

static inline uint64_t matrix_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed * UINT64_C(0x2545f4914f6cdd1d) >> 32;
}

/* About 2^low to 2^high, every magnitude as often as another. */
static inline int64_t matrix_rate(uint64_t *seed, unsigned low, unsigned high)
{
	unsigned bits = low + (unsigned)(matrix_random(seed) % (high - low));

	return (INT64_C(1) << bits) + (int64_t)(matrix_random(seed) & ((UINT64_C(1) << bits) - 1));
}

/* In sixteenths, so that there are rates of less than one a sample. */
static inline int64_t matrix_phase_rate(enum motion m, uint64_t *seed)
{
	static const uint8_t low[MOTIONS] = { 0, 0, 0, 0, 10, 4, 4 };
	static const uint8_t high[MOTIONS] = { 1, 11, 16, 18, 28, 16, 12 };

	return matrix_rate(seed, low[m], high[m]);
}

/* The rate, give or take a half, in whole ones. */
static inline int64_t matrix_about(int64_t rate, uint64_t *seed)
{
	int64_t sixteenths = rate / 2 + (int64_t)(matrix_random(seed) % (uint64_t)(rate + 1));

	return (sixteenths + (int64_t)(matrix_random(seed) % 16)) / 16;
}

static inline int64_t matrix_step(enum motion m, int64_t rate, uint64_t *seed)
{
	int64_t by = matrix_about(rate, seed), sign = matrix_random(seed) & 1 ? 1 : -1;

	switch (m) {
	case MOTION_NONE:
		return 0;
	case MOTION_BLOCKS:
		return by * 4096;
	case MOTION_PAGES:
		return matrix_random(seed) % 4 ? 0 : sign * by;
	case MOTION_BALANCE:
		return sign * by * 4;
	default:
		return by;
	}
}

/* Spread over the things, so that each has series of several kinds. */
static inline enum motion matrix_motion(const struct matrix_job *job, unsigned series)
{
	unsigned at = series * 37 % 100, sum = 0;

	for (int m = 0; m < MOTIONS; m++) {
		sum += job->percent[m];
		if (at < sum)
			return (enum motion)m;
	}
	return MOTION_NONE;
}

/* A new phase of the thing whose first series this is: at rest, or each series at a new rate. */
static inline void matrix_phase(const struct matrix_job *job, unsigned first, int64_t *rate,
				uint64_t *seed)
{
	int busy = matrix_random(seed) % 1000 < job->busy_permille;

	for (unsigned s = first; s < first + MATRIX_THING; s++)
		rate[s] = busy ? matrix_phase_rate(matrix_motion(job, s), seed) : 0;
}

/* value[row * MATRIX_SERIES + series] */
static inline void matrix_fill(const struct matrix_job *job, int64_t *value)
{
	int64_t rate[MATRIX_SERIES];
	uint64_t seed = job->seed;

	for (unsigned s = 0; s < MATRIX_SERIES; s++)
		value[s] = matrix_rate(&seed, 0, 32);
	for (unsigned row = 1; row < MATRIX_ROWS; row++) {
		int64_t *now = value + (size_t)row * MATRIX_SERIES;

		for (unsigned s = 0; s < MATRIX_SERIES; s++) {
			if (s % MATRIX_THING == 0 &&
			    (row == 1 || matrix_random(&seed) % job->phase_rows == 0))
				matrix_phase(job, s, rate, &seed);
			now[s] = now[(int)s - MATRIX_SERIES] +
				 (rate[s] ? matrix_step(matrix_motion(job, s), rate[s], &seed) : 0);
		}
	}
}

#endif
