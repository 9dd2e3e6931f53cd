/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - what an importer has read, written as a recording: a file for each node.
 */
#ifndef SONDE_IMPORT_WRITE_H
#define SONDE_IMPORT_WRITE_H

#include "base/err.h"
#include "import/store.h"

/* Into the directory dirfd; from says where it comes from (import.from). wrote() is told of each
 * file. 0 or -errno. */
int import_write(struct store *s, int dirfd, const char *from,
		 void (*wrote)(void *ctx, const char *name), void *ctx, struct err *e);

#endif
