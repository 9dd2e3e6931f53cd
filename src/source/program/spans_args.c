/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans_args.c - what goes with a span or a mark becomes a text of words, KEY=VALUE, as marks have
 * it (core/phase/mark.h). A word that has no room is left out whole, and counted.
 */
#include "base/text/number.h"
#include "core/phase/mark.h"
#include "source/program/spans_part.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CATEGORY "category"
#define FLOW_OUT "flow_out"
#define FLOW_IN  "flow_in"

uint32_t span_args_slots(const struct ring_slot *slot)
{
	uint32_t kind = slot->what & RING_WHAT, n = slot->what >> RING_MORE_BIT;

	return kind == RING_SPAN || kind == RING_LANE_SPAN || kind == RING_MARK ? n : 0;
}

/* ---- words ---- */

struct words {
	char *out;
	size_t n;
};

/* False: there is no room for it. */
static bool word_put(struct words *w, const char *key, const char *value)
{
	return mark_pair_write(w->out, SPAN_DETAIL_MAX, &w->n, key, value);
}

/* ---- bytes ---- */

struct reading_args {
	const uint8_t *at, *end;
};

static bool take(struct reading_args *x, void *out, size_t n)
{
	if ((size_t)(x->end - x->at) < n)
		return false;
	memcpy(out, x->at, n);
	x->at += n;
	return true;
}

/* Shortest of those that are read as the same number. */
static void real_write(double v, char out[40])
{
	snprintf(out, 40, "%.15g", v);
	if (strtod(out, NULL) < v || strtod(out, NULL) > v)
		snprintf(out, 40, "%.17g", v);
}

static bool text_take(struct reading_args *x, char out[RING_TEXT_MAX + 1])
{
	uint8_t n;

	if (!take(x, &n, sizeof n) || !take(x, out, n))
		return false;
	out[n] = '\0';
	return true;
}

/* The key and the value of the next one. False: it makes no sense. */
static bool arg_take(struct span_reader *r, struct span_intake *in, struct reading_args *x,
		     char key[RING_TEXT_MAX + 1], char value[RING_TEXT_MAX + 1])
{
	uint8_t kind = *x->at++;
	uint32_t name = 0;
	int64_t integer;
	uint64_t flow;
	double real;

	if (kind == RING_ARG_FLOW_OUT || kind == RING_ARG_FLOW_IN) {
		if (!take(x, &flow, sizeof flow))
			return false;
		snprintf(key, RING_TEXT_MAX + 1, "%s",
			 kind == RING_ARG_FLOW_OUT ? FLOW_OUT : FLOW_IN);
		snprintf(value, RING_TEXT_MAX + 1, "%" PRIx64, flow);
		return true;
	}
	if (!take(x, &name, sizeof name) || !span_name_get(r, in, name, key))
		return false;
	switch (kind) {
	case RING_ARG_NUMBER:
		if (!take(x, &real, sizeof real))
			return false;
		real_write(real, value);
		return true;
	case RING_ARG_INTEGER:
		if (!take(x, &integer, sizeof integer))
			return false;
		snprintf(value, RING_TEXT_MAX + 1, "%" PRId64, integer);
		return true;
	case RING_ARG_TEXT:
		return text_take(x, value);
	case RING_ARG_CATEGORY:
		memcpy(value, key, RING_TEXT_MAX + 1);
		memcpy(key, CATEGORY, sizeof CATEGORY);
		return true;
	default:
		return false;
	}
}

void span_args_text(struct span_reader *r, struct span_intake *in, const struct ring_slot *slot,
		    uint32_t n)
{
	struct reading_args x = { (const uint8_t *)slot, (const uint8_t *)(slot + n) };
	struct words w = { .out = in->detail };
	char key[RING_TEXT_MAX + 1], value[RING_TEXT_MAX + 1];

	in->detail[0] = '\0';
	for (uint32_t i = 0; i < RING_ARGUMENTS && x.at < x.end && *x.at != RING_ARG_END; i++) {
		if (!arg_take(r, in, &x, key, value)) {
			number_add(&in->unclear, 1);
			return;
		}
		if (!word_put(&w, key, value))
			number_add(&in->args_left, 1);
	}
}
