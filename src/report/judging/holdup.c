/* SPDX-License-Identifier: Apache-2.0 */
#include "report/judging/holdup_part.h"

#include "core/stacks/symbol.h"
#include "report/summary/parts.h"
#include "report/summary/waittime.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const holdup_names[HOLDUP_NUMBER_OF] = {
	[HOLDUP_LOCK] = "lock",           [HOLDUP_BARRIER] = "barrier",
	[HOLDUP_READER] = "reader",       [HOLDUP_FEEDER] = "feeder",
	[HOLDUP_WORKERS] = "workers",     [HOLDUP_CHILDREN] = "children",
	[HOLDUP_NETWORK] = "network",     [HOLDUP_STORAGE] = "storage",
	[HOLDUP_FILE_LOCK] = "file_lock", [HOLDUP_SLEEP] = "sleep",
};

enum holdup holdup_find(const char *name)
{
	int i = 0;

	while (i < HOLDUP_NUMBER_OF && strcmp(holdup_names[i], name) != 0)
		i++;
	return (enum holdup)i;
}

/* ---- threads ---- */

double holdup_busy(const struct waiting_row *thread)
{
	return thread->time.on_cpu + thread->time.ready;
}

double holdup_works(const struct waiting_row *thread)
{
	static const enum wait_kind kinds[] = { WAIT_STORAGE,      WAIT_PIPE_READ,
						WAIT_PIPE_WRITE,   WAIT_SOCKET_READ,
						WAIT_SOCKET_WRITE, WAIT_TIMER };
	double sum = holdup_busy(thread);

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		sum += thread->time.by[kinds[i]];
	return sum;
}

static const char *pid_of(const struct holdups *h, const struct waiting_row *thread)
{
	return thread->instance ? run_label(h->r, thread->instance, "pid") : NULL;
}

bool holdup_is_main(const struct holdups *h, const struct waiting_row *thread)
{
	const char *pid = pid_of(h, thread);

	return pid && strtoul(pid, NULL, 10) == thread->tid;
}

bool holdup_same_process(const struct waiting_row *a, const struct waiting_row *b)
{
	return a->node == b->node && a->instance == b->instance;
}

const struct waiting_spot *holdup_spots(const struct waiting *w, const struct waiting_row *thread,
					uint32_t *n)
{
	uint32_t from = 0, to = w->nspots;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (w->spots[middle].thread < thread)
			from = middle + 1;
		else
			to = middle;
	}
	for (*n = 0; from + *n < w->nspots && w->spots[from + *n].thread == thread;)
		++*n;
	return w->spots + from;
}

int holdup_by_seconds(const void *a, const void *b)
{
	const struct waiting_spot *const *x = a, *const *y = b;

	if ((*x)->seconds != (*y)->seconds)
		return (*x)->seconds < (*y)->seconds ? 1 : -1;
	return *x < *y ? -1 : *x > *y;
}

int holdup_choose(const struct holdups *h, holdup_wanted *wanted, holdup_order *order,
		  const struct waiting_spot ***out)
{
	const struct waiting_spot **chosen = calloc(h->w->nspots + 1u, sizeof(void *));
	int n = 0;

	*out = chosen;
	if (!chosen)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->w->nspots; i++)
		if (wanted(&h->w->spots[i]))
			chosen[n++] = &h->w->spots[i];
	qsort(chosen, (size_t)n, sizeof(void *), order);
	return n;
}

/* ---- words ---- */

void holdup_put_process(struct bytes *b, const struct holdups *h, const struct waiting_row *thread)
{
	const char *pid = pid_of(h, thread);

	bytes_printf(b, "%.40s", *thread->command ? thread->command : "a process");
	if (pid)
		bytes_printf(b, " (pid %.20s)", pid);
}

void holdup_put_thread(struct bytes *b, const struct holdups *h, const struct waiting_row *thread)
{
	if (!holdup_is_main(h, thread))
		bytes_printf(b, "thread %u of ", thread->tid);
	holdup_put_process(b, h, thread);
}

static void put_function(struct bytes *b, const char *shown, const char *file, uint32_t line)
{
	bytes_printf(b, " in %.60s", shown);
	if (file && line)
		bytes_printf(b, " (%.40s:%u)", symbol_base(file), line);
}

void holdup_put_place(struct bytes *b, const struct waiting_row *place)
{
	if (*place->function)
		put_function(b, place->shown, place->file, place->line);
}

void holdup_put_wait(struct bytes *b, const struct waiting_row *place)
{
	bytes_puts(b, wait_kind_words(place->kind));
	if (*place->object)
		bytes_printf(b, "%s %.100s", strncmp(place->object, "at ", 3) ? ":" : "",
			     place->object);
}

/* The function that used most CPU time of the thread, where code was sampled. */
static bool put_hottest(struct bytes *b, const struct holdups *h, const struct waiting_row *thread)
{
	const struct stacks_selection sel = { .node = thread->node,
					      .instance = thread->instance,
					      .tid = thread->tid };
	const struct stacks_row *top;
	struct stacks *st = NULL;
	struct err e;
	bool found = h->r->nsample_sets_of[SAMPLE_CPU] && thread->instance &&
		     !stacks_open(&st, h->r, h->w->stacks->classes, &sel, &e) &&
		     st->rows[STACKS_BY_FUNCTION].n;

	if (found) {
		top = st->rows[STACKS_BY_FUNCTION].row;
		bytes_puts(b, ", mostly");
		put_function(b, top->name, top->file, top->line);
	}
	stacks_close(st);
	return found;
}

void holdup_put_work(struct bytes *b, const struct holdups *h, const struct waiting_row *thread)
{
	double wall = waiting_wall(&thread->time), busy = holdup_busy(thread);
	uint32_t n;
	const struct waiting_spot *spot = holdup_spots(h->w, thread, &n);

	if (!n || busy >= spot->seconds) {
		bytes_printf(b, "works for %.0f %% of its time", 100 * busy / wall);
		put_hottest(b, h, thread);
		return;
	}
	holdup_put_wait(b, spot->place);
	bytes_printf(b, " for %.0f %% of its time", 100 * spot->seconds / wall);
	holdup_put_place(b, spot->place);
}

void holdup_set(struct summary_holdup *out, double seconds, double threads, struct bytes *b)
{
	out->seconds = seconds;
	out->threads = threads;
	snprintf(out->at, sizeof out->at, "%.*s", b->failed ? 0 : (int)b->len,
		 b->failed || !b->len ? "" : (const char *)b->data);
	bytes_free(b);
}

/* ---- all of them ---- */

static holdup_finder *const finders[HOLDUP_NUMBER_OF] = {
	[HOLDUP_LOCK] = holdup_find_lock,           [HOLDUP_BARRIER] = holdup_find_barrier,
	[HOLDUP_READER] = holdup_find_reader,       [HOLDUP_FEEDER] = holdup_find_feeder,
	[HOLDUP_WORKERS] = holdup_find_workers,     [HOLDUP_CHILDREN] = holdup_find_children,
	[HOLDUP_NETWORK] = holdup_find_network,     [HOLDUP_STORAGE] = holdup_find_storage,
	[HOLDUP_FILE_LOCK] = holdup_find_file_lock, [HOLDUP_SLEEP] = holdup_find_sleep,
};

static void shares_make(struct summary *s, const struct waiting *w)
{
	const struct waiting_rows *places = &w->rows[WAITING_BY_PLACE];
	struct bytes b = { 0 };
	struct summary_holdup top;

	for (int i = 0; i < WAIT_KINDS; i++)
		s->wait_ratio[i] = waittime_ratio(w, w->time.by[i]);
	s->waits_known = true;
	if (!places->n)
		return;
	holdup_put_wait(&b, places->row);
	holdup_put_place(&b, places->row);
	holdup_set(&top, 0, 0, &b);
	snprintf(s->wait_top, sizeof s->wait_top, "%s", top.at);
}

int summary_holdups_make(struct summary *s, struct run *r)
{
	struct holdups h = { s->waits ? s->waits->waiting : NULL, r, s->wall_s };
	int rc = 0;

	for (int i = 0; i < HOLDUP_NUMBER_OF; i++)
		s->holdup[i] = (struct summary_holdup){ h.w ? 0 : NAN, h.w ? 0 : NAN, "" };
	if (!h.w || !(s->wall_s > 0))
		return 0;
	shares_make(s, h.w);
	for (int i = 0; i < HOLDUP_NUMBER_OF && !rc; i++)
		rc = finders[i](&h, &s->holdup[i]);
	return rc;
}
