/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/interpreted.h"

#include "base/clock.h"
#include "source/procfile.h"
#include "unwind/python.h"
#include "unwind/work.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	FRESH_MS = 250, /* beyond, a look says nothing of where a thread was */
	AGAIN_MS = 1,   /* from one look at it to the next */
	TURNS = 8,      /* of reading its frames, which change meanwhile */
};

int python_merge_init(struct python_merge *m, const struct modules *modules)
{
	m->lookup.modules = modules;
	m->codes = python_codes_make();
	return m->codes ? 0 : -ENOMEM;
}

static bool is_loop(struct python_merge *m, const struct place *p)
{
	const struct module *module = &m->lookup.modules->row[p->module];
	const struct named *x;

	if (p->module < MODULE_FIRST || !python_is_of(module->path))
		return false;
	work_on(module);
	x = lookup_name(&m->lookup, p);
	work_on(NULL);
	return x && x->n && python_is_loop(x->level[x->n - 1].function);
}

static void add_place(struct stack *s, const struct place *p)
{
	if (s->n < DEPTH_MAX)
		s->place[s->n++] = *p;
	else
		s->flags = FRAME_CUT;
}

/* Python's frames that one call of its loop runs; *done of them were added before. */
static void add_python(struct python_merge *m, const struct python_stack *frames, uint32_t *done)
{
	bool more = true;

	while (more && *done < frames->n) {
		const struct python_frame *f = &frames->frame[(*done)++];
		const struct place place = python_place(f);

		add_place(&m->stack, &place);
		more = !f->entry;
	}
}

uint32_t python_merge(struct python_merge *m, const struct python_stack *frames,
		      const struct stack *native)
{
	uint32_t done = 0, loops = 0;

	m->stack.n = 0;
	m->stack.flags = native->flags;
	for (uint32_t i = 0; i < native->n; i++) {
		bool loop = is_loop(m, &native->place[i]);

		loops += loop;
		if (loop && done < frames->n)
			add_python(m, frames, &done);
		else
			add_place(&m->stack, &native->place[i]);
	}
	while (done < frames->n)
		add_python(m, frames, &done);
	return loops;
}

/* ---- of threads that run ---- */

static void look(struct python_merge *m, struct python *python, pid_t tid)
{
	struct line_look *l = &m->look[m->latest];
	int64_t now_ns = clock_mono_ns();

	if (l->tid == tid && now_ns - l->at_ns < AGAIN_MS * NS_PER_MS)
		return;
	m->latest = !m->latest;
	l = &m->look[m->latest];
	l->tid = tid;
	l->at_ns = now_ns;
	for (int turn = 0; turn < TURNS; turn++)
		if (python_read_new(python, tid, &l->frames) && !l->frames.torn)
			return;
	l->tid = 0;
}

static uint32_t calls_of(const struct python_stack *frames)
{
	uint32_t calls = 0;

	for (uint32_t i = 0; i < frames->n; i++)
		calls += frames->frame[i].entry || i + 1 == frames->n;
	return calls;
}

static int64_t distance(const struct line_look *l, pid_t tid, int64_t at_ns)
{
	int64_t ns = l->at_ns - at_ns;

	return l->tid != tid ? INT64_MAX : ns < 0 ? -ns : ns;
}

/* A stack whose outer part is missing has fewer calls. */
const struct stack *python_merge_running(struct python_merge *m, struct python *python, pid_t tid,
					 int64_t at_ns, const struct stack *native)
{
	uint32_t nearest;

	look(m, python, tid);
	nearest = distance(&m->look[0], tid, at_ns) > distance(&m->look[1], tid, at_ns);
	for (uint32_t i = 0; i < 2; i++) {
		const struct line_look *l = &m->look[nearest ^ i];
		uint32_t calls = calls_of(&l->frames), loops;

		if (distance(l, tid, at_ns) >= FRESH_MS * NS_PER_MS)
			continue;
		loops = python_merge(m, &l->frames, native);
		if (loops == calls || (native->flags && loops < calls))
			return &m->stack;
	}
	return native;
}

enum {
	LOOK_MS = 50,      /* of CPU time of all threads together, */
	LOOK_MAX_MS = 400, /* and of time that passes */
	FRESH_SAMPLE_MS =
		30,     /* a thread whose sample is older is first asked whether it still runs */
	USED_MAX = 128, /* threads */
	GONE_MS = 2000, /* so long without CPU time: nothing is awaited */
};

/* A thread, its CPU time since it was looked at last, and a counter of that time: the kernel's own
 * figures of another thread stand still between two ticks. */
struct used {
	pid_t pid, tid;
	int64_t cpu_ns, at_ns;
	int64_t blocks; /* how often it blocked until it was looked at last */
	int clock;      /* -1: there is none */
	int status;     /* its file in /proc; -1: not opened yet */
	void *switches; /* a ring of records of its switches; NULL: there is none */
};

struct interpreted {
	struct spaces *spaces;
	struct profile *profile;
	struct used used[USED_MAX];
	uint32_t nused;
	int64_t looked_ns, gap_ns;
	int64_t cpu_ns; /* of all threads since then */
	struct python_codes *codes;
	struct python_stack frames;
	struct stack stack;
};

struct interpreted *interpreted_make(struct spaces *s, struct profile *p)
{
	struct interpreted *i = calloc(1, sizeof *i);

	if (!i)
		return NULL;
	i->spaces = s;
	i->profile = p;
	i->codes = python_codes_make();
	return i;
}

static size_t switches_bytes(void)
{
	return 2 * (size_t)sysconf(_SC_PAGESIZE);
}

static int clock_open(pid_t tid)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof a,
				     .config = PERF_COUNT_SW_TASK_CLOCK,
				     .exclude_kernel = 1,
				     .exclude_hv = 1 };

	return (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int64_t clock_read(int fd)
{
	uint64_t count = 0;

	return read(fd, &count, sizeof count) == (ssize_t)sizeof count ? (int64_t)count : 0;
}

/* A ring that is written over and over. */
static void *switches_open(pid_t tid)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof a,
				     .config = PERF_COUNT_SW_DUMMY,
				     .context_switch = 1,
				     .exclude_kernel = 1,
				     .exclude_hv = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	void *ring =
		fd < 0 ? MAP_FAILED : mmap(NULL, switches_bytes(), PROT_READ, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd); /* the ring keeps it */
	return ring == MAP_FAILED ? NULL : ring;
}

enum standing interpreted_standing(const void *ring, size_t page)
{
	const struct perf_event_mmap_page *head = ring;
	const char *records = (const char *)ring + page;
	struct perf_event_header last;
	uint64_t end = __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE);

	if (end < sizeof last)
		return STANDS_UNKNOWN;
	memcpy(&last, records + (end - sizeof last) % page, sizeof last);
	if (last.type != PERF_RECORD_SWITCH || last.size != sizeof last)
		return STANDS_UNKNOWN;
	if (!(last.misc & PERF_RECORD_MISC_SWITCH_OUT))
		return STANDS_RUNNING;
	return last.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? STANDS_TAKEN : STANDS_BLOCKED;
}

static void used_close(const struct used *u)
{
	if (u->switches)
		munmap(u->switches, switches_bytes());
	if (u->clock >= 0)
		close(u->clock);
	if (u->status >= 0)
		close(u->status);
}

static struct used *used_of(struct interpreted *i, const struct sampled *s)
{
	for (uint32_t k = 0; k < i->nused; k++)
		if (i->used[k].tid == s->tid && i->used[k].pid == s->pid)
			return &i->used[k];
	if (i->nused == USED_MAX)
		return NULL;
	i->used[i->nused] = (struct used){
		.pid = s->pid, .tid = s->tid, .clock = clock_open(s->tid), .status = -1
	};
	return &i->used[i->nused++];
}

void interpreted_sample(struct interpreted *i, struct space *x, const struct sampled *s)
{
	struct used *u;

	if (!python_of(i->spaces->modules, x, i->codes))
		return;
	u = used_of(i, s);
	if (!u)
		return;
	u->cpu_ns += s->period;
	u->at_ns = s->at_ns;
	i->cpu_ns += s->period;
}

int64_t interpreted_due_ns(const struct interpreted *i)
{
	return i->nused ? i->looked_ns + i->gap_ns : INT64_MAX;
}

/* On a crowded machine a thread gets less CPU time than passes: a look costs the same, and is worth
 * less. Four fifths of the time are as good as all of it, since that is known to a few samples.
 * Changes by an eighth of the way. */
int64_t interpreted_gap_ns(int64_t before_ns, int64_t cpu_ns, int64_t passed_ns)
{
	const double least_ns = (double)LOOK_MS * NS_PER_MS,
		     most_ns = (double)LOOK_MAX_MS * NS_PER_MS;
	double used = passed_ns > 0 ? 1.25 * (double)cpu_ns / (double)passed_ns : 1, gap_ns;

	if ((double)before_ns < least_ns)
		return (int64_t)least_ns;
	used = (used < 1 ? used : 1) / 8 + least_ns / (double)before_ns * 7 / 8;
	gap_ns = least_ns / used;
	return (int64_t)(gap_ns < most_ns ? gap_ns : most_ns);
}

/* Calls and returns while it is read leave frames that make no sense. */
static bool read_frames(struct interpreted *i, struct python *p, pid_t tid)
{
	for (int turn = 0; turn < TURNS; turn++)
		if (python_read_new(p, tid, &i->frames) && !i->frames.torn)
			return true;
	return false;
}

/* The node of where it is; 0: that makes no sense. */
static uint32_t node_of(struct interpreted *i, struct python *p, pid_t tid)
{
	struct stack *s = &i->stack;

	if (!read_frames(i, p, tid))
		return 0;
	s->n = 0;
	s->flags = i->frames.n > DEPTH_MAX ? FRAME_CUT : 0;
	while (s->n < i->frames.n && s->n < DEPTH_MAX) {
		s->place[s->n] = python_place(&i->frames.frame[s->n]);
		s->n++;
	}
	return profile_node(i->profile, s);
}

/* Has it been ready to run, with a CPU or without, ever since it was looked at last? Its file stays
 * open: to find it costs as much as to read it. One that blocked and is ready may wait for a core
 * where it was woken, or where it lost one: from now on its switches tell. */
static bool was_ready(struct used *u)
{
	char path[64], text[4096];
	struct thread_status now;
	int64_t before = u->blocks;
	ssize_t n;

	if (u->status < 0) {
		snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)u->pid, (int)u->tid);
		u->status = open(path, O_RDONLY | O_CLOEXEC);
	}
	n = u->status < 0 ? -1 : pread(u->status, text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	if (thread_status_parse(text, &now))
		return false;
	u->blocks = now.voluntary;
	if (now.state == 'R' && now.voluntary != before)
		u->switches = switches_open(u->tid);
	return now.state == 'R' && now.voluntary == before;
}

static bool may_run(struct used *u)
{
	return u->switches
		       ? interpreted_standing(u->switches, switches_bytes() / 2) != STANDS_BLOCKED
		       : was_ready(u);
}

/* If it has had no CPU meanwhile: was that taken from it where it is? */
static bool is_taken(struct used *u, bool is_fresh)
{
	return u->switches ? interpreted_standing(u->switches, switches_bytes() / 2) == STANDS_TAKEN
			   : !is_fresh || was_ready(u);
}

/* Gives its time to where it is: on a CPU all the while, or where the CPU was taken from it. On a
 * crowded machine it seldom runs when this does; and where it calls and returns without end, its
 * frames can be read at no other time. */
static void look_at(struct interpreted *i, struct used *u, bool is_fresh)
{
	const struct sampled s = { u->pid, u->tid, u->at_ns, u->cpu_ns };
	struct space *x = spaces_get(i->spaces, u->pid);
	struct python *python = python_of(i->spaces->modules, x, i->codes);
	int64_t began_ns, before_ns, after_ns;
	uint32_t node;

	if (!python || u->clock < 0 || (!is_fresh && !may_run(u)))
		return;
	before_ns = clock_read(u->clock);
	began_ns = clock_mono_ns();
	node = node_of(i, python, u->tid);
	after_ns = clock_read(u->clock);
	if (!node)
		return;
	if (2 * (after_ns - before_ns) < clock_mono_ns() - began_ns &&
	    (after_ns != before_ns || !is_taken(u, is_fresh) || clock_read(u->clock) != after_ns))
		return;
	profile_look(i->profile, x, &s, &(struct looked){ node, SAMPLE_PYTHON, 1 });
	u->cpu_ns = 0;
}

void interpreted_look(struct interpreted *i)
{
	int64_t now_ns = clock_mono_ns();
	uint32_t kept = 0;

	i->gap_ns = interpreted_gap_ns(i->gap_ns, i->cpu_ns, now_ns - i->looked_ns);
	i->cpu_ns = 0;
	i->looked_ns = now_ns;
	for (uint32_t k = 0; k < i->nused; k++) {
		struct used *u = &i->used[k];
		int64_t age_ns = i->looked_ns - u->at_ns;

		if (u->cpu_ns)
			look_at(i, u, age_ns < FRESH_SAMPLE_MS * NS_PER_MS);
		if (age_ns < GONE_MS * NS_PER_MS)
			i->used[kept++] = *u;
		else
			used_close(u);
	}
	i->nused = kept;
}
