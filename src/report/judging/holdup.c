/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stacks/symbol.h"
#include "report/judging/holdup_part.h"
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

/* ---- ends of pipes, workers, children ---- */

enum { TRIED_MAX = 16 }; /* of those that waited longest */

static double ratio(double part, const struct waiting_row *thread)
{
	return part / waiting_wall(&thread->time);
}

/* Of the time in which others did not keep it from a core: on a busy machine, too, it works and
 * waits in the proportion that is its own. */
static double own_ratio(double part, const struct waiting_row *thread)
{
	return part / (waiting_wall(&thread->time) - thread->time.ready);
}

/* The busiest thread of processes of a name, but those of the one that waits. */
static const struct waiting_row *busiest(const struct holdups *h, const char *command,
					 const struct waiting_row *but)
{
	const struct waiting_rows *threads = &h->w->rows[WAITING_BY_THREAD];
	const struct waiting_row *found = NULL;

	for (uint32_t i = 0; i < threads->n; i++) {
		const struct waiting_row *x = &threads->row[i];

		if (strcmp(x->command, command) != 0 || holdup_same_process(x, but) ||
		    x->node != but->node)
			continue;
		if (!found || holdup_busy(x) > holdup_busy(found))
			found = x;
	}
	return found;
}

/* Does it do so much of what both compute? Where others have the cores, both get less of them. */
static bool works_beside(const struct waiting_row *x, const struct waiting_row *other, double least)
{
	return x->time.on_cpu >= least * (x->time.on_cpu + other->time.on_cpu);
}

/* How many threads wait as this one does, for at least that share of their time. */
static uint32_t count_alike(const struct holdups *h, const struct waiting_spot *s, double least)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->w->nspots; i++) {
		const struct waiting_spot *x = &h->w->spots[i];

		n += x->place->kind == s->place->kind && x->thread->node == s->thread->node &&
		     !strcmp(x->place->object, s->place->object) &&
		     x->seconds >= least * waiting_wall(&x->thread->time);
	}
	return n;
}

/* ---- a slow reader ---- */

static const double reader_waits = 0.3;

static bool waits_for_room(const struct waiting_spot *s)
{
	const enum wait_kind kind = s->place->kind;

	return (kind == WAIT_PIPE_WRITE || kind == WAIT_SOCKET_WRITE) && *s->place->object &&
	       own_ratio(s->seconds, s->thread) >= reader_waits;
}

/* One that waits for others in turn is not the cause: they are told, if they are. */
static bool is_slow(const struct holdups *h, const struct waiting_row *reader)
{
	static const double busy = 0.5;
	uint32_t n;
	const struct waiting_spot *spot = holdup_spots(h->w, reader, &n);

	if (ratio(holdup_busy(reader), reader) >= busy)
		return true;
	if (!n || ratio(spot->seconds, reader) < busy)
		return false;
	switch (spot->place->kind) {
	case WAIT_TIMER:
	case WAIT_STORAGE:
	case WAIT_FILE_LOCK:
	case WAIT_MUTEX:
	case WAIT_LOCK:
		return true;
	default:
		return false;
	}
}

int holdup_find_reader(const struct holdups *h, struct summary_holdup *out)
{
	const struct waiting_spot **spot;
	int n = holdup_choose(h, waits_for_room, holdup_by_seconds, &spot);

	for (int i = 0; i < n && i < TRIED_MAX; i++) {
		const struct waiting_row *place = spot[i]->place;
		const struct waiting_row *reader = busiest(h, place->object, spot[i]->thread);
		struct bytes b = { 0 };

		if (!reader || !is_slow(h, reader))
			continue;
		holdup_put_thread(&b, h, spot[i]->thread);
		bytes_printf(&b, " %s", wait_kind_words(place->kind));
		holdup_put_place(&b, place);
		bytes_puts(&b, ", and ");
		holdup_put_process(&b, h, reader);
		bytes_puts(&b, ", which reads it, ");
		holdup_put_work(&b, h, reader);
		holdup_set(out, spot[i]->seconds, count_alike(h, spot[i], reader_waits), &b);
		break;
	}
	free(spot);
	return n < 0 ? n : 0;
}

/* ---- a slow feeder ---- */

static const double feeder_waits = 0.4;

static bool waits_for_data(const struct waiting_spot *s)
{
	const enum wait_kind kind = s->place->kind;

	return (kind == WAIT_PIPE_READ || kind == WAIT_SOCKET_READ) && *s->place->object &&
	       own_ratio(s->seconds, s->thread) >= feeder_waits;
}

/* All the time that is waited, not only before the other begins to work. A thread that does nothing
 * else is of a parent that waits for its child's output. */
static bool feeds_slowly(const struct waiting_row *feeder, const struct waiting_row *thread)
{
	static const double busy = 0.8, along = 0.8, works = 0.1;

	return works_beside(thread, feeder, works) && ratio(holdup_busy(feeder), feeder) >= busy &&
	       waiting_wall(&feeder->time) >= along * waiting_wall(&thread->time);
}

int holdup_find_feeder(const struct holdups *h, struct summary_holdup *out)
{
	const struct waiting_spot **spot;
	int n = holdup_choose(h, waits_for_data, holdup_by_seconds, &spot);

	for (int i = 0; i < n && i < TRIED_MAX; i++) {
		const struct waiting_row *place = spot[i]->place;
		const struct waiting_row *feeder = busiest(h, place->object, spot[i]->thread);
		struct bytes b = { 0 };

		if (!feeder || !feeds_slowly(feeder, spot[i]->thread))
			continue;
		holdup_put_thread(&b, h, spot[i]->thread);
		bytes_printf(&b, " %s", wait_kind_words(place->kind));
		holdup_put_place(&b, place);
		bytes_puts(&b, ", and ");
		holdup_put_process(&b, h, feeder);
		bytes_puts(&b, ", which writes it, ");
		holdup_put_work(&b, h, feeder);
		holdup_set(out, spot[i]->seconds, count_alike(h, spot[i], feeder_waits), &b);
		break;
	}
	free(spot);
	return n < 0 ? n : 0;
}

/* ---- workers ---- */

/* What threads and processes that work for another are waited for with. */
static double waits_for_others(const struct waiting_row *x)
{
	const double *by = x->time.by;

	return by[WAIT_PIPE_READ] + by[WAIT_SOCKET_READ] + by[WAIT_SEMAPHORE] + by[WAIT_CONDITION] +
	       by[WAIT_QUEUE];
}

/* main does work of its own: one that only waits until all is done is as it should be. */
static bool is_worker_of(const struct holdups *h, const struct waiting_row *x,
			 const struct waiting_row *main)
{
	static const double busy = 0.8, along = 0.6, works = 0.13;
	bool own = holdup_same_process(x, main);
	bool child = !own && x->node == main->node && x->instance < h->r->ninstances &&
		     h->r->instances[x->instance].parent == main->instance;

	return x != main && (own || child) && ratio(holdup_busy(x), x) >= busy &&
	       works_beside(main, x, works) &&
	       waiting_wall(&x->time) >= along * waiting_wall(&main->time);
}

static bool is_starved(const struct holdups *h, const struct waiting_row *x)
{
	static const double waits = 0.4, half = 0.5;

	return x->instance && holdup_is_main(h, x) && own_ratio(waits_for_others(x), x) >= waits &&
	       waiting_wall(&x->time) >= half * h->wall_s;
}

static void tell_workers(const struct holdups *h, const struct waiting_row *main,
			 const struct waiting_row *worker, uint32_t workers,
			 struct summary_holdup *out)
{
	bool own = holdup_same_process(main, worker);
	struct bytes b = { 0 };
	uint32_t n;
	const struct waiting_spot *spot = holdup_spots(h->w, main, &n);

	holdup_put_process(&b, h, main);
	bytes_puts(&b, " ");
	holdup_put_wait(&b, spot->place);
	holdup_put_place(&b, spot->place);
	if (workers == 1)
		bytes_printf(&b, "; its busy %s ", own ? "thread" : "child process");
	else
		bytes_printf(&b, "; of its %u busy %s one ", workers,
			     own ? "threads" : "child processes");
	holdup_put_work(&b, h, worker);
	holdup_set(out, waits_for_others(main), workers, &b);
}

int holdup_find_workers(const struct holdups *h, struct summary_holdup *out)
{
	const struct waiting_rows *threads = &h->w->rows[WAITING_BY_THREAD];
	uint32_t tried = 0;

	for (uint32_t i = 0; i < threads->n && tried < TRIED_MAX; i++) {
		const struct waiting_row *main = &threads->row[i], *worker = NULL;
		uint32_t n = 0;

		if (!is_starved(h, main))
			continue;
		tried++;
		for (uint32_t k = 0; k < threads->n; k++)
			if (is_worker_of(h, &threads->row[k], main)) {
				worker = &threads->row[k];
				n++;
			}
		if (n && waits_for_others(main) > out->seconds)
			tell_workers(h, main, worker, n, out);
	}
	return 0;
}

/* ---- children ---- */

struct children {
	uint32_t n;
	double seconds, first_s, last_s;
};

static void children_of(const struct holdups *h, const struct waiting_spot *s, struct children *c)
{
	const struct run *r = h->r;

	*c = (struct children){ .first_s = INFINITY };
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *x = &r->instances[i];
		double from, to;

		if (x->parent != s->thread->instance || x->end_ns == INT64_MAX || !x->domain ||
		    strcmp(x->domain, "process") != 0 || strcmp(x->name, s->place->object) != 0)
			continue;
		from = run_seconds(r, x->node, x->birth_ns);
		to = run_seconds(r, x->node, x->end_ns);
		c->n++;
		c->seconds += fmax(0, to - from);
		c->first_s = fmin(c->first_s, from);
		c->last_s = fmax(c->last_s, to);
	}
}

static bool waits_for_children(const struct waiting_spot *s)
{
	static const double mostly = 0.4;

	return s->place->kind == WAIT_CHILD && *s->place->object && s->thread->instance &&
	       ratio(s->seconds, s->thread) >= mostly;
}

int holdup_find_children(const struct holdups *h, struct summary_holdup *out)
{
	enum { CHILDREN_LEAST = 4 };
	static const double alone = 1.1;
	const struct waiting_spot **spot;
	int n = holdup_choose(h, waits_for_children, holdup_by_seconds, &spot);

	for (int i = 0; i < n && i < TRIED_MAX; i++) {
		struct children c;
		struct bytes b = { 0 };

		children_of(h, spot[i], &c);
		if (c.n < CHILDREN_LEAST || c.seconds > alone * (c.last_s - c.first_s) ||
		    c.seconds <= out->seconds)
			continue;
		holdup_put_process(&b, h, spot[i]->thread);
		bytes_printf(&b, " ran %u times %.40s", c.n, spot[i]->place->object);
		holdup_set(out, c.seconds, c.n, &b);
	}
	free(spot);
	return n < 0 ? n : 0;
}
