/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.h - text that Sonde did not write itself, made harmless for the place it goes to.
 *
 * All of them append to bytes and take any bytes: invalid UTF-8 becomes U+FFFD, or \xNN (terminal);
 * for a shell it stays.
 */
#ifndef SONDE_BASE_TEXT_ESCAPE_H
#define SONDE_BASE_TEXT_ESCAPE_H

#include "base/bytes.h"

/* Terminal: control characters (C0, DEL, C1, bidi overrides) and invalid bytes as \n \t \xNN
 * \uNNNN. */
void escape_terminal(struct bytes *b, const char *text);
/* Same, into a fixed array; cut with "..." when too long. Returns out. */
const char *escape_terminal_into(char *out, size_t size, const char *text);
/* The first character of text, which is not empty, for one or two cells of a terminal: as
 * escape_terminal gives it, and what takes no cell of its own (marks, joiners) escaped, too.
 * *columns is what it takes there. Returns how many bytes of text it was. */
enum { ESCAPE_PIECE = 12 };
size_t escape_terminal_cell(const char *text, char piece[ESCAPE_PIECE], unsigned *columns);
/* How many columns of a terminal a character takes: 0 (a mark on the character before it), 1 or 2;
 * of control characters it says nothing of use. From tables of its own: wcwidth() knows only what
 * the caller's locale knows. */
unsigned escape_columns(uint32_t c);
/* Inside a JSON string (without the quotes); also safe inside a <script>: <, >, & and U+2028/9
 * escaped. */
void escape_json(struct bytes *b, const char *text);
/* HTML text and quoted attribute values. */
void escape_html(struct bytes *b, const char *text);
/* Text within a line of Markdown, cells of tables included: plain, whatever it holds. */
void escape_markdown(struct bytes *b, const char *text);
/* A CSV field (RFC 4180), quoted when needed; a leading = + - @ tab or CR of a text gets a ' before
 * it, so that no spreadsheet takes it for a formula. Control characters but CR, LF and tab become
 * U+FFFD. */
void escape_csv(struct bytes *b, const char *text);
/* Inside a quoted label, or a help text, of OpenMetrics; control characters become U+FFFD. */
void escape_openmetrics(struct bytes *b, const char *text);
/* As it is, but valid UTF-8, for what keeps text in its own way. */
void escape_utf8(struct bytes *b, const char *text);
bool escape_is_utf8(const char *text);
/* A word for a POSIX shell. */
void escape_shell(struct bytes *b, const char *text);

/*
 * Bytes as text of 64 letters, RFC 4648, with its = at the end.
 */
void base64_encode(struct bytes *out, const void *data, size_t n);
/* Appends what the text means; false when it is none of such. */
bool base64_decode(struct bytes *out, const char *text);

#endif
