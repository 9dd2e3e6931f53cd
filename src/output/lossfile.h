/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lossfile.h - losses.csv: what the recording lost or left out, beside tables of a format that has
 * no place for such words.
 */
#ifndef SONDE_OUTPUT_LOSSFILE_H
#define SONDE_OUTPUT_LOSSFILE_H

#include "output/tablefile.h"

/* Nothing is written where nothing was lost that matters, or not into a directory. 0 or -errno. */
int lossfile_write(const struct tablefile *to, const struct run *r, struct err *e);

#endif
