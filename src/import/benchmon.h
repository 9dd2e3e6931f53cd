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

struct benchmon_column {
	const char *column, *metric;
	double factor; /* value = what was read / factor */
};

struct benchmon_trace {
	const char *file;
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

/* Stages of pipelines in annotations.csv become spans of the store's nodes, other events marks. */
void benchmon_annotations(const struct import *x, const char *path);

#endif
