/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - numbers that look random and are the same each time: for simulations, never for
 * secrets.
 *
 * Equal seeds give equal numbers, on every machine.
 */
#ifndef SONDE_BASE_RANDOM_H
#define SONDE_BASE_RANDOM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state; /* the seed, at first */
};

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
uint64_t random_u64(struct random *r);
/* 0 <= x < 1. */
double random_unit(struct random *r);
/* Standard normal, by the polar method (Marsaglia and Bray 1964). */
double random_normal(struct random *r);

/*
 * Random bytes of the kernel's, which nobody can guess. It never blocks.
 */
/* False, with errno, when the kernel gives none. */
bool entropy_fill(void *out, size_t n);

/*
 * A number that only one page has. Only scripts and styles that carry it may act, so that
 * nothing smuggled in by a name could.
 */

enum { NONCE_SIZE = 33 };

/* 32 hexadecimal digits and a NUL. 0, or -errno with a sentence. */
int nonce_make(char out[NONCE_SIZE], struct err *e);

#endif
