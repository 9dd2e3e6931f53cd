/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell.h - a number with its unit as the text of a table's cell on a terminal.
 */
#ifndef SONDE_REPORT_CELL_H
#define SONDE_REPORT_CELL_H

#include "core/metric.h"

enum { CELL = 16 };

/* What is not known (NAN) is a dash, not a 0. Returns out. */
const char *cell_text(char out[CELL], enum unit unit, double v);

/* Cores in use: two digits after the point are all that a reader takes in. Returns out. */
const char *cell_cores(char out[CELL], double v);
/* A part of a whole in whole percent: "under 1 %" is not 0. Returns out. */
const char *cell_share(char out[CELL], double v);

#endif
