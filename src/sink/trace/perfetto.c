/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.c - Perfetto's protobuf: packets of one sequence, with the texts of events sent once and
 * referred to; samples of stacks likewise, in a sequence of their own.
 *
 * The field numbers are those of Perfetto's public trace_packet.proto, track_descriptor.proto,
 * track_event.proto, debug_annotation.proto, clock_snapshot.proto, profile_packet.proto,
 * profile_common.proto and interned_data.proto.
 */
#include "base/text/escape.h"
#include "sink/columnar/sorted.h"
#include "sink/protobuf.h"
#include "sink/trace/trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* {0} has sent nothing yet. */
struct perfetto_samples {
	uint8_t *stack, *frame, *module; /* that were sent; of the run */
	struct bytes packet, message, inner, interned, text;
	bool begun;
};

enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
	PACKET_PERF_SAMPLE = 66,
};
enum { FLAG_CLEARED = 1, FLAG_NEEDED = 2 };

/* ---- samples of stacks: packets of a sequence of their own ---- */

enum { SEQUENCE = 2 };
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

/* False: out of memory. */
static bool perfetto_samples_put(struct perfetto_samples *p, struct bytes *out,
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

static void perfetto_samples_free(struct perfetto_samples *p)
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

/* ---- events ---- */

enum { SNAPSHOT_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_REALTIME = 1, CLOCK_BOOT = 6 };
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_ORDERING = 11,
	TRACK_RANK = 12,
};
enum { ORDERING_EXPLICIT = 3 };
enum { BEHIND_ROWS = 1 << 30 }; /* a counter's place in its group */
enum { COUNTER_UNIT = 3, COUNTER_UNIT_NAME = 6, UNIT_SIZE_BYTES = 3 };
enum {
	EVENT_NOTE = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_REAL = 44,
	EVENT_FLOW = 47,
};
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum { NOTE_REAL = 5, NOTE_TEXT = 6, NOTE_NAME = 10 };
enum { INTERNED_NAME = 2, NAME_IID = 1, NAME_TEXT = 2 };

/* What all groups are below. */
#define ROOT (UINT64_C(1) << 62)

/* So many texts are kept; then it begins anew. */
enum { NAMES_MAX = 65536 };

struct perfetto {
	struct dictionary names;
	struct bytes packet, message, inner, text;
	struct perfetto_samples samples;
	bool begun, failed; /* events were written that refer to names; out of memory */
};

/* Valid UTF-8, as protobuf wants of a string. */
static void put_text(struct perfetto *p, struct bytes *out, unsigned field, const char *text)
{
	bytes_reset(&p->text);
	escape_utf8(&p->text, text ? text : "");
	p->failed |= p->text.failed;
	protobuf_binary(out, field, p->text.data, p->text.len);
}

static uint64_t uuid_of(uint32_t group, uint32_t row)
{
	return (uint64_t)group << 32 | row;
}

/* Counters are no rows, and have numbers of their own. */
static uint64_t uuid_of_counter(const struct trace_counter *c)
{
	return UINT64_C(1) << 63 | uuid_of(c->group, c->id);
}

static void end_packet(struct perfetto *p, struct bytes *out)
{
	protobuf_number(&p->packet, PACKET_SEQUENCE, 1);
	protobuf_message(out, TRACE_PACKET, &p->packet);
	out->failed |= p->failed;
}

static void put_clock(struct perfetto *p, unsigned id, int64_t ns)
{
	protobuf_number(&p->inner, CLOCK_ID, id);
	protobuf_number(&p->inner, CLOCK_TIME, (uint64_t)ns);
	protobuf_message(&p->message, SNAPSHOT_CLOCK, &p->inner);
}

/* Timestamps are of Perfetto's own clock, boot time; here it stands at 0 when the trace begins. */
static void begin(void *state, struct bytes *out, int64_t utc0_ns)
{
	struct perfetto *p = state;

	put_clock(p, CLOCK_BOOT, 0);
	put_clock(p, CLOCK_REALTIME, utc0_ns);
	protobuf_message(&p->packet, PACKET_CLOCK_SNAPSHOT, &p->message);
	end_packet(p, out);
	protobuf_number(&p->message, TRACK_UUID, ROOT);
	put_text(p, &p->message, TRACK_NAME, "recording");
	protobuf_number(&p->message, TRACK_ORDERING, ORDERING_EXPLICIT);
	protobuf_message(&p->packet, PACKET_TRACK, &p->message);
	end_packet(p, out);
}

/* Viewers keep the order that is given to tracks below one that says so, but neither that of
 * processes nor that of tracks without a parent: all groups are below one. */
static void name_group(void *state, struct bytes *out, uint32_t group, const char *name)
{
	struct perfetto *p = state;

	protobuf_number(&p->message, TRACK_UUID, uuid_of(group, 0));
	protobuf_number(&p->message, TRACK_PARENT, ROOT);
	put_text(p, &p->message, TRACK_NAME, name);
	protobuf_number(&p->message, TRACK_ORDERING, ORDERING_EXPLICIT);
	protobuf_number(&p->message, TRACK_RANK, group);
	protobuf_message(&p->packet, PACKET_TRACK, &p->message);
	end_packet(p, out);
}

static void name_row(void *state, struct bytes *out, uint32_t group, uint32_t row, const char *name)
{
	struct perfetto *p = state;

	protobuf_number(&p->message, TRACK_UUID, uuid_of(group, row));
	protobuf_number(&p->message, TRACK_PARENT, uuid_of(group, 0));
	put_text(p, &p->message, TRACK_NAME, name);
	protobuf_number(&p->message, TRACK_RANK, row);
	protobuf_message(&p->packet, PACKET_TRACK, &p->message);
	end_packet(p, out);
}

static void name_counter(void *state, struct bytes *out, const struct trace_counter *c)
{
	struct perfetto *p = state;

	if (c->unit == UNIT_BYTES)
		protobuf_number(&p->inner, COUNTER_UNIT, UNIT_SIZE_BYTES);
	else
		put_text(p, &p->inner, COUNTER_UNIT_NAME, unit_name(c->unit));
	protobuf_number(&p->message, TRACK_UUID, uuid_of_counter(c));
	protobuf_number(&p->message, TRACK_PARENT, uuid_of(c->group, 0));
	put_text(p, &p->message, TRACK_NAME, c->name);
	protobuf_number(&p->message, TRACK_RANK, BEHIND_ROWS);
	protobuf_message(&p->message, TRACK_COUNTER, &p->inner);
	protobuf_message(&p->packet, PACKET_TRACK, &p->message);
	end_packet(p, out);
}

/* Tell the packet a name that is new; its number. */
static uint32_t name_number(struct perfetto *p, const char *name)
{
	uint64_t flags = FLAG_NEEDED;
	uint32_t code, before;

	if (p->names.n >= NAMES_MAX) {
		dictionary_empty(&p->names);
		p->begun = false;
	}
	before = p->names.n;
	if (dictionary_text(&p->names, name ? name : "", &code)) {
		p->failed = true;
		return 1;
	}
	if (p->names.n > before) {
		protobuf_number(&p->inner, NAME_IID, code + 1);
		put_text(p, &p->inner, NAME_TEXT, name);
		protobuf_message(&p->message, INTERNED_NAME, &p->inner);
		protobuf_message(&p->packet, PACKET_INTERNED, &p->message);
	}
	if (!p->begun)
		flags |= FLAG_CLEARED;
	p->begun = true;
	protobuf_number(&p->packet, PACKET_FLAGS, flags);
	return code + 1;
}

static void begin_event(struct perfetto *p, int64_t at_ns, unsigned type, uint64_t track)
{
	protobuf_number(&p->packet, PACKET_TIMESTAMP, (uint64_t)at_ns);
	protobuf_number(&p->message, EVENT_TYPE, type);
	protobuf_number(&p->message, EVENT_TRACK, track);
}

static void end_event(struct perfetto *p, struct bytes *out)
{
	protobuf_message(&p->packet, PACKET_EVENT, &p->message);
	end_packet(p, out);
}

static void put_note(struct perfetto *p, const struct trace_note *n)
{
	put_text(p, &p->inner, NOTE_NAME, n->key);
	if (n->text)
		put_text(p, &p->inner, NOTE_TEXT, n->text);
	else
		protobuf_real(&p->inner, NOTE_REAL, n->number);
	protobuf_message(&p->message, EVENT_NOTE, &p->inner);
}

/* Those that go out, or in: at the begin of a slice, and at its end. */
static void put_flows(struct perfetto *p, const struct trace_slice *s, bool in)
{
	for (uint32_t i = 0; i < s->nflows; i++)
		if (s->flow[i].in == in)
			protobuf_fixed(&p->message, EVENT_FLOW, s->flow[i].id);
}

/* An event with a name, a category and notes. */
static void put_named(struct perfetto *p, struct bytes *out, unsigned type,
		      const struct trace_slice *s)
{
	uint32_t name = name_number(p, s->name);

	begin_event(p, s->begin_ns, type, uuid_of(s->group, s->row));
	protobuf_number(&p->message, EVENT_NAME_IID, name);
	put_text(p, &p->message, EVENT_CATEGORY, s->category);
	for (uint32_t i = 0; i < s->nnotes; i++)
		put_note(p, &s->note[i]);
	put_flows(p, s, false);
	if (type == TYPE_INSTANT)
		put_flows(p, s, true);
	end_event(p, out);
}

static void put_slice(void *state, struct bytes *out, const struct trace_slice *s)
{
	struct perfetto *p = state;

	put_named(p, out, TYPE_BEGIN, s);
	begin_event(p, s->end_ns, TYPE_END, uuid_of(s->group, s->row));
	put_flows(p, s, true);
	end_event(p, out);
}

static void put_mark(void *state, struct bytes *out, const struct trace_slice *m)
{
	put_named(state, out, TYPE_INSTANT, m);
}

static void put_value(void *state, struct bytes *out, const struct trace_counter *c, int64_t at_ns,
		      double v)
{
	struct perfetto *p = state;

	begin_event(p, at_ns, TYPE_COUNTER, uuid_of_counter(c));
	protobuf_real(&p->message, EVENT_REAL, v);
	end_event(p, out);
}

static bool put_sample(void *state, struct bytes *out, const struct trace_sample *s)
{
	struct perfetto *p = state;

	return perfetto_samples_put(&p->samples, out, s);
}

static void end(void *state, struct bytes *out)
{
	(void)state;
	(void)out;
}

static void let_go(void *state)
{
	struct perfetto *p = state;

	dictionary_free(&p->names);
	bytes_free(&p->packet);
	bytes_free(&p->message);
	bytes_free(&p->inner);
	bytes_free(&p->text);
	perfetto_samples_free(&p->samples);
}

const struct trace_format trace_perfetto = {
	.size = sizeof(struct perfetto),
	.begin = begin,
	.group = name_group,
	.row = name_row,
	.slice = put_slice,
	.mark = put_mark,
	.counter = name_counter,
	.value = put_value,
	.sample = put_sample,
	.end = end,
	.free = let_go,
};
