/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - where the level of a series of measurements changed: after which value, by how much,
 * and how sure that is.
 *
 * Neighbours may be alike (autocorrelation of the first order) and values may lie far out: what is
 * tested are ranks, and what chance does is simulated with the likeness that was found. A series
 * that never changed has a change found in it in one of a hundred cases. Deterministic. A slow
 * drift is not a change of level, but is found as one or several. docs/bench.md tells how often
 * each answer is wrong.
 */
#ifndef SONDE_CORE_STATISTICS_CHANGE_H
#define SONDE_CORE_STATISTICS_CHANGE_H

#include <stdint.h>

enum {
	CHANGE_SIDE = 5,                /* a level is of so many values at least */
	CHANGE_LEAST = 2 * CHANGE_SIDE, /* values of a series that can tell anything */
	CHANGE_MOST = 20000             /* values that are looked at */
};

struct change {
	uint32_t at;        /* the first value of the new level */
	uint32_t low, high; /* at lies in here, with 95 % */
	double p; /* of such a change somewhere, if there were none; simulated: 0.001 at least */
	double before, after; /* levels between this change and its neighbours: trimmed means */
	double difference, difference_low, difference_high; /* 95 %; ends NAN: not known */
};

struct changes {
	struct change *change; /* in the order of the series */
	uint32_t n, cap;
	double likeness; /* of neighbours, 0..1, without the changes */
};

/* Of n values, all finite. 0; -ENOMEM; -E2BIG: more than CHANGE_MOST. Free in either case. */
int changes_find(struct changes *c, const double *value, uint32_t n);
void changes_free(struct changes *c);

#endif
