/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.h - of all that pip printed when it failed, the line that says why.
 *
 * Which packages are in conflict pip prints to standard output, and to standard error only that
 * there are some; which versions it ignored it prints before the error, as one.
 */
#ifndef SONDE_SWEEP_KNOWN_H
#define SONDE_SWEEP_KNOWN_H

#include <stddef.h>

/* text: standard output, a line feed, standard error. Other programs' last line is taken. "": there
 * is none. */
void pipwords_reason(const char *text, char *out, size_t size);

#endif
