/* SPDX-License-Identifier: Apache-2.0 */
/* otlp.c - OpenTelemetry's traces and logs: spans become spans of the thread that they name, or of
 * lanes of their process on which they nest; events of spans and records of logs become marks. */
#include "import/otlp.h"

#include "base/array.h"
#include "base/clock.h"
#include "recording/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

bool otlp_copy(char *out, size_t size, const char *text, size_t n)
{
	size_t room = size - 1, put = n < room ? n : room;

	while (put < n && put && ((unsigned char)text[put] & 0xc0) == 0x80)
		put--;
	for (size_t i = 0; i < put; i++)
		out[i] = text[i] ? text[i] : ' ';
	out[put] = '\0';
	return put == n;
}

void otlp_resource_attribute(struct otlp *o, const char *key, const char *value)
{
	struct otlp_resource *r = &o->now;
	const struct {
		const char *key;
		char *to;
		size_t size;
	} rows[] = {
		{ "service.name", r->service, sizeof r->service },
		{ "host.name", r->host, sizeof r->host },
		{ "process.pid", r->pid, sizeof r->pid },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (!strcmp(key, rows[i].key)) {
			otlp_copy(rows[i].to, rows[i].size, value, strlen(value));
			return;
		}
	if (strncmp(key, "telemetry.sdk.", 14) != 0)
		timeline_word(r->more, key, value);
}

void otlp_attribute(struct otlp_span *s, const char *key, const char *value)
{
	if (!strcmp(key, "thread.id"))
		otlp_copy(s->tid, sizeof s->tid, value, strlen(value));
	else if (!strcmp(key, "thread.name"))
		otlp_copy(s->thread, sizeof s->thread, value, strlen(value));
	else
		timeline_word(s->detail, key, value);
}

void otlp_kind(struct otlp_span *s, int64_t kind)
{
	static const char *const names[] = { "", "", "server", "client", "producer", "consumer" };

	if (kind > 1 && kind < (int64_t)(sizeof names / sizeof names[0]))
		timeline_word(s->detail, "kind", names[kind]);
}

void otlp_status(struct otlp_span *s, int64_t code, const char *message)
{
	if (code == 2)
		timeline_word(s->detail, "status", *message ? message : "error");
}

struct otlp_event *otlp_event(struct otlp_span *s)
{
	struct otlp_event *ev;

	if (s->nevents == OTLP_EVENTS) {
		s->events_left++;
		return NULL;
	}
	ev = &s->event[s->nevents++];
	ev->has_time = false;
	ev->at_ns = 0;
	*ev->name = *ev->detail = '\0';
	return ev;
}

/* ---- whose they are ---- */

int otlp_part_begin(struct otlp *o)
{
	uint32_t id = o->writes && o->at_part < o->nparts ? o->part[o->at_part++] : 0;

	memset(&o->now, 0, sizeof o->now);
	if (id)
		o->now = o->resource[id - 1];
	o->now_id = id;
	return 0;
}

/* The id of the resource o->now; the last of many is remembered first. 0: too many. */
static uint32_t resource_id(struct otlp *o)
{
	struct otlp_resource *more;

	for (uint32_t i = o->nresources; i--;)
		if (!memcmp(&o->resource[i], &o->now, sizeof o->now))
			return i + 1;
	if (o->nresources == LANES_OWNERS_MAX)
		return 0;
	more = array_room(o->resource, o->nresources, &o->cap, sizeof *more);
	if (!more)
		return 0;
	o->resource = more;
	o->resource[o->nresources++] = o->now;
	return o->nresources;
}

int otlp_part_end(struct otlp *o)
{
	uint32_t *more;

	if (o->writes || o->nparts == OTLP_RESOURCES_MAX)
		return 0;
	more = array_room(o->part, o->nparts, &o->parts_cap, sizeof *more);
	if (!more)
		return err_set(o->e, -ENOMEM, "out of memory for %.300s", o->x->path);
	o->part = more;
	o->part[o->nparts++] = resource_id(o);
	o->several_hosts |= strcmp(o->now.host, o->resource ? o->resource[0].host : "") != 0;
	return 0;
}

/* Into a recording, of several hosts only what is of its node. */
bool otlp_is_of_the_node(const struct otlp *o)
{
	const char *host = o->x->place.into && o->several_hosts ? o->x->place.host : NULL;
	size_t n = host ? strcspn(host, ".") : 0;

	return !host || (!strncmp(host, o->now.host, n) && strcspn(o->now.host, ".") == n);
}

/* ---- spans ---- */

void otlp_span_begin(struct otlp *o)
{
	struct otlp_span *s = &o->span;

	s->has_begin = s->has_end = s->shortened = false;
	s->begin_ns = s->end_ns = 0;
	*s->name = *s->detail = *s->tid = *s->thread = '\0';
	s->nevents = s->events_left = s->links = 0;
}

void otlp_whose(const struct otlp *o, char out[OTLP_WHOSE])
{
	const struct otlp_resource *r = &o->now;

	snprintf(out, OTLP_WHOSE, "%s%s%s%s%s", *r->service ? r->service : "spans",
		 *r->pid ? " " : "", r->pid, o->several_hosts && *r->host ? " on " : "",
		 o->several_hosts ? r->host : "");
}

/* end_ns < begin_ns: of what is no span. */
static uint32_t track_of(struct otlp *o, int64_t begin_ns, int64_t end_ns)
{
	const struct otlp_span *s = &o->span;
	const struct otlp_resource *r = &o->now;
	char name[560], whose[OTLP_WHOSE];
	const struct lane_owner owner = { .name = name,
					  .pid = r->pid,
					  .tid = s->tid,
					  .process = *r->service ? r->service : "spans" };

	otlp_whose(o, whose);
	if (*s->tid || *s->thread)
		snprintf(name, sizeof name, "%s%s%s (%s)", *s->thread ? s->thread : "thread",
			 *s->tid ? " " : "", s->tid, whose);
	else
		snprintf(name, sizeof name, "%s", whose);
	return end_ns < begin_ns ? lanes_home(&o->lanes, &o->line, &owner)
				 : lanes_track(&o->lanes, &o->line, &owner, begin_ns, end_ns);
}

/* Once for each resource: what it says of itself beyond its names. */
static int put_resource(struct otlp *o, uint32_t track, int64_t at_ns)
{
	struct otlp_resource *r = o->now_id ? &o->resource[o->now_id - 1] : NULL;

	if (!r || r->told || !*r->more)
		return 0;
	r->told = true;
	return timeline_mark(&o->line, track, at_ns, "resource", r->more);
}

static int put_events(struct otlp *o, uint32_t track)
{
	const struct timeline_times *t = &o->times;
	int rc = 0;

	for (uint32_t i = 0; i < o->span.nevents && !rc; i++) {
		const struct otlp_event *ev = &o->span.event[i];

		if (!ev->has_time || ev->at_ns < t->first_ns || ev->at_ns > t->last_ns)
			o->count.bad_time++;
		else
			rc = timeline_mark(&o->line, track, ev->at_ns - t->first_ns, ev->name,
					   ev->detail);
	}
	return rc;
}

static int put_span(struct otlp *o)
{
	const struct otlp_span *s = &o->span;
	int64_t begin_ns = s->begin_ns - o->times.first_ns;
	int64_t end_ns = s->has_end ? s->end_ns - o->times.first_ns : TIMELINE_NO_END;
	uint32_t track;
	int rc;

	/* Years away from the first: its clock was wrong. */
	if (begin_ns > MONO_MAX || (s->has_end && end_ns > MONO_MAX)) {
		o->count.bad_time++;
		return 0;
	}
	track = track_of(o, begin_ns, end_ns);
	rc = put_resource(o, track, begin_ns);
	rc = rc ? rc : timeline_span(&o->line, track, begin_ns, end_ns, s->name, s->detail);
	return rc ? rc : put_events(o, track);
}

void otlp_see(struct otlp *o, int64_t first_ns, int64_t last_ns)
{
	struct timeline_times *t = &o->times;

	if (!o->seen || first_ns < t->first_ns)
		t->first_ns = first_ns;
	if (!o->seen || last_ns > t->last_ns)
		t->last_ns = last_ns;
	o->seen = true;
}

static void see_times(struct otlp *o)
{
	const struct otlp_span *s = &o->span;
	struct timeline_times *t = &o->times;
	int64_t last_ns = s->has_end ? s->end_ns : s->begin_ns;

	for (uint32_t i = 0; i < s->nevents; i++)
		if (s->event[i].has_time && s->event[i].at_ns > last_ns)
			last_ns = s->event[i].at_ns;
	otlp_see(o, s->begin_ns, last_ns);
	if (o->x->place.align && !t->align_found && !strcmp(s->name, o->x->place.align)) {
		t->align_found = true;
		t->align_ns = s->begin_ns;
	}
}

int otlp_span_end(struct otlp *o)
{
	const struct otlp_span *s = &o->span;

	if (!s->has_begin) {
		o->count.bad_time++;
		return 0;
	}
	if (s->has_end && s->end_ns < s->begin_ns) {
		o->count.backwards++;
		return 0;
	}
	if (o->writes && !otlp_is_of_the_node(o)) {
		o->count.others++;
		return 0;
	}
	o->count.spans++;
	o->count.open += !s->has_end;
	o->count.shortened += s->shortened;
	o->count.links += s->links;
	o->count.events_left += s->events_left;
	if (o->writes)
		return put_span(o);
	see_times(o);
	return 0;
}

static int put_log(struct otlp *o, int64_t at_ns)
{
	const struct otlp_span *s = &o->span;
	uint32_t track = track_of(o, at_ns, -1);
	int rc = put_resource(o, track, at_ns);

	return rc ? rc
		  : timeline_mark(&o->line, track, at_ns, *s->name ? s->name : "log", s->detail);
}

int otlp_log_end(struct otlp *o)
{
	const struct otlp_span *s = &o->span;
	int64_t at_ns = s->begin_ns - o->times.first_ns;

	if (!s->has_begin || (o->writes && at_ns > MONO_MAX)) {
		o->count.bad_time++;
		return 0;
	}
	if (o->writes && !otlp_is_of_the_node(o)) {
		o->count.others++;
		return 0;
	}
	o->count.logs++;
	if (o->writes)
		return put_log(o, at_ns);
	see_times(o);
	return 0;
}

/* ---- both readings ---- */

static size_t skip_blanks(const uint8_t *first, size_t n, size_t at)
{
	while (at < n && first[at] && strchr(" \t\r\n", first[at]))
		at++;
	return at;
}

/* JSON begins with a brace. So may protobuf, whose first byte is that of a line's end and whose
 * second is any length; but no letter follows what looks like a quotation mark there. */
static bool is_json(const uint8_t *first, size_t n)
{
	size_t at = skip_blanks(first, n, 0);

	if (at == n || (first[at] != '{' && first[at] != '['))
		return false;
	at = skip_blanks(first, n, at + 1);
	return first[0] != '\n' || at + 1 >= n || first[at] == '}' ||
	       (first[at] == '"' && first[at + 1] >= 'A');
}

static int read_file(struct otlp *o)
{
	uint8_t first[64];
	ssize_t n;
	int rc = packed_rewind(&o->file, o->e);

	if (rc)
		return rc;
	n = packed_read(&o->file, first, sizeof first);
	rc = packed_rewind(&o->file, o->e);
	if (rc)
		return rc;
	memset(&o->count, 0, sizeof o->count);
	o->bad = o->seen = false;
	o->fault = (struct err){ "" };
	return n > 0 && is_json(first, (size_t)n) ? otlp_json_read(o) : otlp_protobuf_read(o);
}

static void tell(struct otlp *o)
{
	struct store *s = o->x->store;
	const struct {
		uint64_t n;
		const char *what;
		bool left_out;
	} rows[] = {
		{ o->count.bad_time, "spans, events, values and records without a valid time",
		  true },
		{ o->count.backwards, TIMELINE_BACKWARDS, true },
		{ o->count.malformed, "entries that are malformed or too long", true },
		{ o->count.no_value, "values of metrics without a number or a name", true },
		{ o->line.points_left, TIMELINE_POINTS_LEFT, true },
		{ o->line.counters_left, TIMELINE_COUNTERS_LEFT, true },
		{ o->line.marks_left, TIMELINE_MARKS_LEFT, true },
		{ o->count.events_left, "events beyond 64 of a span", true },
		{ o->count.open, "spans without an end", false },
		{ o->count.shortened, "spans with a shortened name", false },
		{ o->count.links, "links between spans, which a recording does not keep", false },
		{ o->count.others, "spans of other nodes, which are skipped", false },
		{ o->lanes.crossing, TIMELINE_CROSSING, false },
		{ o->line.details_left, "spans whose attributes are not kept", false },
		{ o->line.tracks_left, TIMELINE_TRACKS_LEFT, false },
	};

	if (o->bad)
		store_leave_out(s, "%.200s: %.200s; what is before is kept", o->x->path,
				*o->file.e.text ? o->file.e.text : o->fault.text);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].n && rows[i].left_out)
			store_leave_out(s, "%.200s: left out, %s: %" PRIu64, o->x->path,
					rows[i].what, rows[i].n);
		else if (rows[i].n)
			store_note(s, "%.200s: %s: %" PRIu64, o->x->path, rows[i].what, rows[i].n);
}

static int find_times(struct otlp *o)
{
	struct timeline_times *t = &o->times;
	int rc = read_file(o);

	if (rc)
		return rc;
	if (!o->seen)
		return err_set(o->e, -ENODATA,
			       "%.200s holds no span, value or record of OpenTelemetry; give its "
			       "traces, metrics or logs in OTLP, as JSON or protobuf%s%.200s",
			       o->x->path, o->bad ? ": " : "",
			       *o->file.e.text ? o->file.e.text : o->fault.text);
	if (t->last_ns - t->first_ns > MONO_MAX)
		t->last_ns = t->first_ns + MONO_MAX;
	t->stated = true;
	t->statement = "OTLP (to 1 ns)";
	return 0;
}

static int write_line(struct otlp *o)
{
	int rc = timeline_begin(&o->line, &o->times, o->x, "otlp", NULL, o->e);

	if (rc)
		return rc;
	o->writes = true;
	rc = timeline_close(&o->line, read_file(o));
	if (!rc) {
		tell(o);
		o->x->wrote(o->x->ctx, o->line.name);
	}
	return rc;
}

static int import_otlp(const struct import *x, struct err *e)
{
	struct otlp *o = calloc(1, sizeof *o);
	int rc;

	if (!o)
		return err_set(e, -ENOMEM, "out of memory for %.300s", x->path);
	o->x = x;
	o->e = e;
	rc = packed_open(&o->file, x->path, e);
	if (!rc) {
		rc = find_times(o);
		rc = rc ? rc : write_line(o);
		lanes_free(&o->lanes);
		sampled_ids_free(&o->counters);
		free(o->resource);
		free(o->part);
		packed_close(&o->file);
	}
	free(o);
	return rc;
}

const struct importer importer_otlp = {
	.name = "otlp",
	.operand = "FILE",
	.what = "traces, metrics and logs of OpenTelemetry",
	.is_timeline = true,
	.run = import_otlp,
};
