/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outfile.h - a result file that is whole or not there: written beside its place, synced, then
 * renamed.
 *
 * A file of that name stays as it was until then, whatever happens. Mode 0600. A signal that ends
 * the process (SIGHUP, SIGINT, SIGQUIT, SIGTERM) takes what is unfinished away first.
 */
#ifndef SONDE_OUTPUT_OUTFILE_H
#define SONDE_OUTPUT_OUTFILE_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/* Stays where it is while it is open. */
struct outfile {
	FILE *file;
	char path[PATH_MAX], temporary[PATH_MAX];
	bool held_empty; /* path is an empty file made for this one, and goes with it */
	struct outfile *next;
};

/* The directory is created if missing. 0, or -errno with a sentence that names the file. */
int outfile_open(struct outfile *f, const char *directory, const char *name, struct err *e);
/* Give it its name, or, when failed (-errno, *e says why) is not 0, take it away. Of a full disk
 * the sentence says which one. 0 or -errno. */
int outfile_close(struct outfile *f, int failed, struct err *e);

/* Where results about path go by default: path itself when it is a directory, else the one it is
 * in. */
const char *outfile_directory(const char *path, char *out, size_t size);

#endif
