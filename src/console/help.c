/* SPDX-License-Identifier: Apache-2.0 */
#include "console/help.h"

#include <ctype.h>
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

/* "usage: sonde run [options] -- CMD [ARGS...]" without the first word and the newline. */
static void help_usage(struct bytes *b, const struct command *c)
{
	bytes_printf(b, "sonde %s", c->name);
	if (c->nverbs)
		bytes_puts(b, " VERB");
	if (c->noptions || c->nverbs)
		bytes_puts(b, " [options]");
	if (c->operands && *c->operands)
		bytes_printf(b, " %s", c->operands);
}

static void option_detail(const struct option *o, char *out, size_t size)
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
		option_detail(o, detail, sizeof detail);
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

/* Text as roff takes it: no escape, no request, a minus that can be pasted into a shell. */
static void text_n(struct bytes *b, const char *text, size_t n)
{
	bool line_start = b->len == 0 || b->data[b->len - 1] == '\n';

	for (size_t i = 0; i < n; i++) {
		if (line_start && (text[i] == '.' || text[i] == '\''))
			bytes_puts(b, "\\&");
		if (text[i] == '\\')
			bytes_puts(b, "\\e");
		else if (text[i] == '-')
			bytes_puts(b, "\\-");
		else
			bytes_u8(b, (uint8_t)text[i]);
		line_start = text[i] == '\n';
	}
}

static void text(struct bytes *b, const char *words)
{
	text_n(b, words, strlen(words));
}

static void font(struct bytes *b, char which, const char *words)
{
	bytes_printf(b, "\\f%c", which);
	text(b, words);
	bytes_puts(b, "\\fR");
}

static void manual_paragraphs(struct bytes *b, const char *words)
{
	while (words && *words) {
		const char *end = strstr(words, "\n\n");

		bytes_puts(b, ".PP\n");
		text_n(b, words, end ? (size_t)(end - words) : strlen(words));
		bytes_u8(b, '\n');
		words = end ? end + 2 : NULL;
	}
}

/* -run, -bench-run */
static void page_name(struct bytes *b, const char *verb)
{
	const char *space = strchr(verb, ' ');

	bytes_puts(b, "\\-");
	text_n(b, verb, space ? (size_t)(space - verb) : strlen(verb));
	if (space)
		page_name(b, space + 1);
}

static void pages(struct bytes *b, const struct command *const *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (c[i]->hidden)
			continue;
		bytes_puts(b, ".TP\n\\fBsonde");
		page_name(b, c[i]->name);
		bytes_puts(b, "\\fR(1)\n");
		text(b, c[i]->what);
		bytes_puts(b, ".\n");
	}
}

/* The name of a page: sonde, or sonde-run. */
static void title(struct bytes *b, const char *verb, const char *what)
{
	bytes_puts(b, ".TH SONDE");
	if (verb)
		bytes_puts(b, "\\-");
	for (const char *c = verb ? verb : ""; *c; c++)
		bytes_u8(b, *c == ' ' ? '-' : (uint8_t)toupper((unsigned char)*c));
	bytes_puts(b, " 1 \"\" \"Sonde " SONDE_VERSION "\" \"Sonde\"\n.SH NAME\nsonde");
	if (verb) {
		page_name(b, verb);
	}
	bytes_puts(b, " \\- ");
	bytes_u8(b, (uint8_t)tolower((unsigned char)*what));
	text(b, what + 1);
	bytes_u8(b, '\n');
}

static void option(struct bytes *b, const struct option *o)
{
	char detail[128];

	bytes_puts(b, ".TP\n");
	if (o->letter) {
		font(b, 'B', (const char[]){ '-', o->letter, '\0' });
		bytes_puts(b, ", ");
	}
	bytes_puts(b, "\\fB\\-\\-\\fR");
	font(b, 'B', o->name);
	if (o->bare) {
		bytes_puts(b, o->follows ? " [" : "[=");
		font(b, 'I', o->value);
		bytes_puts(b, "]");
	} else if (o->type != ARG_FLAG) {
		bytes_u8(b, ' ');
		font(b, 'I', o->value ? o->value : "VALUE");
	}
	bytes_u8(b, '\n');
	text(b, o->help);
	option_detail(o, detail, sizeof detail);
	if (*detail) {
		bytes_u8(b, ' ');
		text(b, detail);
	}
	bytes_u8(b, '\n');
}

static void examples(struct bytes *b, const struct command *c)
{
	if (c->nexamples)
		bytes_puts(b, ".SH EXAMPLES\n");
	for (size_t i = 0; i < c->nexamples; i++) {
		bytes_puts(b, ".TP\n\\fBsonde ");
		text(b, c->examples[i].line);
		bytes_puts(b, "\\fR\n");
		text(b, c->examples[i].what);
		bytes_u8(b, '\n');
	}
}

static void exit_status(struct bytes *b, const struct command *c)
{
	bytes_puts(b, ".SH EXIT STATUS\n");
	if (c->usage_code)
		bytes_printf(b,
			     "That of the command; when a signal ended it, sonde ends by the "
			     "same signal.\n"
			     "%d when sonde itself failed, 126 when the command cannot be "
			     "executed, 127 when it is not found.\n",
			     c->usage_code);
	else
		bytes_puts(b, "0; 1 when something failed or was left out; 2 when it was called "
			      "wrongly.\n");
}

void man_command(struct bytes *b, const struct command *c)
{
	title(b, c->name, c->what);
	bytes_puts(b, ".SH SYNOPSIS\n\\fBsonde ");
	text(b, c->name);
	bytes_puts(b, c->nverbs ? "\\fR VERB [options]" : "\\fR [options]");
	if (c->operands && *c->operands) {
		bytes_u8(b, ' ');
		text(b, c->operands);
	}
	bytes_puts(b, "\n.SH DESCRIPTION\n");
	text(b, c->what);
	bytes_puts(b, ".\n");
	manual_paragraphs(b, c->description);
	if (c->nverbs)
		bytes_puts(b, ".SH VERBS\n");
	pages(b, c->verbs, c->nverbs);
	bytes_puts(b, ".SH OPTIONS\n");
	for (size_t i = 0; i < c->noptions; i++)
		if (!c->options[i].hidden)
			option(b, &c->options[i]);
	option(b, &(struct option){
			  .name = "help", .letter = 'h', .help = "Show the usage and exit." });
	exit_status(b, c);
	examples(b, c);
	bytes_puts(b, ".SH SEE ALSO\n\\fBsonde\\fR(1)\n");
}

void man_overview(struct bytes *b)
{
	title(b, NULL, "Record how a job used its machines, and explain it");
	bytes_puts(b,
		   ".SH SYNOPSIS\n\\fBsonde\\fR COMMAND [options] [operands]\n.SH DESCRIPTION\n");
	text(b, "Prefix any job with \"sonde run --\" and get a recording that explains it: "
		"which processes used the cores, the memory, the disks and the network, when, "
		"and what that means. Each command has a page of its own.\n");
	bytes_puts(b, ".SH COMMANDS\n");
	pages(b, commands, ncommands);
	bytes_puts(b,
		   ".SH ENVIRONMENT\n.TP\n\\fBSONDE_LIBEXEC\\fR\n"
		   "Where helper programs are looked for: an unknown command NAME is the program "
		   "sonde\\-NAME there.\n"
		   ".TP\n\\fBNO_COLOR\\fR\nNo colours, even on a terminal.\n");
}
