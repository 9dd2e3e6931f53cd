/* SPDX-License-Identifier: Apache-2.0 */
#include "report/lines.h"

#include "base/text/escape.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

struct terminal {
	FILE *out;
	bool colour;
	unsigned room;
};

void lines_fit(struct lines *l, FILE *out)
{
	struct winsize w = { 0 };
	unsigned columns = LINES_COLUMNS;

	memset(l, 0, sizeof *l);
	if (fileno(out) >= 0 && !ioctl(fileno(out), TIOCGWINSZ, &w) && w.ws_col)
		columns = w.ws_col < LINES_LEAST  ? LINES_LEAST
			  : w.ws_col > LINES_MOST ? LINES_MOST
						  : w.ws_col;
	l->text_columns = columns - LINES_LABEL;
}

unsigned lines_room(const struct lines *l)
{
	return l->text_columns ? l->text_columns : LINES_TEXT;
}

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

/* Bytes of the next line of text: broken at the last space that fits. Colours, which are the only
 * control characters that text has, take no column. */
static size_t line_length(const char *text, unsigned room)
{
	size_t columns = 0, space = 0, i;

	for (i = 0; text[i]; i++) {
		if (text[i] == '\033') {
			i += strcspn(text + i + 1, "m") + 1;
			if (!text[i])
				return i;
			continue;
		}
		if (text[i] == ' ')
			space = i;
		if (((unsigned char)text[i] & 0xc0) != 0x80 && ++columns > room)
			return space ? space : strcspn(text, " ");
	}
	return i;
}

static const char *next_line(const char *text, unsigned room)
{
	text += line_length(text, room);
	return text + strspn(text, " ");
}

static const char *row_text(const struct line_row *row)
{
	const char *text = row->text.failed ? "out of memory" : (const char *)row->text.data;

	return text + strspn(text, " ");
}

static unsigned row_lines(const struct line_row *row, unsigned room)
{
	unsigned n = 0;

	for (const char *text = row_text(row); *text; text = next_line(text, room))
		n++;
	return n;
}

static void put_line(struct terminal *t, const char *label, const char *colour, const char *text,
		     size_t length)
{
	fprintf(t->out, "%s%-*s%s%.*s\n", colour ? colour : "", LINES_LABEL, label,
		colour ? "\033[0m" : "", (int)length, text);
}

static void put_row(struct terminal *t, const struct line_row *row)
{
	const char *label = row->label, *colour = t->colour ? row->colour : NULL;

	for (const char *text = row_text(row); *text; text = next_line(text, t->room)) {
		put_line(t, label, colour, text, line_length(text, t->room));
		label = "";
		colour = NULL;
	}
}

/* Lines that verdicts get; one of them is kept to count what does not fit. */
static unsigned verdict_room(const struct lines *l, unsigned most)
{
	unsigned verdicts = 0;

	for (unsigned i = 0; i < l->n; i++)
		verdicts += l->row[i].colour ? row_lines(&l->row[i], lines_room(l)) : 0;
	return verdicts <= most ? verdicts : most - (most > 0);
}

void lines_write(struct lines *l, FILE *out, bool colour, unsigned most, const char *what)
{
	struct terminal t = { .out = out, .colour = colour, .room = lines_room(l) };
	unsigned room, written = 0, left_out = 0;
	char more[128];

	for (unsigned i = 0; i < l->n; i++)
		bytes_u8(&l->row[i].text, 0);
	room = verdict_room(l, most);
	for (unsigned i = 0; i < l->n; i++) {
		const struct line_row *row = &l->row[i];
		unsigned n = row_lines(row, t.room);

		if (row->colour && written && (left_out || n > room)) {
			left_out++;
			continue;
		}
		if (!row->colour && left_out) {
			snprintf(more, sizeof more, "and %u more: %s", left_out, what);
			put_line(&t, "", NULL, more, strlen(more));
			left_out = 0;
		}
		put_row(&t, row);
		if (row->colour) {
			room -= n < room ? n : room;
			written++;
		}
	}
}

void lines_markdown(struct lines *l, struct bytes *out)
{
	bool in_table = false;

	for (unsigned i = 0; i < l->n; i++) {
		struct line_row *row = &l->row[i];
		bool verdict = row->colour != NULL;

		bytes_u8(&row->text, 0);
		if (i && !verdict && !in_table)
			bytes_puts(out, "\n| | |\n|---|---|\n");
		in_table = i && !verdict;
		if (i)
			bytes_printf(out, verdict ? "- **%s**: " : "| %s | ", row->label);
		else
			bytes_puts(out, "### ");
		escape_markdown(out, row_text(row));
		bytes_puts(out, in_table ? " |\n" : i ? "\n" : "\n\n");
		out->failed |= row->text.failed;
	}
}

void lines_number(struct bytes *b, enum unit u, double v)
{
	char text[64];

	bytes_puts(b, unit_format(u, v, text, sizeof text));
}

void lines_name(struct bytes *b, const char *text, size_t most)
{
	char cut[256];

	bytes_puts(b, escape_terminal_into(cut, most < sizeof cut ? most + 1 : sizeof cut, text));
}

void lines_command(struct bytes *b, const char *text, size_t most)
{
	enum { WORDS = 4 };
	char shown[1024], *word = shown;

	snprintf(shown, sizeof shown, "%s", text);
	for (int i = 0; i < WORDS && strlen(shown) > most; i++) {
		size_t n = strcspn(word, " ");
		char *slash = memrchr(word, '/', n);

		if (slash && slash + 1 < word + n && !memchr(word, '\'', n))
			memmove(word, slash + 1, strlen(slash + 1) + 1);
		word += strcspn(word, " ");
		word += *word == ' ';
	}
	lines_name(b, shown, most);
}

const char *cell_text(char out[CELL], enum unit unit, double v)
{
	if (isnan(v))
		snprintf(out, CELL, "-");
	else
		unit_format(unit, v, out, CELL);
	return out;
}

const char *cell_cores(char out[CELL], double v)
{
	if (v < 0.005)
		snprintf(out, CELL, v > 0 ? "under 0.01" : "0");
	else
		cell_text(out, UNIT_ONE, v);
	return out;
}

const char *cell_share(char out[CELL], double v)
{
	if (v > 0 && v < 0.01)
		snprintf(out, CELL, "under 1 %%");
	else
		snprintf(out, CELL, "%.0f %%", 100 * v);
	return out;
}

static const char in[] = " in ", calls[] = " < ", gap[] = " ... ";
enum { IN = sizeof in - 1, CALLS = sizeof calls - 1, GAP = sizeof gap - 1 };

/* Bytes of a stack that is said in a sentence: "read < load (io.c:8)" of "read < load (io.c:8);
 * it".
 */
static size_t stack_length(const char *at)
{
	size_t n = 0;

	while (at[n] && at[n] != ';' && strncmp(at + n, ". ", 2) != 0 &&
	       strncmp(at + n, ": ", 2) != 0 && strcmp(at + n, ".") != 0)
		n++;
	return n;
}

/* "load (io.c:8)" */
static bool is_frame(const char *text, size_t n)
{
	size_t digits = n ? n - 1 : 0;

	while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9')
		digits--;
	return digits > 1 && digits < n - 1 && text[n - 1] == ')' && text[digits - 1] == ':';
}

/* The outermost function of which the line is known; 0 bytes: of none it is. */
static size_t outermost(const char *stack, size_t n, const char **frame)
{
	size_t found = 0;

	for (size_t i = 0; i < n;) {
		const char *next = strstr(stack + i, calls);
		size_t len = next && next < stack + n ? (size_t)(next - stack) - i : n - i;

		if (is_frame(stack + i, len)) {
			*frame = stack + i;
			found = len;
		}
		i += len + CALLS;
	}
	return found;
}

/* The stack, or else the one function, that is said here: not "in a pipe, in write < main". */
static size_t stack_at(const char *text, bool several)
{
	const char *called, *nearer;
	size_t n;

	if (strncmp(text, in, IN) != 0)
		return 0;
	n = stack_length(text + IN);
	called = strstr(text + IN, calls);
	nearer = strstr(text + IN, in);
	if (!several)
		return is_frame(text + IN, n) && !(nearer && nearer < text + IN + n) ? n : 0;
	return called && called < text + IN + n && !(nearer && nearer < called) ? n : 0;
}

/* In place: each stack as one function; or without such functions. False: there was none. */
static bool reduce(char *text, bool stacks)
{
	char *const begin = text, *out = text;
	bool any = false;

	while (*text) {
		size_t n = stack_at(text, stacks), kept = 0;
		const char *frame = text;

		if (!n) {
			*out++ = *text++;
			continue;
		}
		any = true;
		kept = stacks ? outermost(text + IN, n, &frame) : 0;
		if (kept) {
			memmove(out, in, IN);
			memmove(out + IN, frame, kept);
			out += IN + kept;
		} else if (out > begin && out[-1] == ',') {
			out--;
		}
		text += IN + n;
	}
	*out = '\0';
	return any;
}

/* What it begins with, and its last sentence, which says what to do. */
static void cut_middle(char *text, size_t most)
{
	size_t n = strlen(text), last = n, first;

	while (last > 2 && strncmp(text + last - 2, ". ", 2) != 0)
		last--;
	if (n <= most || last <= 2 || n - last + GAP >= most)
		return;
	first = most - (n - last) - GAP;
	while (first && text[first] != ';' && text[first] != '.')
		first--;
	if (!first)
		return;
	memmove(text + first + GAP, text + last, n - last + 1);
	memcpy(text + first, gap, GAP);
}

void sentence_shorten(char *text, size_t most)
{
	if (strlen(text) <= most || !reduce(text, true) || strlen(text) <= most)
		return;
	reduce(text, false);
	cut_middle(text, most + most / 4);
}
