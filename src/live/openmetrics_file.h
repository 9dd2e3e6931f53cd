/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmetrics_file.h - keeps a file of a textfile collector up to date while one recording grows.
 *
 * The file is always whole: written beside its place, then renamed. An existing file's mode is
 * kept, so that whoever wants others to read it makes it before; a new one is private (0600). It is
 * removed at the end, unless another has taken its place: what stays behind would be told for ever.
 */
#ifndef SONDE_LIVE_OPENMETRICS_FILE_H
#define SONDE_LIVE_OPENMETRICS_FILE_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

struct openmetrics_file {
	const char *file;      /* what is written */
	const char *directory; /* of the recording; absolute, since it is a label */
	const char *only;      /* the recording's .sonde file */
	pid_t recorder;        /* when it is gone, that is the end, too */
	int ended;             /* a descriptor that ends when the recorder does; -1: none */
	int64_t every_ns;
	/* The file could not be written, told once: it is tried again, a full disk may have room
	 * later. */
	void (*say)(const char *sentence);
};

/* Can file be written now? Nothing is left of the trial. 0, or -errno with a sentence. */
int openmetrics_file_try(const char *file, struct err *e);
/* Until the recording ends. 0, or -errno with a sentence when that cannot be read. */
int openmetrics_file_follow(const struct openmetrics_file *t, struct err *e);

#endif
