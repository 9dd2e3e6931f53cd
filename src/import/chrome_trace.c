/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_trace.c - a trace in Chrome's JSON: its list of events, alone or in an object that says
 * more of it. */
#include "import/chrome_trace.h"

#include "base/clock.h"
#include "recording/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

extern const struct importer importer_chrome_trace;

typedef int (*take_event)(struct chrome *c);

/* ---- the document ---- */

/* 1: it is over, 0: go on; -errno. */
static int read_event(struct chrome *c, struct jsondoc *j, take_event take)
{
	struct err *e = &c->fault;
	enum jsondoc_token t = jsondoc_next(j, e);

	if (t == JSONDOC_ARRAY_END)
		return 1;
	if (t == JSONDOC_OBJECT && chrome_event_read(&c->ev, j, e)) {
		return c->ev.empty ? 0 : take(c);
	}
	if (t == JSONDOC_OBJECT || t == JSONDOC_BAD || !jsondoc_skip(j, t, e)) {
		c->bad = true;
		return 1;
	}
	c->count.malformed++;
	return 0;
}

static int read_events(struct chrome *c, struct jsondoc *j, take_event take)
{
	int rc;

	c->has_list = true;
	do
		rc = read_event(c, j, take);
	while (!rc);
	return rc < 0 ? rc : 0;
}

static void state_zero(struct chrome *c, const char *what, const char *exact, int64_t utc_ns)
{
	if (c->times.stated)
		return;
	c->times.stated = true;
	c->times.zero_utc = utc_ns;
	snprintf(c->statement, sizeof c->statement, "%s (to %s)", what, exact);
	c->times.statement = c->statement;
}

/* A number that says when 0 was: PyTorch's in ns, clang's in us, Bazel's in ms. */
static bool read_zero(struct chrome *c, struct jsondoc *j, const char *key)
{
	static const struct {
		const char *key, *exact;
		int64_t ns;
	} zeros[] = { { "baseTimeNanoseconds", "1 ns", 1 },
		      { "beginningOfTime", "1 us", 1000 },
		      { "profile_start_ts", "1 ms", NS_PER_MS } };
	struct err *e = &c->fault;
	enum jsondoc_token t;
	int64_t utc_ns;

	for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++) {
		if (strcmp(key, zeros[i].key) != 0)
			continue;
		t = jsondoc_next(j, e);
		if (t == JSONDOC_NUMBER && j->whole && j->integer > 0 &&
		    !__builtin_mul_overflow(j->integer, zeros[i].ns, &utc_ns))
			state_zero(c, zeros[i].key, zeros[i].exact, utc_ns);
		return t != JSONDOC_BAD && jsondoc_skip(j, t, e);
	}
	return jsondoc_skip(j, JSONDOC_KEY, e);
}

static bool read_begin_time(struct chrome *c, struct jsondoc *j)
{
	struct err *e = &c->fault;
	enum jsondoc_token t = jsondoc_next(j, e);
	int64_t utc_ns;
	const char *zone = t == JSONDOC_STRING ? clock_of_iso(j->text, &utc_ns) : NULL;

	if (zone && (!strcmp(zone, "Z") || !strcmp(zone, "+00:00")))
		state_zero(c, "otherData.begin_time", "1 ns", utc_ns);
	return t != JSONDOC_BAD && jsondoc_skip(j, t, e);
}

/* Of Bazel before version 4: "Sun Nov 29 09:56:02 UTC 2026". */
static bool read_date(struct chrome *c, struct jsondoc *j)
{
	struct err *e = &c->fault;
	enum jsondoc_token t = jsondoc_next(j, e);
	int64_t utc_ns;

	if (t == JSONDOC_STRING && clock_of_date(j->text, &utc_ns))
		state_zero(c, "otherData.date", "1 s", utc_ns);
	return t != JSONDOC_BAD && jsondoc_skip(j, t, e);
}

static bool read_rank(struct chrome *c, struct jsondoc *j)
{
	struct err *e = &c->fault;
	enum jsondoc_token t = jsondoc_next(j, e);

	if (t == JSONDOC_NUMBER && j->whole && j->integer >= 0)
		snprintf(c->rank, sizeof c->rank, "%" PRId64, j->integer);
	return t != JSONDOC_BAD && jsondoc_skip(j, t, e);
}

/* otherData of Bazel and of Sonde, distributedInfo of PyTorch. */
static bool read_info(struct chrome *c, struct jsondoc *j, bool distributed)
{
	struct err *e = &c->fault;
	enum jsondoc_token t = jsondoc_next(j, e);
	char key[64];
	bool well = true;

	if (t != JSONDOC_OBJECT)
		return t != JSONDOC_BAD && jsondoc_skip(j, t, e);
	while (well && (t = jsondoc_next(j, e)) == JSONDOC_KEY) {
		snprintf(key, sizeof key, "%s", j->text);
		if (distributed && !strcmp(key, "rank"))
			well = read_rank(c, j);
		else if (!distributed && !strcmp(key, "begin_time"))
			well = read_begin_time(c, j);
		else if (!distributed && !strcmp(key, "date"))
			well = read_date(c, j);
		else
			well = read_zero(c, j, distributed ? "" : key);
	}
	return well && t == JSONDOC_OBJECT_END;
}

static int read_member(struct chrome *c, struct jsondoc *j, take_event take)
{
	struct err *e = &c->fault;
	enum jsondoc_token t;
	char key[64];

	snprintf(key, sizeof key, "%s", j->text);
	if (!strcmp(key, "otherData") || !strcmp(key, "distributedInfo")) {
		c->bad |= !read_info(c, j, *key == 'd');
	} else if (strcmp(key, "traceEvents") != 0) {
		c->bad |= !read_zero(c, j, key);
	} else {
		t = jsondoc_next(j, e);
		if (t == JSONDOC_ARRAY)
			return read_events(c, j, take);
		c->bad |= t == JSONDOC_BAD || !jsondoc_skip(j, t, e);
	}
	return 0;
}

static int read_root(struct chrome *c, struct jsondoc *j, take_event take)
{
	struct err *e = &c->fault;
	enum jsondoc_token t = jsondoc_next(j, e);
	int rc = 0;

	if (t == JSONDOC_ARRAY)
		return read_events(c, j, take);
	while (t == JSONDOC_OBJECT && !c->bad && !rc && (t = jsondoc_next(j, e)) == JSONDOC_KEY) {
		rc = read_member(c, j, take);
		t = JSONDOC_OBJECT;
	}
	c->bad |= t == JSONDOC_BAD;
	return rc;
}

/* What comes before it is kept, if it is events. */
static void tell_fault(struct chrome *c, const struct err *why)
{
	const char *text = *c->file.e.text ? c->file.e.text : why->text;

	if (!c->clock[CHROME_SMALL].n && !c->clock[CHROME_SINCE_1970].n)
		return;
	if (*c->file.e.text)
		store_leave_out(c->x->store, "%s; the events before are kept", text);
	else
		store_leave_out(c->x->store, "%.200s: %s; the events before are kept", c->x->path,
				text);
}

/* All events, from the first on. Faults are told once, at the first time. */
static int read_document(struct chrome *c, take_event take, bool first)
{
	struct jsondoc j;
	int rc = packed_rewind(&c->file, c->e);

	if (rc)
		return rc;
	rc = jsondoc_open_from(&j, packed_read, &c->file);
	if (rc)
		return err_set(c->e, rc, "out of memory for %.300s", c->x->path);
	j.shortens = true;
	c->bad = false;
	c->fault = (struct err){ "" };
	rc = read_root(c, &j, take);
	c->bad |= !rc && jsondoc_next(&j, &c->fault) != JSONDOC_END;
	if (!rc && c->bad && !jsondoc_only_end_missing(&j) && first)
		tell_fault(c, &c->fault);
	jsondoc_close(&j);
	return rc;
}

/* ---- the first reading ---- */

static void take_name(struct chrome *c)
{
	const struct chrome_event *ev = &c->ev;
	bool process = !strcmp(ev->name, "process_name");

	if (!process && strcmp(ev->name, "thread_name") != 0)
		return;
	for (uint32_t i = 0; i < ev->nargs; i++)
		if (!strcmp(ev->arg[i].key, "name"))
			chrome_name_set(&c->names,
					chrome_name_of(&c->names,
						       process ? CHROME_PROCESS : CHROME_THREAD,
						       ev->pid, process ? "" : ev->tid),
					ev->arg[i].text);
}

static int look(struct chrome *c)
{
	const struct chrome_event *ev = &c->ev;
	int which = chrome_clock_of(ev->ts_ns);
	int64_t end_ns;
	int rc = 0;

	if ((ev->phase == 's' || ev->phase == 't' || ev->phase == 'f') && ev->has_ts &&
	    !ev->bad_time)
		rc = chrome_flow_take(c);
	if (ev->phase == 'M')
		take_name(c);
	else if (*ev->pid)
		chrome_name_of(&c->names, CHROME_PROCESS, ev->pid, "");
	if (ev->phase == 'M' || !ev->has_ts || ev->bad_time || ev->ts_ns < -MONO_MAX / 2 ||
	    ev->duration_ns > MONO_MAX / 2 || ev->duration_ns < 0)
		return rc;
	end_ns = ev->ts_ns > INT64_MAX - ev->duration_ns ? ev->ts_ns : ev->ts_ns + ev->duration_ns;
	if (!c->clock[which].n || ev->ts_ns < c->clock[which].first_ns)
		c->clock[which].first_ns = ev->ts_ns;
	if (!c->clock[which].n || end_ns > c->clock[which].last_ns)
		c->clock[which].last_ns = end_ns;
	c->clock[which].n++;
	if (c->x->place.align && !c->times.align_found && !strcmp(ev->name, c->x->place.align)) {
		c->times.align_found = true;
		c->times.align_ns = ev->ts_ns;
	}
	return rc;
}

static int find_times(struct chrome *c)
{
	struct timeline_times *t = &c->times;
	int which, rc = read_document(c, look, true);

	if (rc)
		return rc;
	which = c->clock[CHROME_SINCE_1970].n > c->clock[CHROME_SMALL].n;
	if (!c->clock[which].n && c->bad)
		return err_set(c->e, -EINVAL, "%.200s holds no event of a trace: %.200s",
			       c->x->path, *c->file.e.text ? c->file.e.text : c->fault.text);
	if (!c->clock[which].n)
		return err_set(c->e, -ENODATA,
			       "%.300s holds no event of a trace; give a file in Chrome's JSON: a "
			       "list of events, or an object with traceEvents",
			       c->x->path);
	c->which_clock = which;
	t->first_ns = c->clock[which].first_ns;
	t->last_ns = c->clock[which].last_ns;
	if (t->last_ns - t->first_ns > MONO_MAX)
		t->last_ns = t->first_ns + MONO_MAX;
	if (which == CHROME_SINCE_1970 && !t->stated)
		state_zero(c, "its numbers, which count from 1970", "1 us", 0);
	t->changed_utc = (int64_t)c->file.st.st_mtim.tv_sec * NS_PER_S + c->file.st.st_mtim.tv_nsec;
	return 0;
}

/* ---- what is told ---- */

static void tell_left_out(struct chrome *c)
{
	const struct chrome_counts *n = &c->count;
	const struct {
		uint64_t n;
		const char *what;
	} rows[] = {
		{ n->malformed, "entries that are not events" },
		{ n->bad_time, "events without a valid time" },
		{ n->other_clock, "events years away from the others" },
		{ n->no_begin, "ends of spans that had not begun" },
		{ n->ends_before, TIMELINE_BACKWARDS },
		{ n->too_many_open, "spans beyond those that can be open at a time" },
		{ c->line.marks_left, TIMELINE_MARKS_LEFT },
		{ c->line.points_left, TIMELINE_POINTS_LEFT },
		{ c->line.counters_left, TIMELINE_COUNTERS_LEFT },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].n)
			store_leave_out(c->x->store, "%.200s: left out, %s: %" PRIu64, c->x->path,
					rows[i].what, rows[i].n);
	for (int i = 0; i < 128; i++)
		if (n->unknown[i])
			store_note(
				c->x->store,
				"%.200s: skipped, events of type %c, which are not spans: %" PRIu64,
				c->x->path, i > ' ' && i < 127 ? i : '?', n->unknown[i]);
}

static void tell_changed(struct chrome *c)
{
	const struct chrome_counts *n = &c->count;
	const struct {
		uint64_t n;
		const char *what;
	} rows[] = {
		{ n->open, "spans without an end" },
		{ n->other_name, "ends that name another span than the one that they end" },
		{ n->shortened, "events with a shortened name" },
		{ n->no_number, "values of counters that are no numbers" },
		{ chrome_flows_left(&c->flows), "ends of arrows that no span keeps" },
		{ n->categories, "spans whose category is not kept" },
		{ c->line.details_left, "spans whose arguments are not kept" },
		{ c->line.tracks_left, TIMELINE_TRACKS_LEFT },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].n)
			store_note(c->x->store, "%.200s: %s: %" PRIu64, c->x->path, rows[i].what,
				   rows[i].n);
}

/* ---- */

/* Which spans have ends of arrows. */
static int bind_flows(struct chrome *c)
{
	int rc;

	if (!c->flows.n)
		return 0;
	chrome_flows_sort(&c->flows, false);
	rc = read_document(c, chrome_bind, false);
	openspans_free(&c->open);
	chrome_flows_sort(&c->flows, true);
	return rc;
}

static int write_line(struct chrome *c)
{
	int rc;

	c->count = (struct chrome_counts){ 0 };
	rc = timeline_begin(&c->line, &c->times, c->x, importer_chrome_trace.name, c->rank, c->e);
	if (rc)
		return rc;
	rc = read_document(c, chrome_put, false);
	rc = rc ? rc : chrome_put_open(c);
	rc = timeline_close(&c->line, rc);
	if (!rc) {
		tell_left_out(c);
		tell_changed(c);
		c->x->wrote(c->x->ctx, c->line.name);
	}
	return rc;
}

static int import_chrome_trace(const struct import *x, struct err *e)
{
	struct chrome *c = calloc(1, sizeof *c);
	int rc;

	if (!c)
		return err_set(e, -ENOMEM, "out of memory for %.300s", x->path);
	rc = packed_open(&c->file, x->path, e);
	if (!rc) {
		c->x = x;
		c->e = e;
		rc = find_times(c);
		rc = rc ? rc : bind_flows(c);
		rc = rc ? rc : write_line(c);
		openspans_free(&c->open);
		chrome_flows_free(&c->flows);
		chrome_names_free(&c->names);
		packed_close(&c->file);
	}
	free(c);
	return rc;
}

const struct importer importer_chrome_trace = {
	.name = "chrome-trace",
	.operand = "FILE",
	.what = "a timeline in Chrome's JSON",
	.is_timeline = true,
	.run = import_chrome_trace,
};
