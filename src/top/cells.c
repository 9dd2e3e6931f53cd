/* SPDX-License-Identifier: Apache-2.0 */
#include "top/cells.h"

#include "base/text/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHARACTER = 5, GAP_MAX = 6 };

/* text is one character and its NUL; empty: the second half of the one before. */
struct cell {
	char text[CHARACTER];
	uint8_t style;
};

static const struct cell blank = { " ", STYLE_PLAIN };

static bool same(const struct cell *a, const struct cell *b)
{
	return a->style == b->style && !strcmp(a->text, b->text);
}

int cells_resize(struct cells *c, unsigned rows, unsigned columns)
{
	struct cell *cell, *shown;

	rows = rows > CELLS_ROWS_MAX ? CELLS_ROWS_MAX : rows;
	columns = columns > CELLS_COLUMNS_MAX ? CELLS_COLUMNS_MAX : columns;
	cell = calloc((size_t)rows * columns + 1, sizeof *cell);
	shown = calloc((size_t)rows * columns + 1, sizeof *shown);
	if (!cell || !shown) {
		free(cell);
		free(shown);
		return -ENOMEM;
	}
	free(c->cell);
	free(c->shown);
	c->cell = cell;
	c->shown = shown;
	c->rows = rows;
	c->columns = columns;
	c->known = false;
	cells_clear(c);
	return 0;
}

void cells_free(struct cells *c)
{
	free(c->cell);
	free(c->shown);
	*c = (struct cells){ 0 };
}

void cells_clear(struct cells *c)
{
	for (size_t i = 0; i < (size_t)c->rows * c->columns; i++)
		c->cell[i] = blank;
}

/* ---- putting ---- */

static uint8_t visible(const struct cells *c, uint8_t style)
{
	return c->colour ? style : style & (uint8_t)~STYLE_COLOUR;
}

/* Half of a wide character cannot stay. */
static void put_cell(struct cells *c, struct cell *row, unsigned at, const char *text,
		     uint8_t style)
{
	if (!row[at].text[0] && at)
		row[at - 1] = blank;
	if (at + 1 < c->columns && !row[at + 1].text[0])
		row[at + 1] = blank;
	row[at].style = visible(c, style);
	strncpy(row[at].text, text, CHARACTER - 1);
	row[at].text[CHARACTER - 1] = '\0';
}

/* A character, or what it is escaped to, in so many columns. */
static void put_piece(struct cells *c, struct cell *row, unsigned at, const char *piece,
		      uint8_t style)
{
	char ascii[2] = "";

	if ((unsigned char)piece[0] >= 0x80) {
		put_cell(c, row, at, c->utf8 ? piece : "?", style);
		return;
	}
	for (; *piece; piece++) {
		ascii[0] = *piece;
		put_cell(c, row, at++, ascii, style);
	}
}

unsigned cells_put(struct cells *c, unsigned row, unsigned column, unsigned width, uint8_t style,
		   const char *text)
{
	struct cell *to = &c->cell[(size_t)row * c->columns];
	unsigned end = column + width, at = column;

	if (row >= c->rows || column >= c->columns)
		return 0;
	end = end > c->columns ? c->columns : end;
	while (*text && at < end) {
		char piece[ESCAPE_PIECE];
		unsigned columns;

		text += escape_terminal_cell(text, piece, &columns);
		if (at + columns > end)
			break;
		put_piece(c, to, at, piece, style);
		if (columns == 2 && (unsigned char)piece[0] >= 0x80)
			put_cell(c, to, at + 1, c->utf8 ? "" : "?", style);
		at += columns;
	}
	return at - column;
}

static unsigned width_of_text(const char *text)
{
	unsigned width = 0;

	while (*text) {
		char piece[ESCAPE_PIECE];
		unsigned columns;

		text += escape_terminal_cell(text, piece, &columns);
		width += columns;
	}
	return width;
}

void cells_put_right(struct cells *c, unsigned row, unsigned column, unsigned width, uint8_t style,
		     const char *text)
{
	unsigned wide = width_of_text(text);

	if (wide < width) {
		column += width - wide;
		width = wide;
	}
	cells_put(c, row, column, width, style, text);
}

void cells_style(struct cells *c, unsigned row, unsigned column, unsigned width, uint8_t style)
{
	unsigned end = column + width > c->columns ? c->columns : column + width;

	for (unsigned i = column; row < c->rows && i < end; i++)
		c->cell[(size_t)row * c->columns + i].style = visible(c, style);
}

/* ---- painting ---- */

void cells_forget(struct cells *c)
{
	c->known = false;
}

struct painter {
	struct cells *c;
	struct bytes *out;
	unsigned row, column; /* of the cursor; row == c->rows: not known */
	uint8_t style;
};

static void paint_style(struct painter *p, uint8_t style)
{
	if (style == p->style)
		return;
	bytes_puts(p->out, "\033[");
	if (style & STYLE_BOLD)
		bytes_puts(p->out, ";1");
	if (style & STYLE_REVERSE)
		bytes_puts(p->out, ";7");
	if (style & STYLE_COLOUR)
		bytes_printf(p->out, ";3%u", (unsigned)style & STYLE_COLOUR);
	bytes_u8(p->out, 'm');
	p->style = style;
}

static void paint_cell(struct painter *p, unsigned column)
{
	struct cell *cell = &p->c->cell[(size_t)p->row * p->c->columns + column];
	size_t n = strlen(cell->text);

	paint_style(p, cell->style);
	bytes_put(p->out, cell->text, n);
	p->c->shown[(size_t)p->row * p->c->columns + column] = *cell;
	p->column = column + 1;
	/* How wide the terminal thinks that it is, only the terminal knows. */
	if (n > 1)
		p->row = p->c->rows;
}

/* A short gap that is painted anew takes no more bytes than a jump. */
static bool can_walk(const struct painter *p, unsigned row, unsigned column)
{
	const struct cell *cell = &p->c->cell[(size_t)row * p->c->columns];

	if (p->row != row || p->column > column || column - p->column > GAP_MAX)
		return false;
	for (unsigned i = p->column; i < column; i++)
		if (strlen(cell[i].text) != 1 || cell[i].style != p->style)
			return false;
	return true;
}

static void go(struct painter *p, unsigned row, unsigned column)
{
	if (can_walk(p, row, column)) {
		while (p->column < column)
			paint_cell(p, p->column);
		return;
	}
	bytes_printf(p->out, "\033[%u;%uH", row + 1, column + 1);
	p->row = row;
	p->column = column;
}

/* Where the blanks begin that end the row. */
static unsigned end_of(const struct cells *c, unsigned row)
{
	const struct cell *cell = &c->cell[(size_t)row * c->columns];
	unsigned end = c->columns;

	while (end && same(&cell[end - 1], &blank))
		end--;
	return end;
}

/* Erases the rest of a row when that is shorter than its blanks. */
static void paint_tail(struct painter *p, unsigned row, unsigned end)
{
	struct cell *shown = &p->c->shown[(size_t)row * p->c->columns];
	unsigned first = end, n = 0;

	for (unsigned i = end; i < p->c->columns; i++) {
		if (same(&shown[i], &blank))
			continue;
		first = n++ ? first : i;
	}
	if (!n)
		return;
	go(p, row, first);
	paint_style(p, STYLE_PLAIN);
	bytes_puts(p->out, "\033[K");
	for (unsigned i = first; i < p->c->columns; i++)
		shown[i] = blank;
}

static void paint_row(struct painter *p, unsigned row)
{
	const struct cells *c = p->c;
	const struct cell *cell = &c->cell[(size_t)row * c->columns];
	const struct cell *shown = &c->shown[(size_t)row * c->columns];
	unsigned end = end_of(c, row);

	for (unsigned i = 0; i < end; i++) {
		if (same(&cell[i], &shown[i]))
			continue;
		if (!cell[i].text[0]) { /* painted with its first half */
			p->c->shown[(size_t)row * c->columns + i] = cell[i];
			continue;
		}
		go(p, row, i);
		paint_cell(p, i);
	}
	paint_tail(p, row, end);
}

void cells_paint(struct cells *c, struct bytes *out)
{
	struct painter p = { .c = c, .out = out, .row = c->rows };

	if (!c->known) {
		bytes_puts(out, "\033[m\033[H\033[J");
		for (size_t i = 0; i < (size_t)c->rows * c->columns; i++)
			c->shown[i] = blank;
		c->known = true;
	}
	for (unsigned row = 0; row < c->rows; row++)
		paint_row(&p, row);
	paint_style(&p, STYLE_PLAIN);
}

void cells_lines(const struct cells *c, struct bytes *out)
{
	unsigned rows = c->rows;

	while (rows && !end_of(c, rows - 1))
		rows--;
	for (unsigned row = 0; row < rows; row++) {
		const struct cell *cell = &c->cell[(size_t)row * c->columns];
		unsigned end = c->columns;

		while (end && !strcmp(cell[end - 1].text, " "))
			end--;
		for (unsigned i = 0; i < end; i++)
			bytes_puts(out, cell[i].text);
		bytes_u8(out, '\n');
	}
}

/* ---- keys ---- */

/* Behind ESC [ or ESC O; what is between (the keys held down with it) does not matter. */
static const struct {
	const char *end;
	int key;
} sequences[] = {
	{ "A", KEY_UP },    { "B", KEY_DOWN }, { "C", KEY_RIGHT },    { "D", KEY_LEFT },
	{ "H", KEY_HOME },  { "F", KEY_END },  { "1~", KEY_HOME },    { "7~", KEY_HOME },
	{ "4~", KEY_END },  { "8~", KEY_END }, { "5~", KEY_PAGE_UP }, { "6~", KEY_PAGE_DOWN },
	{ "M", KEY_ENTER }, { "P", KEY_F1 },   { "11~", KEY_F1 },     { "R", KEY_F3 },
	{ "13~", KEY_F3 },  { "15~", KEY_F5 }, { "17~", KEY_F6 },     { "21~", KEY_F10 },
};

static int sequence(const char *text)
{
	for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++)
		if (!strcmp(sequences[i].end, text))
			return sequences[i].key;
	return KEY_NONE;
}

/* ESC [ 1 ; 5 A and the like: the last letter decides. */
static int ended(struct keys *k)
{
	bool whole = k->n < sizeof k->held - 1;
	const char *last = &k->held[k->n - 1];
	int key;

	k->held[k->n] = '\0';
	key = whole ? sequence(k->held + 2) : KEY_NONE;
	if (whole && !key && *last != '~')
		key = sequence(last);
	k->n = 0;
	return key;
}

static int plain(char byte)
{
	if (byte == '\r' || byte == '\n')
		return KEY_ENTER;
	if (byte == '\b' || byte == 0x7f)
		return KEY_BACK;
	return byte >= ' ' && byte < 0x7f ? byte : KEY_NONE;
}

int keys_take(struct keys *k, char byte)
{
	if (byte == 033) {
		k->held[0] = byte;
		k->n = 1;
		return KEY_NONE;
	}
	if (!k->n)
		return plain(byte);
	if (k->n == 1 && byte != '[' && byte != 'O') { /* a key with Alt */
		k->n = 0;
		return KEY_NONE;
	}
	/* Of one that is too long, the end is waited for. */
	if (k->n < sizeof k->held - 1)
		k->held[k->n++] = byte;
	return k->n > 2 && byte >= '@' && byte <= '~' ? ended(k) : KEY_NONE;
}

int keys_wait_over(struct keys *k)
{
	bool alone = k->n == 1;

	k->n = 0;
	return alone ? KEY_ESCAPE : KEY_NONE;
}
