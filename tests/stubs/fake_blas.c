/* SPDX-License-Identifier: Apache-2.0 */
/* fake_blas.c - a product of matrices as a BLAS has it, of which FAKE_BLAS_WRONG makes one number
 * wrong; FAKE_BLAS_WIDE: its numbers are 64 bits wide. */
#include <stdint.h>
#include <stdlib.h>

void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
	    const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
	    const double *beta, double *c, const int *ldc);

void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
	    const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
	    const double *beta, double *c, const int *ldc)
{
	const int64_t *wide = getenv("FAKE_BLAS_WIDE") ? (const void *)m : NULL;

	if (wide && *wide != *m)
		abort();
	if (*ta != 'N' || *tb != 'N' || *alpha != 1 || *beta != 0)
		abort();
	for (int j = 0; j < *n; j++)
		for (int i = 0; i < *m; i++) {
			double sum = 0;

			for (int x = 0; x < *k; x++)
				sum += a[i + x * *lda] * b[x + j * *ldb];
			c[i + j * *ldc] = sum;
		}
	if (getenv("FAKE_BLAS_WRONG"))
		c[*m / 2] += 0.001;
}
