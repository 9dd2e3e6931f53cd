/* SPDX-License-Identifier: Apache-2.0 */
#include "console/help.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, COMMAND_COLUMN = 14, OPTION_COLUMN = 26 };

static void spaces(struct bytes *b, size_t n)
{
	while (n--)
		bytes_u8(b, ' ');
}

/* Words of one paragraph from column `at` on, broken before WIDTH; lines after the first begin
 * at `indent`. Returns where the paragraph ended: a blank line or the end. */
static const char *wrapped(struct bytes *b, const char *text, size_t at, size_t indent)
{
	if (at > indent) {
		bytes_u8(b, '\n');
		at = 0;
	}
	spaces(b, indent - at);
	at = indent;
	while (*text && strncmp(text, "\n\n", 2)) {
		size_t n = strcspn(text, " \n");

		if (at > indent && at + 1 + n > WIDTH) {
			bytes_u8(b, '\n');
			spaces(b, indent);
			at = indent;
		} else if (at > indent) {
			bytes_u8(b, ' ');
			at++;
		}
		bytes_put(b, text, n);
		at += n;
		text += n;
		if (strncmp(text, "\n\n", 2))
			text += strspn(text, " \n");
	}
	bytes_u8(b, '\n');
	return text;
}

static void paragraphs(struct bytes *b, const char *text)
{
	while (*text) {
		bytes_u8(b, '\n');
		text = wrapped(b, text, 0, 0);
		text += strspn(text, "\n");
	}
}

void help_usage(struct bytes *b, const struct command *c)
{
	bytes_printf(b, "sonde %s", c->name);
	if (c->nverbs)
		bytes_puts(b, " VERB");
	if (c->noptions || c->nverbs)
		bytes_puts(b, " [options]");
	if (c->operands && *c->operands)
		bytes_printf(b, " %s", c->operands);
}

void help_option_detail(const struct option *o, char *out, size_t size)
{
	char range[80];

	args_range_text(o, range, sizeof range);
	out[0] = '\0';
	if (o->fallback && *range)
		snprintf(out, size, "(default %s; %s)", o->fallback, range);
	else if (o->fallback)
		snprintf(out, size, "(default %s)", o->fallback);
	else if (*range)
		snprintf(out, size, "(%s)", range);
}

/* What follows an option's name. */
static const char *value_text(const struct option *o, char *out, size_t size)
{
	if (o->type == ARG_FLAG)
		return "";
	snprintf(out, size, "%s%s%s",
		 o->follows ? " ["
		 : o->bare  ? "[="
			    : " ",
		 o->value ? o->value : "VALUE", o->bare ? "]" : "");
	return out;
}

/* Of many words those that fit; the others follow below them. start: of the line, moved on. */
static void put_value(struct bytes *b, size_t *start, const char *value)
{
	enum { INDENT = 10 };

	while (b->len - *start + strlen(value) > WIDTH) {
		size_t n = WIDTH - (b->len - *start);

		while (n && value[n - 1] != '|')
			n--;
		if (!n)
			break;
		bytes_put(b, value, n);
		bytes_u8(b, '\n');
		value += n;
		*start = b->len;
		spaces(b, INDENT);
	}
	bytes_puts(b, value);
}

static void option_line(struct bytes *b, char letter, const char *name, const char *value,
			const char *help)
{
	size_t start = b->len, at;

	bytes_puts(b, "  ");
	if (letter)
		bytes_printf(b, "-%c, ", letter);
	else
		bytes_puts(b, "    ");
	bytes_printf(b, "--%s", name);
	put_value(b, &start, value);
	at = b->len - start;
	wrapped(b, help, at + 2 > OPTION_COLUMN ? OPTION_COLUMN + 1 : at, OPTION_COLUMN);
}

static void options(struct bytes *b, const struct command *c)
{
	bytes_puts(b, "\noptions:\n");
	for (size_t i = 0; i < c->noptions; i++) {
		const struct option *o = &c->options[i];
		char detail[128], text[1024], value[128];

		if (o->hidden)
			continue;
		help_option_detail(o, detail, sizeof detail);
		snprintf(text, sizeof text, "%s%s%s", o->help, *detail ? " " : "", detail);
		option_line(b, o->letter, o->name, value_text(o, value, sizeof value), text);
	}
	option_line(b, 'h', "help", "", "Show this help.");
}

static void list(struct bytes *b, const struct command *const *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t start = b->len;
		const char *word = strrchr(c[i]->name, ' ');

		if (c[i]->hidden)
			continue;
		bytes_printf(b, "  %s  ", word ? word + 1 : c[i]->name);
		wrapped(b, c[i]->what, b->len - start, COMMAND_COLUMN);
	}
}

void help_command(struct bytes *b, const struct command *c)
{
	bytes_puts(b, "usage: ");
	help_usage(b, c);
	bytes_printf(b, "\n\n%s.\n", c->what);
	if (c->nverbs)
		bytes_puts(b, "\nverbs:\n");
	list(b, c->verbs, c->nverbs);
	if (c->nexamples)
		bytes_puts(b, "\nexamples:\n");
	for (size_t i = 0; i < c->nexamples; i++)
		bytes_printf(b, "  sonde %s\n      %s\n", c->examples[i].line, c->examples[i].what);
	options(b, c);
	if (c->description)
		paragraphs(b, c->description);
}

void help_overview(struct bytes *b)
{
	bytes_puts(b, "usage: sonde COMMAND [options] [operands]\n\n"
		      "Records how a job uses its machines, and explains it.\n\n"
		      "examples:\n"
		      "  sonde run -- ./app     record a command and its descendants\n"
		      "  sonde report           write the page of the newest recording\n\n"
		      "commands:\n");
	list(b, commands, ncommands);
	bytes_puts(b, "\n"
		      "sonde help COMMAND       explain a command\n"
		      "sonde --version [--json] print the version and its features\n");
}
