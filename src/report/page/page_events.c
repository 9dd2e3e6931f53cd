/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_events.h"

#include "base/text/escape.h"
#include "report/page/page_html.h"
#include "report/page/page_table.h"
#include "report/phases/phases.h"
#include "report/phases/span_shares.h"
#include "report/phases/span_totals.h"
#include "report/summary/own.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- events on the run's clock, neighbours as one ---- */

/* The first level is finer than any screen; each that follows is half as fine. */
enum { FINEST = 8192 };

static double length_of(const struct page_event *e)
{
	if (!e->is_span)
		return 0;
	return isnan(e->to_s) ? (double)INFINITY : e->to_s - e->from_s;
}

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_numbers(double a, double b)
{
	return (a > b) - (a < b);
}

/* For qsort: in order of time, spans before marks. */
static int page_event_by_time(const void *a, const void *b)
{
	const struct page_event *x = a, *y = b;

	if (x->from_s != y->from_s)
		return x->from_s < y->from_s ? -1 : 1;
	if (x->is_span != y->is_span)
		return x->is_span ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int compare_places(const struct page_event *x, const struct page_event *y)
{
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->is_span != y->is_span)
		return x->is_span ? -1 : 1;
	return compare_texts(x->track, y->track);
}

static int by_place(const void *a, const void *b)
{
	int d = compare_places(a, b);

	return d ? d : page_event_by_time(a, b);
}

static int by_name(const void *a, const void *b)
{
	const struct page_event *x = a, *y = b;
	int d = compare_places(x, y);

	d = d ? d : compare_texts(x->name, y->name);
	return d ? d : page_event_by_time(a, b);
}

static int longest_first(const void *a, const void *b)
{
	int d = compare_numbers(length_of(b), length_of(a));

	return d ? d : page_event_by_time(a, b);
}

static double end_of(const struct page_event *e)
{
	if (!e->is_span)
		return fmax(e->from_s, e->to_s);
	return isnan(e->to_s) ? (double)INFINITY : e->to_s;
}

/* Together no longer than a step: what is longer stays by itself. */
static bool joins(const struct page_event *a, const struct page_event *b, double step_s)
{
	return fmax(end_of(a), end_of(b)) - a->from_s <= step_s;
}

static void join(struct page_event *a, const struct page_event *b)
{
	if (a->count == 1)
		a->lasted_s = length_of(a);
	a->lasted_s += b->count == 1 ? length_of(b) : b->lasted_s;
	a->to_s = fmax(end_of(a), end_of(b));
	a->count += b->count;
	a->text = NULL;
	if (a->name && compare_texts(a->name, b->name) != 0)
		a->name = NULL;
}

/* Those that are in order, as far as they are alike. */
static uint32_t join_all(struct page_event *e, uint32_t n, double step_s, bool of_a_name)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct page_event *last = kept ? &e[kept - 1] : NULL;

		if (last && !compare_places(last, &e[i]) &&
		    (!of_a_name || !compare_texts(last->name, e[i].name)) &&
		    joins(last, &e[i], step_s))
			join(last, &e[i]);
		else
			e[kept++] = e[i];
	}
	return kept;
}

/* First those of a name, as finely as that is enough; then of all names; then those that are too
 * long for it, which only a run with very many nodes or tracks has. */
uint32_t page_events_merge(struct page_event *e, uint32_t n, uint32_t most, double length_s)
{
	double finest_s = length_s / FINEST;

	for (int of_a_name = 1; n > most && of_a_name >= 0; of_a_name--) {
		int coarsest = of_a_name ? FINEST / 64 : FINEST;

		qsort(e, n, sizeof *e, of_a_name ? by_name : by_place);
		for (int level = 1; n > most && level <= coarsest; level *= 2)
			n = join_all(e, n, level * finest_s, of_a_name);
	}
	if (n > most) {
		qsort(e, n, sizeof *e, longest_first);
		n = most;
	}
	if (n)
		qsort(e, n, sizeof *e, page_event_by_time);
	return n;
}

/* ---- marks and spans ---- */

enum {
	PACKED_MAX = 200000,
	EVENTS_MAX = 2000,
	EVENTS_IN_TABLE = 500,
	EVENT_TEXT = 160,
	WRITTEN_TEXT = 512,
	EVENTS_PRINTED = 30,
	NAMES_PRINTED = 10
};

/* All of them, in order: marks, spans, and phases that rules make of marks. */
struct page_events {
	struct phase_rules rules;
	struct phases phases;
	struct page_event *event;
	uint32_t n;
	bool failed;
};

/* A short text where they are many; what a program's spans take is often less than that. */
static double microseconds(double s)
{
	return round(s * 1e6) / 1e6;
}

static struct page_event event_of_mark(const struct run *r, uint32_t i)
{
	const struct run_mark *m = &r->marks[i];

	return (struct page_event){ .node = m->node,
				    .id = i,
				    .name = m->name,
				    .text = m->message,
				    .from_s = run_seconds(r, m->node, m->at_ns),
				    .to_s = NAN,
				    .count = 1 };
}

static struct page_event event_of_span(const struct run *r, const struct run_span *s, uint32_t id)
{
	bool open = s->end_ns == INT64_MAX;

	return (struct page_event){
		.node = s->node,
		.id = id,
		.name = s->name,
		.text = s->detail,
		.track = s->track ? r->instances[s->track].name : NULL,
		.from_s = run_seconds(r, s->node, s->begin_ns),
		.to_s = open ? NAN : run_seconds(r, s->node, s->end_ns),
		.count = 1,
		.is_span = true,
	};
}

static struct page_event event_of_phase(const struct run *r, const struct phase *p, uint32_t id)
{
	return (struct page_event){
		.node = p->node,
		.id = id,
		.name = p->name,
		.text = p->text,
		.track = p->track ? r->instances[p->track].name : NULL,
		.from_s = p->begin_s,
		.to_s = p->end_s,
		.count = 1,
		.is_span = true,
	};
}

static uint32_t add_packs(const struct run *r, struct page_event *e)
{
	const struct run_span *span;
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->npacks; i++) {
		int got = r->unpack(r, i, &span, NULL);

		for (int k = 0; k < got; k++, n++)
			e[n] = event_of_span(r, &span[k], r->nspans + n);
	}
	return n;
}

static uint64_t spans_of(const struct run *r)
{
	return r->npacked + (r->nspans ? r->nspans - 1 : 0);
}

/* Without phases of marks where memory is out for them; without any spans where those in bulk are
 * more than a page can show: they are a trace's then. */
static void events_make(struct page_events *x, const struct run *r, bool with_spans)
{
	const struct phase_wish wish = { .marks_only = true };
	size_t packed = r->npacked <= PACKED_MAX ? (size_t)r->npacked : 0;
	struct err e;

	with_spans &= r->npacked <= PACKED_MAX;
	*x = (struct page_events){ 0 };
	if (r->nmarks > 1 && !phase_rules_builtin(&x->rules, &e))
		phases_make(&x->phases, r, &x->rules, &wish, &e);
	x->event = calloc(r->nmarks + r->nspans + packed + x->phases.n + 1, sizeof *x->event);
	x->failed = !x->event;
	if (x->failed)
		return;
	for (uint32_t i = 1; with_spans && i < r->nspans; i++)
		x->event[x->n++] = event_of_span(r, &r->spans[i], i);
	for (uint32_t i = 0; i < x->phases.n; i++)
		x->event[x->n++] = event_of_phase(r, &x->phases.phase[i], UINT32_MAX - i);
	for (uint32_t i = 1; i < r->nmarks; i++)
		x->event[x->n++] = event_of_mark(r, i);
	if (with_spans)
		x->n += add_packs(r, x->event + x->n);
	qsort(x->event, x->n, sizeof *x->event, page_event_by_time);
}

static void events_free(struct page_events *x)
{
	free(x->event);
	phases_free(&x->phases);
	phase_rules_free(&x->rules);
}

static void text_json(struct json *j, const char *key, const char *text)
{
	char shown[EVENT_TEXT];

	if (!text || !*text)
		return;
	json_key(j, key);
	json_text(j, escape_terminal_into(shown, sizeof shown, text));
}

static void event_json(struct json *j, const struct page_event *e)
{
	json_object(j);
	json_key(j, "node");
	json_int(j, (int64_t)e->node - 1);
	text_json(j, "name", e->name);
	text_json(j, "text", e->text);
	text_json(j, "track", e->track);
	json_key(j, e->is_span ? "from" : "at");
	json_real(j, microseconds(e->from_s));
	if (!isnan(e->to_s)) {
		json_key(j, "to");
		json_real(j, microseconds(e->to_s));
	}
	if (e->count > 1) {
		json_key(j, "count");
		json_int(j, e->count);
		json_key(j, "lasted");
		json_real(j, microseconds(e->lasted_s));
	}
	json_object_end(j);
}

static void list_json(struct json *j, const char *key, const struct page_event *e, uint32_t n)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < n; i++)
		event_json(j, &e[i]);
	json_array_end(j);
}

/* The spans before the marks; how many spans there are. */
static uint32_t spans_first(struct page_event *e, uint32_t n)
{
	uint32_t spans = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct page_event one = e[i];

		if (!one.is_span)
			continue;
		e[i] = e[spans];
		e[spans++] = one;
	}
	return spans;
}

void page_events_json(struct json *j, const struct run *r, double length_s)
{
	uint32_t marks = r->nmarks ? r->nmarks - 1 : 0, spans;
	struct page_events x;

	events_make(&x, r, true);
	j->out->failed |= x.failed;
	spans = spans_first(x.event, x.n);
	json_key(j, "marks_total");
	json_int(j, marks);
	list_json(j, "marks", x.event + spans,
		  page_events_merge(x.event + spans, x.n - spans, EVENTS_MAX, length_s));
	json_key(j, "spans_total");
	json_int(j, (int64_t)(spans_of(r) + x.phases.n));
	list_json(j, "spans", x.event, page_events_merge(x.event, spans, EVENTS_MAX, length_s));
	events_free(&x);
}

/* What the program wrote, without the recorder's note on when it saw a line that had no time. */
static const char *written_text(const struct page_event *e, char room[WRITTEN_TEXT])
{
	static const char note[] = " seen_within=";
	const char *text = e->text ? e->text : "", *at = strstr(text, note);

	if (strncmp(text, note + 1, sizeof note - 2) == 0)
		return "";
	if (!at || at - text >= WRITTEN_TEXT)
		return text;
	memcpy(room, text, (size_t)(at - text));
	room[at - text] = '\0';
	return room;
}

static void event_row(struct bytes *b, const struct run *r, const struct page_event *e)
{
	char room[WRITTEN_TEXT];

	html_name_cell(b, e->name, NAN);
	html_text_cell(b, e->is_span ? "phase" : "mark");
	if (r->nnodes > 2)
		html_text_cell(b, r->nodes[e->node].host);
	html_number_cell(b, UNIT_SECONDS, e->from_s);
	html_number_cell(b, UNIT_SECONDS, e->to_s - e->from_s);
	html_text_cell(b, written_text(e, room));
	bytes_puts(b, "</tr>\n");
}

static void events_table(struct bytes *b, const struct run *r, const struct page_events *x,
			 const struct html_heading *h, size_t columns)
{
	html_table(b, "In order of time", h, columns);
	for (uint32_t i = 0; i < x->n && i < EVENTS_IN_TABLE; i++)
		event_row(b, r, &x->event[i]);
	html_table_end(b);
	if (x->n > EVENTS_IN_TABLE)
		bytes_printf(b, "<p class=\"soft\">and %u more: sonde export has them all</p>",
			     x->n - EVENTS_IN_TABLE);
}

/* How long it took from one mark of a name to the next. */
static void intervals(struct bytes *b, const struct run *r)
{
	struct own own;

	b->failed |= own_of_marks(&own, r) != 0;
	for (uint32_t i = 0; i < own.nlaps; i++) {
		const struct own_laps *l = &own.laps[i];

		bytes_puts(b, i ? "" : "<ul class=\"facts intervals\">");
		bytes_puts(b, "<li><b>");
		html_text(b, l->mark);
		bytes_puts(b, "</b>");
		if (r->nnodes > 2) {
			bytes_puts(b, " on ");
			html_text(b, r->nodes[l->node].host);
		}
		bytes_puts(b, " every <b>");
		html_value(b, UNIT_SECONDS, l->median_s);
		bytes_printf(b, "</b> (median of %" PRIu64 "; ", l->n);
		html_value(b, UNIT_SECONDS, l->least_s);
		bytes_puts(b, " to ");
		html_value(b, UNIT_SECONDS, l->most_s);
		bytes_puts(b, ")");
		if (fabs(l->change) >= 0.05)
			bytes_printf(b, ", later ones %.0f %% %s", 100 * fabs(l->change),
				     l->change > 0 ? "longer" : "shorter");
		bytes_puts(b, "</li>\n");
	}
	bytes_puts(b, own.nlaps ? "</ul>\n" : "");
	own_free(&own);
}

void html_events(struct bytes *b, const struct page_source *p)
{
	static const struct html_heading all[] = {
		{ "Name", true, false },   { "Kind", true, false },
		{ "Node", true, false },   { "Begins at", false, false },
		{ "Takes", false, false }, { "Message", true, false },
	};
	struct html_heading h[sizeof all / sizeof all[0]];
	size_t columns = 0;
	struct page_events x;

	events_make(&x, p->run, true);
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (i != 2 || p->run->nnodes > 2)
			h[columns++] = all[i];
	b->failed |= x.failed;
	if (x.n || spans_of(p->run)) {
		bytes_puts(b, "<section aria-labelledby=\"h-events\">\n<h2 id=\"h-events\">Phases "
			      "and marks</h2>\n");
		intervals(b, p->run);
		if (x.n)
			events_table(b, p->run, &x, h, columns);
		if (p->run->npacked > PACKED_MAX)
			bytes_printf(b,
				     "<p class=\"soft\">%" PRIu64 " spans are too many for a page: "
				     "sonde show --spans sums them up, sonde trace writes each for "
				     "a viewer</p>",
				     spans_of(p->run));
		bytes_puts(b, "</section>");
	}
	events_free(&x);
}

static void event_line(FILE *out, const struct run *r, const struct page_event *e)
{
	char at[32], takes[32] = "mark", name[48], text[64], host[32] = "", room[WRITTEN_TEXT];
	const char *words = written_text(e, room);

	unit_format(UNIT_SECONDS, e->from_s, at, sizeof at);
	if (e->is_span && isnan(e->to_s))
		snprintf(takes, sizeof takes, "no end");
	else if (e->is_span)
		unit_format(UNIT_SECONDS, e->to_s - e->from_s, takes, sizeof takes);
	if (r->nnodes > 2)
		escape_terminal_into(host, sizeof host, r->nodes[e->node].host);
	fprintf(out, "  %10s  %10s  %s%s%s%s%s\n", at, takes,
		escape_terminal_into(name, sizeof name, e->name), *host ? "  on " : "", host,
		*words ? "  " : "", escape_terminal_into(text, sizeof text, words));
}

static int print_totals(struct run *r, FILE *out, struct err *e)
{
	struct span_totals s;
	int rc = span_totals_make(&s, r, e);

	if (!rc)
		span_totals_print_most(&s, out, NAMES_PRINTED);
	span_totals_free(&s);
	return rc;
}

static int print_shares(const struct run *r, FILE *out, struct err *e)
{
	struct span_shares x = { 0 };
	int rc = span_shares_make(&x, r, e);

	if (!rc)
		span_shares_print(&x, out, NAMES_PRINTED);
	span_shares_free(&x);
	return rc;
}

int page_events_print(struct run *r, FILE *out, struct err *e)
{
	bool many = spans_of(r) > EVENTS_PRINTED;
	struct page_events x;
	int rc;

	events_make(&x, r, !many);
	if (x.n)
		fprintf(out, "\nphases and marks\n  %10s  %10s\n", "at", "takes");
	for (uint32_t i = 0; i < x.n && i < EVENTS_PRINTED; i++)
		event_line(out, r, &x.event[i]);
	if (x.n > EVENTS_PRINTED)
		fprintf(out, "  and %u more: sonde export has them all\n", x.n - EVENTS_PRINTED);
	events_free(&x);
	rc = many ? print_totals(r, out, e) : 0;
	return rc || r->nspans < 2 ? rc : print_shares(r, out, e);
}
