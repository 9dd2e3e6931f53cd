/* SPDX-License-Identifier: Apache-2.0 */
/* sanitized.h - for tests: whether this is built with SANITIZED code, which is several times as
 * slow, and which part of a long row of tries is made there. Without sanitizers, and with LONG in
 * the environment, all are: tests/run.sh runs a test that uses this in both ways.
 */
#ifndef SONDE_TESTS_UNIT_SANITIZED_H
#define SONDE_TESTS_UNIT_SANITIZED_H

#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

/* Every how many tries one is made: `stride` where SANITIZED, and else every one. */
static inline int sanitized_stride(int stride)
{
#ifdef SANITIZED
	const char *all = getenv("LONG");

	return all && *all ? 1 : stride;
#else
	(void)stride;
	return 1;
#endif
}

#endif
