/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.h - the secret that whoever asks `serve` must say: from the environment or a private file,
 * never from the command line.
 */
#ifndef SONDE_CMD_TOKEN_H
#define SONDE_CMD_TOKEN_H

#include "base/err.h"

#include <limits.h>

enum { TOKEN_LEAST = 16, TOKEN_SIZE = 1024 };

struct token {
	char text[TOKEN_SIZE];
	char file[PATH_MAX]; /* where it is; empty: in the environment */
};

/* SONDE_TOKEN; else the first line of file; file NULL: of sonde/token in the user's configuration,
 * which is created if missing. 0, or -errno with a sentence. */
int token_find(struct token *t, const char *file, struct err *e);

#endif
