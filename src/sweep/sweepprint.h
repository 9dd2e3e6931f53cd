/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweepprint.h - what `bench sweep` prints: what it would run, and the report of what it ran.
 */
#ifndef SONDE_SWEEP_SWEEPPRINT_H
#define SONDE_SWEEP_SWEEPPRINT_H

#include "sweep/sweeping.h"

/* The combinations in the order they would be tried. EXIT_OK, or another code, and it has said why.
 */
int sweepprint_plan(struct sweeping *x);
/* What came of them, also to report.json of the sweep's directory. *well: no trial failed or is
 * missing. */
int sweepprint_report(struct sweeping *x, bool *well);

#endif
