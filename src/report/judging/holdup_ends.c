/* SPDX-License-Identifier: Apache-2.0 */
/* holdup_ends.c - other processes and threads that one waited for: ends of pipes, workers,
 * children. */
#include "report/judging/holdup_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIED_MAX = 16 }; /* of those that waited longest */

static double ratio(double part, const struct waiting_row *thread)
{
	return part / waiting_wall(&thread->time);
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
	       ratio(s->seconds, s->thread) >= reader_waits;
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

/* One that does nothing else is a parent that waits for its child's output. */
static bool waits_for_data(const struct waiting_spot *s)
{
	static const double works = 0.1;
	const enum wait_kind kind = s->place->kind;

	return (kind == WAIT_PIPE_READ || kind == WAIT_SOCKET_READ) && *s->place->object &&
	       ratio(s->seconds, s->thread) >= feeder_waits &&
	       ratio(holdup_busy(s->thread), s->thread) >= works;
}

/* All the time that is waited, not only before the other begins to work. */
static bool feeds_slowly(const struct waiting_row *feeder, const struct waiting_row *thread)
{
	static const double busy = 0.8, along = 0.8;

	return ratio(holdup_busy(feeder), feeder) >= busy &&
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

static bool is_worker_of(const struct holdups *h, const struct waiting_row *x,
			 const struct waiting_row *main)
{
	static const double busy = 0.8, along = 0.6;
	bool own = holdup_same_process(x, main);
	bool child = !own && x->node == main->node && x->instance < h->r->ninstances &&
		     h->r->instances[x->instance].parent == main->instance;

	return x != main && (own || child) && ratio(holdup_busy(x), x) >= busy &&
	       waiting_wall(&x->time) >= along * waiting_wall(&main->time);
}

/* It does work of its own: one that only waits until all is done is as it should be. */
static bool is_starved(const struct holdups *h, const struct waiting_row *x)
{
	static const double waits = 0.4, works = 0.15, half = 0.5;

	return x->instance && holdup_is_main(h, x) && ratio(waits_for_others(x), x) >= waits &&
	       ratio(holdup_busy(x), x) >= works && waiting_wall(&x->time) >= half * h->wall_s;
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
