/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "base/text/decimal.h"
#include "import/chrome_trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MOST 9.2e9

/* ---- texts ---- */

/* Where a text of n bytes may be cut so that no character is. */
static size_t cut_before(const char *text, size_t n)
{
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* A copy. What does not fit is cut, and ends in a sum of it, as far as it was read: 64 KiB. */
static bool copy(char *out, size_t size, const struct jsondoc *j)
{
	size_t n = strlen(j->text), room = size - 1;
	char sum[32];

	if (n <= room && !j->shortened) {
		memcpy(out, j->text, n + 1);
		return true;
	}
	snprintf(sum, sizeof sum, "... %08x", crc32c(0, j->text, n));
	room -= strlen(sum);
	n = cut_before(j->text, n < room ? n : room);
	memcpy(out, j->text, n);
	memcpy(out + n, sum, strlen(sum) + 1);
	return false;
}

/* A text or a number, as text; anything else is skipped. False: bad. */
static bool take_text(struct chrome_event *ev, struct jsondoc *j, char *out, size_t size,
		      struct err *e)
{
	enum jsondoc_token t = jsondoc_next(j, e);

	if (t == JSONDOC_STRING || t == JSONDOC_NUMBER) {
		ev->shortened |= !copy(out, size, j);
		return true;
	}
	return t != JSONDOC_BAD && jsondoc_skip(j, t, e);
}

/* ---- times ---- */

static bool time_of_real(const char *text, int64_t *ns)
{
	char *end;
	double us = decimal_parse(text, &end);

	if (end == text || *end || !(fabs(us) < SECONDS_MOST * 1e6))
		return false;
	*ns = (int64_t)llround(us * 1e3);
	return true;
}

/* Of a number of microseconds as it was written, with up to three more digits. False: it is none,
 * or is beyond 292 years. */
static bool chrome_time(const char *text, int64_t *ns)
{
	const char *at = text + (*text == '-');
	int64_t v = 0, fraction = 0;
	int digits = 0;

	if (*at < '0' || *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9'; at++) {
		v = v * 10 + (*at - '0');
		if (v > (int64_t)(SECONDS_MOST * 1e6))
			return false;
	}
	if (*at == '.') {
		for (at++; *at >= '0' && *at <= '9'; at++, digits++)
			if (digits < 3)
				fraction = fraction * 10 + (*at - '0');
			else if (digits == 3)
				fraction += *at >= '5';
		for (; digits < 3; digits++)
			fraction *= 10;
	}
	if (*at)
		return time_of_real(text, ns);
	*ns = (v * 1000 + fraction) * (*text == '-' ? -1 : 1);
	return true;
}

static bool take_time(struct chrome_event *ev, struct jsondoc *j, bool *has, int64_t *ns,
		      struct err *e)
{
	enum jsondoc_token t = jsondoc_next(j, e);

	if (t == JSONDOC_NUMBER || t == JSONDOC_STRING) {
		*has = chrome_time(j->text, ns);
		ev->bad_time |= !*has;
		return true;
	}
	ev->bad_time |= t != JSONDOC_NULL || j->no_number;
	return t != JSONDOC_BAD && jsondoc_skip(j, t, e);
}

/* ---- members ---- */

static void arg_set(struct chrome_event *ev, struct chrome_arg *a, struct jsondoc *j,
		    enum jsondoc_token t)
{
	a->is_number = t == JSONDOC_NUMBER;
	a->number = j->number;
	if (t == JSONDOC_STRING || t == JSONDOC_NUMBER)
		ev->args_left |= !copy(a->text, sizeof a->text, j);
	else
		snprintf(a->text, sizeof a->text, "%s",
			 t == JSONDOC_TRUE    ? "true"
			 : t == JSONDOC_FALSE ? "false"
			 : t == JSONDOC_NULL  ? "null"
					      : "...");
}

static bool take_args(struct chrome_event *ev, struct jsondoc *j, struct err *e)
{
	enum jsondoc_token t = jsondoc_next(j, e);

	if (t != JSONDOC_OBJECT)
		return t != JSONDOC_BAD && jsondoc_skip(j, t, e);
	while ((t = jsondoc_next(j, e)) == JSONDOC_KEY) {
		struct chrome_arg *a = ev->nargs < CHROME_ARGS ? &ev->arg[ev->nargs] : NULL;

		ev->args_left |= !a;
		if (a) {
			ev->nargs++;
			ev->args_left |= !copy(a->key, sizeof a->key, j);
		}
		t = jsondoc_next(j, e);
		if (a)
			arg_set(ev, a, j, t);
		if (t == JSONDOC_BAD || !jsondoc_skip(j, t, e))
			return false;
	}
	return t == JSONDOC_OBJECT_END;
}

/* {"local": ID} or {"global": ID} */
static bool take_id2(struct chrome_event *ev, struct jsondoc *j, struct err *e)
{
	enum jsondoc_token t = jsondoc_next(j, e);

	if (t != JSONDOC_OBJECT)
		return t != JSONDOC_BAD && jsondoc_skip(j, t, e);
	while ((t = jsondoc_next(j, e)) == JSONDOC_KEY) {
		ev->id_is_local = !strcmp(j->text, "local");
		if (!take_text(ev, j, ev->id, sizeof ev->id, e))
			return false;
	}
	return t == JSONDOC_OBJECT_END;
}

static bool take_phase(struct chrome_event *ev, struct jsondoc *j, struct err *e)
{
	char text[CHROME_KEY] = "";

	if (!take_text(ev, j, text, sizeof text, e))
		return false;
	ev->phase = text[0];
	if (text[0] && text[1])
		ev->phase = 0;
	return true;
}

static bool take_binding(struct chrome_event *ev, struct jsondoc *j, struct err *e)
{
	char text[CHROME_KEY] = "";

	if (!take_text(ev, j, text, sizeof text, e))
		return false;
	ev->binds_enclosing = !strcmp(text, "e");
	return true;
}

static bool take_member(struct chrome_event *ev, struct jsondoc *j, struct err *e)
{
	const struct {
		const char *key;
		char *out;
		size_t size;
	} texts[] = {
		{ "name", ev->name, sizeof ev->name }, { "pid", ev->pid, sizeof ev->pid },
		{ "tid", ev->tid, sizeof ev->tid },    { "cat", ev->category, sizeof ev->category },
		{ "id", ev->id, sizeof ev->id },       { "scope", ev->scope, sizeof ev->scope },
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (!strcmp(j->text, texts[i].key))
			return take_text(ev, j, texts[i].out, texts[i].size, e);
	if (!strcmp(j->text, "ph"))
		return take_phase(ev, j, e);
	if (!strcmp(j->text, "bp"))
		return take_binding(ev, j, e);
	if (!strcmp(j->text, "ts"))
		return take_time(ev, j, &ev->has_ts, &ev->ts_ns, e);
	if (!strcmp(j->text, "dur"))
		return take_time(ev, j, &ev->has_duration, &ev->duration_ns, e);
	if (!strcmp(j->text, "args"))
		return take_args(ev, j, e);
	if (!strcmp(j->text, "id2"))
		return take_id2(ev, j, e);
	return jsondoc_skip(j, JSONDOC_KEY, e);
}

bool chrome_event_read(struct chrome_event *ev, struct jsondoc *j, struct err *e)
{
	enum jsondoc_token t;

	ev->phase = 0;
	ev->has_ts = ev->has_duration = ev->bad_time = ev->id_is_local = false;
	ev->binds_enclosing = false;
	ev->shortened = ev->args_left = false;
	ev->ts_ns = ev->duration_ns = 0;
	ev->nargs = 0;
	ev->empty = true;
	*ev->name = *ev->category = *ev->pid = *ev->tid = *ev->id = *ev->scope = '\0';
	while ((t = jsondoc_next(j, e)) == JSONDOC_KEY) {
		ev->empty = false;
		if (!take_member(ev, j, e))
			return false;
	}
	return t == JSONDOC_OBJECT_END;
}

void chrome_args(const struct chrome_event *ev, char detail[TIMELINE_TEXT_MAX + 1])
{
	for (uint32_t i = 0; i < ev->nargs; i++)
		timeline_word(detail, ev->arg[i].key, ev->arg[i].text);
	if (ev->args_left)
		timeline_words_left(detail);
}

/*
 * The ends of arrows in a trace in Chrome's JSON. An end is bound to the innermost
 * span of its thread that is open at its time ("s", "t", and "f" with "bp": "e"), or to the next
 * one that begins ("f"), as the format of trace events has it. The first reading collects the ends,
 * a second one finds their spans, and the one that writes spans asks for those of each.
 */

enum {
	LOOKS_MAX = 1024, /* ends that one span is compared with, in each direction */
	OF_SPAN = 8,      /* that it keeps */
	WORD_LENGTH = 30, /* " flow_out=" and a number */
};

static bool is_bound(const struct chrome_flow *f)
{
	return f->begin_ns != INT64_MIN;
}

uint64_t chrome_thread_key(const struct chrome_event *ev)
{
	return hash_text(hash_bytes(1, ev->pid, strlen(ev->pid) + 1), ev->tid) | 1;
}

int chrome_flow_take(struct chrome *c)
{
	const struct chrome_event *ev = &c->ev;
	struct chrome_flows *all = &c->flows;
	uint64_t number = hash_bytes(3, ev->category, strlen(ev->category) + 1);

	if (all->n == CHROME_FLOWS_MAX) {
		all->left++;
		return 0;
	}
	if (all->n == all->cap) {
		uint32_t cap = all->cap ? all->cap * 2 : 256;
		struct chrome_flow *more = reallocarray(all->at, cap, sizeof *more);

		if (!more)
			return err_set(c->e, -ENOMEM, "out of memory for arrows between spans");
		all->at = more;
		all->cap = cap;
	}
	number = hash_bytes(number, ev->name, strlen(ev->name) + 1);
	if (ev->id_is_local)
		number = hash_bytes(number, ev->pid, strlen(ev->pid) + 1);
	number = hash_text(number, ev->id);
	all->at[all->n++] = (struct chrome_flow){
		.thread = chrome_thread_key(ev),
		.number = number + !number,
		.at_ns = ev->ts_ns,
		.begin_ns = INT64_MIN,
		.phase = ev->phase,
		.next = ev->phase == 'f' && !ev->binds_enclosing,
	};
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct chrome_flow *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static int by_span(const void *a, const void *b)
{
	const struct chrome_flow *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

void chrome_flows_sort(struct chrome_flows *all, bool spans)
{
	qsort(all->at, all->n, sizeof *all->at, spans ? by_span : by_time);
}

/* The first that does not come before the key. */
static uint32_t first_of(const struct chrome_flows *all, const struct chrome_flow *key,
			 int (*order)(const void *, const void *))
{
	uint32_t from = 0, to = all->n;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (order(&all->at[mid], key) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static void bind(struct chrome_flow *f, int64_t begin_ns, int64_t end_ns)
{
	f->begin_ns = begin_ns;
	f->end_ns = end_ns;
}

void chrome_flows_bind(struct chrome_flows *all, uint64_t thread, int64_t begin_ns, int64_t end_ns)
{
	const struct chrome_flow key = { .thread = thread, .at_ns = begin_ns };
	const struct chrome_flow after = { .thread = thread, .at_ns = begin_ns + 1 };
	uint32_t first = first_of(all, &key, by_time), looks = 0;

	for (uint32_t i = first; i < all->n && looks < LOOKS_MAX; i++, looks++) {
		struct chrome_flow *f = &all->at[i];

		if (f->thread != thread || f->at_ns > end_ns)
			break;
		if (!f->next && (!is_bound(f) || begin_ns > f->begin_ns ||
				 (begin_ns == f->begin_ns && end_ns < f->end_ns)))
			bind(f, begin_ns, end_ns);
	}
	first = first_of(all, &after, by_time); /* one that is at the begin is bound to it, too */
	for (looks = 0; first-- && looks < LOOKS_MAX; looks++) {
		struct chrome_flow *f = &all->at[first];

		if (f->thread != thread)
			break;
		if (!f->next)
			continue;
		if (is_bound(f) && f->begin_ns < begin_ns)
			break;
		if (!is_bound(f) || begin_ns < f->begin_ns || end_ns > f->end_ns)
			bind(f, begin_ns, end_ns);
	}
}

void chrome_flows_words(struct chrome_flows *all, uint64_t thread, int64_t begin_ns, int64_t end_ns,
			char detail[TIMELINE_TEXT_MAX + 1])
{
	const struct chrome_flow key = { .thread = thread, .begin_ns = begin_ns, .end_ns = end_ns };
	uint32_t first = all->n ? first_of(all, &key, by_span) : 0, n = 0;

	for (uint32_t i = first; i < all->n; i++) {
		struct chrome_flow *f = &all->at[i];
		char number[20];

		if (f->thread != thread || f->begin_ns != begin_ns || f->end_ns != end_ns)
			break;
		if (f->kept || n == OF_SPAN || strlen(detail) + 2 * WORD_LENGTH > TIMELINE_TEXT_MAX)
			continue;
		snprintf(number, sizeof number, "%llx", (unsigned long long)f->number);
		if (f->phase != 's')
			timeline_word(detail, "flow_in", number);
		if (f->phase != 'f')
			timeline_word(detail, "flow_out", number);
		f->kept = true;
		n++;
	}
}

uint64_t chrome_flows_left(const struct chrome_flows *all)
{
	uint64_t left = all->left;

	for (uint32_t i = 0; i < all->n; i++)
		left += !all->at[i].kept;
	return left;
}

void chrome_flows_free(struct chrome_flows *all)
{
	free(all->at);
	*all = (struct chrome_flows){ 0 };
}
