/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/stack_rows.h"

#include "base/text/escape.h"
#include "base/text/json.h"
#include "core/stacks/symbol.h"

bool rows_have_places(enum stacks_by by)
{
	return by == STACKS_BY_FUNCTION || by == STACKS_BY_LINE;
}

void rows_place(const struct stacks_function *f, const char *file, uint32_t line, struct bytes *out)
{
	if (file && line)
		bytes_printf(out, "%s:%u", symbol_base(file), line);
	else
		bytes_puts(out, symbol_base(file ? file : f->module));
}

void rows_escape(struct bytes *out, struct bytes *text, bool markdown)
{
	bytes_u8(text, 0);
	if (!text->failed && markdown)
		escape_markdown(out, (const char *)text->data);
	else if (!text->failed)
		escape_terminal(out, (const char *)text->data);
	out->failed |= text->failed;
	bytes_free(text);
}

void rows_print(FILE *out, const char *text, int width, bool last)
{
	char cell[ROWS_NAME_WIDTH * 4 + 1];

	fprintf(out, "  %-*s", last ? 0 : width,
		escape_terminal_into(cell, (size_t)width + 1, text));
}

void rows_print_place(FILE *out, const struct stacks_function *f, const char *file, uint32_t line,
		      bool last)
{
	struct bytes where = { 0 };

	rows_place(f, file, line, &where);
	bytes_u8(&where, 0);
	if (!where.failed)
		rows_print(out, (const char *)where.data, ROWS_PLACE_WIDTH, last);
	bytes_free(&where);
}

void rows_print_name(FILE *out, enum stacks_by by, const struct stacks_row *row, bool last)
{
	rows_print(out, by == STACKS_BY_MODULE ? symbol_base(row->name) : row->name,
		   ROWS_NAME_WIDTH, last);
}

void rows_print_pid(FILE *out, const struct stacks *s, const struct stacks_row *row)
{
	const char *pid = run_label(s->run, row->instance, "pid");
	char cell[32];

	if (pid)
		fprintf(out, "  pid %s", escape_terminal_into(cell, sizeof cell, pid));
}

void rows_print_more(FILE *out, uint32_t n, unsigned most)
{
	if (n > most)
		fprintf(out, "  and %u more\n", n - most);
}

void rows_print_sentences(FILE *out,
			  bool (*say)(const void *of, unsigned i, struct bytes *sentence),
			  const void *of)
{
	struct bytes text = { 0 }, shown = { 0 };

	for (unsigned i = 0; say(of, i, &text); i++) {
		rows_escape(&shown, &text, false);
		if (shown.len && !shown.failed)
			fprintf(out, "%.*s\n", (int)shown.len, (const char *)shown.data);
		bytes_reset(&shown);
	}
	bytes_free(&text);
	bytes_free(&shown);
}

void rows_json_place(struct json *j, const struct stacks_function *f, const char *file,
		     uint32_t line)
{
	json_put_text(j, "function", *f->name ? f->name : NULL);
	json_put_text(j, "module", *f->module ? f->module : NULL);
	json_put_text(j, "file", file);
	json_key(j, "line");
	if (line)
		json_int(j, line);
	else
		json_null(j);
}
