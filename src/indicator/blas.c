/* SPDX-License-Identifier: Apache-2.0 */
#include "indicator/blas.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Debian's libblas.so.3 is whichever implementation was chosen there. */
static const char *const known[] = { "libopenblas.so.0", "libblis.so.4", "libmkl_rt.so.2",
				     "libmkl_rt.so",     "libblas.so.3", "libarmpl_lp64.so" };
static const char *const thread_variables[] = { "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
						"MKL_NUM_THREADS", "BLIS_NUM_THREADS" };

static bool load(struct blas *b, const char *name)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL), *function;
	Dl_info from;

	if (!library)
		return false;
	function = dlsym(library, "dgemm_");
	if (!function) {
		dlclose(library);
		return false;
	}
	memcpy(&b->dgemm, &function, sizeof function);
	snprintf(b->library, sizeof b->library, "%s",
		 dladdr(function, &from) && from.dli_fname ? from.dli_fname : name);
	return true;
}

bool blas_load(struct blas *b, const char *name, int64_t threads, struct err *e)
{
	char number[24];

	snprintf(number, sizeof number, "%" PRId64, threads);
	for (size_t i = 0; i < sizeof thread_variables / sizeof thread_variables[0]; i++)
		setenv(thread_variables[i], number, 1);
	if (name) {
		if (load(b, name))
			return true;
		err_set(e, -ENOENT, "%.300s is not a library with dgemm_", name);
		return false;
	}
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (load(b, known[i]))
			return true;
	err_set(e, -ENOENT,
		"there is none: libopenblas.so.0, libblis.so.4, libmkl_rt.so, libblas.so.3 and "
		"libarmpl_lp64.so were looked for");
	return false;
}

/* Its matrices are columns behind each other, which makes a row of ours a column of theirs: the
 * product of the transposed is the transposed of the product in the other order. */
void blas_multiply(const struct blas *x, double *c, const double *a, const double *b, int64_t n)
{
	const double one = 1, zero = 0;

	x->dgemm("N", "N", &n, &n, &n, &one, b, &n, a, &n, &zero, c, &n, (size_t)1, (size_t)1);
}
