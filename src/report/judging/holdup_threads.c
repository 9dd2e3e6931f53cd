/* SPDX-License-Identifier: Apache-2.0 */
/* holdup_threads.c - locks, barriers, files and timers that held threads up. */
#include "report/judging/holdup_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Less of a thread's time at a place counts for nothing. */
static const double least_ratio = 0.05;

static bool counts(const struct waiting_spot *s)
{
	return s->seconds >= least_ratio * waiting_wall(&s->thread->time);
}

/* Threads that wait for the same. */
struct group {
	const struct waiting_spot **spot;
	uint32_t nspots, threads;
	double seconds, works_s;
	double wall_s; /* without what others had the cores */
	const struct waiting_spot *most;
};

/* From spot on, as long as they are the same; the places of a thread are together. */
static void group_make(struct group *g, const struct waiting_spot **spot, uint32_t n,
		       holdup_order *same)
{
	*g = (struct group){ .spot = spot, .most = spot[0] };
	for (uint32_t i = 0; i < n && !same(spot, spot + i); i++) {
		const struct waiting_row *thread = spot[i]->thread;

		g->nspots++;
		g->seconds += spot[i]->seconds;
		if (spot[i]->seconds > g->most->seconds)
			g->most = spot[i];
		if (i && spot[i - 1]->thread == thread)
			continue;
		g->threads++;
		g->wall_s += waiting_wall(&thread->time) - thread->time.ready;
		g->works_s += holdup_busy(thread) + thread->time.by[WAIT_STORAGE] +
			      thread->time.by[WAIT_TIMER];
	}
}

static int in_order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_thread(const struct waiting_spot *x, const struct waiting_spot *y)
{
	return in_order((uintptr_t)x->thread, (uintptr_t)y->thread);
}

/* ---- locks ---- */

static bool is_lock(const struct waiting_spot *s)
{
	const enum wait_kind kind = s->place->kind;

	return (kind == WAIT_MUTEX || kind == WAIT_RWLOCK || kind == WAIT_LOCK) &&
	       *s->place->object && counts(s);
}

static int same_lock(const void *a, const void *b)
{
	const struct waiting_spot *x = *(const struct waiting_spot *const *)a;
	const struct waiting_spot *y = *(const struct waiting_spot *const *)b;
	int order = in_order(x->thread->node, y->thread->node);

	if (!order)
		order = in_order(x->thread->instance, y->thread->instance);
	return order ? order : strcmp(x->place->object, y->place->object);
}

static int by_lock(const void *a, const void *b)
{
	int order = same_lock(a, b);

	return order ? order
		     : by_thread(*(const struct waiting_spot *const *)a,
				 *(const struct waiting_spot *const *)b);
}

/* Many wait long, and who has it works: threads that hold a lock while they wait for work, one
 * after the other, do not. */
static bool is_convoy(const struct group *g)
{
	static const double waited = 0.3, worked = 0.25;

	return g->threads >= 3 && g->seconds >= waited * g->wall_s &&
	       g->works_s >= worked * g->seconds / (g->threads - 1);
}

int holdup_find_lock(const struct holdups *h, struct summary_holdup *out)
{
	const struct waiting_spot **spot;
	int n = holdup_choose(h, is_lock, by_lock, &spot);
	struct group g, best = { 0 };
	struct bytes b = { 0 };

	for (int i = 0; i < n; i += (int)g.nspots) {
		group_make(&g, spot + i, (uint32_t)(n - i), same_lock);
		if (is_convoy(&g) && g.seconds > best.seconds)
			best = g;
	}
	if (best.threads) {
		holdup_put_process(&b, h, best.most->thread);
		bytes_printf(&b, ": each %s", "");
		holdup_put_wait(&b, best.most->place);
		holdup_put_place(&b, best.most->place);
		holdup_set(out, best.seconds / best.threads, best.threads, &b);
	}
	free(spot);
	return n < 0 ? n : 0;
}

static bool is_file_lock(const struct waiting_spot *s)
{
	return s->place->kind == WAIT_FILE_LOCK && counts(s);
}

static int same_file(const void *a, const void *b)
{
	const struct waiting_spot *x = *(const struct waiting_spot *const *)a;
	const struct waiting_spot *y = *(const struct waiting_spot *const *)b;
	int order = in_order(x->thread->node, y->thread->node);

	return order ? order : strcmp(x->place->object, y->place->object);
}

static int by_file(const void *a, const void *b)
{
	int order = same_file(a, b);

	return order ? order
		     : by_thread(*(const struct waiting_spot *const *)a,
				 *(const struct waiting_spot *const *)b);
}

int holdup_find_file_lock(const struct holdups *h, struct summary_holdup *out)
{
	const struct waiting_spot **spot;
	int n = holdup_choose(h, is_file_lock, by_file, &spot);
	struct group g, best = { 0 };
	struct bytes b = { 0 };

	for (int i = 0; i < n; i += (int)g.nspots) {
		group_make(&g, spot + i, (uint32_t)(n - i), same_file);
		if (g.seconds > best.seconds)
			best = g;
	}
	if (best.threads) {
		holdup_put_thread(&b, h, best.most->thread);
		bytes_puts(&b, " ");
		holdup_put_wait(&b, best.most->place);
		holdup_put_place(&b, best.most->place);
		holdup_set(out, best.seconds / best.threads, best.threads, &b);
	}
	free(spot);
	return n < 0 ? n : 0;
}

/* ---- barriers ---- */

static int by_process(const void *a, const void *b)
{
	const struct waiting_row *x = *(const struct waiting_row *const *)a;
	const struct waiting_row *y = *(const struct waiting_row *const *)b;
	int order = in_order(x->node, y->node);

	if (!order)
		order = in_order(x->instance, y->instance);
	return order ? order : in_order(x->tid, y->tid);
}

/* Threads of a process that wait in barriers, and the one that works most. */
struct team {
	uint32_t n, waiters;
	double seconds, wall_s; /* as in a group */
	const struct waiting_row *worker, *waiter;
};

static void team_make(struct team *t, const struct waiting_row **row, uint32_t n)
{
	static const double waits = 0.2;

	*t = (struct team){ 0 };
	for (; t->n < n && holdup_same_process(row[0], row[t->n]); t->n++) {
		const struct waiting_row *x = row[t->n];
		double seconds = x->time.by[WAIT_BARRIER];

		if (!t->worker || holdup_works(x) > holdup_works(t->worker))
			t->worker = x;
		if (seconds < waits * waiting_wall(&x->time))
			continue;
		t->waiters++;
		t->seconds += seconds;
		t->wall_s += waiting_wall(&x->time) - x->time.ready;
		if (!t->waiter || seconds > t->waiter->time.by[WAIT_BARRIER])
			t->waiter = x;
	}
}

static bool is_held_up(const struct team *t)
{
	static const double waited = 0.25, little = 0.3, worked = 0.5;

	return t->waiters >= 2 && t->seconds >= waited * t->wall_s &&
	       t->worker->time.by[WAIT_BARRIER] < little * t->seconds / t->waiters &&
	       holdup_works(t->worker) >= worked * waiting_wall(&t->worker->time);
}

static void tell_team(const struct holdups *h, const struct team *t, struct summary_holdup *out)
{
	struct bytes b = { 0 };
	uint32_t n;
	const struct waiting_spot *spot = holdup_spots(h->w, t->waiter, &n);

	for (uint32_t i = 0; i + 1 < n && spot->place->kind != WAIT_BARRIER; i++)
		spot++;
	holdup_put_process(&b, h, t->waiter);
	bytes_puts(&b, " wait in a barrier");
	holdup_put_place(&b, spot->place);
	bytes_printf(&b, " for thread %u, which ", t->worker->tid);
	holdup_put_work(&b, h, t->worker);
	holdup_set(out, t->seconds / t->waiters, t->waiters, &b);
}

int holdup_find_barrier(const struct holdups *h, struct summary_holdup *out)
{
	const struct waiting_rows *threads = &h->w->rows[WAITING_BY_THREAD];
	const struct waiting_row **row = calloc(threads->n + 1u, sizeof(void *));
	struct team t, best = { 0 };

	if (!row)
		return -ENOMEM;
	for (uint32_t i = 0; i < threads->n; i++)
		row[i] = &threads->row[i];
	qsort(row, threads->n, sizeof(void *), by_process);
	for (uint32_t i = 0; i < threads->n; i += t.n) {
		team_make(&t, row + i, threads->n - i);
		if (is_held_up(&t) && t.seconds > best.seconds)
			best = t;
	}
	if (best.n)
		tell_team(h, &best, out);
	free(row);
	return 0;
}

/* ---- storage ---- */

/* "/scratch/b.h5 (nfs4 at /scratch)" */
static bool is_network(const char *object)
{
	const char *type = strstr(object, " (");

	for (const char *next = type; next; next = strstr(next + 2, " ("))
		type = next;
	return type && wait_is_far(type + 2);
}

static double storage_of(const struct holdups *h, const struct waiting_row *thread, bool network,
			 const struct waiting_spot **most)
{
	uint32_t n;
	const struct waiting_spot *spot = holdup_spots(h->w, thread, &n);
	double sum = 0;

	*most = NULL;
	for (uint32_t i = 0; i < n; i++) {
		if (spot[i].place->kind != WAIT_STORAGE ||
		    is_network(spot[i].place->object) != network)
			continue;
		if (!*most)
			*most = &spot[i];
		sum += spot[i].seconds;
	}
	return sum;
}

/* One that reads ahead or writes a log while others of its process work holds nobody up. */
static bool others_work(const struct holdups *h, const struct waiting_row *thread)
{
	static const double busy = 0.5;
	const struct waiting_rows *threads = &h->w->rows[WAITING_BY_THREAD];

	for (uint32_t i = 0; i < threads->n; i++) {
		const struct waiting_row *x = &threads->row[i];

		if (x != thread && holdup_same_process(x, thread) &&
		    holdup_busy(x) >= busy * waiting_wall(&x->time))
			return true;
	}
	return false;
}

static int find_storage(const struct holdups *h, bool network, struct summary_holdup *out)
{
	static const double waits = 0.2;
	const struct waiting_rows *threads = &h->w->rows[WAITING_BY_THREAD];
	const struct waiting_spot *spot, *most = NULL;
	double seconds, best = 0;
	uint32_t n = 0;
	struct bytes b = { 0 };

	for (uint32_t i = 0; i < threads->n; i++) {
		const struct waiting_row *x = &threads->row[i];

		seconds = storage_of(h, x, network, &spot);
		if (!spot || seconds < waits * waiting_wall(&x->time) || others_work(h, x))
			continue;
		n++;
		if (seconds > best) {
			best = seconds;
			most = spot;
		}
	}
	if (!n || !most)
		return 0;
	holdup_put_thread(&b, h, most->thread);
	bytes_puts(&b, " ");
	holdup_put_wait(&b, most->place);
	holdup_put_place(&b, most->place);
	holdup_set(out, best, n, &b);
	return 0;
}

int holdup_find_network(const struct holdups *h, struct summary_holdup *out)
{
	return find_storage(h, true, out);
}

int holdup_find_storage(const struct holdups *h, struct summary_holdup *out)
{
	return find_storage(h, false, out);
}

/* ---- sleep ---- */

/* A program of its own that does nothing but sleep is what a script started. */
static bool sleeps(const struct holdups *h, const struct waiting_row *x)
{
	static const double mostly = 0.8, little = 0.1, half = 0.5;
	double wall = waiting_wall(&x->time);

	return holdup_is_main(h, x) && x->time.by[WAIT_TIMER] >= mostly * wall &&
	       holdup_busy(x) <= little * wall && wall >= half * h->wall_s &&
	       strcmp(x->command, "sleep") != 0;
}

int holdup_find_sleep(const struct holdups *h, struct summary_holdup *out)
{
	const struct waiting_rows *threads = &h->w->rows[WAITING_BY_THREAD];
	const struct waiting_row *best = NULL;
	const struct waiting_spot *spot;
	struct bytes b = { 0 };
	uint32_t n;

	for (uint32_t i = 0; i < threads->n; i++)
		if (sleeps(h, &threads->row[i]) &&
		    (!best || threads->row[i].time.by[WAIT_TIMER] > best->time.by[WAIT_TIMER]))
			best = &threads->row[i];
	if (!best)
		return 0;
	spot = holdup_spots(h->w, best, &n);
	holdup_put_process(&b, h, best);
	holdup_put_place(&b, spot->place);
	holdup_set(out, best->time.by[WAIT_TIMER], 1, &b);
	return 0;
}
