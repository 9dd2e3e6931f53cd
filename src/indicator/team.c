/* SPDX-License-Identifier: Apache-2.0 */
#include "indicator/team.h"

#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_MAX = 16 };

struct gate {
	pthread_mutex_t mutex;
	pthread_cond_t change;
	int64_t waiting;
	bool open, given_up;
};

struct member {
	const struct team *team;
	struct gate *gate;
	pthread_t thread;
	int64_t number, begin_ns, end_ns;
};

static void *be_member(void *arg)
{
	struct member *m = arg;
	struct gate *g = m->gate;
	bool go;

	pthread_mutex_lock(&g->mutex);
	g->waiting++;
	pthread_cond_broadcast(&g->change);
	while (!g->open && !g->given_up)
		pthread_cond_wait(&g->change, &g->mutex);
	go = g->open;
	pthread_mutex_unlock(&g->mutex);
	if (!go)
		return NULL;
	m->begin_ns = clock_mono_ns();
	m->team->work(m->team->ctx, m->number);
	m->end_ns = clock_mono_ns();
	return NULL;
}

/* When all that were started wait at it. */
static void open_gate(struct gate *g, int64_t started, bool all)
{
	pthread_mutex_lock(&g->mutex);
	while (all && g->waiting < started)
		pthread_cond_wait(&g->change, &g->mutex);
	g->open = all;
	g->given_up = !all;
	pthread_cond_broadcast(&g->change);
	pthread_mutex_unlock(&g->mutex);
}

int team_run(const struct team *t, double *seconds, struct err *e)
{
	struct member *member = calloc((size_t)t->threads, sizeof *member);
	struct gate gate = { .mutex = PTHREAD_MUTEX_INITIALIZER,
			     .change = PTHREAD_COND_INITIALIZER };
	int64_t begin = INT64_MAX, end = 0, started = 0;
	int rc = 0;

	if (!member)
		return err_set(e, -ENOMEM, "out of memory");
	while (started < t->threads && !rc) {
		member[started] = (struct member){ .team = t, .gate = &gate, .number = started };
		rc = pthread_create(&member[started].thread, NULL, be_member, &member[started]);
		started += !rc;
	}
	open_gate(&gate, started, !rc);
	for (int64_t i = 0; i < started; i++) {
		pthread_join(member[i].thread, NULL);
		begin = member[i].begin_ns < begin ? member[i].begin_ns : begin;
		end = member[i].end_ns > end ? member[i].end_ns : end;
	}
	free(member);
	if (rc)
		return err_set(e, -rc, "%" PRId64 " threads cannot be started: %s", t->threads,
			       strerror(rc));
	*seconds = (double)(end - begin) / 1e9;
	return 0;
}

/* A first round is cold, and tells little of how long the next ones take: it grows in steps. */
int team_measure(const struct team *t, int64_t seconds_ns, int64_t most, int64_t *times,
		 double *seconds, struct err *e)
{
	double wanted = (double)seconds_ns / 1e9;
	int rc;

	while (!(rc = team_run(t, seconds, e)) && *seconds < wanted && *times < most) {
		double more = *seconds > 0 ? fmin(1.1 * wanted / *seconds, STEP_MAX) : STEP_MAX;

		*times = (int64_t)fmin(ceil((double)*times * more), (double)most);
	}
	return rc;
}
