/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr_token.h - the words of an expression: numbers with their suffix, names, symbols, quoted
 * texts.
 *
 * Private to the expression parser. A token borrows the text; TOKEN_BAD carries what is wrong with
 * it.
 */
#ifndef SONDE_CORE_EXPR_EXPR_TOKEN_H
#define SONDE_CORE_EXPR_EXPR_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

enum token_kind { TOKEN_END = 0, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SYMBOL, TOKEN_TEXT, TOKEN_BAD };

struct token {
	enum token_kind kind;
	const char *at; /* its first character; of a text the quote */
	size_t n;
	double number;    /* TOKEN_NUMBER */
	const char *what; /* TOKEN_BAD */
};

/* The first token of text; the next one begins at its at + n. */
struct token token_scan(const char *text);
/* A name or symbol that reads exactly so. */
bool token_is(const struct token *t, const char *text);

#endif
