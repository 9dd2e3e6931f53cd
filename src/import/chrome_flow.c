/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_flow.c - the ends of arrows in a trace in Chrome's JSON. An end is bound to the innermost
 * span of its thread that is open at its time ("s", "t", and "f" with "bp": "e"), or to the next
 * one that begins ("f"), as the format of trace events has it. The first reading collects the ends,
 * a second one finds their spans, and the one that writes spans asks for those of each.
 */
#include "import/chrome_trace.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
