/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/watch_place.h"

#include "base/clock.h"
#include "base/process.h"
#include "unwind/work.h"
#include "waits/object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum {
	COPY_FIRST = 1 << 12,
	COPY_MAX = 1 << 20,
	CALL_TEXT = 256,
	NAMED_FRAMES = 10,   /* that tell the kind of a lock */
	NAMES_TOLD = 3,      /* of those at the other end */
	ENDS_SHARE = 400,    /* reading the ends of pipes takes at most one part in so many, */
	ENDS_LEAST_MS = 500, /* and is not done more often; */
	ENDS_FIRST = 8,      /* so many times without regard to that share */
	LEARN_AGAIN_S = 1,
	FILES_MAX = 4096,
	FILES_OWN = 256,
};

/* How many threads' files may be open, besides those that it opens for a moment. */
static uint32_t room_for_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l))
		return 0;
	if (l.rlim_cur < FILES_MAX && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max < FILES_MAX ? l.rlim_max : FILES_MAX;
		setrlimit(RLIMIT_NOFILE, &l);
		getrlimit(RLIMIT_NOFILE, &l);
	}
	if (l.rlim_cur > FILES_MAX)
		l.rlim_cur = FILES_MAX;
	return l.rlim_cur > FILES_OWN ? (uint32_t)(l.rlim_cur - FILES_OWN) / 2 : 0;
}

int watch_place_init(struct watch_place *w, struct modules *modules, struct rows *rows)
{
	w->copy = malloc(COPY_MAX);
	w->blocked = (struct blocked){ .modules = modules, .rows = rows, .starts = w->starts };
	w->kept_max = room_for_files();
	w->ends.proc = &w->proc;
	w->ends_read_ns = INT64_MIN / 2;
	return w->copy && !python_merge_init(&w->python, modules) ? root_open(&w->proc, "/proc")
								  : -ENOMEM;
}

static ssize_t read_of(const struct watch_place *w, const struct watched_thread *t,
		       const char *file, char *out, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof path, "%d/task/%d/%s", (int)t->pid, (int)t->tid, file);
	n = root_read(&w->proc, path, out, size);
	if (n < 0)
		out[0] = '\0';
	return n;
}

static int open_of(const struct watch_place *w, const struct watched_thread *t, const char *file)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "%d/task/%d/%s", (int)t->pid, (int)t->tid, file);
	fd = root_file(&w->proc, path);
	return fd > 0 ? fd : 0;
}

void watch_keep(struct watch_place *w, struct watched_thread *t)
{
	if (w->kept == w->kept_max)
		return;
	w->kept++;
	t->times_fd = open_of(w, t, "schedstat");
	t->call_fd = open_of(w, t, "syscall");
	t->kept = true;
	if (!t->times_fd || !t->call_fd)
		watch_let_go(w, t);
}

void watch_let_go(struct watch_place *w, struct watched_thread *t)
{
	w->kept -= t->kept;
	t->kept = false;
	file_close(&t->times_fd);
	file_close(&t->call_fd);
}

int watch_keep_of(struct watch_place *w, const char *path)
{
	int fd = w->kept < w->kept_max ? root_file(&w->proc, path) : 0;

	w->kept += fd > 0;
	return fd > 0 ? fd : 0;
}

void watch_let_go_of(struct watch_place *w, int *fd)
{
	w->kept -= *fd > 0;
	file_close(fd);
}

bool watch_times(const struct watch_place *w, const struct watched_thread *t,
		 struct thread_times *out)
{
	char text[96];

	ssize_t n = t->times_fd ? file_reread(t->times_fd, text, sizeof text)
				: read_of(w, t, "schedstat", text, sizeof text);

	return n > 0 && !thread_times_parse(text, out);
}

/* ---- its stack ---- */

static void unwind_once(struct watch_place *w, pid_t pid, const struct object_call *call)
{
	struct blocked *b = &w->blocked;
	size_t size = COPY_FIRST;
	ssize_t n;

	do {
		struct stack_copy copy = { call->sp, w->copy, 0 };

		n = memory_copy(pid, call->sp, w->copy, size);
		copy.size = n > 0 ? (uint64_t)n : 0;
		blocked_unwind(b, call->sp, call->pc, &copy);
		size *= 4;
	} while (b->stack.flags && b->stack.n < DEPTH_MAX && n == (ssize_t)size / 4 &&
		 size <= COPY_MAX);
}

/* Libraries that were loaded since its memory was learnt are learnt when a stack leads there. */
static void unwind(struct watch_place *w, pid_t pid, const struct object_call *call)
{
	struct space *x = spaces_get(w->spaces, pid);
	int64_t now_ns = clock_mono_ns();
	bool fresh = !x->known;

	w->blocked.space = x;
	if (fresh)
		spaces_learn(w->spaces, x, now_ns);
	unwind_once(w, pid, call);
	if (!(w->blocked.stack.flags & FRAME_LOST_WAY) ||
	    now_ns - x->learnt_ns < LEARN_AGAIN_S * NS_PER_S)
		return;
	spaces_learn(w->spaces, x, now_ns);
	unwind_once(w, pid, call);
}

/* What is known of code without a file is its name, else the page that it is in. */
static void name_jit(struct watch_place *w)
{
	struct space *x = w->blocked.space;
	uint64_t start;

	if (x->makes_code && !x->jit)
		x->jit = jit_open(x->pid);
	if (x->jit)
		jit_look(x->jit, clock_mono_ns());
	for (uint32_t i = 0; i < w->blocked.stack.n; i++) {
		struct place *p = &w->blocked.stack.place[i];

		if (p->module != MODULE_JIT)
			continue;
		p->function = x->jit ? jit_name(x->jit, p->address, &start) : NULL;
		p->address = p->function ? start : p->address & ~UINT64_C(4095);
	}
}

/* ---- Python ---- */

/* Frames that do not make sense are left out. */
static void merge_python(struct watch_place *w, struct python *python, pid_t tid)
{
	if (!python || !python_read_new(python, tid, &w->frames) || w->frames.torn)
		w->frames.n = 0;
	if (python_merge(&w->python, &w->frames, &w->blocked.stack) && python && !w->frames.n)
		atomic_fetch_add(w->torn, 1);
}

/* Who waits for the lock of the interpreter; and a semaphore that a script's own function waits
 * for is one of its locks. */
static void name_python_lock(const struct watch_place *w, const struct python *python,
			     struct wait_thread *t, const struct object_call *c)
{
	const char *file = w->frames.n ? strrchr(w->frames.frame[0].file, '/') : NULL;

	if (!python || c->number != SYS_futex || !w->frames.n)
		return;
	if (python_is_gil(python, c->arg[0])) {
		t->kind = WAIT_LOCK;
		snprintf(t->object, sizeof t->object, "Python's GIL");
	} else if (t->kind == WAIT_SEMAPHORE && (!file || strcmp(file, "/threading.py") != 0)) {
		t->kind = WAIT_LOCK;
		snprintf(t->object, sizeof t->object, "threading.Lock at 0x%llx",
			 (unsigned long long)c->arg[0]);
	}
}

/* ---- what it waits for ---- */

static void frames_free(struct wait_thread *t)
{
	for (uint32_t i = 0; i < t->nframes; i++)
		free(t->frame[i].function);
	free(t->frame);
}

/* Which lock it is the functions tell that were called last. */
static void add_frames(struct watch_place *w, struct wait_thread *t)
{
	const struct stack *s = &w->blocked.stack;

	for (uint32_t i = 0; i < s->n && i < NAMED_FRAMES; i++) {
		const struct place *p = &s->place[i];
		const struct named *x;

		if (p->module < MODULE_VDSO)
			continue;
		work_on(&w->blocked.modules->row[p->module]);
		x = lookup_name(&w->python.lookup, p);
		work_on(NULL);
		for (uint32_t k = 0; x && k < x->n; k++) {
			const struct wait_frame f = { .function = x->level[k].function };

			if (f.function && wait_add_frame(t, &f) &&
			    futex_kind_of(f.function) != WAIT_UNKNOWN)
				return;
		}
	}
}

/* The files of all processes take long to read: a few times they are when they are needed, then
 * rarely. */
static bool ends_are_due(const struct watch_place *w)
{
	int64_t rest = w->ends_reads < ENDS_FIRST ? 0 : w->ends_cost_ns * ENDS_SHARE;
	int64_t least = ENDS_LEAST_MS * NS_PER_MS;

	return clock_mono_ns() - w->ends_read_ns > (rest > least ? rest : least);
}

static void read_ends(struct watch_place *w)
{
	int64_t began = clock_cpu_ns();

	ends_free(&w->ends);
	ends_read(&w->ends, &w->proc);
	w->ends_reads++;
	w->ends_read_ns = clock_mono_ns();
	w->ends_cost_ns = clock_cpu_ns() - began;
}

static char letter_of(const struct watch_place *w, const struct watched_thread *t)
{
	char text[512];
	const char *end = read_of(w, t, "stat", text, sizeof text) > 0 ? strrchr(text, ')') : NULL;

	return end && end[1] == ' ' ? end[2] : '?';
}

static void name_object(struct watch_place *w, struct wait_thread *t, const struct object_call *c)
{
	const struct object_world world = { &w->proc, &w->ends, w->child, w->nchildren, true };
	const struct watched_thread who = { .pid = t->pid, .tid = t->tid };

	object_name(t, c, 'S', &world);
	if (t->kind == WAIT_UNKNOWN && letter_of(w, &who) == 'D')
		t->kind = WAIT_STORAGE;
	if (!object_is_at_other_end(t->kind) || t->nholders || !ends_are_due(w))
		return;
	read_ends(w);
	t->kind = WAIT_UNKNOWN;
	t->object[0] = '\0';
	object_name(t, c, 'S', &world);
}

static bool is_named(const struct wait_thread *t, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (!strcmp(t->holder[k].process, t->holder[i].process))
			return true;
	return false;
}

/* "gen, sort": who is at the other end, or which children. False: nobody is known. */
static bool put_processes(const struct wait_thread *t, char *out, size_t size)
{
	uint32_t told = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < t->nholders && told < NAMES_TOLD; i++) {
		const char *name = t->holder[i].pid == t->pid ? "itself" : t->holder[i].process;

		if (!*name || is_named(t, i) || n + strlen(name) + 3 > size)
			continue;
		n += (size_t)snprintf(out + n, size - n, "%s%s", told++ ? ", " : "", name);
	}
	return n != 0;
}

/* What stays the same however often it is waited for. */
static bool put_object(const struct wait_thread *t, char *out, size_t size)
{
	switch (t->kind) {
	case WAIT_TIMER:
	case WAIT_BARRIER:
	case WAIT_THREAD_END:
		return false;
	case WAIT_PIPE_READ:
	case WAIT_PIPE_WRITE:
	case WAIT_SOCKET_READ:
	case WAIT_SOCKET_WRITE:
	case WAIT_EVENTS:
	case WAIT_CHILD:
		if (put_processes(t, out, size))
			return true;
		break;
	default:
		break;
	}
	snprintf(out, size, "%s", t->object);
	return out[0] != '\0';
}

/* Of these calls the kernel's function tells no more. */
static bool tells_all(long number)
{
	return number == SYS_futex || number == SYS_nanosleep || number == SYS_clock_nanosleep ||
	       number == SYS_wait4 || number == SYS_ppoll || number == SYS_epoll_pwait;
}

static void name_wait(struct watch_place *w, struct wait_thread *t, const struct object_call *c)
{
	const struct watched_thread who = { .pid = t->pid, .tid = t->tid };

	if (!tells_all(c->number))
		read_of(w, &who, "wchan", t->function, sizeof t->function);
	if (c->number == SYS_futex)
		add_frames(w, t);
	name_object(w, t, c);
}

static uint32_t node_of(struct watch_place *w, const struct wait_thread *t)
{
	char object[WAIT_OBJECT];
	uint32_t node;

	node = profile_node(w->profile, &w->python.stack);
	node = profile_named(w->profile, node, wait_kind_name(t->kind));
	w->unnamed = !t->nholders && (t->kind == WAIT_CHILD || object_is_at_other_end(t->kind));
	if (put_object(t, object, sizeof object))
		node = profile_named(w->profile, node, object);
	return node;
}

enum place_found watch_place_find(struct watch_place *w, const struct watched_thread *t,
				  const struct thread_times *before, uint32_t *node)
{
	char text[CALL_TEXT];
	struct wait_thread is = { .pid = t->pid, .tid = t->tid, .state = WAIT_WAITS };
	struct object_call call;
	struct thread_times after;
	struct python *python;
	bool still;
	ssize_t n = t->call_fd ? file_reread(t->call_fd, text, sizeof text)
			       : read_of(w, t, "syscall", text, sizeof text);

	if (n == -EACCES || n == -EPERM)
		return PLACE_REFUSED;
	if (!object_call_parse(&call, text))
		return PLACE_RUNS;
	unwind(w, t->pid, &call);
	name_jit(w);
	python = python_of(w->python.lookup.modules, w->blocked.space, w->python.codes);
	merge_python(w, python, t->tid);
	name_wait(w, &is, &call);
	name_python_lock(w, python, &is, &call);
	still = watch_times(w, t, &after) && after.turns == before->turns;
	if (still)
		*node = node_of(w, &is);
	frames_free(&is);
	return still ? PLACE_FOUND : PLACE_MOVED;
}
