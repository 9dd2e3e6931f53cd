/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measured.h - what an indicator prints: parameters, figures with their variance, how they were
 * made.
 *
 * A figure is NAME (the mean of its repeats), NAME_stdev (of a sample), NAME_min, NAME_max and
 * NAME_cv; without a repeat, all are null: it is not known, and not 0.
 */
#ifndef SONDE_INDICATOR_MEASURED_H
#define SONDE_INDICATOR_MEASURED_H

#include "base/text/json.h"

#include <stdint.h>

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

void measured_begin(struct measured *t);
void measured_figure(struct measured *t, const char *name, const struct figure *f);
/* -1..1: 0 as fast as the reference, 1 ten times that and more, -1 a tenth and less. */
void measured_score(struct measured *t, double value, double reference);
/* The whole document, with a newline. False: out of memory. */
bool measured_end(struct measured *t, const char *indicator, struct bytes *out);
void measured_free(struct measured *t);

#endif
