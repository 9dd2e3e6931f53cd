/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csvfile.h - plain CSV as scripts write it, line by line: no quotes, numbers and names only.
 */
#ifndef SONDE_IMPORT_CSVFILE_H
#define SONDE_IMPORT_CSVFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CSVFILE_LINE_SIZE = 16384, CSVFILE_CELLS_MAX = 128 };

struct csvfile {
	FILE *file;
	char line[CSVFILE_LINE_SIZE]; /* without its end */
};

/* 1; 0 at the end; -1: a line that is too long, or that was still being written. */
int csvfile_next(struct csvfile *r);
/* The cells of the line, which is cut up, at most CSVFILE_CELLS_MAX; more are left out. */
uint32_t csvfile_split(struct csvfile *r, char **cell);
/* A finite decimal number, and nothing else. */
bool csvfile_number(const char *text, double *out);

#endif
