/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_parse.h - a text of models while it is read; for the files that read it.
 */
#ifndef SONDE_BENCH_MODEL_PARSE_H
#define SONDE_BENCH_MODEL_PARSE_H

#include "bench/model.h"

enum { MODEL_WORDS = 64, MODEL_LINE = 512 };

struct model_reading {
	const char *name; /* of the text */
	unsigned line;
	char text[MODEL_LINE]; /* the line, with a NUL behind each word */
	char *word[MODEL_WORDS];
	uint32_t nwords;
	struct models *models;
	struct model *model; /* the one that is being declared; its last query is, too */
	bool in_query;
};

/* -EINVAL with "name:line:column: what 'word'"; the column is that of word, which is in the line,
 * or that of its first word when word is NULL. */
int model_wrong(const struct model_reading *r, struct err *e, const char *what, const char *word);

/* The same with why, of a place in its line. */
int model_wrong_at(const struct model_reading *r, struct err *e, const char *at, const char *why);
/* The words from this one on are again the text that they were in the line. Returns it. */
char *model_rest(struct model_reading *r, uint32_t word);

/* query NAME */
int model_query_begin(struct model_reading *r, struct err *e);
/* show NAME..., where CONDITION, order NAME [asc|desc], limit N */
int model_query_line(struct model_reading *r, struct err *e);

#endif
