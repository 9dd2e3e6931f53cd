/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - Sonde's own product of matrices: blocked for the caches, in vectors of two numbers,
 * which every architecture has. Not what a tuned library reaches, but the same everywhere.
 */
#ifndef SONDE_INDICATOR_KERNEL_H
#define SONDE_INDICATOR_KERNEL_H

#include <stddef.h>

/* Numbers of room that one call needs beside the matrices. */
enum { KERNEL_DEPTH = 256, KERNEL_WIDTH = 128, KERNEL_ROOM = KERNEL_DEPTH * KERNEL_WIDTH };

/* Matrices of n rows and columns, a row behind the other. */
struct product_part {
	const double *a, *b;
	double *c;
	size_t n, first, last; /* its rows are first..last - 1 */
	double *room;          /* [KERNEL_ROOM] */
};

/* Those rows of c = a * b. */
void kernel_multiply(const struct product_part *p);

#endif
