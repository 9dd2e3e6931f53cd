/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spins.h - is an instruction in a loop that does nothing but look at memory? So a thread waits for
 * another one without sleeping, whatever its function is called.
 *
 * Of x86-64 alone. A loop that computes, stores, calls or goes from one element to the next is
 * none. Code is hostile bytes.
 */
#ifndef SONDE_WAITS_SPINS_H
#define SONDE_WAITS_SPINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* code[at] is where an instruction begins, which was sampled. */
bool spins_at(const uint8_t *code, size_t n, size_t at);

#endif
