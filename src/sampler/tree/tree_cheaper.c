/* SPDX-License-Identifier: Apache-2.0 */
/* tree_cheaper.c - exit records where they cost the job too much: the events that every task
 * inherits take 0.3 to 0.5 us of each context switch (Linux 6.18), a third of what passing a byte
 * through a pipe takes, and 2.6 us a CPU of each process start. A job that does so much of it is
 * followed by the proc connector instead, which takes nothing of a switch; and where that is not
 * permitted, for switches, by its new pids. */
#include "sampler/tree/tree_state.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

enum {
	SWITCHES_PER_S = 10000, /* of one thread: half a per cent of it */
	SWITCHES_LEAST = 2000,  /* and it has gone on for a while */
	SWITCHES_SEEM = 100,    /* these are looked at again in the next sample */
	SWITCHES_MS = 10,
	STARTS_PER_S = 5000, /* times the CPUs: 1.3 % of a core */
	STARTS_MS = 500,
};

void cheaper_init(struct tree *t, bool may)
{
	t->cheaper = (struct cheaper){ .may = may, .started_ns = t->now_ns };
}

void cheaper_note(struct tree *t, int64_t switches, int64_t ns)
{
	if (switches < SWITCHES_SEEM || switches < ns / (NS_PER_S / SWITCHES_PER_S))
		return;
	t->cheaper.seems = t->exits && t->cheaper.may;
	if (switches >= SWITCHES_LEAST && ns >= SWITCHES_MS * NS_PER_MS)
		t->cheaper.wanted = true;
}

static bool starts_many(struct tree *t)
{
	struct cheaper *c = &t->cheaper;
	int64_t ns = t->now_ns - c->started_ns, starts = t->started - c->started;

	if (ns < STARTS_MS * NS_PER_MS)
		return false;
	c->started_ns = t->now_ns;
	c->started = t->started;
	return starts * (int64_t)exits_cpus(t->exits) > ns / (NS_PER_S / STARTS_PER_S);
}

/* What the records tell until now, and the connector's from then on. */
static void change_over(struct tree *t, const char *why)
{
	const struct timespec written = { .tv_nsec = NS_PER_MS / 2 };
	char text[160];

	t->cheaper.since_ns = clock_mono_ns();
	nanosleep(&written, NULL);
	starts_drain(t, t->cheaper.since_ns);
	exits_close(t->exits);
	t->exits = NULL;
	for (int again = 0; again < 2; again++)
		starts_end_the_ended(t);
	t->rescan = tree_has_events(t);
	t->lost_records += !tree_has_events(t);
	unwaited_changed(t);
	snprintf(text, sizeof text, "used until %s", why);
	sample_meta_text(t->sample, "mechanism.exit_records", text);
}

void cheaper_step(struct tree *t)
{
	struct cheaper *c = &t->cheaper;
	struct err e = { "" };
	bool starts;
	int bad;

	if (!c->may || !t->exits)
		return;
	starts = starts_many(t);
	if (!c->wanted && !starts)
		return;
	c->may = false;
	bad = connector_open(&t->connector, &e);
	discover_say(t, "mechanism.connector", bad, e.text);
	if (bad && !c->wanted)
		return;
	if (bad)
		discover_say(t, "mechanism.new_pids", 0, "");
	change_over(t, c->wanted ? "the job switched tasks too often for them"
				 : "the job started processes too often for them");
}
