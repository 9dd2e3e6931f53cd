/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/sample.h"

#include "base/clock.h"
#include "source/program/stacks_events.h"
#include "unwind/names.h"
#include "unwind/work.h"

#include <time.h>

enum {
	PERIOD_NS = 1000 * 1000,
	SAMPLED_NS = 20 * 1000 * 1000, /* in which one that has a core uses it, */
	TURNS = 50, /* and so often while one has none: it was in the kernel, or had no core */
};

/* Whose stack is walked, and what was copied of it. */
struct walked {
	const struct sample_place *in;
	const struct stack_copy *stack;
};

static bool place_of(const void *of, uint64_t pc, struct place *place)
{
	const struct walked *w = of;
	const struct space *space = w->in->space;
	uint64_t start;

	if (!walk_place(space, w->in->modules, pc, place))
		return false;
	if (place->module == MODULE_JIT) {
		place->function = space->jit ? jit_name(space->jit, pc, &start) : NULL;
		place->address = place->function ? start : pc & ~UINT64_C(4095);
	}
	return true;
}

static enum step step_from(const void *of, const struct place *place, uint64_t pc,
			   struct registers *r)
{
	const struct walked *w = of;
	struct module *m = &w->in->modules->row[place->module];
	const struct registers was = *r;
	enum step step = STEP_LOST;

	(void)pc;
	work_on(m);
	if (m->usable)
		step = frame_step(w->in->rows, m, place->module, place->address, r, w->stack);
	work_on(NULL);
	if (step != STEP_LOST)
		return step;
	*r = was;
	return frame_step_by_pointer(r, w->stack);
}

/* Where there are no lines, all of a function is one place: so each is in the tree once, and not
 * with every instruction until its name is known. */
static void join_places(const struct sample_place *in, struct stack *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct place *p = &s->place[i];
		struct module *m = &in->modules->row[p->module];

		if (p->module < MODULE_VDSO || !m->lineless)
			continue;
		work_on(m);
		p->address = frame_function(in->rows, m, p->module, p->address);
		work_on(NULL);
	}
}

void sample_unwind(const struct sample_place *in, const struct record_sample *sample,
		   struct stack *out)
{
	struct registers r;
	struct stack_copy copy = { 0, sample->stack, sample->stack_size };
	const struct walked w = { in, &copy };

	out->n = 0;
	out->flags = FRAME_LOST_WAY;
	if (!sample->has_registers)
		return;
	registers_of_sample(&r, sample->registers);
	copy.at = r.v[REG_SP];
	walk(out, &r, &(struct walker){ &w, place_of, step_from });
	out->n += out->n == 0;
	join_places(in, out);
}

/* ---- of threads that run now ---- */

struct taking {
	void (*take)(void *context, uint32_t i, const struct record_sample *sample);
	void *context;
	uint64_t taken; /* bit i: of the thread i */
};

static void take_record(void *of, const struct record_view *v)
{
	struct taking *t = of;
	struct record_sample sample;

	if (v->type != PERF_RECORD_SAMPLE || t->taken >> v->ring & 1 ||
	    !record_sample(v, 0, &sample))
		return;
	t->taken |= UINT64_C(1) << v->ring;
	t->take(t->context, v->ring, &sample);
}

void sample_threads(const pid_t *tid, uint32_t n,
		    void (*take)(void *context, uint32_t i, const struct record_sample *sample),
		    void *context)
{
	const struct timespec a_little = { .tv_nsec = SAMPLED_NS };
	struct slot_event event[SAMPLE_THREADS];
	struct record_ring ring[SAMPLE_THREADS] = { { 0 } };
	struct taking t = { take, context, 0 };
	uint64_t wanted = 0;

	n = n < SAMPLE_THREADS ? n : SAMPLE_THREADS;
	for (uint32_t i = 0; i < n; i++)
		if (!slot_event_open(&event[i], tid[i], PERIOD_NS, stacks_ring_least())) {
			ring[i] = event[i].ring;
			wanted |= UINT64_C(1) << i;
		}
	for (int turn = 0; turn < TURNS && (!turn || t.taken != wanted); turn++) {
		nanosleep(&a_little, NULL);
		records_drain(ring, n, INT64_MAX, take_record, &t);
	}
	for (uint32_t i = 0; i < n; i++)
		slot_event_close(&event[i]);
}
