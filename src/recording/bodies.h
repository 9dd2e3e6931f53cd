/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bodies.h - the order in which the bodies of a chunk's columns stand: the largest first, those of
 * one size in order of series.
 *
 * Columns of one size are of one kind, and bytes of one kind side by side are compressed better.
 * The footer has the sizes, so a reader needs nothing else to know the order.
 */
#ifndef SONDE_RECORDING_BODIES_H
#define SONDE_RECORDING_BODIES_H

#include <stdint.h>

struct body {
	uint32_t size;
	uint32_t column;
};

/* Bring them from the order of columns into that of bodies. Behind them is room for as many. */
void bodies_sort(struct body *body, uint32_t n);

#endif
