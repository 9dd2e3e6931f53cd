/* SPDX-License-Identifier: Apache-2.0 */
#include "report/lines.h"

#include <string.h>

struct terminal {
	FILE *out;
	bool colour;
	unsigned left; /* lines that may still be written */
};

struct bytes *lines_add(struct lines *l, const char *label, const char *colour)
{
	/* The last row is the place of whatever there is no room for. */
	struct line_row *row = &l->row[l->n < LINES_ROWS - 1 ? l->n++ : LINES_ROWS - 1];

	row->label = label;
	row->colour = colour;
	return &row->text;
}

void lines_free(struct lines *l)
{
	for (unsigned i = 0; i < LINES_ROWS; i++)
		bytes_free(&l->row[i].text);
	l->n = 0;
}

/* Bytes of the next line of text: broken at the last space that fits. */
static size_t line_length(const char *text)
{
	size_t columns = 0, space = 0, i;

	for (i = 0; text[i]; i++) {
		if (text[i] == ' ')
			space = i;
		if (((unsigned char)text[i] & 0xc0) != 0x80 && ++columns > LINES_TEXT)
			return space ? space : strcspn(text, " ");
	}
	return i;
}

static const char *next_line(const char *text)
{
	text += line_length(text);
	return text + strspn(text, " ");
}

static const char *row_text(const struct line_row *row)
{
	const char *text = row->text.failed ? "out of memory" : (const char *)row->text.data;

	return text + strspn(text, " ");
}

static unsigned row_lines(const struct line_row *row)
{
	unsigned n = 0;

	for (const char *text = row_text(row); *text; text = next_line(text))
		n++;
	return n;
}

static void put_line(struct terminal *t, const char *label, const char *colour, const char *text,
		     size_t length)
{
	if (!t->left)
		return;
	t->left--;
	fprintf(t->out, "%s%-*s%s%.*s\n", colour ? colour : "", LINES_LABEL, label,
		colour ? "\033[0m" : "", (int)length, text);
}

static void put_row(struct terminal *t, const struct line_row *row)
{
	const char *label = row->label, *colour = t->colour ? row->colour : NULL;

	for (const char *text = row_text(row); *text; text = next_line(text)) {
		put_line(t, label, colour, text, line_length(text));
		label = "";
		colour = NULL;
	}
}

/* Lines that are left for verdicts; one of them is kept to count what does not fit. */
static unsigned verdict_room(const struct lines *l, unsigned most)
{
	unsigned figures = 0, verdicts = 0;

	for (unsigned i = 0; i < l->n; i++)
		*(l->row[i].colour ? &verdicts : &figures) += row_lines(&l->row[i]);
	if (most <= figures)
		return 0;
	return verdicts <= most - figures ? verdicts : most - figures - 1;
}

void lines_write(struct lines *l, FILE *out, bool colour, unsigned most, const char *what)
{
	struct terminal t = { .out = out, .colour = colour, .left = most };
	unsigned room, left_out = 0;
	char more[128];

	for (unsigned i = 0; i < l->n; i++)
		bytes_u8(&l->row[i].text, 0);
	room = verdict_room(l, most);
	for (unsigned i = 0; i < l->n; i++) {
		const struct line_row *row = &l->row[i];
		unsigned n = row_lines(row);

		if (row->colour && (left_out || n > room)) {
			left_out++;
			continue;
		}
		if (!row->colour && left_out) {
			snprintf(more, sizeof more, "and %u more: %s", left_out, what);
			put_line(&t, "", NULL, more, strlen(more));
			left_out = 0;
		}
		put_row(&t, row);
		room -= row->colour ? n : 0;
	}
}
