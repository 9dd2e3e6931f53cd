/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs_check.h - the data files that travel in the program, read as the program reads them: rules,
 * phases, events, maps, models. The build does this, so that a fault in one stops it and is named
 * with the file's own line, not with a line of all files in one piece.
 */
#ifndef SONDE_CMD_DOCS_CHECK_H
#define SONDE_CMD_DOCS_CHECK_H

#include "base/err.h"

/* The kind of a file is what its name ends in; names of rules are unique among all files given.
 * 0, or -errno with a sentence about the first fault. */
int docs_check(char *const *paths, int n, struct err *e);

#endif
