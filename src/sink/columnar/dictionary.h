/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.h - the distinct values of a column, numbered from 0 in the order they came.
 *
 * Texts are UTF-8 when they are in: what is not becomes U+FFFD, and is still in only once. Numbers
 * are told apart by their 64 bits. {0} is empty and safe to free.
 */
#ifndef SONDE_SINK_COLUMNAR_DICTIONARY_H
#define SONDE_SINK_COLUMNAR_DICTIONARY_H

#include "base/bytes.h"

struct dictionary {
	struct bytes text; /* all of them, one behind the other, without a NUL */
	uint32_t *end;     /* [n] where each ends in text */
	uint64_t *number;  /* [n] of a dictionary of numbers */
	uint32_t n, cap;
	uint32_t *slot; /* [nslots] code + 1; 0: free */
	uint32_t nslots;
	struct bytes clean;
};

/* The code of a text, which is put in when it is new. 0, -ENOMEM, or -EFBIG: all texts would be 2
 * GiB or more. */
int dictionary_text(struct dictionary *d, const char *text, uint32_t *code);
/* The same of a number. A dictionary holds one of the two. */
int dictionary_number(struct dictionary *d, uint64_t number, uint32_t *code);
/* A text by its code; *length is its bytes. */
const char *dictionary_get(const struct dictionary *d, uint32_t code, uint32_t *length);
/* Bytes that its values take. */
size_t dictionary_size(const struct dictionary *d);
void dictionary_empty(struct dictionary *d);
void dictionary_free(struct dictionary *d);

#endif
