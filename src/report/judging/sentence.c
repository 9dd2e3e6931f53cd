/* SPDX-License-Identifier: Apache-2.0 */
/* sentence.c - "{expression:form} and words": parsed once, written with a summary's figures. */
#include "base/bytes.h"
#include "base/text/decimal.h"
#include "report/judging/rule.h"
#include "report/judging/variables.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The longest text that a number with its unit becomes. */
enum { NUMBER_ROOM = 24 };

static const char *const forms[] = {
	[FORM_WHOLE] = "whole",   [FORM_NUMBER] = "number", [FORM_SIGNAL] = "signal",
	[FORM_TENTHS] = "tenths", [FORM_TEXT] = "text",
};

static bool form_parse(struct sentence_part *p, const char *name)
{
	for (size_t i = FORM_WHOLE; i < sizeof forms / sizeof forms[0]; i++) {
		if (strcmp(name, forms[i]) == 0) {
			p->form = (enum number_form)i;
			return true;
		}
	}
	p->form = FORM_UNIT;
	p->unit = unit_parse(name);
	return *name && p->unit != UNIT_NUMBER_OF;
}

/* inside is what stands between the braces. */
static int number_parse(struct sentence_part *p, const char *inside, size_t *at, struct err *e)
{
	const char *colon = strrchr(inside, ':');

	if (!colon || !form_parse(p, colon + 1))
		return err_set(
			e, -EINVAL,
			"{%s} needs a unit (bytes, seconds, cores, ratio, count ...) or whole, "
			"tenths, number, signal, text after a colon",
			inside);
	p->source = strndup(inside, (size_t)(colon - inside));
	if (!p->source)
		return -ENOMEM;
	if (p->form != FORM_TEXT)
		return rule_expr_parse(&p->x, p->source, at, e);
	return text_variable_find(p->source)
		       ? 0
		       : err_set(e, -EINVAL, "%s is not a text that rules know", p->source);
}

/* One part from text + *at on; *at moves behind it, or to the fault. */
static int part_parse(struct sentence_part *p, const char *text, size_t *at, struct err *e)
{
	const char *from = text + *at, *open = strchr(from, '{'), *close;
	size_t within = 0;
	char *inside;
	int rc;

	p->text = strndup(from, open ? (size_t)(open - from) : strlen(from));
	if (!p->text)
		return -ENOMEM;
	*at += strlen(p->text);
	if (!open)
		return 0;
	close = strchr(open, '}');
	if (!close)
		return err_set(e, -EINVAL, "a { is not closed");
	inside = strndup(open + 1, (size_t)(close - open - 1));
	if (!inside)
		return -ENOMEM;
	rc = number_parse(p, inside, &within, e);
	free(inside);
	*at = (size_t)((rc ? open + 1 + within : close + 1) - text);
	return rc;
}

int sentence_parse(struct sentence *s, const char *text, size_t *at, struct err *e)
{
	size_t length = 0;
	int rc;

	*at = 0;
	s->source = strdup(text);
	if (!s->source)
		return -ENOMEM;
	while (text[*at]) {
		struct sentence_part *p = &s->part[s->nparts];

		if (s->nparts == SENTENCE_PARTS)
			return err_set(e, -EINVAL, "a sentence holds at most %d numbers",
				       SENTENCE_PARTS - 1);
		s->nparts++;
		rc = part_parse(p, text, at, e);
		if (rc)
			return rc;
		length += strlen(p->text) + (p->source ? NUMBER_ROOM : 0);
	}
	if (length >= VERDICT_SENTENCE)
		return err_set(e, -EINVAL, "the sentence is too long: %d characters are the most",
			       VERDICT_SENTENCE - 1);
	return 0;
}

void sentence_free(struct sentence *s)
{
	for (size_t i = 0; i < s->nparts; i++) {
		free(s->part[i].text);
		free(s->part[i].source);
		expr_free(s->part[i].x);
	}
	free(s->source);
	*s = (struct sentence){ 0 };
}

static const char *number_write(const struct sentence_part *p, double v, char *out, size_t size)
{
	const char *name;

	switch (p->form) {
	case FORM_WHOLE:
		snprintf(out, size, "%.0f", ceil(v));
		break;
	case FORM_NUMBER:
		decimal_print(out, size, v == floor(v) && fabs(v) < 1e15 ? "%.0f" : "%g", v);
		break;
	case FORM_TENTHS:
		decimal_print(out, size, "%.1f", v);
		break;
	case FORM_SIGNAL:
		name = v > 0 && v < 128 ? sigabbrev_np((int)v) : NULL;
		if (name)
			snprintf(out, size, "SIG%s", name);
		else
			snprintf(out, size, "signal %g", v);
		break;
	default:
		unit_format(p->unit, v, out, size);
	}
	return out;
}

/* Returns whether it wrote the number 1. */
static bool part_write(struct bytes *b, const struct sentence_part *p, const struct summary *sum)
{
	struct expr_value v;
	const char *text;
	char number[64];

	if (p->form == FORM_TEXT) {
		text = text_variable_find(p->source)->of(sum);
		bytes_puts(b, text && *text ? text : "unknown");
		return false;
	}
	v = expr_eval(p->x, variable_lookup, (void *)sum);
	text = v.known ? number_write(p, v.v, number, sizeof number) : "unknown";
	bytes_puts(b, text);
	return !strcmp(text, "1");
}

/* What follows the number 1: " cores that" as " core that". */
static void write_singular(struct bytes *b, const char *text)
{
	static const char *const words[] = {
		"core",   "thread",  "file",   "task", "node", "time",
		"sample", "request", "packet", "port", "page", "error"
	};
	static const char processes[] = " processes";

	if (!strncmp(text, processes, sizeof processes - 1)) {
		bytes_puts(b, " process");
		text += sizeof processes - 1;
	}
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		size_t n = strlen(words[i]);

		if (*text != ' ' || strncmp(text + 1, words[i], n) != 0 || text[n + 1] != 's' ||
		    isalpha((unsigned char)text[n + 2]))
			continue;
		bytes_printf(b, " %s", words[i]);
		text += n + 2;
		break;
	}
	bytes_puts(b, text);
}

void sentence_write(const struct sentence *s, const struct summary *sum, char *out, size_t size)
{
	struct bytes b = { .data = (uint8_t *)out, .cap = size - 1, .fixed = true };
	bool one = false;

	for (size_t i = 0; i < s->nparts; i++) {
		const struct sentence_part *p = &s->part[i];

		if (one)
			write_singular(&b, p->text);
		else
			bytes_puts(&b, p->text);
		one = p->source && part_write(&b, p, sum);
	}
	out[b.len] = '\0';
}

static bool is_there(const struct summary_verdict *v, const char *name)
{
	for (uint32_t i = 0; i < v->nnumbers; i++)
		if (strncmp(v->number[i].name, name, sizeof v->number[i].name - 1) == 0)
			return true;
	return false;
}

void sentence_numbers(const struct sentence *s, const struct summary *sum,
		      struct summary_verdict *v)
{
	for (size_t i = 0; i < s->nparts && v->nnumbers < VERDICT_NUMBERS; i++) {
		const struct sentence_part *p = &s->part[i];
		struct verdict_number *n = &v->number[v->nnumbers];
		struct expr_value value;

		if (!p->x || is_there(v, p->source))
			continue;
		value = expr_eval(p->x, variable_lookup, (void *)sum);
		snprintf(n->name, sizeof n->name, "%s", p->source);
		n->unit = p->unit;
		n->value = value.known ? value.v : NAN;
		v->nnumbers++;
	}
}
