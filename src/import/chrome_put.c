/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_put.c - events of a trace in Chrome's JSON become spans, marks and values. */
#include "import/chrome_trace.h"

#include "base/clock.h"
#include "base/hash.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

static int open_put(struct chrome *c, const struct openspan *head)
{
	char detail[TIMELINE_TEXT_MAX + 1];

	chrome_detail(&c->ev, detail);
	switch (openspans_put(&c->open, head, c->ev.name, detail)) {
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
	const char *detail = openspan_detail(x);
	char own[TIMELINE_TEXT_MAX + 1];
	int rc = 0;

	if (!*detail && c->ev.nargs) {
		chrome_detail(&c->ev, own);
		detail = own;
	}
	if (end_ns < x->begin_ns)
		c->count.ends_before++;
	else
		rc = timeline_span(&c->line, x->track, x->begin_ns, end_ns, x->name, detail);
	openspans_drop(&c->open, x);
	return rc;
}

static uint64_t thread_key(const struct chrome *c)
{
	return hash_text(hash_bytes(1, c->ev.pid, strlen(c->ev.pid) + 1), c->ev.tid) | 1;
}

static int put_begin(struct chrome *c)
{
	const struct openspan head = { .key = thread_key(c),
				       .begin_ns = since_first(c, c->ev.ts_ns),
				       .track = thread_track(c) };

	return open_put(c, &head);
}

static int put_end(struct chrome *c)
{
	const struct openspan *x = openspans_find(&c->open, thread_key(c), NULL);

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
	chrome_detail(ev, detail);
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

	chrome_detail(&c->ev, detail);
	return timeline_mark(&c->line, thread_track(c), since_first(c, c->ev.ts_ns), c->ev.name,
			     detail);
}

static int put_async_mark(struct chrome *c)
{
	const struct openspan *in = openspans_find(&c->open, async_key(c), NULL);
	char detail[TIMELINE_TEXT_MAX + 1];

	chrome_detail(&c->ev, detail);
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

static int put_counter(struct chrome *c)
{
	const struct chrome_event *ev = &c->ev;
	int rc = 0;

	for (uint32_t i = 0; i < ev->nargs && !rc; i++) {
		char name[TIMELINE_NAME_MAX + 3 * CHROME_KEY];
		struct chrome_name *n;

		if (!ev->arg[i].is_number || !isfinite(ev->arg[i].number))
			continue;
		counter_name(ev, ev->arg[i].key, name, sizeof name);
		n = chrome_name_of(&c->names, CHROME_COUNTER, ev->pid, name);
		if (n && !n->id)
			n->id = 1 + timeline_counter(&c->line, name, ev->pid);
		rc = timeline_value(&c->line, n ? n->id - 1 : 0, since_first(c, ev->ts_ns),
				    ev->arg[i].number);
	}
	return rc;
}

static int put_flow(struct chrome *c)
{
	c->count.flows++;
	return 0;
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
	['R'] = put_mark,        ['C'] = put_counter,   ['s'] = put_flow,
	['t'] = put_flow,        ['f'] = put_flow,      ['M'] = put_nothing,
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
