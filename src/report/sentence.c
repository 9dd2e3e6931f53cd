/* SPDX-License-Identifier: Apache-2.0 */
/* sentence.c - "{expression:form} and words": parsed once, written with a summary's figures. */
#include "base/bytes.h"
#include "report/rule.h"
#include "report/variables.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The longest text that a number with its unit becomes. */
enum { NUMBER_ROOM = 24 };

static const char *const forms[] = {
	[FORM_WHOLE] = "whole",
	[FORM_NUMBER] = "number",
	[FORM_SIGNAL] = "signal",
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
static int number_parse(struct sentence_part *p, const char *inside, struct err *e)
{
	const char *colon = strrchr(inside, ':');
	char *text;
	int rc;

	if (!colon || !form_parse(p, colon + 1))
		return err_set(
			e, -EINVAL,
			"{%s} needs a unit (bytes, seconds, cores, ratio, count ...) or whole, "
			"number, signal after a colon",
			inside);
	text = strndup(inside, (size_t)(colon - inside));
	if (!text)
		return -ENOMEM;
	rc = rule_expr_parse(&p->x, text, e);
	free(text);
	return rc;
}

/* One part from *at on; *at moves behind it. */
static int part_parse(struct sentence_part *p, const char **at, struct err *e)
{
	const char *open = strchr(*at, '{'), *close;
	char *inside;
	int rc;

	p->text = strndup(*at, open ? (size_t)(open - *at) : strlen(*at));
	if (!p->text)
		return -ENOMEM;
	if (!open) {
		*at += strlen(*at);
		return 0;
	}
	close = strchr(open, '}');
	if (!close)
		return err_set(e, -EINVAL, "a { is not closed");
	inside = strndup(open + 1, (size_t)(close - open - 1));
	if (!inside)
		return -ENOMEM;
	rc = number_parse(p, inside, e);
	free(inside);
	*at = close + 1;
	return rc;
}

int sentence_parse(struct sentence *s, const char *text, struct err *e)
{
	size_t length = 0;
	const char *at = text;
	int rc;

	s->source = strdup(text);
	if (!s->source)
		return -ENOMEM;
	while (*at) {
		struct sentence_part *p = &s->part[s->nparts];

		if (s->nparts == SENTENCE_PARTS)
			return err_set(e, -EINVAL, "a sentence holds at most %d numbers",
				       SENTENCE_PARTS - 1);
		s->nparts++;
		rc = part_parse(p, &at, e);
		if (rc)
			return rc;
		length += strlen(p->text) + (p->x ? NUMBER_ROOM : 0);
	}
	if (length >= SUMMARY_SENTENCE)
		return err_set(e, -EINVAL, "the sentence is too long: %d characters are the most",
			       SUMMARY_SENTENCE - 1);
	return 0;
}

void sentence_free(struct sentence *s)
{
	for (size_t i = 0; i < s->nparts; i++) {
		free(s->part[i].text);
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
		snprintf(out, size, "%g", v);
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

void sentence_write(const struct sentence *s, const struct summary *sum, char *out, size_t size)
{
	struct bytes b = { .data = (uint8_t *)out, .cap = size - 1, .fixed = true };

	for (size_t i = 0; i < s->nparts; i++) {
		const struct sentence_part *p = &s->part[i];
		char number[64];

		bytes_puts(&b, p->text);
		if (p->x) {
			struct expr_value v = expr_eval(p->x, variable_lookup, (void *)sum);

			bytes_puts(&b, v.known ? number_write(p, v.v, number, sizeof number)
					       : "unknown");
		}
	}
	out[b.len] = '\0';
}
