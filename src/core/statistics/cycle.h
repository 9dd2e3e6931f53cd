/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle.h - what repeats in some series: a period, and where each repeat begins, although repeats
 * take unequal times.
 *
 * Each series is looked at by itself, on a scale on which a period is 12 to 24 values (finer ones
 * as they are). Periods are proposed by the difference function of YIN (A. de Cheveigne and H.
 * Kawahara, J. Acoust. Soc. Am. 111, 2002); beginnings are placed by dynamic programming, as beats
 * in music are (D. Ellis, J. New Music Research 36, 2007), where a pattern, which is the mean of
 * all repeats, fits best. It counts only if it fits far better than in the same series with pieces
 * of about a period in random order. Deterministic. {0} is empty and safe to free.
 */
#ifndef SONDE_CORE_STATISTICS_CYCLE_H
#define SONDE_CORE_STATISTICS_CYCLE_H

#include <stdint.h>

/* Values of a series that can tell anything, repeats that are enough, values of a repeat. */
enum { CYCLE_LEAST = 40, CYCLE_REPEATS = 8, CYCLE_VALUES = 4 };

/* Where a repeat begins, in values from the first, and how well the pattern fits there. */
struct cycle_beginning {
	double at, fit;
};

struct cycle {
	struct cycle_beginning *begin; /* [n] growing; NULL: none */
	uint32_t n;                    /* the repeats are one fewer */
	double grain;                  /* how exact beginnings are, in values */
	uint32_t signal;               /* that shows them best */
	double fit;                    /* how well the pattern fits, on average: 1 is exactly */
	double worth, period;          /* of the parts of repeats: what was found at first */
	double beyond; /* how many standard deviations better than in random order */
};

/* Of nsignals series of n values each, at equal distances; NAN: not known. 0 or -ENOMEM. Free in
 * either case. */
int cycle_find(struct cycle *c, const double *const *signal, uint32_t nsignals, uint32_t n);
void cycle_free(struct cycle *c);

#endif
