/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print.h - a command's whole result to standard output, or the sentence why not.
 *
 * The reason of a failed write is known only right after it, so it is said here and not at the end.
 */
#ifndef SONDE_CONSOLE_PRINT_H
#define SONDE_CONSOLE_PRINT_H

#include "base/bytes.h"

#include <stdio.h>

/* Empties b. An exit code. */
int print_bytes(struct bytes *b);
/* What was said last as JSON, schema sonde/error/1, in place of the document that there is none of.
 */
void print_error_json(FILE *out, const char *command);

#endif
