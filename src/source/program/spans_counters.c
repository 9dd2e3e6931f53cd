/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans_counters.c - the counters of a process: each value as it was set, and the last one with
 * each sample.
 *
 * Of a counter that is set too often, the least, the most and the last value of an interval are
 * kept, beyond the first KEEP. An interval is a second, and twice as long after each
 * LONGER values, so that a job of days has not more than a few million.
 */
#include "base/clock.h"
#include "base/text/number.h"
#include "core/phase/mark.h"
#include "source/program/spans_part.h"
#include "source/source.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEEP = 1000, LONGER = 100000 };
static const int64_t INTERVAL_NS = NS_PER_S;

static const struct metric metrics[] = {
	{
		.name = "program.counter",
		.domain = "counter",
		.label = "Counters of programs",
		.help = "What a program counts, by the name that it gave; in a unit of its own "
			"(sonde_counter of libsonde).",
		.unit = UNIT_ONE,
		.kind = KIND_GAUGE,
		.storage = STORE_REAL,
	},
};

const struct source source_spans = {
	.name = "spans",
	.what = "spans and counters of programs, by libsonde",
	SOURCE_METRICS(metrics),
	.declares_itself = true,
};

static struct counter *counter_find(struct span_reader *r, struct span_intake *in, struct sample *s,
				    uint32_t name, int64_t at_ns)
{
	char text[RING_TEXT_MAX + 1];
	struct counter *c;

	if (!name || name > SPAN_NUMBERS_MAX)
		return NULL;
	if (r->counter_of[name])
		return &r->counter[r->counter_of[name] - 1];
	if (in->counters == SPAN_COUNTERS_MAX || r->ncounters == SPAN_COUNTERS_MAX ||
	    !span_name_get(r, in, name, text))
		return NULL;
	c = &r->counter[r->ncounters];
	*c = (struct counter){ .name = name, .width_ns = INTERVAL_NS, .value = NAN };
	c->instance = sample_instance(s, metrics[0].domain, text, r->about, at_ns, 0);
	if (!c->instance)
		return NULL;
	span_label_put(r, s, c->instance);
	r->counter_of[name] = (uint16_t)++r->ncounters;
	in->counters++;
	return c;
}

/* ---- values in between samples ---- */

static bool is_same(const struct event_point *a, const struct event_point *b)
{
	return a->at_ns == b->at_ns && !(a->value < b->value || a->value > b->value);
}

/* What is held, in order of time, behind n points. How many there are then. */
static uint32_t held_put(struct counter *c, struct span_intake *in, uint32_t n)
{
	const struct event_point *first = &c->least, *second = &c->most;
	uint32_t before = n;

	if (!c->nheld)
		return n;
	if (second->at_ns < first->at_ns) {
		first = &c->most;
		second = &c->least;
	}
	in->point[n++] = *first;
	if (!is_same(first, second))
		in->point[n++] = *second;
	if (!is_same(second, &c->last))
		in->point[n++] = c->last;
	number_add(&in->thinned, (int64_t)c->nheld - (int64_t)(n - before));
	c->nheld = 0;
	return n;
}

static void hold(struct counter *c, const struct event_point *p)
{
	if (!c->nheld || p->value < c->least.value)
		c->least = *p;
	if (!c->nheld || p->value > c->most.value)
		c->most = *p;
	c->last = *p;
	c->nheld++;
}

/* A value behind n points; how many there are then: at most three more and itself. */
static uint32_t value_put(struct counter *c, struct span_intake *in, const struct event_point *p,
			  uint32_t n)
{
	if (p->at_ns >= c->until_ns) {
		n = held_put(c, in, n);
		if (c->all >= LONGER) {
			c->all = 0;
			c->width_ns *= 2;
		}
		c->until_ns = p->at_ns + c->width_ns;
		c->kept = 0;
	}
	if (c->kept == KEEP) {
		hold(c, p);
		return n;
	}
	c->kept++;
	c->all++;
	in->point[n++] = *p;
	return n;
}

static void points_put(const struct counter *c, struct span_intake *in, struct sample *s,
		       uint32_t n)
{
	if (n && !sample_points(s, c->instance, in->point, n))
		number_add(&in->thinned, n);
}

/* Those of one name, of n slots from the first on; they are done with then. */
static void name_put(struct span_reader *r, struct span_intake *in, struct sample *s,
		     struct ring_slot *first, uint32_t n)
{
	uint32_t name = first->name, k = 0;
	struct counter *c = counter_find(r, in, s, name, first->from_ns);

	for (struct ring_slot *x = first; x < first + n; x++) {
		struct event_point p = { .at_ns = x->from_ns };

		if (x->what != RING_VALUE || x->name != name)
			continue;
		x->what = 0;
		in->values++;
		memcpy(&p.value, &x->to_ns, sizeof p.value);
		if (!c || !isfinite(p.value))
			continue;
		c->value = p.value;
		k = value_put(c, in, &p, k);
		if (k + 4 > EVENT_SPANS_MAX) {
			points_put(c, in, s, k);
			k = 0;
		}
	}
	if (c)
		points_put(c, in, s, k);
}

void span_counters_put(struct span_reader *r, struct span_intake *in, struct sample *s, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (in->apart[i].what == RING_VALUE)
			name_put(r, in, s, &in->apart[i], n - i);
}

void span_counters_flush(struct span_reader *r, struct span_intake *in, struct sample *s)
{
	for (uint32_t i = 0; i < r->ncounters; i++)
		points_put(&r->counter[i], in, s, held_put(&r->counter[i], in, 0));
}

/* ---- with a sample ---- */

/* A program of an older library has them in the head only. */
static void heads_take(struct span_reader *r, struct span_intake *in, struct sample *s)
{
	if (!span_file_get(r, offsetof(struct ring_head, value), &in->counters_now,
			   offsetof(struct ring_head, valued) - offsetof(struct ring_head, value) +
				   sizeof in->counters_now.valued))
		return;
	for (uint32_t i = 1; i <= RING_NAMES_MAX; i++) {
		struct counter *c =
			in->counters_now.valued[i] ? counter_find(r, in, s, i, s->mono_ns) : NULL;
		double value;

		memcpy(&value, &in->counters_now.value[i], sizeof value);
		if (c && isfinite(value))
			c->value = value;
	}
}

void span_reader_values(struct span_reader *r, struct span_intake *in, struct sample *s)
{
	span_losses_take(r, in);
	heads_take(r, in, s);
	span_mpi_put(r, in, s);
	for (struct counter *c = r->counter; c < r->counter + r->ncounters; c++) {
		int64_t bits;

		if (!isfinite(c->value))
			continue;
		if (!c->slot)
			c->slot = sample_series(s, metrics, 1, c->instance);
		memcpy(&bits, &c->value, sizeof bits);
		sample_put(s, c->slot, bits);
	}
}

bool span_reader_counts(const struct span_reader *r)
{
	uint8_t valued[RING_NAMES_MAX + 1];

	return r->ncounters || span_reader_has_mpi(r) ||
	       (span_file_get(r, offsetof(struct ring_head, valued), valued, sizeof valued) &&
		memchr(valued, 1, sizeof valued));
}

void span_counters_end(struct span_reader *r, struct sample *s)
{
	for (struct counter *c = r->counter; c < r->counter + r->ncounters; c++) {
		sample_series_end(s, c->slot, 1);
		sample_end(s, c->instance, s->mono_ns);
	}
}

/*
 * What goes with a span or a mark becomes a text of words, KEY=VALUE, as marks have
 * it (core/phase/mark.h). A word that has no room is left out whole, and counted.
 */

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

/* The names in a process's file, by their numbers. */

static bool chunk_at(const struct span_reader *r, uint32_t chunk, uint32_t *first)
{
	return chunk < RING_TEXTS_CHUNKS &&
	       span_file_get(r, ring_texts_at(chunk), first, sizeof *first);
}

/* Where texts lie, up to the last that is there: on from where this stopped before. */
static void texts_find(struct span_reader *r, struct span_intake *in)
{
	uint32_t first, next = RING_NAMES_MAX + 1 + r->ntexts;

	while (r->ntexts < RING_TEXTS_MAX && r->text_chunk < RING_TEXTS_CHUNKS) {
		size_t at = ring_texts_at(r->text_chunk), have = r->text_used, n = 0;

		if (!have && (!chunk_at(r, r->text_chunk, &first) || first != next))
			return;
		have = have ? have : sizeof first;
		if (have + 2 < RING_TEXTS_CHUNK)
			n = RING_TEXTS_CHUNK - have < sizeof in->text ? RING_TEXTS_CHUNK - have
								      : sizeof in->text;
		if (n && !span_file_get(r, at + have, in->text, n))
			return;
		for (size_t i = 0; i + 2 <= n && r->ntexts < RING_TEXTS_MAX;) {
			size_t length = (uint8_t)in->text[i] | (size_t)(uint8_t)in->text[i + 1]
								       << 8;

			if (!length || length > RING_TEXT_MAX || i + 2 + length > n)
				break;
			r->text_at[++r->ntexts] =
				(uint32_t)(r->text_chunk * RING_TEXTS_CHUNK + have);
			have += 2 + length;
			i += 2 + length;
		}
		if (RING_NAMES_MAX + 1 + r->ntexts == next) { /* none was found here */
			if (!chunk_at(r, r->text_chunk + 1, &first) || first != next)
				return;
			r->text_chunk++;
			have = 0;
		}
		r->text_used = (uint32_t)have;
		next = RING_NAMES_MAX + 1 + r->ntexts;
	}
}

static bool text_get(struct span_reader *r, struct span_intake *in, uint32_t name, char *out)
{
	uint32_t i = name - RING_NAMES_MAX;
	uint8_t length[2];
	size_t at, n;

	if (i > r->ntexts)
		texts_find(r, in);
	if (i > r->ntexts)
		return false;
	at = ring_texts_at(0) + r->text_at[i];
	if (!span_file_get(r, at, length, sizeof length))
		return false;
	n = length[0] | (size_t)length[1] << 8;
	if (n > RING_TEXT_MAX || !span_file_get(r, at + sizeof length, out, n))
		return false;
	out[n] = '\0';
	return *out;
}

bool span_name_get(struct span_reader *r, struct span_intake *in, uint32_t name,
		   char out[RING_TEXT_MAX + 1])
{
	size_t at = offsetof(struct ring_head, name) + (size_t)name * RING_NAME_SIZE;

	if (!name || name > SPAN_NUMBERS_MAX)
		return false;
	if (name > RING_NAMES_MAX)
		return text_get(r, in, name, out);
	if (!span_file_get(r, at, out, RING_NAME_SIZE))
		return false;
	out[RING_NAME_SIZE - 1] = '\0';
	return *out;
}
