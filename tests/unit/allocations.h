/* SPDX-License-Identifier: Apache-2.0 */
/* allocations.h - for tests: allocations are counted; not where SANITIZED, since a sanitizer brings
 * its own malloc.
 */
#ifndef SONDE_TESTS_UNIT_ALLOCATIONS_H
#define SONDE_TESTS_UNIT_ALLOCATIONS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

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
