/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sample.h"

#include "base/reserve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	TEXT_MAX = 16 * 1024, /* a longer text is cut */
	TEXT_PER_EVENT = 512, /* on average; command lines are the long ones */
	TEXT_LEAST = 256 * 1024,
};

/* Lays arrays out one behind the other: first with memory NULL to know the size, then for good. */
static void *carve(const struct sample *s, size_t *used, size_t n, size_t size)
{
	size_t at = (*used + 63) & ~(size_t)63;

	*used = at + n * size;
	return s->memory ? (uint8_t *)s->memory + at : NULL;
}

static size_t lay_out(struct sample *s)
{
	size_t used = 0;

	s->slot = carve(s, &used, s->slot_cap, sizeof *s->slot);
	s->value = carve(s, &used, s->slot_cap, sizeof *s->value);
	s->state = carve(s, &used, s->slot_cap, sizeof *s->state);
	s->before = carve(s, &used, s->slot_cap, sizeof *s->before);
	s->event = carve(s, &used, s->event_cap, sizeof *s->event);
	s->text = carve(s, &used, s->text_cap, 1);
	for (uint32_t count = 1; count <= EVENT_SET_MAX; count++)
		s->free_runs[count] = carve(s, &used, s->slot_cap / count, sizeof(uint32_t));
	return used;
}

int sample_init(struct sample *s, uint32_t slot_cap, uint32_t event_cap)
{
	*s = (struct sample){ .nslots = 1,
			      .slot_cap = slot_cap,
			      .event_cap = event_cap,
			      .next_series = 1,
			      .next_instance = 1,
			      .next_word = 1 };
	s->text_cap = (size_t)event_cap * TEXT_PER_EVENT + TEXT_LEAST;
	s->memory_size = lay_out(s);
	s->memory = reserve(s->memory_size);
	if (!s->memory)
		return -ENOMEM;
	lay_out(s);
	return 0;
}

void sample_free(struct sample *s)
{
	reserve_free(s->memory, s->memory_size);
	*s = (struct sample){ 0 };
}

void sample_begin(struct sample *s, int64_t utc_ns, int64_t mono_ns)
{
	uint8_t *states;

	s->utc_ns = utc_ns;
	s->mono_ns = mono_ns;
	states = s->before;
	s->before = s->state;
	s->state = memset(states, STATE_ABSENT, s->nslots);
}

void sample_clear_events(struct sample *s)
{
	s->nevents = 0;
	s->text_len = 0;
}

static void *text_take(struct sample *s, size_t n)
{
	size_t at = (s->text_len + 7) & ~(size_t)7;

	if (at > s->text_cap || n > s->text_cap - at)
		return NULL;
	s->text_len = at + n;
	return s->text + at;
}

/* A copy in the pool; NULL when it is full. */
static const char *text_copy(struct sample *s, const char *text)
{
	size_t n = text ? strnlen(text, TEXT_MAX) : 0;
	char *copy = n ? text_take(s, n + 1) : NULL;

	if (!n)
		return "";
	if (copy) {
		memcpy(copy, text, n);
		copy[n] = '\0';
	}
	return copy;
}

/* Room for one event, or NULL (counted). */
static struct event *event_add(struct sample *s, enum event_kind kind)
{
	struct event *e;

	if (s->nevents == s->event_cap) {
		s->refused++;
		return NULL;
	}
	e = &s->event[s->nevents++];
	*e = (struct event){ .kind = kind, .node = 1, .name = "", .text = "", .domain = "" };
	return e;
}

/* Give the event its strings; when they do not fit the event is taken back. NULL leaves one alone.
 */
static bool event_texts(struct sample *s, struct event *e, const char *name, const char *text)
{
	e->name = text_copy(s, name);
	e->text = text_copy(s, text);
	if (e->name && e->text)
		return true;
	s->nevents--;
	s->refused++;
	return false;
}

uint32_t sample_instance(struct sample *s, const char *domain, const char *name, uint32_t parent,
			 int64_t birth_ns, uint32_t flags)
{
	struct event *e = event_add(s, EVENT_INSTANCE);

	if (!e || !event_texts(s, e, name, NULL))
		return 0;
	e->domain = text_copy(s, domain);
	if (!e->domain) {
		s->nevents--;
		s->refused++;
		return 0;
	}
	e->id = s->next_instance++;
	e->parent = parent;
	e->t0 = birth_ns;
	e->flags = flags;
	return e->id;
}

void sample_name(struct sample *s, uint32_t instance, const char *name)
{
	struct event *e = instance ? event_add(s, EVENT_NAME) : NULL;

	if (e && event_texts(s, e, name, NULL))
		e->id = instance;
}

void sample_label(struct sample *s, uint32_t instance, const char *key, const char *value)
{
	struct event *e = instance ? event_add(s, EVENT_LABEL) : NULL;

	if (e && event_texts(s, e, key, value))
		e->id = instance;
}

void sample_final(struct sample *s, uint32_t instance, const struct metric *metrics, uint32_t count,
		  const int64_t *values, uint64_t mask)
{
	struct event *e;
	int64_t *copy;

	if (!instance || !count || count > EVENT_SET_MAX)
		return;
	e = event_add(s, EVENT_FINAL);
	if (!e)
		return;
	copy = text_take(s, count * sizeof *copy);
	if (!copy) {
		s->nevents--;
		s->refused++;
		return;
	}
	memcpy(copy, values, count * sizeof *copy);
	e->id = instance;
	e->metric = metrics;
	e->count = count;
	e->values = copy;
	e->mask = mask;
}

void sample_end(struct sample *s, uint32_t instance, int64_t end_ns)
{
	struct event *e = instance ? event_add(s, EVENT_END) : NULL;

	if (e) {
		e->id = instance;
		e->t0 = end_ns;
	}
}

/* The first of count free slots in a row, or 0. */
static uint32_t slots_take(struct sample *s, uint32_t count)
{
	uint32_t first;

	if (s->nfree[count])
		return s->free_runs[count][--s->nfree[count]];
	if (count > s->slot_cap - s->nslots)
		return 0;
	first = s->nslots;
	s->nslots += count;
	return first;
}

uint32_t sample_series(struct sample *s, const struct metric *metrics, uint32_t count,
		       uint32_t instance)
{
	struct event *e;
	uint32_t first;

	if (!count || count > EVENT_SET_MAX)
		return 0;
	e = event_add(s, EVENT_SERIES);
	if (!e)
		return 0;
	first = slots_take(s, count);
	if (!first) {
		s->nevents--;
		s->refused++;
		return 0;
	}
	e->id = s->next_series;
	e->count = count;
	e->parent = instance;
	e->metric = metrics;
	e->value = first;
	for (uint32_t i = 0; i < count; i++) {
		s->slot[first + i] = (struct slot){ &metrics[i], s->next_series++, instance };
		s->state[first + i] = STATE_ABSENT;
	}
	return first;
}

void sample_leave_out(struct sample *s, const struct metric *metric, const char *name)
{
	struct left_out *l = s->left_out, *end = l + LEFT_OUT_MAX;

	s->refused++;
	while (l < end && l->metric && l->metric != metric)
		l++;
	if (l == end)
		return;
	if (!l->metric) {
		l->metric = metric;
		snprintf(l->first, sizeof l->first, "%s", name);
	}
	l->count++;
}

void sample_series_end(struct sample *s, uint32_t slot, uint32_t count)
{
	struct event *e;

	if (!slot || !count || count > EVENT_SET_MAX || slot >= s->nslots ||
	    count > s->nslots - slot || !s->slot[slot].series)
		return;
	memset(s->state + slot, STATE_ABSENT, count);
	e = event_add(s, EVENT_SERIES_END);
	if (!e)
		return; /* the slots stay taken: they must not be reused before the reader knows */
	e->id = s->slot[slot].series;
	e->count = count;
	memset(s->slot + slot, 0, count * sizeof *s->slot);
	s->free_runs[count][s->nfree[count]++] = slot;
}

void sample_refuse(struct sample *s, uint32_t slot, enum state state, const char *reason)
{
	struct event *e;

	if (!slot || slot >= s->nslots || !s->slot[slot].series)
		return;
	if (state != STATE_PRESENT)
		s->state[slot] = STATE_ABSENT;
	e = event_add(s, EVENT_STATE);
	if (!e || !event_texts(s, e, NULL, reason))
		return;
	e->id = s->slot[slot].series;
	e->state = state;
	e->t0 = s->mono_ns;
}

void sample_catalogue(struct sample *s, const struct metric *metrics, uint32_t count)
{
	struct event *e = count ? event_add(s, EVENT_CATALOGUE) : NULL;

	if (e) {
		e->metric = metrics;
		e->count = count;
	}
}

void sample_catalogue_drop(struct sample *s, const struct metric *metrics)
{
	uint32_t i = s->nevents;

	while (i && (s->event[i - 1].kind != EVENT_CATALOGUE || s->event[i - 1].metric != metrics))
		i--;
	if (!i)
		return;
	memmove(&s->event[i - 1], &s->event[i], (s->nevents - i) * sizeof *s->event);
	s->nevents--;
}

static struct event *meta_add(struct sample *s, const char *key, enum meta_type type,
			      const char *text)
{
	struct event *e = event_add(s, EVENT_META);

	if (!e || !event_texts(s, e, key, text))
		return NULL;
	e->meta_type = type;
	return e;
}

void sample_meta_text(struct sample *s, const char *key, const char *value)
{
	meta_add(s, key, META_TEXT, value);
}

void sample_meta_int(struct sample *s, const char *key, int64_t value)
{
	struct event *e = meta_add(s, key, META_INT, NULL);

	if (e)
		e->value = value;
}

void sample_meta_real(struct sample *s, const char *key, double value)
{
	struct event *e = meta_add(s, key, META_REAL, NULL);

	if (e)
		e->real = value;
}

void sample_take_metas(struct sample *s, const struct sample *from)
{
	for (uint32_t i = 0; i < from->nevents; i++) {
		const struct event *e = &from->event[i];
		struct event *to =
			e->kind == EVENT_META ? meta_add(s, e->name, e->meta_type, e->text) : NULL;

		if (to) {
			to->value = e->value;
			to->real = e->real;
		}
	}
	s->refused += from->refused;
}

void sample_meta_bool(struct sample *s, const char *key, bool value)
{
	struct event *e = meta_add(s, key, META_BOOL, NULL);

	if (e)
		e->value = value;
}

void sample_mark(struct sample *s, uint32_t instance, int64_t at_ns, const char *name,
		 const char *message)
{
	struct event *e = event_add(s, EVENT_MARK);

	if (e && event_texts(s, e, name, message)) {
		e->parent = instance;
		e->t0 = at_ns;
	}
}

void sample_span(struct sample *s, uint32_t track, int64_t begin_ns, int64_t end_ns,
		 const char *name, const char *detail)
{
	struct event *e = event_add(s, EVENT_SPAN);

	if (e && event_texts(s, e, name, detail)) {
		e->parent = track;
		e->t0 = begin_ns;
		e->t1 = end_ns;
	}
}

uint32_t sample_word(struct sample *s, const char *name)
{
	struct event *e = event_add(s, EVENT_WORD);

	if (!e || !event_texts(s, e, name, NULL))
		return 0;
	e->id = s->next_word++;
	return e->id;
}

/* A copy of a set's items, which belong to an event; NULL: there is no room, and no event. */
static void *set_take(struct sample *s, const struct event *e, const void *items, size_t size)
{
	void *copy = e ? text_take(s, size) : NULL;

	if (e && !copy) {
		s->nevents--;
		s->refused++;
	}
	return copy ? memcpy(copy, items, size) : NULL;
}

bool sample_spans(struct sample *s, uint32_t track, const struct event_span *spans, uint32_t n)
{
	struct event *e = event_add(s, EVENT_SPANS);
	const void *copy = set_take(s, e, spans, n * sizeof *spans);

	if (!copy)
		return false;
	e->parent = track;
	e->count = n;
	e->spans = copy;
	return true;
}

bool sample_points(struct sample *s, uint32_t instance, const struct event_point *points,
		   uint32_t n)
{
	struct event *e = event_add(s, EVENT_POINTS);
	const void *copy = set_take(s, e, points, n * sizeof *points);

	if (!copy)
		return false;
	e->parent = instance;
	e->count = n;
	e->points = copy;
	return true;
}

/* No room is no loss: it is said again with the next sample. */
static bool not_now(struct sample *s, uint64_t refused)
{
	s->refused = refused;
	return false;
}

bool sample_module(struct sample *s, uint32_t id, const char *path, const char *build_id)
{
	uint64_t refused = s->refused;
	struct event *e = event_add(s, EVENT_MODULE);

	if (!e || !event_texts(s, e, path, build_id))
		return not_now(s, refused);
	e->id = id;
	return true;
}

bool sample_frame(struct sample *s, const struct frame_row *row)
{
	uint64_t refused = s->refused;
	struct event *e = event_add(s, EVENT_FRAME);

	if (!e || !event_texts(s, e, row->function, row->file))
		return not_now(s, refused);
	e->id = row->id;
	e->parent = row->module;
	e->value = (int64_t)row->address;
	e->count = row->line;
	e->mask = row->outer;
	e->flags = row->flags;
	return true;
}

/* With a copy of its items, or taken back. */
static struct event *event_with_items(struct sample *s, enum event_kind kind,
				      const struct event_item *items, uint32_t n)
{
	struct event *e = n <= EVENT_ITEMS_MAX ? event_add(s, kind) : NULL;
	struct event_item *copy = e ? text_take(s, n * sizeof *copy) : NULL;

	if (e && !copy)
		s->nevents--;
	if (!copy)
		return NULL;
	memcpy(copy, items, n * sizeof *copy);
	e->count = n;
	e->items = copy;
	return e;
}

bool sample_stacks(struct sample *s, uint32_t first_id, const struct event_item *items, uint32_t n)
{
	uint64_t refused = s->refused;
	struct event *e = event_with_items(s, EVENT_STACKS, items, n);

	if (!e)
		return not_now(s, refused);
	e->id = first_id;
	return true;
}

bool sample_samples(struct sample *s, const struct samples_head *head,
		    const struct event_item *items, uint32_t n)
{
	uint64_t refused = s->refused;
	struct event *e = event_with_items(s, EVENT_SAMPLES, items, n);

	if (!e || !event_texts(s, e, head->command, NULL))
		return not_now(s, refused);
	e->parent = head->instance;
	e->flags = head->kind;
	e->value = head->unit;
	e->t0 = head->t0_ns;
	e->t1 = head->t1_ns;
	return true;
}

void sample_clock(struct sample *s, int64_t mono_ns, int64_t utc_ns, int64_t error_ns,
		  bool synchronised)
{
	struct event *e = event_add(s, EVENT_CLOCK);

	if (e) {
		e->t0 = mono_ns;
		e->t1 = utc_ns;
		e->value = error_ns;
		e->state = synchronised ? STATE_PRESENT : STATE_ABSENT;
	}
}
