/* SPDX-License-Identifier: Apache-2.0 */
/*
 * textfiles.h - what a user names as a file, or as a directory of such files: all of it read, in
 * the order of names.
 */
#ifndef SONDE_BASE_TEXT_TEXTFILES_H
#define SONDE_BASE_TEXT_TEXTFILES_H

#include "base/err.h"

#include <stddef.h>

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
