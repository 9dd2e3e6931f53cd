/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome.c - the JSON that chrome://tracing, Perfetto and speedscope open: a group is a
 * "process", a row a "thread".
 *
 * Times are in microseconds, and exact to the nanosecond, since they count from the begin.
 */
#include "base/clock.h"
#include "base/text/json.h"
#include "sink/trace/trace.h"

#include <inttypes.h>
#include <string.h>

struct chrome {
	bool begun; /* an event was written */
};

static void begin(void *state, struct bytes *out, int64_t utc0_ns)
{
	char text[40];

	(void)state;
	bytes_printf(out,
		     "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"made_by\":\"sonde\","
		     "\"begin_time\":\"%s\"},\"traceEvents\":[",
		     clock_iso(utc0_ns, text, sizeof text));
}

/* Everything of an event but texts is shorter than this. */
enum { EVENT_ROOM = 256, DIGITS_MAX = 20 };

static uint8_t *put_bytes(uint8_t *at, const char *text, size_t n)
{
	memcpy(at, text, n);
	return at + n;
}
#define PUT(at, literal) put_bytes((at), (literal), sizeof(literal) - 1)

static uint8_t *put_decimal(uint8_t *at, uint64_t v)
{
	uint8_t digit[DIGITS_MAX];
	unsigned n = 0;

	do {
		digit[n++] = (uint8_t)('0' + v % 10);
		v /= 10;
	} while (v);
	while (n)
		*at++ = digit[--n];
	return at;
}

/* Events come by the million: printf would take most of the time. Returns where it goes on; NULL:
 * out of memory. */
static uint8_t *event_start(void *state, struct bytes *out, char phase, uint32_t group,
			    uint32_t row)
{
	struct chrome *c = state;
	uint8_t *at;

	if (!bytes_room(out, EVENT_ROOM))
		return NULL;
	at = out->data + out->len;
	if (c->begun)
		*at++ = ',';
	at = PUT(at, "\n{\"ph\":\"");
	*at++ = (uint8_t)phase;
	at = put_decimal(PUT(at, "\",\"pid\":"), group);
	c->begun = true;
	return put_decimal(PUT(at, ",\"tid\":"), row);
}

static void event_stop(struct bytes *out, const uint8_t *at)
{
	out->len = (size_t)(at - out->data);
}

static void begin_event(void *state, struct bytes *out, char phase, uint32_t group, uint32_t row)
{
	uint8_t *at = event_start(state, out, phase, group, row);

	if (at)
		event_stop(out, at);
}

static void quoted(struct bytes *out, const char *text)
{
	struct json j = { .out = out };

	json_text(&j, text ? text : "");
}

static void number(struct bytes *out, double v)
{
	struct json j = { .out = out };

	json_real(&j, v);
}

/* Microseconds with three decimals; times are not negative. */
static uint8_t *put_us(uint8_t *at, int64_t ns)
{
	unsigned rest = (unsigned)(ns % 1000);

	at = put_decimal(at, (uint64_t)(ns / 1000));
	*at++ = '.';
	*at++ = (uint8_t)('0' + rest / 100);
	*at++ = (uint8_t)('0' + rest / 10 % 10);
	*at++ = (uint8_t)('0' + rest % 10);
	return at;
}

static void time_us(struct bytes *out, const char *key, int64_t ns)
{
	bytes_printf(out, ",\"%s\":%" PRId64 ".%03" PRId64, key, ns / 1000, ns % 1000);
}

static void name_it(void *state, struct bytes *out, const char *what, uint32_t group, uint32_t row,
		    const char *name)
{
	begin_event(state, out, 'M', group, row);
	bytes_printf(out, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
	quoted(out, name);
	bytes_puts(out, "}}");
	begin_event(state, out, 'M', group, row);
	bytes_printf(out, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%u}}", what,
		     row ? row : group);
}

static void name_group(void *state, struct bytes *out, uint32_t group, const char *name)
{
	name_it(state, out, "process", group, 0, name);
}

static void name_row(void *state, struct bytes *out, uint32_t group, uint32_t row, const char *name)
{
	name_it(state, out, "thread", group, row, name);
}

/* The name, the notes. */
static void end_event(struct bytes *out, const struct trace_slice *s)
{
	bytes_puts(out, ",\"cat\":");
	quoted(out, s->category);
	if (s->colour) {
		bytes_puts(out, ",\"cname\":");
		quoted(out, s->colour);
	}
	bytes_puts(out, ",\"name\":");
	quoted(out, s->name);
	for (uint32_t i = 0; i < s->nnotes; i++) {
		bytes_puts(out, i ? "," : ",\"args\":{");
		quoted(out, s->note[i].key);
		bytes_u8(out, ':');
		if (s->note[i].text)
			quoted(out, s->note[i].text);
		else
			number(out, s->note[i].number);
	}
	bytes_puts(out, s->nnotes ? "}}" : "}");
}

/* An arrow is bound to the slice that is open where it begins or ends, which is this one at its
 * begin, and just before its end. */
static void put_flows(void *state, struct bytes *out, const struct trace_slice *s)
{
	int64_t last_ns = s->end_ns > s->begin_ns ? s->end_ns - 1 : s->begin_ns;

	for (uint32_t i = 0; i < s->nflows; i++) {
		const struct trace_flow *f = &s->flow[i];

		begin_event(state, out, f->in ? 'f' : 's', s->group, s->row);
		time_us(out, "ts", f->in ? last_ns : s->begin_ns);
		bytes_printf(out, ",\"cat\":\"flow\",\"name\":\"flow\",\"id\":\"0x%" PRIx64 "\"%s}",
			     f->id, f->in ? ",\"bp\":\"e\"" : "");
	}
}

static void put_slice(void *state, struct bytes *out, const struct trace_slice *s)
{
	uint8_t *at = event_start(state, out, 'X', s->group, s->row);

	if (!at)
		return;
	at = put_us(PUT(at, ",\"ts\":"), s->begin_ns);
	at = put_us(PUT(at, ",\"dur\":"), s->end_ns - s->begin_ns);
	event_stop(out, at);
	end_event(out, s);
	put_flows(state, out, s);
}

static void put_mark(void *state, struct bytes *out, const struct trace_slice *m)
{
	begin_event(state, out, 'i', m->group, m->row);
	bytes_puts(out, ",\"s\":\"p\"");
	time_us(out, "ts", m->begin_ns);
	end_event(out, m);
}

/* A counter is there with its first value. */
static void name_counter(void *state, struct bytes *out, const struct trace_counter *c)
{
	(void)state;
	(void)out;
	(void)c;
}

static void put_value(void *state, struct bytes *out, const struct trace_counter *c, int64_t at_ns,
		      double v)
{
	begin_event(state, out, 'C', c->group, 0);
	time_us(out, "ts", at_ns);
	bytes_puts(out, ",\"name\":");
	quoted(out, c->name);
	bytes_puts(out, ",\"args\":{\"value\":");
	number(out, v);
	bytes_puts(out, "}}");
}

static void end(void *state, struct bytes *out)
{
	(void)state;
	bytes_puts(out, "\n]}\n");
}

const struct trace_format trace_chrome = {
	.size = sizeof(struct chrome),
	.begin = begin,
	.group = name_group,
	.row = name_row,
	.slice = put_slice,
	.mark = put_mark,
	.counter = name_counter,
	.value = put_value,
	.end = end,
};
