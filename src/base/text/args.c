/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/args.h"

#include "base/clock.h"
#include "base/text/decimal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the parser stands: at the word argv[at]. */
struct parser {
	const struct option *rows;
	size_t n;
	void *opts;
	struct args *args;
	int at;
	struct err *e;
};

enum { HELP_ASKED = 1 };

static int refuse(const struct option *o, const char *given, struct err *e)
{
	const char *const takes[] = {
		[ARG_DURATION] = "a duration such as 500ms, 1s or 2m",
		[ARG_COUNT] = "a whole number",
		[ARG_REAL] = "a number",
		[ARG_CHOICE] = o->value,
	};
	char range[96];

	args_range_text(o, range, sizeof range);
	return err_set(e, -EINVAL, "option --%s takes %s%s%s%s, not '%.80s'", o->name,
		       takes[o->type], *range ? " (" : "", range, *range ? ")" : "", given);
}

static bool parse_count(const char *text, int64_t *out)
{
	char *end;

	if (!*text || text[strspn(text, "+-0123456789")])
		return false;
	errno = 0;
	*out = strtoll(text, &end, 10);
	return !errno && !*end;
}

static bool parse_real(const char *text, double *out)
{
	char *end;

	if (!*text || text[strspn(text, "+-.0123456789eE")])
		return false;
	*out = decimal_parse(text, &end);
	return end != text && !*end && isfinite(*out);
}

/* Which of the words between bars in `words` the text is. */
static bool parse_choice(const char *words, const char *text, int64_t *out)
{
	size_t n = strlen(text);

	for (*out = 0; n && !strchr(text, '|'); words = strchr(words, '|') + 1, ++*out) {
		if (!strncmp(words, text, n) && (words[n] == '|' || !words[n]))
			return true;
		if (!strchr(words, '|'))
			return false;
	}
	return false;
}

static bool outside(const struct option *o, int64_t v)
{
	return (o->min || o->max) && (v < o->min || v > o->max);
}

static int add_to_list(const struct option *o, const char *text, struct option_list *list,
		       struct err *e)
{
	if (list->n == OPTION_LIST_MAX)
		return err_set(e, -EINVAL, "option --%s was given more than %d times", o->name,
			       OPTION_LIST_MAX);
	list->text[list->n++] = text;
	return 0;
}

static int store(const struct option *o, const char *text, void *opts, struct err *e)
{
	char *at = (char *)opts + o->offset;
	int64_t whole = 0;
	double real;

	switch (o->type) {
	case ARG_FLAG:
		*(bool *)(void *)at = true;
		return 0;
	case ARG_TEXT:
		*(const char **)(void *)at = text;
		return 0;
	case ARG_LIST:
		return add_to_list(o, text, (struct option_list *)(void *)at, e);
	case ARG_REAL:
		if (!parse_real(text, &real))
			return refuse(o, text, e);
		*(double *)(void *)at = real;
		return 0;
	case ARG_DURATION:
		if (args_duration(text, &whole) || outside(o, whole))
			return refuse(o, text, e);
		break;
	case ARG_CHOICE:
		if (!parse_choice(o->value, text, &whole))
			return refuse(o, text, e);
		break;
	case ARG_COUNT:
		if (!parse_count(text, &whole) || outside(o, whole))
			return refuse(o, text, e);
		break;
	}
	*(int64_t *)(void *)at = whole;
	return 0;
}

static const char *nearest(const struct parser *p, const char *name)
{
	const char *best = "help";
	unsigned least = args_distance(name, best);

	for (size_t i = 0; i < p->n; i++) {
		unsigned distance = args_distance(name, p->rows[i].name);

		if (p->rows[i].hidden || distance >= least)
			continue;
		best = p->rows[i].name;
		least = distance;
	}
	return args_near(name, least) ? best : NULL;
}

static int unknown_name(const struct parser *p, const char *name)
{
	const char *near = nearest(p, name);

	if (near)
		return err_set(p->e, -EINVAL, "unknown option --%.80s; did you mean --%s?", name,
			       near);
	return err_set(p->e, -EINVAL, "unknown option --%.80s; --help lists the options", name);
}

static int unknown_letter(const struct parser *p, char letter)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->rows[i].letter && (p->rows[i].letter ^ letter) == ('a' ^ 'A'))
			return err_set(p->e, -EINVAL, "unknown option -%c; did you mean -%c?",
				       letter, p->rows[i].letter);
	return err_set(p->e, -EINVAL, "unknown option -%c; --help lists the options", letter);
}

static bool is_last_or_before_option(const struct parser *p)
{
	return p->at + 1 >= p->args->argc || p->args->argv[p->at + 1][0] == '-';
}

/* The value of o: what is attached to its word, else the next word. */
static int take_value(struct parser *p, const struct option *o, const char *attached)
{
	if (!attached && o->bare && (!o->follows || is_last_or_before_option(p)))
		return store(o, o->bare, p->opts, p->e);
	if (!attached && (p->at + 1 >= p->args->argc || !strcmp(p->args->argv[p->at + 1], "--")))
		return err_set(p->e, -EINVAL, "option --%s needs a value: --%s %s", o->name,
			       o->name, o->value ? o->value : "VALUE");
	return store(o, attached ? attached : p->args->argv[++p->at], p->opts, p->e);
}

static int parse_long(struct parser *p, const char *word)
{
	const char *equals = strchr(word, '=');
	char name[64];
	const struct option *o = NULL;

	snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - word : (int)sizeof name), word);
	for (size_t i = 0; i < p->n && !o; i++)
		if (!strcmp(p->rows[i].name, name))
			o = &p->rows[i];
	if (!o && !strcmp(word, "help"))
		return HELP_ASKED;
	if (!o)
		return unknown_name(p, name);
	if (o->type != ARG_FLAG)
		return take_value(p, o, equals ? equals + 1 : NULL);
	if (equals)
		return err_set(p->e, -EINVAL, "option --%s takes no value", o->name);
	return store(o, NULL, p->opts, p->e);
}

static int parse_letters(struct parser *p, const char *letters)
{
	for (; *letters; letters++) {
		const struct option *o = NULL;
		int rc;

		for (size_t i = 0; i < p->n && !o; i++)
			if (p->rows[i].letter == *letters)
				o = &p->rows[i];
		if (!o && *letters == 'h')
			return HELP_ASKED;
		if (!o)
			return unknown_letter(p, *letters);
		if (o->type != ARG_FLAG)
			return take_value(p, o, letters[1] ? letters + 1 : NULL);
		rc = store(o, NULL, p->opts, p->e);
		if (rc)
			return rc;
	}
	return 0;
}

/* Move the words [from, to) before the operands that begin at `operands`. */
static void move_before(char **argv, int operands, int from, int to)
{
	for (; from < to; from++, operands++) {
		char *word = argv[from];

		memmove(argv + operands + 1, argv + operands,
			(size_t)(from - operands) * sizeof *argv);
		argv[operands] = word;
	}
}

static int defaults(const struct option *rows, size_t n, void *opts, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		int rc = rows[i].fallback ? store(&rows[i], rows[i].fallback, opts, e) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

int args_parse(const struct option *rows, size_t n, void *opts, struct args *a, struct err *e)
{
	struct parser p = { .rows = rows, .n = n, .opts = opts, .args = a, .e = e };
	int rc = defaults(rows, n, opts, e);
	bool ended = false;

	a->first = 0;
	for (; !rc && !ended && p.at < a->argc; p.at++) {
		const char *word = a->argv[p.at];
		int from = p.at;

		if (word[0] != '-' || !word[1]) {
			if (a->stop_at_operand)
				break;
			continue;
		}
		ended = !strcmp(word, "--");
		if (word[1] != '-')
			rc = parse_letters(&p, word + 1);
		else if (!ended)
			rc = parse_long(&p, word + 2);
		if (rc)
			break;
		move_before(a->argv, a->first, from, p.at + 1);
		a->first += p.at + 1 - from;
	}
	return rc;
}

/* ---- texts ---- */

static const struct {
	const char *name;
	int64_t ns;
} durations[] = {
	{ "h", 3600 * NS_PER_S }, { "m", 60 * NS_PER_S }, { "s", NS_PER_S },
	{ "ms", NS_PER_MS },      { "us", 1000 },         { "ns", 1 },
};
enum { DURATIONS = sizeof durations / sizeof durations[0] };

static int64_t unit_ns(const char *name)
{
	if (!*name)
		return NS_PER_S;
	for (size_t i = 0; i < DURATIONS; i++)
		if (!strcmp(durations[i].name, name))
			return durations[i].ns;
	return 0;
}

int args_duration(const char *text, int64_t *ns)
{
	size_t whole = strspn(text, "0123456789");
	size_t point = whole + (text[whole] == '.');
	size_t end = point + (point > whole ? strspn(text + point, "0123456789") : 0);
	int64_t unit = unit_ns(text + end), total = 0;

	if (!unit || end == 0 || (point > whole && end == point))
		return -EINVAL;
	for (size_t i = 0; i < whole; i++)
		if (__builtin_mul_overflow(total, 10, &total) ||
		    __builtin_add_overflow(total, text[i] - '0', &total))
			return -EINVAL;
	if (__builtin_mul_overflow(total, unit, &total))
		return -EINVAL;
	for (size_t i = point; i < end; i++) {
		int64_t part = text[i] - '0';

		if (part && unit % 10) /* finer than a nanosecond */
			return -EINVAL;
		unit /= 10;
		if (__builtin_add_overflow(total, part * unit, &total))
			return -EINVAL;
	}
	*ns = total;
	return 0;
}

void args_duration_text(int64_t ns, char *out, size_t size)
{
	size_t i = 0;

	if (ns == 0) {
		snprintf(out, size, "0s");
		return;
	}
	while (ns % durations[i].ns)
		i++;
	snprintf(out, size, "%" PRId64 "%s", ns / durations[i].ns, durations[i].name);
}

void args_range_text(const struct option *o, char *out, size_t size)
{
	char low[32], high[32];

	out[0] = '\0';
	if (o->min == 0 && o->max == 0)
		return;
	if (o->type == ARG_DURATION) {
		args_duration_text(o->min, low, sizeof low);
		args_duration_text(o->max, high, sizeof high);
	} else {
		snprintf(low, sizeof low, "%" PRId64, o->min);
		snprintf(high, sizeof high, "%" PRId64, o->max);
	}
	if (o->max == INT64_MAX)
		snprintf(out, size, "at least %s", low);
	else
		snprintf(out, size, "%s to %s", low, high);
}

enum { NAME_MAX_BYTES = 40 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Optimal string alignment; three rows are enough for the swap of two neighbours. */
unsigned args_distance(const char *word, const char *name)
{
	unsigned rows[3][NAME_MAX_BYTES + 1];
	size_t n = strnlen(word, NAME_MAX_BYTES + 1), m = strnlen(name, NAME_MAX_BYTES + 1);

	if (n > NAME_MAX_BYTES || m > NAME_MAX_BYTES)
		return NAME_MAX_BYTES;
	if (n > 1 && n < m && !strncmp(word, name, n))
		return 1;
	for (unsigned j = 0; j <= m; j++)
		rows[0][j] = j;
	for (unsigned i = 1; i <= n; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3];
		const unsigned *two_above = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			bool same = word[i - 1] == name[j - 1];

			row[j] = least(above[j - 1] + !same, least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && word[i - 1] == name[j - 2] &&
			    word[i - 2] == name[j - 1])
				row[j] = least(row[j], two_above[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

bool args_near(const char *word, unsigned distance)
{
	size_t n = strlen(word);

	return distance <= (n < 3 ? 1 : n < 8 ? 2 : 3);
}
