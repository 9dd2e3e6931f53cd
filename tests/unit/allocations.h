/* SPDX-License-Identifier: Apache-2.0 */
/* allocations.h - for tests: allocations are counted; not where SANITIZED, since a sanitizer brings
 * its own malloc.
 */
#ifndef SONDE_TESTS_UNIT_ALLOCATIONS_H
#define SONDE_TESTS_UNIT_ALLOCATIONS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "unit/sanitized.h"

#ifndef SANITIZED
static atomic_ulong allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	allocations++;
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	allocations++;
	return __libc_realloc(p, size);
}
#endif

#endif
