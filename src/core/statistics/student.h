/* SPDX-License-Identifier: Apache-2.0 */
/*
 * student.h - Student's t, the normal and the F distribution: what is needed of them for intervals
 * and tests.
 *
 * Equal to SciPy's to 1e-9, relatively, also far out in the tails. Degrees of freedom are positive
 * and need not be whole.
 */
#ifndef SONDE_CORE_STATISTICS_STUDENT_H
#define SONDE_CORE_STATISTICS_STUDENT_H

/* P(T > t). */
double student_above(double t, double df);
/* P(|T| > |t|). */
double student_beyond(double t, double df);
/* The t with P(T > t) = p, 0 < p < 1. */
double student_quantile(double p, double df);

/* P(Z > z). */
double normal_above(double z);

/* P(F > f) of the F distribution; to 1e-9 for degrees of freedom up to 1e5. */
double f_above(double f, double df1, double df2);

#endif
