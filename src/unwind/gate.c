/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/touched.h"

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	FAULT_NS = 115,   /* what events cost each fault (Linux 6.18); 54 even if they are off */
	SHARE = 1500,     /* of a core, in millionths, for that */
	SCALE_MOST = 32,  /* so often a window comes at least */
	WINDOW_MS = 10,   /* it lasts at least, */
	COST_PART = 1000, /* and so long that to open and close it is this part of the time */
	COST_MOST_MS = 20,
	RATE_MS = 100,    /* of time that it is on, after which the faults a second are known */
	GROWTH_PART = 32, /* by which memory has grown, and so many pages */
	GROWTH_LEAST = 1024,
	CHURN_LEAST = 16384, /* faults since then after which it is taken to be the same again */
	LOW_LOOKS = 50,      /* with less than half of what there once was: that is over */
	HANDED_MS = 50,      /* between looks at what the recorder did; it wakes this one, too */
};

void gate_init(struct gate *g, struct stacks_page *page)
{
	struct stacks_rings *r = &g->own;

	g->page = page;
	r->n = page->nrings;
	for (uint32_t i = 0; i < page->nrings; i++) {
		r->fd[i] = STACKS_RINGS + (int)i;
		r->cpu[i] = page->touches.cpu[i];
	}
	r->bytes = page->ring_bytes;
	r->stack_bytes = page->stack_bytes;
	r->faults_hz = page->touches.hz;
	r->in_kernel = page->touches.in_kernel;
	r->what = RINGS_SAMPLES;
	g->never = r->faults_hz > FAULTS_HZ; /* who asks for more samples gets all of them */
}

/* ---- events ---- */

/* Has the recorder closed its events? */
static bool is_handed(const struct gate *g)
{
	return g->page ? atomic_load(&g->page->touches.handed)
		       : g->state == GATE_ASKED || g->state == GATE_WINDOWS;
}

static void ask(struct gate *g, bool windows)
{
	if (g->page)
		atomic_store(&g->page->touches.windows, windows);
}

static bool add_process(struct gate *g, pid_t pid)
{
	struct dirent *entry;
	bool any = false;
	char path[40];
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		int bad = tid > 0 ? stacks_rings_add(&g->own, tid) : -ESRCH;

		any = any || !bad;
		g->never = g->never || (bad && bad != -ESRCH);
	}
	if (dir)
		closedir(dir);
	return any;
}

static void open_own(struct gate *g)
{
	int64_t began_ns = clock_cpu_ns();
	uint32_t n = 0;

	if (g->page)
		g->own.step = atomic_load(&g->page->touches.step);
	for (uint32_t i = 0; i < g->npids; i++)
		if (!g->page || add_process(g, g->pid[i]))
			g->pid[n++] = g->pid[i];
	g->npids = n;
	g->off = false;
	g->cost_ns = clock_cpu_ns() - began_ns;
}

static void close_own(struct gate *g)
{
	int64_t began_ns = clock_cpu_ns();

	while (g->own.nevents)
		close(g->own.event[--g->own.nevents]);
	g->cost_ns += clock_cpu_ns() - began_ns;
}

/* Tried, before the recorder closes its own: it could not open those of processes that hide. */
static bool may_open(struct gate *g)
{
	open_own(g);
	close_own(g);
	g->never = g->never || g->cost_ns > COST_MOST_MS * NS_PER_MS;
	return !g->never && g->npids;
}

/* ---- windows ---- */

/* Whole again: by own events until the recorder has its own. */
static void end_windows(struct gate *g, int64_t now_ns)
{
	if (g->state == GATE_WINDOWS && g->off)
		open_own(g);
	if (g->state != GATE_WHOLE)
		g->state = GATE_LEAVING;
	ask(g, false);
	g->off = false;
	g->high = 0;
	g->changed_ns = g->due_ns = now_ns;
	g->faults_at_most = g->faults_then = g->faults;
	g->on_ns = 0;
}

/* How many samples one of a window stands for, once it is known how often there are faults. */
static void measure(struct gate *g)
{
	double each = (double)FAULT_NS * 1e-9 / ((double)SHARE * 1e-6);

	if (g->on_ns < RATE_MS * NS_PER_MS)
		return;
	g->scale = (double)(g->faults - g->faults_then) * 1e9 / (double)g->on_ns * each;
	if (g->scale > SCALE_MOST)
		g->scale = SCALE_MOST;
	g->faults_then = g->faults;
	g->on_ns = 0;
}

static void pass_time(struct gate *g, int64_t now_ns)
{
	int64_t span_ns = g->changed_ns ? now_ns - g->changed_ns : 0;

	if (g->off)
		g->owed_ns -= span_ns;
	else
		g->on_ns += span_ns;
	if (!g->off && g->state == GATE_WINDOWS)
		g->owed_ns += (int64_t)((double)span_ns * (g->scale - 1));
	g->changed_ns = now_ns;
}

static void remember(struct gate *g, pid_t pid)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->npids; i++)
		if (g->pid[i] != pid && (g->npids < GATE_PIDS_MAX || !kill(g->pid[i], 0)))
			g->pid[n++] = g->pid[i];
	g->npids = n;
	if (n < GATE_PIDS_MAX)
		g->pid[g->npids++] = pid;
	else
		g->never = true;
}

uint64_t gate_sample(struct gate *g, pid_t pid, uint64_t faults, bool fresh, int64_t now_ns)
{
	uint64_t more = g->unseen < faults ? g->unseen : faults;

	g->faults += faults;
	g->unseen -= more;
	if (g->state == GATE_WINDOWS)
		more += (uint64_t)((double)faults * (g->scale - 1));
	if (fresh)
		remember(g, pid);
	if (fresh && g->state != GATE_WHOLE)
		end_windows(g, now_ns);
	return more;
}

void gate_started(struct gate *g, pid_t pid, int64_t now_ns)
{
	if (g->state != GATE_WINDOWS)
		return;
	remember(g, pid);
	if (!g->off && g->page)
		(void)add_process(g, pid);
	end_windows(g, now_ns);
}

void gate_look(struct gate *g, uint64_t resident, uint64_t unseen, int64_t now_ns)
{
	uint64_t enough = g->most > CHURN_LEAST ? g->most : CHURN_LEAST;

	if (g->state == GATE_WINDOWS && unseen < g->unseen_least)
		g->unseen_least = unseen;
	g->first = g->first ? g->first : resident + 1;
	if (g->is_blind && resident >= g->first)
		g->blind = resident + 1 - g->first;
	if (resident > g->most + g->most / GROWTH_PART + GROWTH_LEAST) {
		/* The same code goes on, mostly. */
		if (g->state == GATE_WINDOWS)
			g->unseen = unseen - g->unseen_least;
		g->is_blind = g->is_blind || g->state == GATE_WINDOWS;
		g->most = resident;
		end_windows(g, now_ns);
	}
	g->low_looks = resident < g->high / 2 ? g->low_looks + 1 : 0;
	if (g->low_looks == LOW_LOOKS)
		g->most = g->high = resident;
	if (resident > g->high)
		g->high = resident;
	if (g->state != GATE_WHOLE || g->never)
		return;
	pass_time(g, now_ns);
	measure(g);
	if (g->scale < 2 || g->faults - g->faults_at_most <= enough || !may_open(g))
		return;
	g->state = GATE_ASKED;
	g->due_ns = now_ns;
	ask(g, true);
}

int64_t gate_due_ns(const struct gate *g)
{
	return g->state == GATE_WHOLE ? INT64_MAX : g->due_ns;
}

/* Between windows; they are of any length, so that no loop of the job is in step with them. */
static void pause_windows(struct gate *g, int64_t now_ns)
{
	int64_t pause_ns = (int64_t)((double)g->owed_ns * (0.5 + random_unit(&g->random)));

	close_own(g);
	g->off = true;
	g->due_ns = now_ns + (pause_ns > NS_PER_MS ? pause_ns : NS_PER_MS);
}

static void begin_window(struct gate *g, int64_t now_ns)
{
	int64_t long_ns = (int64_t)((double)(g->cost_ns * COST_PART) / g->scale);

	open_own(g);
	g->due_ns = now_ns + (long_ns > WINDOW_MS * NS_PER_MS ? long_ns : WINDOW_MS * NS_PER_MS);
}

static void step_windows(struct gate *g, int64_t now_ns)
{
	pass_time(g, now_ns);
	g->never = g->never || g->cost_ns > COST_MOST_MS * NS_PER_MS;
	if (!g->off)
		measure(g);
	if (g->scale < 2 || g->never || !g->npids)
		end_windows(g, now_ns);
	else if (g->off)
		begin_window(g, now_ns);
	else
		pause_windows(g, now_ns);
}

void gate_step(struct gate *g, int64_t now_ns)
{
	bool handed = is_handed(g);

	if (g->state == GATE_ASKED && handed) {
		pass_time(g, now_ns);
		g->state = GATE_WINDOWS;
		g->owed_ns = 0;
		g->unseen_least = UINT64_MAX;
		g->most = g->high; /* which may be less than it once was */
		pause_windows(g, now_ns);
		return;
	}
	if ((g->state == GATE_LEAVING || g->state == GATE_WHOLE) && handed && !g->own.nevents) {
		open_own(g);
		g->state = GATE_LEAVING;
	} else if (g->state == GATE_LEAVING && !handed) {
		close_own(g);
		g->state = GATE_WHOLE;
	}
	if (g->state == GATE_WINDOWS && now_ns >= g->due_ns)
		step_windows(g, now_ns);
	else if (g->state != GATE_WINDOWS && now_ns >= g->due_ns)
		g->due_ns = now_ns + HANDED_MS * NS_PER_MS;
}
