/* SPDX-License-Identifier: Apache-2.0 */
/* trace_samples.c - samples of stacks on a timeline. When exactly each was taken is not recorded:
 * those of a thread and a stack in an interval are spread over it evenly. */
#include "sink/trace/trace_samples.h"

#include "base/text/escape.h"
#include "sink/protobuf.h"
#include "sink/trace/trace_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { TRACE_PACKET = 1, SEQUENCE = 2 };
enum {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_PERF_SAMPLE = 66,
};
enum { FLAG_CLEARED = 1, FLAG_NEEDED = 2 };
enum {
	INTERNED_FUNCTION = 5,
	INTERNED_FRAME = 6,
	INTERNED_CALLSTACK = 7,
	INTERNED_BUILD_ID = 16,
	INTERNED_PATH = 17,
	INTERNED_MAPPING = 19,
};
enum { TEXT_IID = 1, TEXT_BYTES = 2 };
enum { MAPPING_IID = 1, MAPPING_BUILD_ID = 2, MAPPING_PATH = 7 };
enum { FRAME_IID = 1, FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_PC = 4 };
enum { CALLSTACK_IID = 1, CALLSTACK_FRAME = 2 };
enum { SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_CALLSTACK = 4 };
enum { STACK_DEEP = 1000, INLINED_MAX = 64 };

/* ---- Perfetto ---- */

static void put_string(struct perfetto_samples *p, unsigned field, uint64_t iid, const char *text)
{
	bytes_reset(&p->text);
	escape_utf8(&p->text, text);
	protobuf_number(&p->inner, TEXT_IID, iid);
	protobuf_binary(&p->inner, TEXT_BYTES, p->text.data, p->text.len);
	p->interned.failed |= p->text.failed;
	protobuf_message(&p->interned, field, &p->inner);
}

/* Numbers are those of the run and one: 0 is none. */
static void module_put(struct perfetto_samples *p, const struct run *r, uint32_t module)
{
	if (p->module[module])
		return;
	p->module[module] = 1;
	put_string(p, INTERNED_PATH, module + 1u, module ? r->modules[module].path : "(unknown)");
	put_string(p, INTERNED_BUILD_ID, module + 1u, r->modules[module].build_id);
	protobuf_number(&p->inner, MAPPING_IID, module + 1u);
	protobuf_number(&p->inner, MAPPING_BUILD_ID, module + 1u);
	protobuf_number(&p->inner, MAPPING_PATH, module + 1u);
	protobuf_message(&p->interned, INTERNED_MAPPING, &p->inner);
}

static void frame_put(struct perfetto_samples *p, const struct run *r, uint32_t frame)
{
	const struct run_frame *f = &r->frames[frame];

	if (p->frame[frame])
		return;
	p->frame[frame] = 1;
	module_put(p, r, f->module);
	put_string(p, INTERNED_FUNCTION, frame + 1u, *f->function ? f->function : "(no symbol)");
	protobuf_number(&p->inner, FRAME_IID, frame + 1u);
	protobuf_number(&p->inner, FRAME_FUNCTION, frame + 1u);
	protobuf_number(&p->inner, FRAME_MAPPING, f->module + 1u);
	protobuf_number(&p->inner, FRAME_PC, f->address);
	protobuf_message(&p->interned, INTERNED_FRAME, &p->inner);
}

/* The frames of a stack, the outermost first: the innermost STACK_DEEP calls. */
static void stack_put(struct perfetto_samples *p, const struct run *r, uint32_t stack)
{
	uint32_t call[STACK_DEEP], n = 0, chain[INLINED_MAX];

	if (p->stack[stack])
		return;
	p->stack[stack] = 1;
	for (uint32_t at = stack; n < STACK_DEEP && (at || !n); at = r->stacks[at].parent)
		call[n++] = r->stacks[at].frame;
	bytes_reset(&p->message);
	protobuf_number(&p->message, CALLSTACK_IID, stack + 1u);
	while (n) {
		uint32_t frame = call[--n], deep = 0;

		do {
			chain[deep++] = frame;
			frame = r->frames[frame].outer;
		} while (frame && deep < INLINED_MAX);
		while (deep) {
			frame_put(p, r, chain[--deep]);
			protobuf_number(&p->message, CALLSTACK_FRAME, chain[deep] + 1u);
		}
	}
	protobuf_message(&p->interned, INTERNED_CALLSTACK, &p->message);
}

static bool tables_make(struct perfetto_samples *p, const struct run *r)
{
	if (p->stack)
		return p->frame && p->module;
	p->stack = calloc(r->nstacks + 1u, 1);
	p->frame = calloc(r->nframes + 1u, 1);
	p->module = calloc(r->nmodules + 1u, 1);
	return p->stack && p->frame && p->module;
}

bool perfetto_samples_put(struct perfetto_samples *p, struct bytes *out,
			  const struct trace_sample *s)
{
	if (!tables_make(p, s->run))
		return false;
	stack_put(p, s->run, s->stack);
	protobuf_number(&p->packet, PACKET_TIMESTAMP, (uint64_t)s->at_ns);
	protobuf_number(&p->packet, PACKET_FLAGS,
			p->begun ? FLAG_NEEDED : FLAG_CLEARED | FLAG_NEEDED);
	if (p->interned.len)
		protobuf_message(&p->packet, PACKET_INTERNED, &p->interned);
	protobuf_number(&p->inner, SAMPLE_PID, s->group);
	protobuf_number(&p->inner, SAMPLE_TID, s->tid);
	protobuf_number(&p->inner, SAMPLE_CALLSTACK, s->stack + 1u);
	protobuf_message(&p->packet, PACKET_PERF_SAMPLE, &p->inner);
	protobuf_number(&p->packet, PACKET_SEQUENCE, SEQUENCE);
	p->begun = true;
	protobuf_message(out, TRACE_PACKET, &p->packet);
	return !out->failed && !p->interned.failed;
}

void perfetto_samples_free(struct perfetto_samples *p)
{
	free(p->stack);
	free(p->frame);
	free(p->module);
	bytes_free(&p->packet);
	bytes_free(&p->message);
	bytes_free(&p->inner);
	bytes_free(&p->interned);
	bytes_free(&p->text);
	*p = (struct perfetto_samples){ 0 };
}

/* ---- from the run ---- */

/* All samples are too many for a viewer: one in so many. */
static int samples_step(struct run *r, double *step, struct err *e)
{
	double all = 0;
	struct run_samples x;
	int rc = r->rewind_samples(r);

	while (!rc && (rc = r->next_samples(r, &x, e)) > 0) {
		rc = 0;
		for (uint32_t i = 0; i < x.n; i++)
			all += x.kind == SAMPLE_CPU ? (double)x.items[i].weight : 0;
	}
	*step = fmax(1, all / TRACE_SAMPLES_MAX);
	return rc;
}

/* owed: of those that were left out, how much is due. */
static bool item_put(struct trace *t, const struct run_samples *x, const struct event_item *item,
		     uint32_t group, double step, double *owed)
{
	double n, from = (double)trace_time(t, x->node, x->t0_ns),
		  to = (double)trace_time(t, x->node, x->t1_ns);

	*owed += (double)item->weight / step;
	n = floor(*owed);
	*owed -= n;
	for (uint64_t k = 0; k < (uint64_t)n; k++) {
		struct trace_sample s = { group, item->task, t->run, item->node,
					  llround(from + (to - from) * ((double)k + 0.5) / n) };

		if (s.at_ns < t->from_ns || s.at_ns >= t->until_ns)
			continue;
		if (!t->format->sample(t->state, &t->out, &s))
			return false;
		t->count->samples++;
	}
	return true;
}

int trace_samples(struct trace *t, struct err *e)
{
	struct run *r = t->run;
	struct run_samples x;
	double step, owed = 0;
	int rc;

	if (!r->nsample_sets || !t->format->sample)
		return 0;
	rc = samples_step(r, &step, e);
	if (!rc)
		rc = r->rewind_samples(r);
	while (!rc && (rc = r->next_samples(r, &x, e)) > 0) {
		uint32_t group = x.kind == SAMPLE_CPU ? trace_group(t, x.node, x.instance) : 0;

		rc = 0;
		for (uint32_t i = 0; group && i < x.n && !rc; i++)
			if (!item_put(t, &x, &x.items[i], group, step, &owed))
				rc = err_set(e, -ENOMEM, "out of memory for a trace");
		if (!rc)
			rc = trace_flush(t, e);
	}
	return rc;
}
