/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spanfolder.h - the folder in which a job's processes leave their spans (core/ring.h):
 * $SONDE_SPANS.
 *
 * On this node and in memory where that can be: what is mapped from a disk may make who writes
 * into it wait. Its launcher makes it and takes it away (leftover.h).
 */
#ifndef SONDE_JOB_SPANFOLDER_H
#define SONDE_JOB_SPANFOLDER_H

enum { SPAN_FOLDER_SIZE = 256 };

struct span_folder {
	char path[SPAN_FOLDER_SIZE]; /* "": there is none */
	int fd;
};

/* And the variable names it. */
void span_folder_make(struct span_folder *f);
/* It stays where it is. */
void span_folder_close(struct span_folder *f);
/* Nothing that is executed from then on is told of it. */
void span_folder_remove(struct span_folder *f);
/* The variable names it; there is no such variable where there is none. */
void span_folder_export(const struct span_folder *f);

#endif
