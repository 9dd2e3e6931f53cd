/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/watch.h"

#include "base/clock.h"
#include "base/random.h"
#include "source/procfile.h"
#include "unwind/space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	THREAD_HASH = 1 << 15,
	REST_S = 10, /* time of processes that rest is put so often */
	COSTS = 4,   /* the cheapest of so many looks is what one costs */
	MORE = 2,    /* looks at a wait of which nobody knows who would end it */
};

/* Time of a thread that was not put into the profile yet: of one that is looked at often, less is
 * to be found there if it is put rarely. */
enum { UNTOLD_CPU, UNTOLD_READY, UNTOLD_WAIT, UNTOLD };
struct untold {
	int64_t from_ns, to_ns, ns[UNTOLD];
	uint32_t node; /* of UNTOLD_WAIT */
};

struct thread {
	struct watched_thread is;
	uint32_t hash_next, next; /* of its process */
	uint32_t round;           /* in which it was listed last */
	struct thread_times times;
	int64_t at_ns;       /* up to when its time was put */
	int64_t there_ns;    /* up to when it is known to be at its node */
	int64_t open_ns;     /* waited, and nobody knows where */
	uint32_t node;       /* where it waits; 0: it runs, or it is not known */
	bool unnamed, again; /* who would end its wait is not known: it is looked at once more, */
	uint8_t more;        /* so often up to now */
	struct untold untold;
};

struct process {
	pid_t pid;   /* 0: a free row */
	int stat_fd; /* 0: it is not open, as of one that was looked at once only */
	uint32_t threads, nthreads;
	uint32_t round;
	int64_t cpu_ns, start, stack; /* stack: another one after exec */
	int64_t seen_ns;              /* the last look */
	int64_t put_ns;               /* its time was put */
	bool ran;                     /* since then */
};

struct watch {
	struct watch_place place;
	struct stacks_page *page;
	struct spaces *spaces;
	struct profile *profile;
	struct pids pids;
	struct process *process;    /* by row of pids */
	struct thread *thread;      /* from 1 */
	struct object_child *child; /* of process[i + 1] */
	uint32_t threads_hash[THREAD_HASH];
	uint32_t nthreads, spare_threads;
	pid_t pid[STACKS_PIDS_MAX];
	uint32_t npids, round;
	bool heard;                              /* of other processes, since the last look */
	uint32_t on_cpu, ready, unseen, refused; /* nodes */
	int64_t began_ns, now_ns, due_ns, tick_ns, boot_ns;
	int64_t cost_ns[COSTS]; /* of the last looks */
	struct random random;
};

/* ---- time ---- */

static struct space *space_of(struct watch *w, pid_t pid)
{
	struct space *x = spaces_get(w->spaces, pid);

	if (!x->known)
		spaces_learn(w->spaces, x, w->now_ns);
	return x;
}

static void put_untold(struct watch *w, struct thread *t)
{
	const struct untold u = t->untold;
	const uint32_t node[UNTOLD] = { w->on_cpu, w->ready, u.node };

	for (int i = 0; i < UNTOLD; i++)
		if (u.ns[i])
			profile_time(w->profile, space_of(w, t->is.pid), WATCH_PERIOD_NS,
				     &(struct timed){ t->is.pid, t->is.tid, node[i], u.from_ns,
						      u.to_ns,
						      (uint64_t)(u.ns[i] / WATCH_PERIOD_NS) });
	t->untold = (struct untold){ 0 };
}

static void put(struct watch *w, struct thread *t, uint32_t node, int64_t from_ns, int64_t to_ns,
		int64_t length_ns)
{
	struct untold *u = &t->untold;
	int what = node == w->on_cpu ? UNTOLD_CPU : node == w->ready ? UNTOLD_READY : UNTOLD_WAIT;

	if (length_ns <= 0)
		return;
	if (what == UNTOLD_WAIT && node != u->node && u->ns[UNTOLD_WAIT])
		put_untold(w, t);
	if (what == UNTOLD_WAIT)
		u->node = node;
	u->from_ns = u->from_ns && u->from_ns < from_ns ? u->from_ns : from_ns;
	u->to_ns = u->to_ns > to_ns ? u->to_ns : to_ns;
	u->ns[what] += length_ns;
}

/* It was at its node all the time, up to then. */
static void put_wait(struct watch *w, struct thread *t)
{
	if (!t->node || t->there_ns <= t->at_ns)
		return;
	put(w, t, t->node, t->at_ns, t->there_ns, t->there_ns - t->at_ns);
	t->at_ns = t->there_ns;
}

/* What it did since, by the kernel's counts; the rest it waited. */
static void put_work(struct watch *w, struct thread *t, const struct thread_times *now)
{
	int64_t ran_ns = now->run_ns - t->times.run_ns;
	int64_t ready_ns = now->ready_ns - t->times.ready_ns;

	put(w, t, w->on_cpu, t->at_ns, w->now_ns, ran_ns);
	put(w, t, w->ready, t->at_ns, w->now_ns, ready_ns);
	t->open_ns += w->now_ns - t->at_ns - ran_ns - ready_ns;
	t->times = *now;
}

/* What it waited since then goes to where it is now. */
static void put_open(struct watch *w, struct thread *t, uint32_t node)
{
	put(w, t, node, t->at_ns, w->now_ns, t->open_ns);
	if (t->open_ns > 0)
		t->open_ns = 0;
}

/* ---- threads ---- */

static uint32_t *thread_chain(struct watch *w, pid_t tid)
{
	return &w->threads_hash[(uint32_t)tid % THREAD_HASH];
}

static struct thread *thread_find(struct watch *w, const struct watched_thread *is)
{
	uint32_t i = *thread_chain(w, is->tid);

	while (i && (w->thread[i].is.tid != is->tid || w->thread[i].is.pid != is->pid))
		i = w->thread[i].hash_next;
	return i ? &w->thread[i] : NULL;
}

static struct thread *thread_add(struct watch *w, struct process *p, pid_t tid)
{
	uint32_t i = w->spare_threads, *chain = thread_chain(w, tid);

	if (i)
		w->spare_threads = w->thread[i].next;
	else if (w->nthreads < WATCH_THREADS_MAX)
		i = ++w->nthreads;
	else
		return NULL;
	w->thread[i] = (struct thread){ .is = { .pid = p->pid, .tid = tid },
					.hash_next = *chain,
					.next = p->threads };
	*chain = i;
	p->threads = i;
	p->nthreads++;
	return &w->thread[i];
}

/* While its process did not run it stayed where it was. */
static void stay(const struct process *p, struct thread *t)
{
	if (t->node && p->seen_ns > t->there_ns)
		t->there_ns = p->seen_ns;
}

/* The one at *link, out of the chain of its process. */
static void thread_end(struct watch *w, struct process *p, uint32_t *link)
{
	uint32_t i = *link, *other = thread_chain(w, w->thread[i].is.tid);
	struct thread *t = &w->thread[i];

	stay(p, t);
	put_wait(w, t);
	put(w, t, w->unseen, t->at_ns - t->open_ns, t->at_ns, t->open_ns);
	put_untold(w, t);
	watch_let_go(&w->place, &t->is);
	while (*other != i)
		other = &w->thread[*other].hash_next;
	*other = t->hash_next;
	*link = t->next;
	p->nthreads--;
	t->next = w->spare_threads;
	w->spare_threads = i;
}

/* When it started; 0: that is not told, or it was before this watch began. The kernel tells whole
 * ticks: what it says may be up to one too early. */
static int64_t started_ns(const struct watch *w, const struct watched_thread *t)
{
	char path[64], text[512];
	struct proc_stat st;
	int64_t at_ns;

	snprintf(path, sizeof path, "%d/task/%d/stat", (int)t->pid, (int)t->tid);
	if (root_read(&w->place.proc, path, text, sizeof text) <= 0 || proc_stat_parse(text, &st))
		return 0;
	at_ns = st.starttime * w->tick_ns - w->boot_ns;
	if (at_ns <= w->began_ns - w->tick_ns)
		return 0;
	return at_ns > w->began_ns ? at_ns : w->began_ns;
}

/* All of its time counts, unless it was there before. */
static void thread_begin(struct watch *w, struct thread *t, const struct thread_times *now)
{
	int64_t from_ns = started_ns(w, &t->is), busy_ns = now->run_ns + now->ready_ns;

	t->at_ns = w->now_ns;
	if (!from_ns) {
		t->times = *now;
		return;
	}
	t->at_ns = from_ns;
	if (t->at_ns > w->now_ns - busy_ns)
		t->at_ns = w->now_ns - busy_ns;
}

static bool is_skipped(const struct watch *w, pid_t tid)
{
	for (uint32_t i = 0; i < w->page->watch.nskip && i < WATCH_SKIPPED_MAX; i++)
		if (w->page->watch.skip[i] == tid)
			return true;
	return false;
}

static enum place_found find(struct watch *w, struct thread *t, const struct thread_times *now)
{
	struct stacks_watch *page = &w->page->watch;
	enum place_found found;

	if (is_skipped(w, t->is.tid))
		return PLACE_REFUSED;
	atomic_store(&page->at, t->is.tid);
	found = watch_place_find(&w->place, &t->is, now, &t->node);
	atomic_store(&page->at, 0);
	atomic_fetch_add(&page->looks, 1);
	if (found == PLACE_MOVED)
		atomic_fetch_add(&page->moved, 1);
	if (found == PLACE_REFUSED)
		atomic_fetch_add(&page->refused, 1);
	return found;
}

/* False: it has ended, or there is no room for it. */
static bool look_at(struct watch *w, struct process *p, pid_t tid)
{
	const struct watched_thread is = { .pid = p->pid, .tid = tid };
	struct thread *t = thread_find(w, &is);
	struct thread_times now;
	bool fresh = !t;

	if (!watch_times(&w->place, t ? &t->is : &is, &now))
		return false;
	w->now_ns = clock_mono_ns();
	if (fresh)
		t = thread_add(w, p, tid);
	if (!t)
		return false;
	t->round = w->round;
	if (fresh) {
		watch_keep(&w->place, &t->is);
		thread_begin(w, t, &now);
	}
	if (!fresh && !t->again && t->node && now.turns == t->times.turns &&
	    now.run_ns == t->times.run_ns) {
		t->there_ns = w->now_ns;
		return true;
	}
	stay(p, t);
	put_wait(w, t);
	t->node = 0;
	put_work(w, t, &now);
	t->more = t->again ? t->more : 0;
	t->unnamed = t->again = false;
	switch (find(w, t, &now)) {
	case PLACE_FOUND:
		t->unnamed = w->place.unnamed && t->more < MORE;
		put_open(w, t, t->node);
		break;
	case PLACE_REFUSED:
		t->node = w->refused;
		put_open(w, t, t->node);
		break;
	default:
		t->node = 0;
		break;
	}
	t->at_ns = t->there_ns = w->now_ns;
	return true;
}

/* ---- processes ---- */

/* 0: there is no room. */
static uint32_t process_row(struct watch *w, pid_t pid)
{
	bool fresh;
	uint32_t i = pids_get(&w->pids, pid, &fresh);

	if (i && fresh)
		w->process[i] = (struct process){ .pid = pid, .put_ns = w->now_ns, .cpu_ns = -1 };
	return i;
}

static void process_end(struct watch *w, struct process *p)
{
	watch_let_go_of(&w->place, &p->stat_fd);
	while (p->threads)
		thread_end(w, p, &p->threads);
	spaces_end(w->spaces, p->pid);
	p->start = 0;
}

static void process_drop(struct watch *w, uint32_t i)
{
	process_end(w, &w->process[i]);
	w->process[i].pid = 0;
	w->child[i - 1] = (struct object_child){ 0 };
	pids_drop(&w->pids, i);
}

/* Are they those of the last look? Listing takes longer than looking at each of them. Those that
 * were looked at before one was missed are looked at once more. */
static bool are_as_before(struct watch *w, struct process *p, const struct proc_stat *st)
{
	uint32_t i = p->threads;

	if (st->num_threads != p->nthreads)
		return false;
	while (i && look_at(w, p, w->thread[i].is.tid))
		i = w->thread[i].next;
	return !i;
}

struct listing {
	struct watch *watch;
	struct process *process;
};

static bool take_listed(void *of, pid_t tid)
{
	const struct listing *l = of;

	look_at(l->watch, l->process, tid);
	return true;
}

static void list_threads(struct watch *w, struct process *p, const struct proc_stat *st)
{
	if (are_as_before(w, p, st))
		return;
	if (st->num_threads == 1)
		look_at(w, p, p->pid);
	else
		pids_threads(&w->place.proc, p->pid, take_listed, &(struct listing){ w, p });
}

/* Is it still the same process, and the same program? */
static void compare(struct watch *w, struct process *p, const struct proc_stat *st)
{
	struct space *x = spaces_get(w->spaces, p->pid);

	if (p->start && p->start != st->starttime)
		process_end(w, p);
	if (p->start != st->starttime || p->stack != st->stack) {
		for (uint32_t i = p->threads; i; i = w->thread[i].next)
			put_untold(w, &w->thread[i]); /* of the program that it was */
		space_forget(x);
	}
	x->ended = false;
	p->start = st->starttime;
	p->stack = st->stack;
}

static void note_child(struct watch *w, const struct process *p, const struct proc_stat *st)
{
	struct object_child *child = &w->child[p - w->process - 1];

	*child = (struct object_child){ p->pid, st->ppid, "" };
	snprintf(child->process, sizeof child->process, "%s", st->comm);
}

static void end_unlisted(struct watch *w, struct process *p)
{
	for (uint32_t *link = &p->threads; *link;)
		if (w->thread[*link].round != w->round)
			thread_end(w, p, link);
		else
			link = &w->thread[*link].next;
}

static bool read_stat(struct watch *w, struct process *p, char *text, size_t size,
		      struct proc_stat *st)
{
	char path[32];
	ssize_t n;

	snprintf(path, sizeof path, "%d/stat", (int)p->pid);
	if (p->seen_ns && !p->stat_fd)
		p->stat_fd = watch_keep_of(&w->place, path);
	n = p->stat_fd ? file_reread(p->stat_fd, text, size) : 0;
	if (n <= 0) { /* another process may have its number now */
		watch_let_go_of(&w->place, &p->stat_fd);
		n = root_read(&w->place.proc, path, text, size);
	}
	return n > 0 && !proc_stat_parse(text, st) && !proc_stat_ended(st);
}

static void look_at_process(struct watch *w, pid_t pid)
{
	int64_t at_ns = w->now_ns = clock_mono_ns(), cpu_ns = clock_cpu_ns_of(pid);
	uint32_t row = process_row(w, pid);
	struct process *p = &w->process[row];
	char text[512];
	struct proc_stat st;

	if (!row)
		return;
	p->round = w->round;
	if (cpu_ns == p->cpu_ns) {
		p->seen_ns = at_ns;
		return;
	}
	if (!read_stat(w, p, text, sizeof text, &st)) {
		process_end(w, p);
		return;
	}
	compare(w, p, &st);
	note_child(w, p, &st);
	p->ran = true;
	list_threads(w, p, &st);
	end_unlisted(w, p);
	p->seen_ns = at_ns;
	p->cpu_ns = cpu_ns;
}

/* A process that did not run is where it was. */
static void flush(struct watch *w, struct process *p)
{
	for (uint32_t i = p->threads; i; i = w->thread[i].next) {
		struct thread *t = &w->thread[i];

		stay(p, t);
		put_wait(w, t);
		put_untold(w, t);
	}
	p->put_ns = w->now_ns;
	p->ran = false;
}

void watch_flush(struct watch *w, bool all)
{
	for (uint32_t i = 1; i <= w->pids.n; i++) {
		struct process *p = &w->process[i];

		if (p->pid && (all || p->ran || w->now_ns - p->put_ns >= REST_S * NS_PER_S))
			flush(w, p);
	}
}

/* ---- looks ---- */

int64_t watch_due_ns(const struct watch *w)
{
	return w->due_ns;
}

/* The next one is so late that all together take no more than their share, and half of that to one
 * and a half: regular ones would find a job of regular steps in the same part of a step each time.
 * What a few alone cost, as to learn what new programs have where, makes no difference: they would
 * leave a job of seconds without any. */
static void plan(struct watch *w, int64_t cost_ns)
{
	const struct stacks_watch *page = &w->page->watch;
	int64_t rest_ns = NS_PER_S / (page->hz ? page->hz : 1), steady_ns = cost_ns, least_ns;

	for (int i = 0; i < COSTS; i++)
		if (w->cost_ns[i] < steady_ns)
			steady_ns = w->cost_ns[i];
	least_ns = page->share ? steady_ns * 1000 / page->share * 1000 : 0;
	rest_ns = rest_ns > least_ns ? rest_ns : least_ns;
	w->due_ns = w->now_ns + (int64_t)((double)rest_ns * (0.5 + random_unit(&w->random)));
	memmove(w->cost_ns, w->cost_ns + 1, sizeof w->cost_ns - sizeof w->cost_ns[0]);
	w->cost_ns[COSTS - 1] = cost_ns;
}

/* The child that a thread waits for, or who writes its pipe, was perhaps not known when the wait
 * began: with the next look. */
static void look_again(struct watch *w)
{
	for (uint32_t i = 1; i <= w->pids.n; i++) {
		struct process *p = &w->process[i];

		for (uint32_t k = p->pid ? p->threads : 0; k; k = w->thread[k].next) {
			struct thread *t = &w->thread[k];

			if (!t->unnamed || t->again)
				continue;
			t->again = true;
			t->more++;
			p->cpu_ns = -1;
		}
	}
}

void watch_look(struct watch *w)
{
	int64_t began_ns = clock_cpu_ns();

	w->now_ns = clock_mono_ns();
	w->boot_ns = clock_boot_ns() - w->now_ns;
	w->round++;
	for (uint32_t i = 0; i < w->npids; i++)
		look_at_process(w, w->pid[i]);
	if (w->heard)
		look_again(w);
	w->heard = false;
	atomic_fetch_add(&w->page->watch.rounds, 1);
	plan(w, clock_cpu_ns() - began_ns);
}

/* Those that are in the list no longer have ended. */
void watch_hear(struct watch *w)
{
	uint32_t n = w->page->npids;

	w->npids = n < STACKS_PIDS_MAX ? n : STACKS_PIDS_MAX;
	memcpy(w->pid, w->page->pid, w->npids * sizeof w->pid[0]);
	for (uint32_t i = 0; i < w->npids; i++)
		w->process[process_row(w, w->pid[i])].round = w->round + 1; /* row 0 is none */
	for (uint32_t i = 1; i <= w->pids.n; i++)
		if (w->process[i].pid && w->process[i].round != w->round + 1)
			process_drop(w, i);
	w->place.child = w->child;
	w->place.nchildren = w->pids.n;
	w->heard = true;
}

struct watch *watch_make(struct stacks_page *page, struct spaces *spaces, struct rows *rows,
			 struct profile *profile)
{
	struct watch *w = calloc(1, sizeof *w);
	int bad;

	if (!w)
		return NULL;
	bad = pids_make(&w->pids, WATCH_PROCESSES_MAX);
	w->process = calloc(WATCH_PROCESSES_MAX + 1, sizeof *w->process);
	w->thread = calloc(WATCH_THREADS_MAX + 1, sizeof *w->thread);
	w->child = calloc(WATCH_PROCESSES_MAX, sizeof *w->child);
	if (bad || !w->process || !w->thread || !w->child ||
	    watch_place_init(&w->place, spaces->modules, rows)) {
		pids_free(&w->pids);
		free(w->process);
		free(w->thread);
		free(w->child);
		free(w->place.copy);
		free(w);
		return NULL;
	}
	w->page = page;
	w->place.torn = &page->watch.torn;
	w->spaces = w->place.spaces = spaces;
	w->profile = w->place.profile = profile;
	w->on_cpu = profile_named(profile, 0, WAIT_ON_CPU);
	w->ready = profile_named(profile, 0, WAIT_WAS_READY);
	w->unseen = profile_named(profile, 0, WAIT_UNSEEN);
	w->refused = profile_named(profile, 0, WAIT_REFUSED);
	w->began_ns = page->watch.began_ns;
	w->due_ns = w->now_ns = clock_mono_ns();
	w->random.state = (uint64_t)w->now_ns;
	w->tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	return w;
}
