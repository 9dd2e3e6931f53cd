/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/crowd.h"

#include "base/clock.h"
#include "source/procfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	UNSEEN_US = 1000,   /* what a process may use besides its sampled threads, */
	UNSEEN_PART = 64,   /* or such a part of what it used, until all of its threads are read */
	TURNS_NS = 1000000, /* CPU time in which turns are counted, at least */
	/* Who gets a CPU more often than that in a second of CPU time rests between its turns, so
	 * that it has as many on average: starting and stopping an event takes about 0.7 us. More
	 * than 21 times as many, and a turn slows it by 4 %, which a short job would feel. Threads
	 * that fight for a lock are below that, and where they do is what their user asks. */
	TURNS_MOST = 3000,
	RESTS_MOST = 20,
};

/* ---- a thread's time ---- */

static bool read_stat(const struct crowd *c, const struct crowd_thread *t, struct proc_stat *st)
{
	char path[64], text[512];

	snprintf(path, sizeof path, "%d/task/%d/stat", (int)t->pid, (int)t->tid);
	return root_read(&c->proc, path, text, sizeof text) > 0 && !proc_stat_parse(text, st);
}

static bool read_times(const struct crowd *c, pid_t pid, pid_t tid, struct thread_times *times)
{
	char path[64], text[96];

	snprintf(path, sizeof path, "%d/task/%d/schedstat", (int)pid, (int)tid);
	return root_read(&c->proc, path, text, sizeof text) > 0 && !thread_times_parse(text, times);
}

static void note_turns(struct crowd_thread *t, const struct thread_times *times)
{
	int64_t used_ns = times->run_ns - t->turns_ns, turns = times->turns - t->turns;
	double times_most;

	if (used_ns < TURNS_NS)
		return;
	times_most = (double)turns * NS_PER_S / ((double)used_ns * TURNS_MOST);
	t->restless = times_most > 1 + RESTS_MOST;
	t->rests = t->restless || times_most <= 1 ? 0 : (uint32_t)ceil(times_most) - 1;
	t->turns = times->turns;
	t->turns_ns = times->run_ns;
}

/* The kernel cuts both to whole ticks; of none it may be that there was nothing. */
static void note_split(struct crowd_thread *t, const struct proc_stat *st)
{
	double user = (double)st->utime + 0.5, system = (double)st->stime + 0.5;

	if (st->utime + st->stime > 0)
		t->user_part = !st->stime ? 1 : !st->utime ? 0 : user / (user + system);
}

bool crowd_measure(struct crowd *c, struct crowd_thread *t)
{
	struct proc_stat st;
	struct thread_times times;

	if (!read_stat(c, t, &st) || !read_times(c, t->pid, t->tid, &times))
		return false;
	note_split(t, &st);
	note_turns(t, &times);
	t->cpu_ns = times.run_ns;
	return true;
}

int64_t crowd_owed_ns(const struct crowd_thread *t)
{
	double part = t->user_part < 0 ? 1 : t->user_part;

	return (int64_t)((double)t->cpu_ns * part) - t->told_ns;
}

/* ---- threads ---- */

/* All of its time counts, unless it was there before. */
static void begin(struct crowd *c, struct crowd_thread *t, bool before)
{
	struct proc_stat st;
	int64_t from_ns;

	t->user_part = -1;
	t->since_ns = c->now_ns;
	if (!read_stat(c, t, &st))
		return;
	from_ns = st.starttime * c->tick_ns - c->boot_ns;
	if (!before && from_ns > c->began_ns - c->tick_ns) {
		t->since_ns = from_ns < c->now_ns ? from_ns : c->now_ns;
		return;
	}
	note_split(t, &st);
	t->was_ns = t->cpu_ns;
	t->told_ns = crowd_owed_ns(t);
}

static struct crowd_thread *thread_add(struct crowd *c, struct crowd_process *p, pid_t tid,
				       const struct thread_times *times)
{
	uint32_t i = c->spare_threads;

	if (i)
		c->spare_threads = c->thread[i].next;
	else if (c->nthreads < CROWD_THREADS_MAX)
		i = ++c->nthreads;
	else
		return NULL;
	c->thread[i] = (struct crowd_thread){
		.pid = p->pid, .tid = tid, .next = p->threads, .cpu_ns = times->run_ns
	};
	note_turns(&c->thread[i], times);
	p->threads = i;
	p->nthreads++;
	begin(c, &c->thread[i], c->late && p->cpu_ns < 0);
	return &c->thread[i];
}

/* The one at *link, out of the chain of its process. */
static void thread_end(struct crowd *c, struct crowd_process *p, uint32_t *link)
{
	uint32_t i = *link;
	struct crowd_thread *t = &c->thread[i];

	c->user.ended(c->user.of, t);
	*link = t->next;
	p->nthreads--;
	*t = (struct crowd_thread){ .next = c->spare_threads };
	c->spare_threads = i;
}

static void note(struct crowd_thread *t, int64_t cpu_ns)
{
	if (cpu_ns > t->cpu_ns)
		t->cpu_ns = cpu_ns;
}

/* False: it has ended. */
static bool thread_read(struct crowd *c, struct crowd_thread *t)
{
	struct thread_times times;

	if (!read_times(c, t->pid, t->tid, &times))
		return false;
	note(t, times.run_ns);
	note_turns(t, &times);
	return true;
}

static void thread_listed(struct crowd *c, struct crowd_process *p, pid_t tid)
{
	struct crowd_thread *t = NULL;
	struct thread_times times;

	for (uint32_t i = p->threads; i && !t; i = c->thread[i].next)
		t = c->thread[i].tid == tid ? &c->thread[i] : NULL;
	if (t && !thread_read(c, t))
		return;
	if (!t && read_times(c, p->pid, tid, &times))
		t = thread_add(c, p, tid, &times);
	if (t)
		t->round = c->round;
}

/* ---- processes ---- */

/* 0: there is no room. */
static uint32_t process_row(struct crowd *c, pid_t pid)
{
	bool fresh;
	uint32_t i = pids_get(&c->pids, pid, &fresh);

	if (i && fresh)
		c->process[i] = (struct crowd_process){ .pid = pid, .cpu_ns = -1 };
	return i;
}

static void process_end(struct crowd *c, struct crowd_process *p)
{
	while (p->threads)
		thread_end(c, p, &p->threads);
	c->user.replaced(c->user.of, p->pid, true);
	p->start = 0;
	p->cpu_ns = -1;
}

static void process_drop(struct crowd *c, uint32_t i)
{
	process_end(c, &c->process[i]);
	c->process[i].pid = 0;
	pids_drop(&c->pids, i);
}

/* Reads all threads that it had at the last look; false: one of them has ended. */
static bool read_known(struct crowd *c, struct crowd_process *p)
{
	for (uint32_t i = p->threads; i; i = c->thread[i].next) {
		if (!thread_read(c, &c->thread[i]))
			return false;
		c->thread[i].round = c->round;
	}
	return true;
}

struct listing {
	struct crowd *crowd;
	struct crowd_process *process;
};

static bool take_listed(void *of, pid_t tid)
{
	const struct listing *l = of;

	thread_listed(l->crowd, l->process, tid);
	return true;
}

/* Is it still the same process, and the same program? */
static void compare(struct crowd *c, struct crowd_process *p, const struct proc_stat *st)
{
	if (p->start && p->start != st->starttime)
		process_end(c, p);
	if (p->start != st->starttime || p->stack != st->stack)
		c->user.replaced(c->user.of, p->pid, false);
	p->start = st->starttime;
	p->stack = st->stack;
}

static int64_t sum_of(const struct crowd *c, const struct crowd_process *p)
{
	int64_t sum = 0;

	for (uint32_t i = p->threads; i; i = c->thread[i].next)
		sum += c->thread[i].cpu_ns;
	return sum;
}

/* Did the threads that are sampled use all of it? They are read, the others stood still. */
static bool is_explained(struct crowd *c, struct crowd_process *p, int64_t cpu_ns)
{
	int64_t used_ns = cpu_ns - p->cpu_ns, unseen_ns;

	if (p->cpu_ns < 0)
		return false;
	for (uint32_t i = p->threads; i; i = c->thread[i].next) {
		struct crowd_thread *t = &c->thread[i];

		note(t, t->slot ? c->user.used_ns(c->user.of, t) : t->cpu_ns);
	}
	unseen_ns = cpu_ns - p->rest_ns - sum_of(c, p);
	return unseen_ns < UNSEEN_US * 1000 + used_ns / UNSEEN_PART;
}

static void look_at(struct crowd *c, pid_t pid)
{
	int64_t cpu_ns = clock_cpu_ns_of(pid);
	uint32_t row = process_row(c, pid);
	struct crowd_process *p = &c->process[row];
	char path[32], text[512];
	struct proc_stat st;

	if (!row)
		return;
	for (uint32_t i = p->threads; i; i = c->thread[i].next)
		c->thread[i].was_ns = c->thread[i].cpu_ns;
	if (cpu_ns == p->cpu_ns)
		return;
	if (is_explained(c, p, cpu_ns)) {
		p->cpu_ns = cpu_ns;
		return;
	}
	snprintf(path, sizeof path, "%d/stat", (int)pid);
	if (root_read(&c->proc, path, text, sizeof text) <= 0 || proc_stat_parse(text, &st) != 0 ||
	    proc_stat_ended(&st)) {
		process_end(c, p);
		return;
	}
	compare(c, p, &st);
	if (st.num_threads != p->nthreads || !read_known(c, p))
		pids_threads(&c->proc, p->pid, take_listed, &(struct listing){ c, p });
	for (uint32_t *link = &p->threads; *link;)
		if (c->thread[*link].round != c->round)
			thread_end(c, p, link);
		else
			link = &c->thread[*link].next;
	p->cpu_ns = cpu_ns;
	p->rest_ns = cpu_ns - sum_of(c, p);
}

void crowd_look(struct crowd *c)
{
	c->before_ns = c->now_ns;
	c->now_ns = clock_mono_ns();
	c->boot_ns = clock_boot_ns() - c->now_ns;
	c->round++;
	for (uint32_t i = 0; i < c->npids; i++)
		look_at(c, c->pid[i]);
}

/* Those that are in the list no longer have ended. */
bool crowd_hear(struct crowd *c, const pid_t *pids, uint32_t n)
{
	bool fresh = false;

	c->npids = n < STACKS_PIDS_MAX ? n : STACKS_PIDS_MAX;
	memcpy(c->pid, pids, c->npids * sizeof c->pid[0]);
	for (uint32_t i = 0; i < c->npids; i++) {
		struct crowd_process *p = &c->process[process_row(c, c->pid[i])];

		p->round = c->round + 1; /* row 0 is none */
		fresh |= p->pid && p->cpu_ns < 0;
	}
	for (uint32_t i = 1; i <= c->pids.n; i++)
		if (c->process[i].pid && c->process[i].round != c->round + 1)
			process_drop(c, i);
	return fresh;
}

struct crowd *crowd_make(const struct crowd_user *user, int64_t began_ns, bool late)
{
	struct crowd *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->process = calloc(CROWD_PROCESSES_MAX + 1, sizeof *c->process);
	c->thread = calloc(CROWD_THREADS_MAX + 1, sizeof *c->thread);
	if (pids_make(&c->pids, CROWD_PROCESSES_MAX) || !c->process || !c->thread ||
	    root_open(&c->proc, "/proc")) {
		pids_free(&c->pids);
		free(c->process);
		free(c->thread);
		free(c);
		return NULL;
	}
	c->user = *user;
	c->began_ns = began_ns;
	c->late = late;
	c->now_ns = clock_mono_ns();
	c->tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	return c;
}
