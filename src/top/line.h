/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - a running job on one line, for `sonde run --progress`.
 */
#ifndef SONDE_TOP_LINE_H
#define SONDE_TOP_LINE_H

#include "base/bytes.h"
#include "live/now.h"

/* Append the time and those figures that are known and fit whole into so many columns: plain ASCII.
 */
void line_put(struct bytes *out, const struct now *now, double elapsed_s, unsigned columns);

#endif
