/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - a directory that has to be there before something is put into it.
 */
#ifndef SONDE_BASE_FILES_H
#define SONDE_BASE_FILES_H

#include "base/err.h"

/* Its own user's alone (0700), unless it is there already; in one that is there. 0, or -errno with
 * a sentence. */
int folder_make(const char *path, struct err *e);
/* The same; one that is there and is a link to another is refused: somebody else may have put it
 * there. */
int folder_make_own(const char *path, struct err *e);

/*
 * A private file without a name: it goes with who holds it.
 */
/* Opened for reading and writing, in the file system of that directory. A descriptor or -errno. */
int unnamed_open(const char *directory);
/* In memory, or where the kernel is older than 3.17 in a temporary directory. */
int unnamed_memory(const char *name);

#endif
