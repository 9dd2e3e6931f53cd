/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spanfolder.h - the folder in which a job's processes leave their spans (core/ring.h):
 * $SONDE_SPANS.
 *
 * On this node and in memory where that can be: what is mapped from a disk may make who writes
 * into it wait. Its launcher makes it and takes it away. Where launcher and recorder were killed,
 * the next launcher there takes it away, after an hour: nobody has it locked any more.
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
/* Nothing that is executed from then on is told of it. */
void span_folder_remove(struct span_folder *f);
/* As long as fd is open, nobody else takes this folder away. */
void span_folder_hold(int fd);
/* By path alone, where its launcher was killed. */
void span_folder_unlink(const char *path);

#endif
