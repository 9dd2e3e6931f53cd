/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsondoc.h - reads JSON (RFC 8259), a token at a time, from a file of any size.
 *
 * Every byte is hostile: depth and the length of a text are bounded, and what is not JSON ends it
 * with a sentence that gives the line. What Python writes for a number that is none (NaN, Infinity,
 * -Infinity) is null. A NUL or half a surrogate pair in a text becomes U+FFFD; bytes that are no
 * UTF-8 stay, as text from elsewhere they are escaped where they go. The same key may come twice:
 * it is for the caller to notice.
 */
#ifndef SONDE_BASE_TEXT_JSONDOC_H
#define SONDE_BASE_TEXT_JSONDOC_H

#include "base/bytes.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum jsondoc_token {
	JSONDOC_END = 0, /* of a whole document */
	JSONDOC_BAD,     /* no JSON: *e says why; so does every later call */
	JSONDOC_OBJECT,
	JSONDOC_OBJECT_END,
	JSONDOC_ARRAY,
	JSONDOC_ARRAY_END,
	JSONDOC_KEY,    /* text */
	JSONDOC_STRING, /* text */
	JSONDOC_NUMBER, /* number; integer, too, when whole; text: as it was written */
	JSONDOC_TRUE,
	JSONDOC_FALSE,
	JSONDOC_NULL
};

enum { JSONDOC_DEPTH = 64, JSONDOC_TEXT = 65536, JSONDOC_BLOCK = 65536, JSONDOC_NUMBER_SIZE = 512 };

struct jsondoc {
	const char *text; /* of a key, string or number, ends in NUL; until the next token */
	double number;    /* what does not fit is infinite */
	int64_t integer;
	bool whole;       /* it is a whole number that fits in 64 bits, and was written as one */
	bool no_number;   /* a null that was written as NaN or an infinity */
	uint64_t line;    /* of what came last, from 1 */
	size_t text_most; /* of a text; 0: JSONDOC_TEXT */
	bool shortens;    /* longer ones are cut there, and are not bad */
	bool shortened;   /* the last text was */

	/* private */
	int fd;
	ssize_t (*read)(void *ctx, void *data, size_t n);
	void *ctx;
	const uint8_t *at, *end;
	uint8_t *block;
	uint8_t is_object[JSONDOC_DEPTH];
	unsigned depth, expect;
	struct bytes string;
	char digits[JSONDOC_NUMBER_SIZE];
	bool bad, read_failed, only_end_missing;
};

/* From a descriptor (borrowed), or from bytes that outlive it. 0 or -ENOMEM. */
int jsondoc_open(struct jsondoc *j, int fd);
void jsondoc_open_text(struct jsondoc *j, const void *text, size_t n);
/* From a function: n bytes at most, 0 at the end, -1 on errors. */
int jsondoc_open_from(struct jsondoc *j, ssize_t (*read)(void *ctx, void *data, size_t n),
		      void *ctx);
void jsondoc_close(struct jsondoc *j);

enum jsondoc_token jsondoc_next(struct jsondoc *j, struct err *e);
/* What a token began, to its end: an object, an array, a key's value; others are over already.
 * False: it is bad. */
bool jsondoc_skip(struct jsondoc *j, enum jsondoc_token begun, struct err *e);
/* Of bytes in memory: how many are behind the last token. */
size_t jsondoc_left(const struct jsondoc *j);
/* It is bad since the file ended between two elements of its outermost array, or with the comma
 * behind one: what writers leave that were not able to write its end. */
bool jsondoc_only_end_missing(const struct jsondoc *j);

/*
 * One text out of a JSON document, which may be hostile.
 */

/* The text at a path of keys with dots between them, "run.info.run_id"; of an array the first
 * element is taken, "runs.info.run_id". False when there is none there, when it does not fit or is
 * no UTF-8, or when the document is malformed up to it. */
bool json_read_text(const char *document, size_t length, const char *path, char *out, size_t size);

#endif
