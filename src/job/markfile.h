/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markfile.h - the file that a job writes its marks into: $SONDE_MARKS.
 *
 * A regular file on this node, in a directory that only its user may enter: who writes never waits
 * for who reads, and loses nothing by its death. Its launcher makes it and takes it away.
 */
#ifndef SONDE_JOB_MARKFILE_H
#define SONDE_JOB_MARKFILE_H

#include <limits.h>
#include <stdbool.h>

#define MARK_FILE_VARIABLE "SONDE_MARKS"

struct mark_file {
	char path[PATH_MAX]; /* "": there is none */
	int fd, folder;      /* to read it, and what holds it; closed when something is executed */
};

/* And the variable names it; /dev/null, where none can be made, so that `echo >>"$SONDE_MARKS"`
 * does not fail. */
void mark_file_make(struct mark_file *f);
/* The variable goes to /dev/null for what is executed from then on. */
void mark_file_remove(struct mark_file *f);
/* The variable names the file, or /dev/null where there is none. */
void mark_file_export(const struct mark_file *f);
/* It stays where it is. */
void mark_file_close(struct mark_file *f);
/* By path alone, where its launcher was killed. */
void mark_file_unlink(const char *path);

#endif
