/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - small things that are made one by one and freed all at once: strings of a run.
 *
 * What it returns never moves. {0} is empty and safe to free.
 */
#ifndef SONDE_BASE_POOL_H
#define SONDE_BASE_POOL_H

#include <stddef.h>

struct pool {
	struct pool_block *block;
	size_t used, cap; /* of the newest block */
};

void *pool_take(struct pool *p, size_t size); /* aligned for any integer; NULL when out of memory */
/* A NUL-terminated copy of n bytes; NULL when out of memory. */
char *pool_text(struct pool *p, const char *text, size_t n);
/* Forget what it holds and keep one block, for what comes next. */
void pool_empty(struct pool *p);
void pool_free(struct pool *p);

#endif
