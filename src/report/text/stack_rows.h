/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_rows.h - what tables of stacks have in common, whatever their samples are of: the places of
 * functions, cells, and sentences below. Names are hostile, and escaped here.
 */
#ifndef SONDE_REPORT_TEXT_STACK_ROWS_H
#define SONDE_REPORT_TEXT_STACK_ROWS_H

#include "base/bytes.h"
#include "core/stacks/stacks.h"

#include <stdio.h>

struct json;

enum { ROWS_NAME_WIDTH = 44, ROWS_PLACE_WIDTH = 32 };

/* Have rows of this table a file and a line? */
bool rows_have_places(enum stacks_by by);
/* "solver.c:41", or the library of a function whose line is not known; not escaped. */
void rows_place(const struct stacks_function *f, const char *file, uint32_t line,
		struct bytes *out);
/* The text, which is freed, for a terminal or for Markdown. */
void rows_escape(struct bytes *out, struct bytes *text, bool markdown);

/* Two spaces and the text, of `width` columns, or if it is the last without a space behind. */
void rows_print(FILE *out, const char *text, int width, bool last);
void rows_print_place(FILE *out, const struct stacks_function *f, const char *file, uint32_t line,
		      bool last);
/* The name of a row; the place of it if it has one; and which process it is. */
void rows_print_name(FILE *out, enum stacks_by by, const struct stacks_row *row, bool last);
void rows_print_pid(FILE *out, const struct stacks *s, const struct stacks_row *row);
void rows_print_more(FILE *out, uint32_t n, unsigned most);
/* One a line, up to the first that there is not. */
void rows_print_sentences(FILE *out,
			  bool (*say)(const void *of, unsigned i, struct bytes *sentence),
			  const void *of);

/* Members: function, module, file, line; null where it is not known. */
void rows_json_place(struct json *j, const struct stacks_function *f, const char *file,
		     uint32_t line);

#endif
