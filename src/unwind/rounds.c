/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/rounds.h"

#include "base/clock.h"
#include "base/random.h"
#include "source/program/stacks_events.h"
#include "unwind/crowd.h"
#include "unwind/records.h"

#include <errno.h>
#include <stdlib.h>

enum {
	SHARE = 5000, /* of a core, in millionths, for looks */
	LOOK_MS = 100,
	LATE_SHARE = 1000,   /* likewise, where only long processes are sampled */
	LATE_LOOK_MS = 1500, /* but with each question, of which there is one a second */
	TURN_MS = 1000,
	TURN_SAMPLES = 256, /* of a turn; more are put at once */
	SOON = 32,          /* samples of a thread that was thought to run seldom */
	PERIOD_LEAST_US = 1000,
	OWED_LEAST_US = 500, /* less is not worth a turn */
	FIRST_MS = 60,       /* from the first look at a process to the second, and until its first
				samples are read: its language */
	RING_MOST = 512 << 10,
};

struct slot {
	uint32_t thread; /* 0: free */
	bool hung, over; /* its thread has ended; its turn has */
	bool warm;       /* it had a sample */
	int64_t period_ns;
	int64_t begun_ns;      /* CPU time of its thread when the event was opened, */
	int64_t turn_begun_ns; /* and when the turn began */
	int64_t last_ns;       /* CPU time in the turn before */
	int64_t turn_ns;       /* when the turn began */
	uint32_t n;
	uint32_t node[TURN_SAMPLES];
};

struct rounds {
	struct stacks_page *page;
	struct spaces *spaces;
	struct profile *profile;
	struct crowd *crowd;
	struct random random;
	struct slot slot[STACKS_SLOTS_MAX];
	struct slot_event event[STACKS_SLOTS_MAX];
	struct record_ring ring[STACKS_SLOTS_MAX]; /* those of the events */
	uint32_t nslots;
	size_t locked; /* bytes of their rings */
	uint32_t waiting[CROWD_THREADS_MAX], nwaiting;
	int64_t due_ns, may_ns, cost_ns; /* may_ns: when another look is within their share */
	bool fresh;                      /* there is a process that was not looked at yet */
	int64_t first_ns;                /* when what is new is looked at once more */
	int64_t cores_1000;              /* that the job uses, in thousandths */
	uint32_t active;                 /* threads that ran since the look before */
};

/* ---- weights ---- */

/* Seven digits of it: few different weights take little room, and what is left over is owed still.
 */
static int64_t rounded(int64_t v)
{
	int cut = 0;

	while (v >> cut >= 128)
		cut++;
	if (cut)
		v = (v + (INT64_C(1) << (cut - 1))) >> cut << cut;
	return v > 0 ? v : 1;
}

static void put(struct rounds *r, struct crowd_thread *t, const uint32_t *node, uint32_t n,
		int64_t owed_ns)
{
	struct space *x = spaces_get(r->spaces, t->pid);
	int64_t unit_ns = rounded(owed_ns / n), now_ns = clock_mono_ns();

	if (!x->known) /* forgotten, as after exec: its command, too */
		spaces_learn(r->spaces, x, now_ns);
	for (uint32_t i = 0; i < n; i++)
		profile_time(r->profile, x, unit_ns,
			     &(struct timed){ t->pid, t->tid, node[i], t->since_ns, now_ns, 1 });
	t->told_ns += unit_ns * n;
	t->since_ns = now_ns;
}

/* Some of them, spread over the turn. */
static void keep_stacks(struct crowd_thread *t, const struct slot *s)
{
	t->nstacks = s->n < CROWD_STACKS ? s->n : CROWD_STACKS;
	for (uint32_t i = 0; i < t->nstacks; i++)
		t->stack[i] = s->node[(size_t)i * s->n / t->nstacks];
}

static struct crowd_thread *thread_of(struct rounds *r, const struct slot *s)
{
	return &r->crowd->thread[s->thread];
}

/* The samples so far represent all that the thread owed. */
static void settle(struct rounds *r, struct slot *s)
{
	struct crowd_thread *t = thread_of(r, s);

	if (s->n) {
		put(r, t, s->node, s->n, crowd_owed_ns(t));
		keep_stacks(t, s);
	}
	s->n = 0;
	s->last_ns = t->cpu_ns - s->turn_begun_ns;
	s->turn_begun_ns = t->cpu_ns;
	s->turn_ns = clock_mono_ns();
}

/* Within a turn: what was owed before it, and a period each. */
static void settle_early(struct rounds *r, struct slot *s)
{
	struct crowd_thread *t = thread_of(r, s);
	int64_t now_ns = t->cpu_ns, owed_ns;

	if (!s->n)
		return;
	t->cpu_ns = s->turn_begun_ns;
	owed_ns = crowd_owed_ns(t);
	t->cpu_ns = now_ns;
	put(r, t, s->node, s->n, (owed_ns > 0 ? owed_ns : 0) + s->period_ns * s->n);
	keep_stacks(t, s);
	s->turn_begun_ns += s->period_ns * s->n;
	s->n = 0;
}

/* ---- slots ---- */

static int64_t used_ns(void *of, const struct crowd_thread *t)
{
	const struct rounds *r = of;

	return r->slot[t->slot - 1].begun_ns + slot_event_count_ns(&r->event[t->slot - 1]);
}

/* Counted by the event, where the kernel does: of a thread that has ended no record tells. */
static void count_lost(struct rounds *r, uint32_t i)
{
	int64_t lost = slot_event_lost(&r->event[i]);

	if (lost > 0)
		atomic_fetch_add(&r->page->lost, lost);
}

static void slot_close(struct rounds *r, uint32_t i)
{
	count_lost(r, i);
	thread_of(r, &r->slot[i])->slot = 0;
	r->locked -= r->event[i].locked;
	slot_event_close(&r->event[i]);
	r->ring[i] = (struct record_ring){ 0 };
	r->slot[i] = (struct slot){ 0 };
}

/* A ring gets as much as each may that wishes for one. */
static size_t ring_size(const struct rounds *r)
{
	uint32_t n = r->active < r->nslots ? r->active : r->nslots;
	size_t size = RING_MOST, least = stacks_ring_least();

	while (size > least && size >= r->page->rounds.bytes / (n ? n : 1))
		size /= 2;
	return size;
}

/* Of all that run at a time, within what they may have together; and a few samples in a turn of
 * one that uses so much in it. */
static int64_t period_of(const struct rounds *r, int64_t turn_ns)
{
	const struct stacks_rounds *how = &r->page->rounds;
	int64_t most = (int64_t)r->nslots * 1000;
	int64_t cores_1000 = r->cores_1000 < most ? r->cores_1000 : most;
	int64_t period_ns = cores_1000 * (NS_PER_S / 1000) / how->hz_of_node;

	if (period_ns < NS_PER_S / how->hz)
		period_ns = NS_PER_S / how->hz;
	if (turn_ns / 4 < period_ns)
		period_ns = turn_ns / 4;
	return period_ns > PERIOD_LEAST_US * 1000 ? period_ns : PERIOD_LEAST_US * 1000;
}

/* What a thread will use in a turn, if it goes on as since its last one. */
static int64_t expected_ns(const struct crowd_thread *t, int64_t now_ns)
{
	int64_t span_ns = now_ns - t->since_ns, owed_ns = crowd_owed_ns(t);
	int64_t turn_ns = TURN_MS * NS_PER_MS;

	if (span_ns <= 0 || owed_ns >= span_ns)
		return turn_ns;
	return (int64_t)((double)owed_ns / (double)span_ns * (double)turn_ns);
}

/* 0, or -errno. */
static int slot_begin(struct rounds *r, uint32_t i, uint32_t thread)
{
	struct crowd_thread *t = &r->crowd->thread[thread];
	struct space *x = spaces_get(r->spaces, t->pid);
	int64_t now_ns = clock_mono_ns(), period_ns = period_of(r, expected_ns(t, now_ns));
	int bad = -ENOMEM;

	/* No two are in step, neither with each other nor with what they do. */
	period_ns = (int64_t)((double)period_ns * (0.875 + 0.25 * random_unit(&r->random)));
	for (size_t size = ring_size(r); size >= stacks_ring_least() && bad; size /= 2) {
		if (r->locked + size >= r->page->rounds.bytes)
			continue;
		bad = slot_event_open(&r->event[i], t->tid, period_ns, size);
		if (bad != -EPERM && bad != -ENOMEM)
			break;
	}
	if (!bad && !crowd_measure(r->crowd, t)) {
		slot_event_close(&r->event[i]);
		bad = -ESRCH;
	}
	if (bad)
		return bad;
	if (!x->known) { /* it may have ended when its samples are read */
		spaces_learn(r->spaces, x, now_ns);
		r->first_ns = now_ns + FIRST_MS * NS_PER_MS;
	}
	r->locked += r->event[i].locked;
	r->ring[i] = r->event[i].ring;
	r->slot[i] = (struct slot){ .thread = thread,
				    .period_ns = period_ns,
				    .begun_ns = t->cpu_ns,
				    .turn_begun_ns = t->cpu_ns,
				    .turn_ns = now_ns };
	t->slot = i + 1;
	return 0;
}

/* Another rate, where it ought to be quite another. */
static void retune(struct rounds *r, uint32_t i, int64_t turn_ns)
{
	struct slot *s = &r->slot[i];
	int64_t period_ns = period_of(r, turn_ns);

	if (period_ns < s->period_ns * 3 / 2 && period_ns > s->period_ns * 2 / 3)
		return;
	s->period_ns = period_ns;
	slot_event_period(&r->event[i], period_ns);
}

/* ---- threads that end ---- */

static void ended(void *of, struct crowd_thread *t)
{
	struct rounds *r = of;
	struct stacks_rounds *page = &r->page->rounds;
	int64_t owed_ns;

	if (t->slot) {
		t->cpu_ns = used_ns(r, t);
		settle(r, &r->slot[t->slot - 1]);
		slot_close(r, t->slot - 1);
	}
	owed_ns = crowd_owed_ns(t);
	if (owed_ns <= 0)
		return;
	if (t->nstacks && owed_ns >= OWED_LEAST_US * 1000) {
		put(r, t, t->stack, t->nstacks, owed_ns);
	} else if (!t->nstacks) {
		atomic_fetch_add(&page->unsampled, 1);
		atomic_fetch_add(&page->unsampled_ns, owed_ns);
	}
}

static void replaced(void *of, pid_t pid, bool gone)
{
	struct rounds *r = of;
	struct space *x;

	if (gone) {
		spaces_end(r->spaces, pid);
		return;
	}
	x = spaces_get(r->spaces, pid);
	space_forget(x);
	x->ended = false;
}

/* ---- turns ---- */

static void end_turns(struct rounds *r)
{
	for (uint32_t i = 0; i < r->nslots; i++) {
		struct slot *s = &r->slot[i];
		struct crowd_thread *t = thread_of(r, s);

		s->over = s->thread &&
			  (s->hung || r->crowd->now_ns - s->turn_ns >= TURN_MS * NS_PER_MS);
		if (s->thread && !s->over && s->n >= SOON)
			retune(r, i, TURN_MS * NS_PER_MS);
		if (!s->over)
			continue;
		if (s->hung || !crowd_measure(r->crowd, t)) {
			t->cpu_ns = used_ns(r, t);
			settle(r, s);
			slot_close(r, i);
			continue;
		}
		settle(r, s);
		t->rests_until_ns = r->crowd->now_ns + t->rests * TURN_MS * NS_PER_MS;
		if (t->restless || t->rests)
			slot_close(r, i);
		else
			retune(r, i, s->last_ns);
	}
}

static int most_owed(const void *a, const void *b, void *of)
{
	const struct crowd *c = of;
	int64_t x = crowd_owed_ns(&c->thread[*(const uint32_t *)a]);
	int64_t y = crowd_owed_ns(&c->thread[*(const uint32_t *)b]);

	return x < y ? 1 : x > y ? -1 : 0;
}

static bool may_sample(struct rounds *r, struct crowd_thread *t)
{
	if (t->restless && !t->counted)
		atomic_fetch_add(&r->page->rounds.restless, 1);
	t->counted |= t->restless;
	return !t->refused && !t->restless && r->crowd->now_ns >= t->rests_until_ns;
}

static void find_waiting(struct rounds *r)
{
	struct crowd *c = r->crowd;
	int64_t span_ns = c->now_ns - c->before_ns, used = 0, cores_1000;

	r->nwaiting = r->active = 0;
	for (uint32_t i = 1; i <= c->nthreads; i++) {
		struct crowd_thread *t = &c->thread[i];

		if (!t->tid)
			continue;
		r->active += t->cpu_ns > t->was_ns;
		used += t->cpu_ns - t->was_ns < span_ns ? t->cpu_ns - t->was_ns : span_ns;
		if (!t->slot && may_sample(r, t) && crowd_owed_ns(t) >= OWED_LEAST_US * 1000)
			r->waiting[r->nwaiting++] = i;
	}
	qsort_r(r->waiting, r->nwaiting, sizeof r->waiting[0], most_owed, c);
	cores_1000 = span_ns > 0 ? (int64_t)((double)used / (double)span_ns * 1000) : 0;
	r->cores_1000 = r->cores_1000 ? (3 * r->cores_1000 + cores_1000) / 4 : cores_1000;
}

/* One that is free; else one whose turn is over and whose thread will soon owe less than twice what
 * this one does: that which will owe least. nslots: none. */
static uint32_t slot_for(const struct rounds *r, int64_t owed_ns)
{
	uint32_t best = r->nslots;

	for (uint32_t i = 0; i < r->nslots; i++) {
		const struct slot *s = &r->slot[i];

		if (!s->thread)
			return i;
		if (s->over && s->last_ns < 2 * owed_ns &&
		    (best == r->nslots || s->last_ns < r->slot[best].last_ns))
			best = i;
	}
	return best;
}

static void begin_turns(struct rounds *r)
{
	for (uint32_t k = 0; k < r->nwaiting; k++) {
		struct crowd_thread *t = &r->crowd->thread[r->waiting[k]];
		uint32_t i = slot_for(r, crowd_owed_ns(t));
		int bad;

		if (i == r->nslots)
			return;
		if (r->slot[i].thread)
			slot_close(r, i);
		bad = slot_begin(r, i, r->waiting[k]);
		if (bad == -EACCES) {
			t->refused = true;
			atomic_fetch_add(&r->page->rounds.refused, 1);
		} else if (bad && bad != -ESRCH) {
			return;
		}
	}
}

/* The next one is so late that all together take no more than their share. */
static void plan(struct rounds *r, int64_t cost_ns)
{
	bool late = r->page->rounds.late;
	int64_t steady_ns = cost_ns < r->cost_ns ? cost_ns : r->cost_ns;
	int64_t rest_ns = steady_ns * 1000 / (late ? LATE_SHARE : SHARE) * 1000;
	int64_t least_ns = (late ? LATE_LOOK_MS : LOOK_MS) * NS_PER_MS;

	r->may_ns = clock_mono_ns() + rest_ns;
	r->due_ns = r->may_ns + (rest_ns < least_ns ? least_ns - rest_ns : 0);
	r->cost_ns = cost_ns;
}

void rounds_look(struct rounds *r)
{
	int64_t began_ns = clock_cpu_ns();

	r->first_ns = r->fresh ? clock_mono_ns() + FIRST_MS * NS_PER_MS : INT64_MAX;
	r->fresh = false;
	crowd_look(r->crowd);
	end_turns(r);
	find_waiting(r);
	begin_turns(r);
	plan(r, clock_cpu_ns() - began_ns);
}

int64_t rounds_due_ns(const struct rounds *r)
{
	int64_t first_ns = r->first_ns > r->may_ns ? r->first_ns : r->may_ns;

	return first_ns < r->due_ns ? first_ns : r->due_ns;
}

void rounds_hear(struct rounds *r)
{
	if (r->page->rounds.late)
		r->due_ns = r->may_ns;
	r->fresh |= crowd_hear(r->crowd, r->page->pid, r->page->npids);
}

void rounds_finish(struct rounds *r)
{
	crowd_look(r->crowd);
	crowd_hear(r->crowd, NULL, 0);
}

/* ---- records ---- */

void rounds_sample(struct rounds *r, uint32_t slot, const struct stack *stack)
{
	struct slot *s = &r->slot[slot];
	uint32_t node = profile_seen(r->profile, stack, s->period_ns);

	if (!node || !s->thread)
		return;
	/* Threads are often exchanged at the same places of their code, as where it enters the
	 * kernel: the first sample is a period behind such a place, and not chance. */
	if (!s->warm) {
		s->warm = true;
		return;
	}
	if (s->n == TURN_SAMPLES)
		settle_early(r, s);
	s->node[s->n++] = node;
}

int64_t rounds_period_ns(struct rounds *r, uint32_t slot)
{
	struct slot *s = &r->slot[slot];
	bool counts = s->thread && s->warm;

	s->warm |= s->thread != 0;
	return counts ? rounded(s->period_ns) : 0;
}

void rounds_lost(struct rounds *r, uint32_t slot, uint64_t n)
{
	int64_t lost = slot_event_lost(&r->event[slot]);

	atomic_fetch_add(&r->page->lost, lost < 0 ? (int64_t)n : lost);
}

void rounds_exec(struct rounds *r, uint32_t slot)
{
	struct slot *s = &r->slot[slot];

	if (!s->thread)
		return;
	settle_early(r, s);
	space_forget(spaces_get(r->spaces, thread_of(r, s)->pid));
}

const struct record_ring *rounds_rings(const struct rounds *r, uint32_t *n)
{
	*n = r->nslots;
	return r->ring;
}

uint32_t rounds_poll(const struct rounds *r, struct pollfd *wait)
{
	for (uint32_t i = 0; i < r->nslots; i++)
		wait[i] = (struct pollfd){ r->slot[i].thread && !r->slot[i].hung ? r->event[i].fd
										 : -1,
					   POLLIN, 0 };
	return r->nslots;
}

void rounds_polled(struct rounds *r, const struct pollfd *wait)
{
	for (uint32_t i = 0; i < r->nslots; i++)
		r->slot[i].hung |= (wait[i].revents & (POLLHUP | POLLERR)) != 0;
}

struct rounds *rounds_make(struct stacks_page *page, struct spaces *spaces, struct profile *profile)
{
	const struct stacks_rounds *how = &page->rounds;
	struct rounds *r = how->hz && how->hz_of_node ? calloc(1, sizeof *r) : NULL;
	const struct crowd_user user = { r, used_ns, ended, replaced };

	if (!r)
		return NULL;
	r->crowd = crowd_make(&user, how->began_ns, how->late);
	if (!r->crowd) {
		free(r);
		return NULL;
	}
	r->page = page;
	r->spaces = spaces;
	r->profile = profile;
	r->nslots = how->threads < STACKS_SLOTS_MAX ? how->threads : STACKS_SLOTS_MAX;
	r->random.state = (uint64_t)clock_mono_ns();
	r->due_ns = clock_mono_ns();
	r->first_ns = INT64_MAX;
	return r;
}
