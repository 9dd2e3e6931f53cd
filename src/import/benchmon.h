/* SPDX-License-Identifier: Apache-2.0 */
/*
 * benchmon.h - the files that SKA's benchmon writes of a node, and what their columns are in Sonde;
 * a row each. Private to import/benchmon*.c.
 */
#ifndef SONDE_IMPORT_BENCHMON_H
#define SONDE_IMPORT_BENCHMON_H

#include "import/importer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Plain CSV as scripts write it, line by line: no quotes, numbers and names only. */

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

struct benchmon_column {
	const char *column, *metric;
	double factor; /* value = what was read / factor */
};

struct benchmon_trace {
	const char *file, *binary;             /* binary: the other form of it; NULL: it has none */
	const struct benchmon_column *columns; /* to the one without a name */
	const char *device; /* the column that names it; NULL: the file is of the node */
	/* What a row's device is called here, in place; false: it is none. disks: ",sda,nvme0n1,",
	 * or NULL where the file does not say which disks there are. */
	bool (*name)(const char *disks, char *name, bool *aside);
	bool disks;        /* lines before the heading say which disks there are */
	bool named_values; /* TIME,DEVICE,COLUMN,VALUE */
	bool energy;       /* what perf stat -A -I -x, writes */
};

extern const struct benchmon_trace benchmon_traces[];
extern const size_t benchmon_ntraces;

/* What a file is read into: its headings, which must begin with "timestamp"; its disks, for
 * benchmon_trace.name; and a row, v[i] of heading i. */
struct reading;
bool benchmon_headings(struct reading *r, char **cell, uint32_t n);
bool benchmon_whole_disks(struct reading *r, const char *names);
int benchmon_row(struct reading *r, double at, char *device, const double *v);
/* The binary form of a file. 0, 1: it is of no known layout, or -errno. malformed: records. */
int benchmon_binary(struct reading *r, const char *file, FILE *f, uint64_t *malformed);

/* Stages of pipelines in annotations.csv become spans of the store's nodes, other events marks. */
void benchmon_annotations(const struct import *x, const char *path);

#endif
