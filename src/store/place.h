/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - where a store is: a file of SQLite, or a database of PostgreSQL.
 *
 * `shown` is what sentences name: it never holds a password, nor a query, which may hold one.
 */
#ifndef SONDE_STORE_PLACE_H
#define SONDE_STORE_PLACE_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct place {
	char where[PATH_MAX], shown[PATH_MAX];
	bool postgres; /* postgres://... or postgresql://... */
	bool secret;   /* a password is in it */
};

/* 0 or -EINVAL with a sentence that does not repeat it. */
int place_parse(struct place *p, const char *text, struct err *e);

/* The folder of what Sonde keeps for this user, $XDG_DATA_HOME/sonde or ~/.local/share/sonde, made
 * when it is not there; with name a file in it. 0, -ENOENT without a home, -errno. */
int place_data(const char *(*variable)(const char *), const char *name, char *out, size_t size,
	       struct err *e);
/* Where history is: given (--store) when it is not NULL, else SONDE_STORE, else history.sqlite in
 * the folder. */
int place_default(struct place *p, const char *given, const char *(*variable)(const char *),
		  struct err *e);

#endif
