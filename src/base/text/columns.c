/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/columns.h"

#include "base/text/escape.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { GAP = 2, NARROWEST = 8, LAST_NARROWEST = 10 };
static const char ellipsis[] = "\xe2\x80\xa6";

/* Of a text that is escaped already: a second time changes nothing. */
static unsigned width_of_cell(const char *text)
{
	char piece[ESCAPE_PIECE];
	unsigned width = 0, columns;

	while (*text) {
		text += escape_terminal_cell(text, piece, &columns);
		width += columns;
	}
	return width;
}

static void widen(struct columns *c, size_t column, const char *text)
{
	unsigned width = width_of_cell(text);

	c->width[column] = width > c->width[column] ? width : c->width[column];
}

void columns_cell(struct columns *c, const char *hostile)
{
	char piece[ESCAPE_PIECE];
	unsigned width = 0, columns;
	size_t column = c->ncells++ % c->ncolumns;

	hostile = hostile && *hostile ? hostile : "-";
	while (*hostile) {
		hostile += escape_terminal_cell(hostile, piece, &columns);
		bytes_puts(&c->text, piece);
		width += columns;
	}
	bytes_u8(&c->text, 0);
	c->width[column] = width > c->width[column] ? width : c->width[column];
}

/* Cut to so many columns, and filled up to them where more follows. */
static void put(struct bytes *out, const char *text, unsigned width, bool right, bool last)
{
	unsigned own = width_of_cell(text), at = 0, columns = 0;
	char piece[ESCAPE_PIECE];

	for (unsigned i = own; right && i < width; i++)
		bytes_u8(out, ' ');
	while (*text) {
		size_t n = escape_terminal_cell(text, piece, &columns);

		if (own > width && at + columns + 1 > width)
			break;
		bytes_puts(out, piece);
		at += columns;
		text += n;
	}
	if (*text && width) {
		bytes_puts(out, ellipsis);
		at++;
	}
	for (; !right && !last && at < width; at++)
		bytes_u8(out, ' ');
}

/* Of all columns but the last, with the gaps behind them. */
static unsigned before_the_last(const struct columns *c)
{
	unsigned all = 0;

	for (size_t i = 0; i + 1 < c->ncolumns; i++)
		all += c->width[i] ? c->width[i] + GAP : 0;
	return all;
}

static void shrink(struct columns *c, unsigned room)
{
	size_t last = c->ncolumns - 1;
	unsigned all = before_the_last(c), least_last = LAST_NARROWEST;

	least_last = c->width[last] < least_last ? c->width[last] : least_last;
	for (size_t i = 0; i < last && all + least_last > room; i++) {
		unsigned much = all + least_last - room;
		unsigned most = c->width[i] > NARROWEST ? c->width[i] - NARROWEST : 0;

		if (!c->look[i].shrinks)
			continue;
		much = much < most ? much : most;
		c->width[i] -= much;
		all -= much;
	}
	for (size_t i = last; i-- > 0 && all + least_last > room; all = before_the_last(c))
		c->width[i] = c->look[i].spare ? 0 : c->width[i];
	if (all + c->width[last] > room)
		c->width[last] = all < room ? room - all : 1;
}

/* The cells of a row, which are behind each other; text NULL: the headings. What is behind them. */
static const char *put_row(const struct columns *c, struct bytes *out, const char *text)
{
	for (size_t i = 0; i < c->ncolumns; i++) {
		bool last = i + 1 == c->ncolumns;

		if (c->width[i]) {
			put(out, text ? text : c->look[i].heading, c->width[i], c->look[i].right,
			    last);
			bytes_puts(out, last ? "\n" : "  ");
		}
		if (text)
			text += strlen(text) + 1;
	}
	return text;
}

void columns_print(struct columns *c, struct bytes *out, unsigned room)
{
	const char *text, *end;

	out->failed |= c->text.failed;
	if (!c->ncells || c->text.failed)
		return;
	text = (const char *)c->text.data;
	end = text + c->text.len;
	for (size_t i = 0; i < c->ncolumns; i++)
		widen(c, i, c->look[i].heading);
	if (room)
		shrink(c, room);
	put_row(c, out, NULL);
	while (text < end)
		text = put_row(c, out, text);
}

void columns_free(struct columns *c)
{
	bytes_free(&c->text);
}

unsigned columns_of_terminal(void)
{
	struct winsize w = { 0 };

	return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) ? w.ws_col : 0;
}
