/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/look.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/helper.h"
#include "base/process.h"
#include "base/text/number.h"
#include "source/procfile.h"
#include "unwind/blocked.h"
#include "unwind/names.h"
#include "unwind/python.h"
#include "unwind/records.h"
#include "unwind/space.h"
#include "waits/look.h"
#include "waits/object.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	SOCKET = 0,
	COPY_FIRST = 1 << 16,
	COPY_MAX = 1 << 20,
	TURNS = 3, /* of a thread that moves */
	CALL_TEXT = 256,
	SAMPLED_MAX = 1024, /* threads that run */
};

/* A thread as the first round saw it. */
struct seen {
	struct wait_thread is;
	struct object_call call;
	char state, text[CALL_TEXT]; /* text: of its call, "" when it is refused */
	int64_t ran_ns;
	struct place *place;
	struct python_frame *python;
	uint32_t nplaces, npython;
};

struct look {
	struct root proc;
	struct modules modules;
	struct spaces spaces;
	struct lookup lookup;
	struct starts starts[MODULES_MAX];
	struct blocked blocked;
	struct python python;
	struct python_stack frames, again;
	struct seen *seen;
	uint32_t nseen, seen_cap;
	struct ends ends;
	struct object_child *child;
	uint32_t nchildren, child_cap;
	bool knows_ends, knows_children;
	pid_t pid[LOOK_PIDS], skip[LOOK_SKIPPED];
	uint32_t npids, nskip;
	uint8_t copy[COPY_MAX];
};

bool look_is_asked(void)
{
	struct stat st;

	return !fstat(SOCKET, &st) && S_ISSOCK(st.st_mode);
}

/* ---- asking and answering ---- */

static bool send_json(struct bytes *b)
{
	bool ok;

	bytes_puts(b, "\n");
	ok = !b->failed && talk_write(SOCKET, b->data, b->len);
	bytes_reset(b);
	return ok;
}

static bool say_at(pid_t pid, pid_t tid)
{
	char text[64];
	int n = snprintf(text, sizeof text, "{\"at\":%d,\"of\":%d}\n", (int)tid, (int)pid);

	return talk_write(SOCKET, text, (size_t)n);
}

static bool hear(struct look *l)
{
	struct look_question q;

	if (!talk_read(SOCKET, &q, sizeof q) || q.layout != sizeof q || q.npids > LOOK_PIDS ||
	    q.nskip > LOOK_SKIPPED)
		return false;
	l->npids = q.npids;
	l->nskip = q.nskip;
	return talk_read(SOCKET, l->pid, q.npids * sizeof l->pid[0]) &&
	       talk_read(SOCKET, l->skip, q.nskip * sizeof l->skip[0]);
}

/* ---- the first round: where each thread is ---- */

static ssize_t read_of(const struct look *l, const struct seen *s, const char *file, char *out,
		       size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof path, "%d/task/%d/%s", (int)s->is.pid, (int)s->is.tid, file);
	n = root_read(&l->proc, path, out, size);
	if (n < 0)
		out[0] = '\0';
	return n;
}

/* CPU time that it has had; it is exact of one that does not run. -1: not told. */
static int64_t ran_ns(const struct look *l, const struct seen *s)
{
	char text[96];
	const char *at = text;
	int64_t ns;

	return read_of(l, s, "schedstat", text, sizeof text) > 0 && number_i64(&at, &ns) ? ns : -1;
}

static void unwind(struct look *l, struct seen *s)
{
	struct blocked *b = &l->blocked;
	size_t size = COPY_FIRST;
	ssize_t n;

	b->space = spaces_get(&l->spaces, s->is.pid);
	if (!b->space->known)
		spaces_learn(&l->spaces, b->space, clock_mono_ns());
	do {
		struct stack_copy copy = { s->call.sp, l->copy, 0 };

		n = memory_copy(s->is.pid, s->call.sp, l->copy, size);
		copy.size = n > 0 ? (uint64_t)n : 0;
		blocked_unwind(b, s->call.sp, s->call.pc, &copy);
		size *= 4;
	} while (b->stack.flags & FRAME_CUT && b->stack.n < DEPTH_MAX && n == (ssize_t)size / 4 &&
		 size <= COPY_MAX);
}

static void keep_stack(struct seen *s, const struct stack *k)
{
	s->is.stack = k->flags ? WAIT_STACK_CUT : WAIT_STACK_WHOLE;
	s->place = k->n ? malloc(k->n * sizeof *s->place) : NULL;
	if (!s->place)
		return;
	memcpy(s->place, k->place, k->n * sizeof *s->place);
	s->nplaces = k->n;
}

static bool is_where_it_was(const struct look *l, const struct seen *s)
{
	char now[CALL_TEXT];

	read_of(l, s, "syscall", now, sizeof now);
	return !strcmp(now, s->text) && ran_ns(l, s) == s->ran_ns;
}

static bool is_same(const struct python_stack *a, const struct python_stack *b)
{
	for (uint32_t i = 0; i < a->n && i < b->n; i++)
		if (strcmp(a->frame[i].function, b->frame[i].function) != 0 ||
		    strcmp(a->frame[i].file, b->frame[i].file) != 0)
			return false;
	return a->n == b->n;
}

/* Python's frames; of a thread that runs they count if two readings agree. */
static void read_python(struct look *l, const struct seen *s)
{
	struct space *space = spaces_get(&l->spaces, s->is.pid);

	if (!space->known)
		spaces_learn(&l->spaces, space, clock_mono_ns());
	l->frames.n = 0;
	if (!python_find(&l->python, &l->modules, space))
		return;
	for (int turn = 0; turn < TURNS && python_read(&l->python, s->is.tid, &l->frames); turn++)
		if (s->state != 'R' || (python_read(&l->python, s->is.tid, &l->again) &&
					is_same(&l->frames, &l->again)))
			return;
	l->frames.n = 0;
}

static void keep_python(struct look *l, struct seen *s)
{
	uint32_t n = l->frames.n;

	s->python = n ? malloc(n * sizeof *s->python) : NULL;
	if (!s->python)
		return;
	memcpy(s->python, l->frames.frame, n * sizeof *s->python);
	s->npython = n;
}

/* Its call and its stack, which belong together if it did not run in between. */
static void look_at_stack(struct look *l, struct seen *s)
{
	for (int turn = 0; turn < TURNS; turn++) {
		ssize_t n = read_of(l, s, "syscall", s->text, sizeof s->text);

		s->ran_ns = ran_ns(l, s);
		if (n == -EACCES || n == -EPERM) {
			s->text[0] = '\0';
			return;
		}
		if (!object_call_parse(&s->call, s->text)) {
			s->state = n > 0 ? 'R' : s->state;
			return;
		}
		read_of(l, s, "wchan", s->is.function, sizeof s->is.function);
		unwind(l, s);
		read_python(l, s);
		if (is_where_it_was(l, s)) {
			keep_stack(s, &l->blocked.stack);
			keep_python(l, s);
			return;
		}
		s->is.stack = WAIT_STACK_MOVED;
	}
}

static enum wait_state state_by_letter(char state)
{
	return state == 'R' ? WAIT_READY : state == 'T' || state == 't' ? WAIT_STOPPED : WAIT_WAITS;
}

static bool is_skipped(const struct look *l, pid_t tid)
{
	for (uint32_t i = 0; i < l->nskip; i++)
		if (l->skip[i] == tid)
			return true;
	return false;
}

/* False: nobody listens any more, or there is no memory. */
static bool look_at(struct look *l, pid_t pid, pid_t tid, const char *process)
{
	struct seen *grown, s = { .is = { .pid = pid, .tid = tid }, .state = '?' };
	char text[512];
	struct proc_stat st;

	if (is_skipped(l, tid))
		return true;
	if (!say_at(pid, tid))
		return false;
	if (read_of(l, &s, "stat", text, sizeof text) <= 0 || proc_stat_parse(text, &st) != 0 ||
	    st.state == 'Z' || st.state == 'X')
		return true;
	s.state = st.state;
	snprintf(s.is.process, sizeof s.is.process, "%s", process);
	snprintf(s.is.name, sizeof s.is.name, "%s", st.comm);
	s.ran_ns = ran_ns(l, &s);
	if (s.state != 'R')
		look_at_stack(l, &s);
	if (s.state == 'R') {
		read_python(l, &s);
		keep_python(l, &s);
	}
	s.is.state = state_by_letter(s.state);
	grown = array_room(l->seen, l->nseen, &l->seen_cap, sizeof *grown);
	if (!grown) {
		free(s.place);
		free(s.python);
		return false;
	}
	l->seen = grown;
	grown[l->nseen++] = s;
	return true;
}

struct listing {
	struct look *look;
	pid_t pid;
	const char *command;
};

static bool take_listed(void *of, pid_t tid)
{
	const struct listing *l = of;

	return look_at(l->look, l->pid, tid, l->command);
}

static bool look_at_process(struct look *l, pid_t pid)
{
	char path[32], text[512];
	struct proc_stat st;

	snprintf(path, sizeof path, "%d/stat", (int)pid);
	if (root_read(&l->proc, path, text, sizeof text) <= 0 || proc_stat_parse(text, &st) != 0)
		return true;
	return pids_threads(&l->proc, pid, take_listed, &(struct listing){ l, pid, st.comm });
}

/* ---- the second round: names ---- */

static void learn_children(struct look *l)
{
	DIR *dir = opendir(l->proc.path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[288], text[512];
		struct proc_stat st;
		struct object_child *grown;

		if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name))
			continue;
		snprintf(path, sizeof path, "%s/stat", entry->d_name);
		if (root_read(&l->proc, path, text, sizeof text) <= 0 ||
		    proc_stat_parse(text, &st) != 0 || proc_stat_ended(&st))
			continue;
		grown = array_room(l->child, l->nchildren, &l->child_cap, sizeof *grown);
		if (!grown)
			break;
		l->child = grown;
		grown[l->nchildren] = (struct object_child){ st.pid, st.ppid, "" };
		snprintf(grown[l->nchildren++].process, WAIT_NAME, "%s", st.comm);
	}
	if (dir)
		closedir(dir);
}

static void name_by(const struct look *l, struct seen *s)
{
	const struct object_world w = {
		.proc = &l->proc, .ends = &l->ends, .child = l->child, .nchildren = l->nchildren
	};

	object_name(&s->is, &s->call, s->state, &w);
}

/* Whose children there are and who has the other end of a file, all processes are read for: each
 * only where somebody waits for one. */
static bool learn_others(struct look *l, enum wait_kind kind)
{
	if (kind == WAIT_CHILD && !l->knows_children) {
		learn_children(l);
		return l->knows_children = true;
	}
	if (object_is_at_other_end(kind) && !l->knows_ends) {
		ends_read(&l->ends, &l->proc);
		return l->knows_ends = true;
	}
	return false;
}

static void name_object(struct look *l, struct seen *s)
{
	struct wait_thread *t = &s->is;

	name_by(l, s);
	if (!learn_others(l, t->kind))
		return;
	t->kind = WAIT_UNKNOWN;
	t->object[0] = '\0';
	t->closed = false;
	t->nholders = 0;
	name_by(l, s);
}

static void add_jit(struct look *l, struct wait_thread *t, const struct place *p,
		    struct wait_frame *f)
{
	struct space *space = spaces_get(&l->spaces, t->pid);
	uint64_t start;

	if (!space->jit)
		space->jit = jit_open(t->pid);
	if (!space->jit)
		return;
	jit_look(space->jit, clock_mono_ns());
	f->function = (char *)(uintptr_t)jit_name(space->jit, p->address, &start);
	wait_add_frame(t, f);
	f->function = NULL;
}

/* Python's frames that one call of its loop runs; *done of them were added before. */
static void add_python(struct seen *s, uint32_t *done)
{
	bool more = true;

	while (more && *done < s->npython) {
		struct python_frame *p = &s->python[(*done)++];
		const struct wait_frame f = { p->function, p->file, (char *)WAIT_PYTHON, p->line };

		more = wait_add_frame(&s->is, &f) && !p->entry;
	}
}

static void add_frames(struct look *l, struct seen *s, const struct place *p, uint32_t *done)
{
	struct wait_thread *t = &s->is;
	struct wait_frame f = { .module = l->modules.row[p->module].path };
	const struct named *x = p->module >= MODULE_VDSO ? lookup_name(&l->lookup, p) : NULL;

	if (p->module == MODULE_JIT) {
		add_jit(l, t, p, &f);
		return;
	}
	if (x && x->n && python_is_loop(x->level[x->n - 1].function) && *done < s->npython) {
		add_python(s, done);
		return;
	}
	for (uint32_t i = 0; x && i < x->n; i++) {
		f.function = x->level[i].function;
		f.file = x->level[i].file;
		f.line = x->level[i].line;
		wait_add_frame(t, &f);
	}
	if (!x || !x->n)
		wait_add_frame(t, &f);
}

static void add_thread(struct seen *s, pid_t tid)
{
	struct wait_holder h = { s->is.pid, tid, "" };

	snprintf(h.process, sizeof h.process, "%s", s->is.process);
	if (tid && tid != s->is.tid)
		wait_add_holder(&s->is, &h);
}

/* Who waits for the lock of the interpreter waits for who has it; and a semaphore may be a lock
 * that a with statement holds. */
static void name_python_lock(struct look *l, struct seen *s)
{
	if (!s->npython ||
	    !python_find(&l->python, &l->modules, spaces_get(&l->spaces, s->is.pid)) ||
	    s->call.number != SYS_futex)
		return;
	if (python_is_gil(&l->python, s->call.arg[0])) {
		s->is.kind = WAIT_LOCK;
		s->is.closed = false;
		s->is.nholders = 0;
		snprintf(s->is.object, sizeof s->is.object, "Python's GIL");
		add_thread(s, python_gil_holder(&l->python));
	} else if (s->is.kind == WAIT_SEMAPHORE) {
		add_thread(s, python_lock_holder(&l->python, s->call.arg[0]));
		if (!s->is.nholders)
			return;
		s->is.kind = WAIT_LOCK;
		s->is.closed = !s->call.arg[3];
		snprintf(s->is.object, sizeof s->is.object, "threading.Lock");
	}
}

static bool tell(struct look *l, struct seen *s, struct bytes *out)
{
	struct json j = { .out = out };

	uint32_t done = 0;

	if (!say_at(s->is.pid, s->is.tid))
		return false;
	for (uint32_t i = 0; i < s->nplaces; i++)
		add_frames(l, s, &s->place[i], &done);
	while (done < s->npython)
		add_python(s, &done);
	if (s->is.state == WAIT_WAITS && s->text[0]) {
		name_object(l, s);
		name_python_lock(l, s);
	}
	if (!strcmp(s->is.function, "0"))
		s->is.function[0] = '\0';
	if (!s->text[0] && s->state != 'R')
		look_refusal(&l->proc, s->is.pid, s->is.refused, sizeof s->is.refused);
	wait_put(&j, &s->is);
	return send_json(out);
}

/* ---- the third: whether all of it was true at one moment ---- */

static bool tell_moved(struct look *l, struct bytes *out)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < l->nseen; i++) {
		struct seen *s = &l->seen[i];
		if (s->is.state != WAIT_WAITS)
			continue;
		ok = say_at(s->is.pid, s->is.tid);
		if (is_where_it_was(l, s))
			continue;
		bytes_printf(out, "{\"moved\":%d}", (int)s->is.tid);
		ok = ok && send_json(out);
	}
	bytes_puts(out, "{\"done\":true}");
	return ok && send_json(out);
}

struct running {
	struct look *look;
	uint32_t seen[SAMPLE_THREADS]; /* which ones */
	pid_t tid[SAMPLE_THREADS];
	uint32_t n;
};

/* Python's frames are of another moment: of a thread that has them, they are all that is said. */
static void take_running(void *of, uint32_t i, const struct record_sample *sample)
{
	struct running *r = of;
	struct look *l = r->look;
	struct seen *s = &l->seen[r->seen[i]];
	struct space *space = spaces_get(&l->spaces, s->is.pid);

	if (s->npython)
		return;
	if (!space->known)
		spaces_learn(&l->spaces, space, clock_mono_ns());
	sample_unwind(&(struct sample_place){ &l->modules, l->blocked.rows, space }, sample,
		      &l->blocked.stack);
	keep_stack(s, &l->blocked.stack);
}

/* Of those that want a core: who got one, and what did it do? */
static void find_running(struct look *l)
{
	struct running r = { .look = l };
	uint32_t sampled = 0;

	for (uint32_t i = 0; i <= l->nseen && sampled < SAMPLED_MAX; i++) {
		if (r.n == SAMPLE_THREADS || (i == l->nseen && r.n)) {
			sample_threads(r.tid, r.n, take_running, &r);
			sampled += r.n;
			r.n = 0;
		}
		if (i == l->nseen || l->seen[i].state != 'R')
			continue;
		r.seen[r.n] = i;
		r.tid[r.n++] = l->seen[i].is.tid;
	}
	for (uint32_t i = 0; i < l->nseen; i++)
		if (l->seen[i].state == 'R' && ran_ns(l, &l->seen[i]) != l->seen[i].ran_ns)
			l->seen[i].is.state = WAIT_RUNS;
}

static bool serve(struct look *l)
{
	struct bytes out = { 0 };
	bool ok = hear(l) && !root_open(&l->proc, "/proc");

	for (uint32_t i = 0; ok && i < l->npids; i++)
		ok = look_at_process(l, l->pid[i]);
	if (!ok)
		return false;
	find_running(l);
	for (uint32_t i = 0; ok && i < l->nseen; i++)
		ok = tell(l, &l->seen[i], &out);
	ok = ok && tell_moved(l, &out);
	ends_free(&l->ends);
	bytes_free(&out);
	return ok;
}

int look_serve(void)
{
	struct look *l = calloc(1, sizeof *l);

	if (!l)
		return EXIT_FAILURE;
	modules_init(&l->modules);
	l->spaces.modules = &l->modules;
	l->blocked.modules = &l->modules;
	l->lookup.modules = &l->modules;
	l->blocked.rows = rows_make();
	l->blocked.starts = l->starts;
	return l->blocked.rows && serve(l) ? EXIT_SUCCESS
					   : EXIT_FAILURE; /* its tables go with it */
}
