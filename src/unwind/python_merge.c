/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/python_merge.h"

#include "base/clock.h"
#include "unwind/work.h"

#include <errno.h>

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
