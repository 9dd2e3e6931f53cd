/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h - three unlike jobs as numbers: 300 series, an hour at 1 Hz, the same on every machine.
 *
 * Made from a seed, after what was seen in real ones: counters of ticks and of bytes that move in
 * phases, gauges that step, gauges that never stand still, and much that never changes at all.
 */
#ifndef SONDE_BENCH_MATRIX_H
#define SONDE_BENCH_MATRIX_H

#include <stdint.h>
#include <string.h>

enum { MATRIX_SERIES = 300, MATRIX_ROWS = 3600 };

/* How a series moves. */
enum motion {
	MOTION_NONE,
	MOTION_TICKS,
	MOTION_CALLS,
	MOTION_BYTES,
	MOTION_STEPS,
	MOTION_DRIFT,
	MOTIONS
};

struct matrix_job {
	const char *name;
	uint64_t seed;
	unsigned busy_percent;     /* of the time that a thing is active */
	unsigned phase_rows;       /* mean length of an active or idle phase */
	unsigned percent[MOTIONS]; /* of the series; sums to 100 */
};

static const struct matrix_job matrix_jobs[] = {
	/* A Python program that learns: a few busy processes, many that wait, system counters. */
	{ "learning", 0x9e3779b97f4a7c15, 70, 40, { 38, 22, 12, 10, 8, 10 } },
	/* A compilation on all cores: everything moves. */
	{ "compiling", 0xd1b54a32d192ed03, 98, 60, { 2, 34, 24, 18, 4, 18 } },
	/* A service that waits for work. */
	{ "waiting", 0x8cb92ba72f3d8dd7, 4, 20, { 55, 15, 12, 6, 10, 2 } },
};

static inline uint64_t matrix_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* About 2^bits, with as many magnitudes below as real bursts have. */
static inline int64_t matrix_burst(uint64_t *seed, unsigned bits)
{
	uint64_t r = matrix_random(seed);

	return (int64_t)((r >> 16) & ((UINT64_C(1) << (bits - r % 4)) - 1));
}

static inline int64_t matrix_step(enum motion m, int64_t v, uint64_t *seed)
{
	uint64_t r = matrix_random(seed);

	switch (m) {
	case MOTION_TICKS: /* CPU in 10 ms units */
		return v + (int64_t)(r % 5 ? r >> 8 & 3 : r >> 8 & 63);
	case MOTION_CALLS: /* calls and faults */
		return v + (r % 3 ? matrix_burst(seed, 8) : 0);
	case MOTION_BYTES:
		return v + (r % 2 ? matrix_burst(seed, 17) : 0);
	case MOTION_STEPS: /* resident pages: mostly still */
		return r % 12 ? v : v + matrix_burst(seed, 12) - (1 << 10);
	case MOTION_DRIFT: /* free memory: never still */
		return v + matrix_burst(seed, 11) - (1 << 9);
	default:
		return v;
	}
}

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

/* value[row * MATRIX_SERIES + series]. Ten series side by side are one thing and rest together. */
static inline void matrix_fill(const struct matrix_job *job, int64_t *value)
{
	uint64_t seed = job->seed;
	uint8_t active[MATRIX_SERIES / 10] = { 0 };

	for (unsigned s = 0; s < MATRIX_SERIES; s++)
		value[s] = matrix_burst(&seed, 30);
	for (unsigned row = 1; row < MATRIX_ROWS; row++) {
		int64_t *now = value + (size_t)row * MATRIX_SERIES;

		memcpy(now, now - MATRIX_SERIES, MATRIX_SERIES * sizeof *now);
		for (unsigned s = 0; s < MATRIX_SERIES; s++) {
			if (s % 10 == 0 && matrix_random(&seed) % job->phase_rows == 0)
				active[s / 10] = matrix_random(&seed) % 100 < job->busy_percent;
			if (active[s / 10])
				now[s] = matrix_step(matrix_motion(job, s), now[s], &seed);
		}
	}
}

#endif
