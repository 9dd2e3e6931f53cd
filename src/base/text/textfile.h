/* SPDX-License-Identifier: Apache-2.0 */
/*
 * textfile.h - a file that the user named, read whole: a regular one of bounded size.
 *
 * Never waits: a FIFO that nobody writes, a terminal, a device without an end are refused.
 */
#ifndef SONDE_BASE_TEXT_TEXTFILE_H
#define SONDE_BASE_TEXT_TEXTFILE_H

#include "base/bytes.h"
#include "base/err.h"

#include <stddef.h>

/* Appends what the file holds. what names it in errors: "events file". 0, or -errno with a
 * sentence: -EINVAL when it is not a regular file, -EFBIG when it has more than most bytes. */
int textfile_read(const char *path, const char *what, size_t most, struct bytes *out,
		  struct err *e);

/*
 * What a user names as a file, or as a directory of such files: all of it read, in
 * the order of names.
 */
struct textfiles {
	const char *what;   /* in errors: "rules" */
	const char *ending; /* of the files of a directory: ".rules" */
	size_t most;        /* bytes of a file */
	/* Takes one: 0 or -errno with a sentence. */
	int (*take)(void *ctx, const char *path, const char *text, size_t len, struct err *e);
	void *ctx;
};

/* 0, or -errno with a sentence; a directory without any is most likely another one: -ENOENT. */
int textfiles_read(const struct textfiles *t, const char *path, struct err *e);

#endif
