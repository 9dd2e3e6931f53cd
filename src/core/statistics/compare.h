/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - two groups of repeated measurements: by how much B is more than A, how sure that is,
 * and whether it is a difference that matters.
 *
 * Everything is decided by one interval of the difference of the groups' centres and by a margin,
 * below which a difference does not matter. Repeats are not taken to be independent: what the
 * order they were measured in tells of drift and of neighbours that are alike widens the interval.
 * docs/compare.md has the formulas, their sources, and how often each answer is wrong.
 */
#ifndef SONDE_CORE_STATISTICS_COMPARE_H
#define SONDE_CORE_STATISTICS_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

enum finding_of_two {
	COMPARE_UNKNOWN = 0,  /* a group has no value: nothing to compare */
	COMPARE_INCONCLUSIVE, /* neither a difference nor its absence is shown */
	COMPARE_SAME, /* the interval lies within the margin: what there is does not matter */
	COMPARE_MORE, /* B is more than A, and by as much as matters, for all that is known */
	COMPARE_LESS,
	COMPARE_NUMBER_OF
};

struct sample_group {
	const double *value; /* [n] finite */
	const int64_t *at;   /* [n] when each was measured, on one clock for both groups; NULL: not
				known, and each is taken to be independent */
	uint32_t n;
};

struct compare_wish {
	double margin_ratio;    /* of the centre of A */
	double margin_absolute; /* in the unit of the values; the larger of the two is the margin */
	double level;           /* of the interval, as 0.95 */
	/* What is known of the spread of single values beside the groups: the standard deviation
	 * and its degrees of freedom; 0: nothing. */
	double spread, spread_df;
	/* The values are parts of a whole: means are compared, so that differences of parts add up
	 * to that of the whole; the groups are taken to vary alike (Student's t); and a drift is
	 * not taken out, but told by p_drift. */
	bool parts;
};

struct compared {
	enum finding_of_two finding;
	uint32_t na, nb;
	double a, b; /* centres, as measured: trimmed means, or means of less than 8 */
	/* b - a, without the drift where one was taken out, and its interval; ends NAN: no spread
	 * is known */
	double difference, low, high;
	double margin;   /* that was applied */
	double p;        /* two-sided, of no difference */
	double p_drift;  /* one-sided, of none were it not for a straight drift */
	double p_same;   /* of a difference of the margin or more (TOST) */
	double effect;   /* Cliff's delta, -1..1 */
	double p_ranks;  /* Mann-Whitney, two-sided: a second opinion */
	double spread;   /* standard deviation of one value, of both groups */
	double likeness; /* of neighbours in time: the correlation that was allowed for, 0..1 */
	double drift;    /* per run, taken out before; 0: none was seen */
	double widened;  /* by how much both made the interval wider, at least 1 */
};

/* 0 or -ENOMEM. */
int compare_groups(struct compared *out, const struct sample_group *a, const struct sample_group *b,
		   const struct compare_wish *w);
/* The finding when p is another, as after a correction for several questions. */
enum finding_of_two compare_finding(const struct compared *c, double p, double level);
/* How many values of such a spread each group needs, so that 'same' is found in 9 of 10 cases
 * where there is no difference, and a difference of the margin at least as often. 0: more than a
 * million, or not known. */
uint32_t compare_repeats(double spread, double margin, double level);

/* Two groups by the order of their values alone: no outlier weighs more than one value. */
struct ranks {
	double u; /* pairs in which b is more; those that are equal count half */
	double p; /* Mann and Whitney 1947, two-sided: exact up to 20 values each that all differ,
		   * else normal, with correction for ties and continuity */
	double delta; /* Cliff 1993: P(b > a) - P(b < a), -1..1 */
};

/* Of a copy of each group, sorted. NAN where a group is empty. */
struct ranks ranks_of(const double *a, uint32_t na, const double *b, uint32_t nb);

#endif
