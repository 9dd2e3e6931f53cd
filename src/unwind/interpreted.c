/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/interpreted.h"

#include "base/clock.h"
#include "unwind/python.h"

#include <stdlib.h>
#include <string.h>

enum {
	LOOK_MS = 20,
	FRESH_MS = 30,  /* a thread whose sample is older may no longer run */
	USED_MAX = 512, /* threads that wait for their look */
	GONE_MS = 2000, /* so long without CPU time: nothing is awaited */
};

/* CPU time of a thread since it was looked at last. */
struct used {
	pid_t pid, tid;
	int64_t cpu_ns, at_ns;
};

struct interpreted {
	struct spaces *spaces;
	struct profile *profile;
	struct used used[USED_MAX];
	uint32_t nused;
	int64_t looked_ns, seen_ns; /* seen: the last CPU time of Python */
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

/* Its interpreter; NULL: it is none that is known. */
static struct python *python_of(struct interpreted *i, struct space *x)
{
	bool any = x->python != NULL;

	for (uint32_t k = 0; k < x->n && !any; k++)
		any = x->map[k].module >= MODULE_FIRST &&
		      python_is_of(i->spaces->modules->row[x->map[k].module].path);
	if (any && !x->python)
		x->python = calloc(1, sizeof *x->python);
	if (!any || !x->python)
		return NULL;
	x->python->codes = i->codes;
	return python_find(x->python, i->spaces->modules, x) ? x->python : NULL;
}

static struct used *used_of(struct interpreted *i, const struct sampled *s)
{
	for (uint32_t k = 0; k < i->nused; k++)
		if (i->used[k].tid == s->tid && i->used[k].pid == s->pid)
			return &i->used[k];
	if (i->nused == USED_MAX)
		return NULL;
	i->used[i->nused] = (struct used){ .pid = s->pid, .tid = s->tid };
	return &i->used[i->nused++];
}

void interpreted_sample(struct interpreted *i, struct space *x, const struct sampled *s)
{
	struct used *u;

	if (!python_of(i, x))
		return;
	i->seen_ns = s->at_ns;
	u = used_of(i, s);
	if (!u)
		return;
	u->cpu_ns += s->period;
	u->at_ns = s->at_ns;
}

int64_t interpreted_due_ns(const struct interpreted *i)
{
	return i->nused || (i->seen_ns && i->looked_ns - i->seen_ns < GONE_MS * NS_PER_MS)
		       ? i->looked_ns + LOOK_MS * NS_PER_MS
		       : INT64_MAX;
}

/* The node of where it is; 0: that makes no sense. */
static uint32_t node_of(struct interpreted *i, struct python *p, pid_t tid)
{
	struct stack *s = &i->stack;

	if (!python_read_new(p, tid, &i->frames) || i->frames.torn)
		return 0;
	s->n = 0;
	s->flags = i->frames.n > DEPTH_MAX ? FRAME_CUT : 0;
	for (uint32_t k = 0; k < i->frames.n && s->n < DEPTH_MAX; k++) {
		const struct python_frame *f = &i->frames.frame[k];

		s->place[s->n++] = (struct place){ .module = MODULE_PYTHON,
						   .address = f->line,
						   .function = f->function,
						   .file = f->file,
						   .line = f->line };
	}
	return profile_node(i->profile, s);
}

/* Did the process use the CPU all that time, which a look took? */
static bool ran(pid_t pid, int64_t cpu_ns, int64_t at_ns)
{
	int64_t used_ns = clock_cpu_ns_of(pid) - cpu_ns;

	return cpu_ns > 0 && 2 * used_ns > clock_mono_ns() - at_ns;
}

/* False: it keeps its time. */
static bool look_at(struct interpreted *i, const struct used *u)
{
	const struct sampled s = { u->pid, u->tid, u->at_ns, u->cpu_ns };
	struct space *x = spaces_get(i->spaces, u->pid);
	struct python *python = python_of(i, x);
	uint32_t node;
	int64_t age_ns = i->looked_ns - u->at_ns, cpu_ns, at_ns;

	if (!python || age_ns > GONE_MS * NS_PER_MS)
		return true;
	if (age_ns > FRESH_MS * NS_PER_MS)
		return false;
	at_ns = clock_mono_ns();
	cpu_ns = clock_cpu_ns_of(u->pid);
	node = node_of(i, python, u->tid);
	if (!node || !ran(u->pid, cpu_ns, at_ns))
		return false;
	profile_look(i->profile, x, &s, node, SAMPLE_PYTHON);
	return true;
}

void interpreted_look(struct interpreted *i)
{
	uint32_t kept = 0;

	i->looked_ns = clock_mono_ns();
	for (uint32_t k = 0; k < i->nused; k++)
		if (!look_at(i, &i->used[k]))
			i->used[kept++] = i->used[k];
	i->nused = kept;
}
