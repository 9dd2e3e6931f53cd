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

#endif
