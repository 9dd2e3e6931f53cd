/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orc_run.h - numbers as ORC's first version stores them: runs that grow by the same step, and
 * varints.
 */
#ifndef SONDE_SINK_COLUMNAR_ORC_RUN_H
#define SONDE_SINK_COLUMNAR_ORC_RUN_H

#include "base/bytes.h"

enum orc_sign { ORC_UNSIGNED = 0, ORC_SIGNED };

void orc_run_numbers(struct bytes *out, const int64_t *v, uint32_t n, enum orc_sign sign);
/* n bits, the lowest of each byte first; ORC wants the highest first. */
void orc_run_bits(struct bytes *out, const uint8_t *bits, uint32_t n);

#endif
