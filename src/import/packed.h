/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.h - a file as it was before gzip or zstd compressed it, from begin to end, as often as
 * need be.
 *
 * What it is compressed with is known by its first bytes. Its memory is fixed.
 */
#ifndef SONDE_IMPORT_PACKED_H
#define SONDE_IMPORT_PACKED_H

#include "base/err.h"

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

struct packed {
	const char *path; /* borrowed */
	struct stat st;
	struct err e; /* why packed_read gave -1 */

	/* private */
	int fd;
	struct inflate *gzip;
	struct packed_zstd *zstd;
};

/* A regular file. 0, or -errno with a sentence; {0} is closed. */
int packed_open(struct packed *p, const char *path, struct err *e);
void packed_close(struct packed *p);
/* From its begin on. 0 or -errno with a sentence. */
int packed_rewind(struct packed *p, struct err *e);
/* As read() does, of a struct packed; -1: e says why. */
ssize_t packed_read(void *packed, void *data, size_t n);
/* A descriptor for who reads anywhere in the file: its own (borrowed), or that of a copy without
 * a name in that directory, which *copy has, for the caller to close. -errno with a sentence. */
int packed_seekable(struct packed *p, int dirfd, int *copy, struct err *e);

#endif
