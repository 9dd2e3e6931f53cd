/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity.h - amounts of CPUs and memory as Kubernetes writes them: "500m", "2", "1Gi", "129e6".
 */
#ifndef SONDE_BENCH_QUANTITY_H
#define SONDE_BENCH_QUANTITY_H

#include <stdbool.h>

/* A number >= 0, then nothing, an exponent, or one of n u m k M G T P E (powers of 1000) or Ki Mi
 * Gi Ti Pi Ei (of 1024); K is taken for k. False: it is none. */
bool quantity_read(const char *text, double *out);

#endif
