/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_put.c - events of a trace in Chrome's JSON become spans, marks and values. */
#include "import/chrome_trace.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/text/decimal.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static struct chrome_name *slot_of(struct chrome_name *at, uint32_t cap, uint64_t key)
{
	uint32_t i = (uint32_t)(key ^ key >> 32) & (cap - 1);

	while (at[i].key && at[i].key != key)
		i = (i + 1) & (cap - 1);
	return &at[i];
}

static bool grow(struct chrome_names *c)
{
	uint32_t cap = c->cap ? c->cap * 2 : 256;
	struct chrome_name *more = calloc(cap, sizeof *more);

	if (!more)
		return false;
	for (uint32_t i = 0; i < c->cap; i++)
		if (c->at[i].key)
			*slot_of(more, cap, c->at[i].key) = c->at[i];
	free(c->at);
	c->at = more;
	c->cap = cap;
	return true;
}

struct chrome_name *chrome_name_of(struct chrome_names *c, enum chrome_kind kind, const char *a,
				   const char *b)
{
	uint64_t key = hash_bytes((uint64_t)kind, a, strlen(a) + 1);
	struct chrome_name *n;

	key = hash_text(key, b);
	key += !key;
	if (c->n >= c->cap / 2 && !grow(c))
		return NULL;
	n = slot_of(c->at, c->cap, key);
	if (n->key)
		return n;
	if (c->n == CHROME_NAMES_MAX)
		return NULL;
	c->n++;
	c->nprocesses += kind == CHROME_PROCESS;
	n->key = key;
	return n;
}

void chrome_name_set(struct chrome_names *c, struct chrome_name *n, const char *text)
{
	if (n && *text && (!n->text || strcmp(n->text, text) != 0))
		n->text = pool_text(&c->text, text, strlen(text));
}

/* A free one of a process, from 1; the last one is never taken, so that many may share it. */
static uint32_t chrome_lane_take(struct chrome_name *process)
{
	for (uint32_t i = 0; process && i < CHROME_LANES - 1; i++)
		if (!(process->lanes[i / 32] >> i % 32 & 1)) {
			process->lanes[i / 32] |= UINT32_C(1) << i % 32;
			return i + 1;
		}
	return CHROME_LANES;
}

static void chrome_lane_free(struct chrome_name *process, uint32_t lane)
{
	if (process && lane && lane < CHROME_LANES)
		process->lanes[(lane - 1) / 32] &= ~(UINT32_C(1) << (lane - 1) % 32);
}

void chrome_names_free(struct chrome_names *c)
{
	free(c->at);
	pool_free(&c->text);
	*c = (struct chrome_names){ 0 };
}

/* ---- open spans ---- */

enum { LOOKS_MAX = 64 };

static uint32_t *bucket_of(const struct openspans *o, uint64_t key)
{
	return &o->bucket[(key ^ key >> 32) & (OPENSPANS_BUCKETS - 1)];
}

/* A place for one more; 0: out of memory. */
static uint32_t place_take(struct openspans *o)
{
	uint32_t id = o->free;

	if (!o->bucket)
		o->bucket = calloc(OPENSPANS_BUCKETS, sizeof *o->bucket);
	if (!o->bucket)
		return 0;
	if (id) {
		o->free = o->at[id].next;
		return id;
	}
	if (o->n + 1 >= o->cap) {
		uint32_t cap = o->cap ? o->cap * 2 : 256;
		struct openspan *moved = reallocarray(o->at, cap, sizeof *moved);

		if (!moved)
			return 0;
		memset(moved + o->cap, 0, (cap - o->cap) * sizeof *moved);
		o->at = moved;
		o->cap = cap;
	}
	return ++o->n;
}

static enum openspans_put openspans_put(struct openspans *o, const struct openspan *head,
					const char *name, const char *detail)
{
	size_t n = strlen(name) + 1, more = strlen(detail) + 1;
	uint32_t id, *bucket;
	char *text;

	if ((o->n >= OPENSPANS_MAX && !o->free) || o->text + n + more > OPENSPANS_TEXT)
		return OPENSPANS_FULL;
	text = malloc(n + more);
	id = text ? place_take(o) : 0;
	if (!id) {
		free(text);
		return OPENSPANS_NO_MEMORY;
	}
	memcpy(text, name, n);
	memcpy(text + n, detail, more);
	o->text += n + more;
	bucket = bucket_of(o, head->key);
	o->at[id] = *head;
	o->at[id].name = text;
	o->at[id].next = *bucket;
	*bucket = id;
	return OPENSPANS_PUT;
}

/* The newest of that key; with a name, one of the newest that is so called, if there is. NULL:
 * none. */
static const struct openspan *openspans_find(const struct openspans *o, uint64_t key,
					     const char *name)
{
	const struct openspan *newest = NULL;
	unsigned looks = 0;

	for (uint32_t id = o->bucket ? *bucket_of(o, key) : 0; id; id = o->at[id].next) {
		const struct openspan *x = &o->at[id];

		if (x->key != key)
			continue;
		if (!name || !strcmp(x->name, name))
			return x;
		newest = newest ? newest : x;
		if (++looks == LOOKS_MAX)
			break;
	}
	return newest;
}

static const char *openspan_detail(const struct openspan *x)
{
	return x->name + strlen(x->name) + 1;
}

/* It is over: not valid afterwards. */
static void openspans_drop(struct openspans *o, const struct openspan *x)
{
	uint32_t id = (uint32_t)(x - o->at), *from = bucket_of(o, x->key);

	while (*from != id)
		from = &o->at[*from].next;
	*from = o->at[id].next;
	o->text -= strlen(x->name) + strlen(openspan_detail(x)) + 2;
	free(o->at[id].name);
	o->at[id] = (struct openspan){ .next = o->free };
	o->free = id;
}

/* Each of them, in no order: start with NULL; NULL: no more. */
static const struct openspan *openspans_each(const struct openspans *o,
					     const struct openspan *before)
{
	for (uint32_t id = before ? (uint32_t)(before - o->at) + 1 : 1; id <= o->n; id++)
		if (o->at[id].name)
			return &o->at[id];
	return NULL;
}

void openspans_free(struct openspans *o)
{
	for (uint32_t id = 1; id <= o->n; id++)
		free(o->at[id].name);
	free(o->at);
	free(o->bucket);
	*o = (struct openspans){ 0 };
}

#define SINCE_1970 (INT64_C(946684800) * NS_PER_S) /* 2000: no machine is up for so long */

int chrome_clock_of(int64_t ts_ns)
{
	return ts_ns >= SINCE_1970 ? CHROME_SINCE_1970 : CHROME_SMALL;
}

/* ---- tracks ---- */

static const char *process_name(struct chrome *c, const char *pid)
{
	struct chrome_name *p = chrome_name_of(&c->names, CHROME_PROCESS, pid, "");

	return p && p->text ? p->text : NULL;
}

/* Behind a name, where there are several processes. */
static void put_process(const struct chrome *c, const char *process, char *out, size_t size)
{
	out[0] = '\0';
	if (c->names.nprocesses > 1 && (process || *c->ev.pid))
		snprintf(out, size, " (%.200s%s%s)", process ? process : "process",
			 *c->ev.pid ? " " : "", c->ev.pid);
}

static uint32_t thread_track(struct chrome *c)
{
	struct chrome_event *ev = &c->ev;
	const char *process = process_name(c, ev->pid);
	struct chrome_name *n = chrome_name_of(&c->names, CHROME_THREAD, ev->pid, ev->tid);
	char name[TIMELINE_NAME_MAX], of[300];

	if (!n)
		c->line.tracks_left++;
	if (!n || n->id)
		return n ? n->id - 1 : 0;
	put_process(c, process, of, sizeof of);
	snprintf(name, sizeof name, "%.500s%s%s%s",
		 n->text   ? n->text
		 : process ? process
			   : "thread",
		 *ev->tid ? " " : "", ev->tid, of);
	n->id = 1 + timeline_track(&c->line, name, ev->pid, ev->tid, process);
	return n->id - 1;
}

static uint32_t lane_track(struct chrome *c, uint32_t lane)
{
	struct chrome_event *ev = &c->ev;
	const char *process = process_name(c, ev->pid);
	char number[16], name[400], of[300];
	struct chrome_name *n;

	snprintf(number, sizeof number, "%u", lane);
	n = chrome_name_of(&c->names, CHROME_LANE, ev->pid, number);
	if (!n)
		c->line.tracks_left++;
	if (!n || n->id)
		return n ? n->id - 1 : 0;
	put_process(c, process, of, sizeof of);
	snprintf(name, sizeof name, "async %s%s", number, of);
	n->id = 1 + timeline_lane(&c->line, name, ev->pid, lane, process);
	return n->id - 1;
}

/* ---- spans ---- */

static int64_t since_first(const struct chrome *c, int64_t ts_ns)
{
	return ts_ns - c->times.first_ns;
}

/* "category=...": one without arguments takes the place of such; only half of these places are
 * for categories alone. */
static void put_category(struct chrome *c, char detail[TIMELINE_TEXT_MAX + 1])
{
	const struct chrome_event *ev = &c->ev;
	bool room = ev->nargs || c->line.details < TIMELINE_DETAILS_MAX / 2;

	detail[0] = '\0';
	if (*ev->category && room)
		timeline_word(detail, "category", ev->category);
	c->count.categories += *ev->category && !room;
}

static void put_detail(struct chrome *c, char detail[TIMELINE_TEXT_MAX + 1])
{
	put_category(c, detail);
	chrome_args(&c->ev, detail);
}

static int open_put(struct chrome *c, const struct openspan *head)
{
	char detail[TIMELINE_TEXT_MAX + 1];
	struct openspan with = *head;

	with.has_args = c->ev.nargs != 0;
	put_detail(c, detail);
	switch (openspans_put(&c->open, &with, c->ev.name, detail)) {
	case OPENSPANS_NO_MEMORY:
		return err_set(c->e, -ENOMEM, "out of memory for spans that have begun");
	case OPENSPANS_FULL:
		c->count.too_many_open++;
		return 0;
	default:
		return 0;
	}
}

/* It ends now. */
static int open_end(struct chrome *c, const struct openspan *x)
{
	int64_t end_ns = since_first(c, c->ev.ts_ns);
	char detail[TIMELINE_TEXT_MAX + 1];
	int rc = 0;

	snprintf(detail, sizeof detail, "%s", openspan_detail(x));
	if (!x->has_args)
		chrome_args(&c->ev, detail);
	if (x->key & 1)
		chrome_flows_words(&c->flows, x->key, x->begin_ns + c->times.first_ns, c->ev.ts_ns,
				   detail);
	if (end_ns < x->begin_ns)
		c->count.ends_before++;
	else
		rc = timeline_span(&c->line, x->track, x->begin_ns, end_ns, x->name, detail);
	openspans_drop(&c->open, x);
	return rc;
}

static int put_begin(struct chrome *c)
{
	const struct openspan head = { .key = chrome_thread_key(&c->ev),
				       .begin_ns = since_first(c, c->ev.ts_ns),
				       .track = thread_track(c) };

	return open_put(c, &head);
}

static int put_end(struct chrome *c)
{
	const struct openspan *x = openspans_find(&c->open, chrome_thread_key(&c->ev), NULL);

	if (!x) {
		c->count.no_begin++;
		return 0;
	}
	c->count.other_name += *c->ev.name && strcmp(c->ev.name, x->name) != 0;
	return open_end(c, x);
}

static int put_complete(struct chrome *c)
{
	const struct chrome_event *ev = &c->ev;
	char detail[TIMELINE_TEXT_MAX + 1];
	int64_t begin_ns = since_first(c, ev->ts_ns), end_ns = TIMELINE_NO_END;

	if (ev->has_duration && ev->duration_ns < 0) {
		c->count.ends_before++;
		return 0;
	}
	if (ev->has_duration)
		end_ns = begin_ns + ev->duration_ns;
	put_category(c, detail);
	if (ev->has_duration)
		chrome_flows_words(&c->flows, chrome_thread_key(ev), ev->ts_ns,
				   ev->ts_ns + ev->duration_ns, detail);
	chrome_args(ev, detail);
	return timeline_span(&c->line, thread_track(c), begin_ns, end_ns, ev->name, detail);
}

/* ---- asynchronous ones ---- */

static uint64_t async_key(const struct chrome *c)
{
	const struct chrome_event *ev = &c->ev;
	uint64_t key = hash_bytes(2, ev->category, strlen(ev->category) + 1);

	key = hash_bytes(key, ev->scope, strlen(ev->scope) + 1);
	if (ev->id_is_local)
		key = hash_bytes(key, ev->pid, strlen(ev->pid) + 1);
	return hash_text(key, ev->id) & ~UINT64_C(1);
}

static int put_async_begin(struct chrome *c)
{
	struct openspan head = { .key = async_key(c), .begin_ns = since_first(c, c->ev.ts_ns) };
	const struct openspan *outer = openspans_find(&c->open, head.key, NULL);

	if (!outer)
		head.lane =
			chrome_lane_take(chrome_name_of(&c->names, CHROME_PROCESS, c->ev.pid, ""));
	head.track = outer ? outer->track : lane_track(c, head.lane);
	return open_put(c, &head);
}

static int put_async_end(struct chrome *c)
{
	const struct openspan *x = openspans_find(&c->open, async_key(c), c->ev.name);

	if (!x) {
		c->count.no_begin++;
		return 0;
	}
	chrome_lane_free(chrome_name_of(&c->names, CHROME_PROCESS, c->ev.pid, ""), x->lane);
	return open_end(c, x);
}

int chrome_put_open(struct chrome *c)
{
	int rc = 0;

	for (const struct openspan *x = NULL; !rc && (x = openspans_each(&c->open, x));) {
		c->count.open++;
		rc = timeline_span(&c->line, x->track, x->begin_ns, TIMELINE_NO_END, x->name,
				   openspan_detail(x));
	}
	return rc;
}

/* ---- marks and counters ---- */

static int put_mark(struct chrome *c)
{
	char detail[TIMELINE_TEXT_MAX + 1];

	put_detail(c, detail);
	return timeline_mark(&c->line, thread_track(c), since_first(c, c->ev.ts_ns), c->ev.name,
			     detail);
}

static int put_async_mark(struct chrome *c)
{
	const struct openspan *in = openspans_find(&c->open, async_key(c), NULL);
	char detail[TIMELINE_TEXT_MAX + 1];

	put_detail(c, detail);
	return timeline_mark(&c->line, in ? in->track : thread_track(c),
			     since_first(c, c->ev.ts_ns), c->ev.name, detail);
}

/* A name and a key make a counter; one key alone that says nothing is left out. */
static void counter_name(const struct chrome_event *ev, const char *key, char *out, size_t size)
{
	bool alone = ev->nargs == 1 && (!strcmp(key, "value") || !strcmp(key, ev->name));

	snprintf(out, size, "%s%s%s%s%s", ev->name, *ev->id ? " " : "", ev->id, alone ? "" : " ",
		 alone ? "" : key);
}

/* Bazel has its numbers as texts. */
static bool counter_value(const struct chrome_arg *a, double *value)
{
	char *end;

	*value = a->is_number ? a->number : decimal_parse(a->text, &end);
	return isfinite(*value) && (a->is_number || (end != a->text && !*end));
}

static int put_counter(struct chrome *c)
{
	const struct chrome_event *ev = &c->ev;
	int rc = 0;

	for (uint32_t i = 0; i < ev->nargs && !rc; i++) {
		char name[TIMELINE_NAME_MAX + 3 * CHROME_KEY];
		struct chrome_name *n;
		double value;

		if (!counter_value(&ev->arg[i], &value)) {
			c->count.no_number++;
			continue;
		}
		counter_name(ev, ev->arg[i].key, name, sizeof name);
		n = chrome_name_of(&c->names, CHROME_COUNTER, ev->pid, name);
		if (n && !n->id)
			n->id = 1 + timeline_counter(&c->line, name, ev->pid);
		rc = timeline_value(&c->line, n ? n->id - 1 : 0, since_first(c, ev->ts_ns), value);
	}
	return rc;
}

/* ---- */

static int put_nothing(struct chrome *c)
{
	(void)c;
	return 0;
}

static int (*const put_of[128])(struct chrome *c) = {
	['B'] = put_begin,       ['E'] = put_end,       ['X'] = put_complete,
	['b'] = put_async_begin, ['e'] = put_async_end, ['n'] = put_async_mark,
	['S'] = put_async_begin, ['F'] = put_async_end, ['T'] = put_async_mark,
	['p'] = put_async_mark,  ['i'] = put_mark,      ['I'] = put_mark,
	['R'] = put_mark,        ['C'] = put_counter,   ['s'] = put_nothing,
	['t'] = put_nothing,     ['f'] = put_nothing,   ['M'] = put_nothing,
};

/* Of both clocks, that of most events is right. */
static bool is_timed(struct chrome *c)
{
	const struct chrome_event *ev = &c->ev;
	int64_t end_ns;

	if (!ev->has_ts || ev->bad_time ||
	    __builtin_add_overflow(ev->ts_ns, ev->duration_ns, &end_ns)) {
		c->count.bad_time++;
		return false;
	}
	if (chrome_clock_of(ev->ts_ns) != c->which_clock || ev->ts_ns < c->times.first_ns ||
	    ev->ts_ns > c->times.last_ns || end_ns > c->times.last_ns) {
		c->count.other_clock++;
		return false;
	}
	return true;
}

int chrome_put(struct chrome *c)
{
	unsigned phase = (unsigned char)c->ev.phase;

	if (phase >= 128 || !phase) {
		c->count.malformed++;
		return 0;
	}
	if (!put_of[phase]) {
		c->count.unknown[phase]++;
		return 0;
	}
	if (phase == 'M')
		return 0;
	c->count.shortened += c->ev.shortened;
	return is_timed(c) ? put_of[phase](c) : 0;
}

/* Only ends of spans come here whose times are known: chrome_put counts the others. */
int chrome_bind(struct chrome *c)
{
	const struct chrome_event *ev = &c->ev;
	struct openspan head = { .key = chrome_thread_key(ev), .begin_ns = ev->ts_ns };
	const struct openspan *x;

	if (!ev->has_ts || ev->bad_time)
		return 0;
	if (ev->phase == 'B') {
		openspans_put(&c->open, &head, "", "");
	} else if (ev->phase == 'E' && (x = openspans_find(&c->open, head.key, NULL))) {
		chrome_flows_bind(&c->flows, x->key, x->begin_ns, ev->ts_ns);
		openspans_drop(&c->open, x);
	} else if (ev->phase == 'X' && ev->has_duration && ev->duration_ns >= 0 &&
		   ev->ts_ns <= INT64_MAX - ev->duration_ns) {
		chrome_flows_bind(&c->flows, head.key, ev->ts_ns, ev->ts_ns + ev->duration_ns);
	}
	return 0;
}
