/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - numbers and lines in the text the kernel gives, read by hand.
 *
 * Nothing goes past the NUL, nothing wraps: a number that does not fit is not a number. Blanks
 * (space and tab, never a newline) before a number are skipped. No locale, no allocation.
 */
#ifndef SONDE_BASE_TEXT_NUMBER_H
#define SONDE_BASE_TEXT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

const char *number_skip_blanks(const char *p);

/* Read a number at *p and move *p behind its digits. False when there is none or it does not fit;
 * *p then stands at what is not a number, and *out is untouched. */
bool number_u64(const char **p, uint64_t *out);
bool number_i64(const char **p, int64_t *out); /* a '-' may lead */
/* One of a row of counts: -1 when it is negative or does not fit, so that those behind it are still
 * read. Drivers do print 18446744073709551615. */
bool number_count(const char **p, int64_t *out);
/* "0.52" with decimals 2 gives 52: a number >= 0 with at most that many places. */
bool number_fixed(const char **p, unsigned decimals, int64_t *out);

/* A count added to a sum of such, which stops at the largest that there is. */
void number_add(int64_t *sum, int64_t count);

/* The start of the next line; at the last one, the NUL. */
const char *number_next_line(const char *p);
/* What follows key on the first line that starts with it; NULL when there is none. */
const char *number_find_line(const char *text, const char *key);

#endif
