/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_list.h - a site's own list of what is a secret, beside that of job/secret/secrets.def.
 *
 * A line is a kind and a text: "name license_code", "token acme_ 24" (and how long it is at least).
 * Bounded: a file has at most 64 KiB and 256 lines that say something. A list that cannot be
 * understood masks everything.
 */
#ifndef SONDE_JOB_SECRET_SECRET_LIST_H
#define SONDE_JOB_SECRET_SECRET_LIST_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum secret_kind {
	SECRET_NAME = 1, /* as in job/secret/secrets.def */
	SECRET_WORD,
	SECRET_MAYBE,
	SECRET_VARIABLE,
	SECRET_BEGINNING,
	SECRET_ENDING,
	SECRET_WHOLE,
	SECRET_HARMLESS,
	SECRET_ABOUT,
	SECRET_PLAIN,
	SECRET_TOKEN,
};

enum { SECRET_LIST_ROWS = 256, SECRET_LIST_BYTES = 64 << 10, SECRET_LIST_TEXT = 64 };

struct secret_list {
	bool all;       /* everything is one */
	bool addresses; /* those of IP, too: each goes by a name that `key` makes of it */
	uint8_t key[16];
	uint32_t n;
	struct secret_row {
		enum secret_kind kind;
		uint32_t least; /* of a token: its bytes */
		size_t n;
		char text[SECRET_LIST_TEXT];
	} row[SECRET_LIST_ROWS];
};

/* Adds what the text of the file of that name says. 0, or -errno with a sentence and line; then the
 * list masks everything. */
int secret_list_parse(struct secret_list *l, const char *file, const char *text, size_t n,
		      struct err *e);
/* The same of a file. */
int secret_list_read(struct secret_list *l, const char *file, struct err *e);

#endif
