/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indicator.h - models in the store: what tables indicators have there, how these follow a change
 * of columns, and the rows in them.
 *
 * All of it within the caller's transaction.
 */
#ifndef SONDE_BENCH_INDICATOR_H
#define SONDE_BENCH_INDICATOR_H

#include "bench/model.h"
#include "store/database.h"

/* The indicator of that name as the store has it: 1, 0 when it has none, or -errno. */
int indicator_read(struct database *s, const char *name, struct model *m, struct err *e);

/* Makes *m what a result of that indicator goes by. The store's model is made when there is none,
 * and changed to have the columns of `declared`, when that is not NULL, or else those that the
 * result brings. m: {0}, or as it was read before. 0; -EBADMSG: the result does not fit the model,
 * which stays as it is, or is made as it is declared when there is none; -EEXIST: what is declared
 * does not fit what is stored; -errno. */
int indicator_bring(struct database *s, const struct model *declared, const struct contract *c,
		    struct model *m, struct err *e);

/* "matrix_size", with the quotes. */
void indicator_quote(struct bytes *sql, const char *name);
const char *indicator_sql_type(enum model_type t);

#endif
