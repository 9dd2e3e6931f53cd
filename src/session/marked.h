/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marked.h - a line for the recorder of the job that this process is in: what mark, begin, end and
 * span have in common.
 *
 * A job does not fail for its marks: without a recorder nothing is written, and where a line cannot
 * be written that is a sentence and no failure.
 */
#ifndef SONDE_SESSION_MARKED_H
#define SONDE_SESSION_MARKED_H

#include "base/bytes.h"
#include "core/phase/mark.h"

/* A name and words KEY=VALUE, as a person typed them, made a line's name and text. False when they
 * make no line, and then it has said why. */
bool marked_words(struct bytes *text, const char *verb, int n, char **words);
/* One more word of it. */
void marked_word(struct bytes *text, const char *key, const char *value);
/* Write the line, with the time it is. text may be empty; it is freed. The exit code. */
int marked_write(enum mark_kind kind, const char *verb, const char *name, struct bytes *text);
/* The same of another time, UTC. */
int marked_write_at(enum mark_kind kind, const char *verb, const char *name, struct bytes *text,
		    int64_t utc_ns);

#define MARKED_TRACK(options, member)                                                                                         \
	{                                                                                                                     \
		.name = "track", .type = ARG_TEXT, .value = "TRACK",                                                          \
		.help = "The track, for spans that overlap: a span ends on the track that it began on. Same as track=TRACK.", \
		OPTION_OFFSET(options, member)                                                                                \
	}

#endif
