/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markline.h - a line of the file that a job's scripts write their marks into.
 *
 *     M NAME [KEY=VALUE ...]      a mark
 *     B NAME [KEY=VALUE ...]      a span begins
 *     E NAME [KEY=VALUE ...]      the innermost open span of this name ends
 *
 * A word with blanks is written in double quotes, with \" \\ \n and \t in it. `sonde mark` writes
 * when it was, and how long the rest is, so that a line that is cut or joined with another is
 * known: "M@MONOTONIC_NS,UTC_NS,BYTES NAME ...". Lines are hostile.
 */
#ifndef SONDE_CORE_PHASE_MARKLINE_H
#define SONDE_CORE_PHASE_MARKLINE_H

#include "base/bytes.h"

enum { MARK_LINE_MAX = 4096, MARK_NAME_MAX = 256 };

/* How the track begins of a command that is a span; its process id follows. */
#define MARK_COMMAND "sonde-span."

enum mark_kind { MARK_POINT = 'M', MARK_BEGIN = 'B', MARK_END = 'E' };

struct mark_line {
	enum mark_kind kind;
	bool timed;              /* it says when it was */
	int64_t mono_ns, utc_ns; /* then */
	char name[MARK_NAME_MAX];
	const char *text; /* what follows the name, as it was written; borrowed from the line */
};

/* n bytes without the newline, and a NUL behind them. Whether it is such a line. */
bool mark_line_parse(struct mark_line *out, const char *line, size_t n);
/* With its newline; text: what follows the name. */
void mark_line_write(struct bytes *b, const struct mark_line *m);

/* A word as such a line has it: in quotes where it has to be. */
void mark_word_write(struct bytes *b, const char *word);
/* A word KEY=VALUE behind the *n bytes of words in out, with a blank between and a NUL behind.
 * False: there is no room for it, and nothing has changed. */
bool mark_pair_write(char *out, size_t size, size_t *n, const char *key, const char *value);
/* The word at *p, without its quotes, and *p behind it. False at the end of the text, or when it
 * does not fit. */
bool mark_word_read(const char **p, char *out, size_t size);
/* The value of the first word KEY=VALUE of a text; false when there is none, or it does not fit. */
bool mark_text_find(const char *text, const char *key, char *out, size_t size);

#endif
