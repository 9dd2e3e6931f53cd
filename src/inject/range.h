/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.h - what interfaces of marking have in common: ranges of a thread that end in the order of
 * a stack, each domain by itself, ranges that end anywhere by a key, and the names of both.
 *
 * A thread's state is memory of its own behind one pointer, since a library that is loaded late has
 * little room in the static block of a thread.
 */
#ifndef SONDE_INJECT_RANGE_H
#define SONDE_INJECT_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* The number of "DOMAIN: TEXT"; of a domain that is NULL or empty, of the text. A domain's text
 * stays where it is as long as the process lives. */
uint32_t range_name(const char *domain, const char *text);

/* A range of the domain begins in this thread. How many were open; -1: it is not recorded. */
int range_push(const void *domain, uint32_t name);
/* The innermost of the domain ends. How many are open; -1: none was. */
int range_pop(const void *domain);
/* As range_pop; it ended at to_ns of the monotonic clock, when this thread was not told. */
int range_pop_at(const void *domain, int64_t to_ns);

/* A range that may end in any thread. */
struct range_key {
	const void *domain;
	uint64_t id[3];
};
/* parent: that of the range that it is part of; NULL: of none. */
void range_begin(const struct range_key *k, uint32_t name, const struct range_key *parent);
void range_end(const struct range_key *k);

#endif
