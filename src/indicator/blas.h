/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - the product of matrices of a BLAS that this machine has, loaded when it is measured.
 */
#ifndef SONDE_INDICATOR_BLAS_H
#define SONDE_INDICATOR_BLAS_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct blas {
	/* Its numbers are int, or 64 bits wide where it was built so: a little-endian one is both.
	 */
	void (*dgemm)(const char *, const char *, const int64_t *, const int64_t *, const int64_t *,
		      const double *, const double *, const int64_t *, const double *,
		      const int64_t *, const double *, double *, const int64_t *, ...);
	char library[PATH_MAX]; /* the file it came from */
};

/* name: a file or a library's name; NULL: the first that is found of those that are known. It is
 * told to use so many threads. False with a sentence when there is none; and the process stays as
 * it is. */
bool blas_load(struct blas *b, const char *name, int64_t threads, struct err *e);
/* c = a * b, of matrices of n rows and columns, a row behind the other. */
void blas_multiply(const struct blas *x, double *c, const double *a, const double *b, int64_t n);

#endif
