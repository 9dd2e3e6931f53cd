/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phases/span_totals.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "core/frame/losses.h"
#include "core/phase/mark.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash(const char *kind, const char *name)
{
	uint64_t h = ((uint64_t)(uintptr_t)kind >> 3) * UINT64_C(0x9e3779b97f4a7c15) ^
		     (uint64_t)(uintptr_t)name >> 3;

	return (uint32_t)((h * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* Equal texts of a run have one address. */
static uint32_t *find(const struct span_totals *s, const char *kind, const char *name)
{
	uint32_t i = hash(kind, name) & (s->slots - 1);

	while (s->slot[i] &&
	       (s->total[s->slot[i] - 1].kind != kind || s->total[s->slot[i] - 1].name != name))
		i = (i + 1) & (s->slots - 1);
	return &s->slot[i];
}

static bool grow(struct span_totals *s)
{
	uint32_t slots = s->slots ? s->slots * 2 : 256;
	uint32_t *slot = slots ? calloc(slots, sizeof *slot) : NULL;

	if (!slot)
		return false;
	free(s->slot);
	s->slot = slot;
	s->slots = slots;
	for (uint32_t i = 0; i < s->ntotals; i++)
		*find(s, s->total[i].kind, s->total[i].name) = i + 1;
	return true;
}

/* The total of that name; NULL when out of memory. */
static struct span_total *total_of(struct span_totals *s, const char *kind, const char *name)
{
	struct span_total *moved;
	uint32_t *slot;

	if (s->ntotals >= s->slots / 2 && !grow(s))
		return NULL;
	slot = find(s, kind, name);
	if (*slot)
		return &s->total[*slot - 1];
	moved = array_room(s->total, s->ntotals, &s->total_cap, sizeof *moved);
	if (!moved)
		return NULL;
	s->total = moved;
	s->total[s->ntotals] = (struct span_total){ .kind = kind, .name = name };
	*slot = ++s->ntotals;
	return &s->total[s->ntotals - 1];
}

static int add(struct span_totals *s, const struct run_span *span)
{
	struct span_total *t = total_of(s, s->kind[span->track], span->name);
	int64_t ns;

	if (!t)
		return -ENOMEM;
	t->count++;
	s->spans++;
	if (span->end_ns == INT64_MAX) {
		t->open++;
		return 0;
	}
	ns = span->end_ns - span->begin_ns;
	if (__builtin_add_overflow(t->ns, ns, &t->ns))
		t->ns = INT64_MAX;
	if (ns > t->longest_ns)
		t->longest_ns = ns;
	return 0;
}

static int add_all(struct span_totals *s, struct run *r, struct err *e)
{
	const struct run_span *span;

	for (uint32_t i = 1; i < r->nspans; i++)
		if (add(s, &r->spans[i]))
			return -ENOMEM;
	for (uint32_t i = 0; i < r->npacks; i++) {
		int n = r->unpack(r, i, &span, e);

		if (n < 0)
			return n;
		for (int k = 0; k < n; k++)
			if (add(s, &span[k]))
				return -ENOMEM;
	}
	return 0;
}

/* ---- kinds ---- */

static int name_kinds(struct span_totals *s, const struct run *r)
{
	s->kind = calloc(r->ninstances + 1u, sizeof *s->kind);
	if (!s->kind)
		return -ENOMEM;
	s->kind[0] = "node";
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const char *kind = run_label(r, i, SCANNER_KIND);

		s->kind[i] = kind ? kind : r->instances[i].domain;
	}
	return 0;
}

/* Where a kind stands among those of all tracks. */
static uint32_t rank(const struct span_totals *s, const char *kind)
{
	uint32_t i = 0;

	while (i < s->norder && s->order[i] != kind)
		i++;
	return i;
}

static int order_kind(struct span_totals *s, const char *kind)
{
	const char **moved;

	if (rank(s, kind) < s->norder)
		return 0;
	moved = array_room(s->order, s->norder, &s->order_cap, sizeof *moved);
	if (!moved)
		return -ENOMEM;
	s->order = moved;
	s->order[s->norder++] = kind;
	return 0;
}

static int by_kind(const void *a, const void *b, void *ctx)
{
	const struct span_total *x = a, *y = b;
	uint32_t i = rank(ctx, x->kind), k = rank(ctx, y->kind);

	if (i != k)
		return i < k ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Kinds with spans or counters, as their instances come. */
static int sort(struct span_totals *s, const struct run *r)
{
	int rc = 0;

	for (uint32_t i = 0; i < r->ninstances && !rc; i++) {
		bool used = run_label(r, i, SCANNER_KIND) != NULL;

		for (uint32_t k = 0; k < s->ntotals && !used; k++)
			used = s->total[k].kind == s->kind[i];
		if (used && rank(s, s->kind[i]) == s->norder)
			rc = order_kind(s, s->kind[i]);
	}
	if (!rc && s->ntotals)
		qsort_r(s->total, s->ntotals, sizeof *s->total, by_kind, s);
	return rc;
}

/* ---- counters ---- */

static struct span_counter *counter_of(struct span_totals *s, const char *kind, const char *name)
{
	struct span_counter *moved;

	for (uint32_t i = 0; i < s->ncounters; i++)
		if (s->counter[i].kind == kind && !strcmp(s->counter[i].name, name))
			return &s->counter[i];
	moved = array_room(s->counter, s->ncounters, &s->counter_cap, sizeof *moved);
	if (!moved)
		return NULL;
	s->counter = moved;
	s->counter[s->ncounters] = (struct span_counter){ .kind = kind, .name = name };
	return &s->counter[s->ncounters++];
}

static int count(struct span_totals *s, const char *kind, const char *name, const struct metric *m,
		 int64_t whole)
{
	struct span_counter *c = counter_of(s, kind, name);

	if (!c)
		return -ENOMEM;
	c->metric = m;
	c->value += m ? metric_value(m, whole) : (double)whole;
	if (__builtin_add_overflow(c->whole, whole, &c->whole))
		c->whole = whole < 0 ? INT64_MIN : INT64_MAX;
	return 0;
}

static int count_instance(struct span_totals *s, const struct run *r, uint32_t id)
{
	const struct run_instance *in = &r->instances[id];
	int rc = 0;

	for (uint32_t i = in->first_final; i < in->first_final + in->nfinals && !rc; i++) {
		const struct metric *m = &r->metrics[r->finals[i].metric].row;

		rc = count(s, s->kind[id], m->name, m, r->finals[i].value);
	}
	for (uint32_t i = in->first_label; i < in->first_label + in->nlabels && !rc; i++) {
		const struct run_label *l = &r->labels[i];

		if (!strncmp(l->key, SCANNER_COUNTER, strlen(SCANNER_COUNTER)))
			rc = count(s, s->kind[id], l->key + strlen(SCANNER_COUNTER), NULL,
				   strtoll(l->value, NULL, 10));
	}
	return rc;
}

static int count_all(struct span_totals *s, const struct run *r)
{
	int rc = 0;

	for (uint32_t i = 1; i < r->ninstances && !rc; i++)
		if (run_label(r, i, SCANNER_KIND))
			rc = count_instance(s, r, i);
	return rc;
}

int span_totals_make(struct span_totals *s, struct run *r, struct err *e)
{
	int rc;

	*s = (struct span_totals){ 0 };
	rc = name_kinds(s, r);
	if (!rc)
		rc = add_all(s, r, e);
	if (!rc)
		rc = sort(s, r);
	if (!rc)
		rc = count_all(s, r);
	return rc == -ENOMEM ? err_set(e, rc, "out of memory for the spans of %.300s", r->path)
			     : rc;
}

void span_totals_free(struct span_totals *s)
{
	free(s->total);
	free(s->counter);
	free(s->kind);
	free(s->order);
	free(s->slot);
	*s = (struct span_totals){ 0 };
}

/* ---- for people, and as JSON ---- */

enum { NAME_SHOWN = 48 };

static double seconds(int64_t ns)
{
	return (double)ns / NS_PER_S;
}

/* From the first row of any node to the last; false: there are none. */
static bool run_extent(const struct run *r, int64_t *begin, int64_t *end)
{
	bool any = false;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		int64_t first = run_utc_ns(r, i, r->nodes[i].first_ns);
		int64_t last = run_utc_ns(r, i, r->nodes[i].last_ns);

		if (!r->nodes[i].rows)
			continue;
		*begin = any && *begin < first ? *begin : first;
		*end = any && *end > last ? *end : last;
		any = true;
	}
	return any;
}

static double node_seconds(const struct run_node *n)
{
	return seconds(n->last_ns - n->first_ns);
}

/* ---- for people ---- */

static void print_times(const struct run *r, FILE *out)
{
	int64_t begin, end;
	char text[48], host[64];

	if (run_extent(r, &begin, &end))
		fprintf(out, "job          %s\n",
			unit_format(UNIT_SECONDS, seconds(end - begin), text, sizeof text));
	for (uint32_t i = 1; i < r->nnodes; i++)
		if (r->nodes[i].rows)
			fprintf(out, "%-12s %s\n",
				escape_terminal_into(host, sizeof host, r->nodes[i].host),
				unit_format(UNIT_SECONDS, node_seconds(&r->nodes[i]), text,
					    sizeof text));
}

static void print_heading(const char *what, FILE *out)
{
	char shown[NAME_SHOWN];

	fprintf(out, "\n%s\n  %12s  %10s  %12s  %12s\n",
		escape_terminal_into(shown, sizeof shown, what), "seconds", "spans", "mean",
		"longest");
}

/* Of the kind that it stands below, NULL, or says itself. */
static void print_total(const struct span_total *t, const char *kind, FILE *out)
{
	char mean[32] = "-", longest[32] = "-", name[NAME_SHOWN], of[NAME_SHOWN] = "";
	uint64_t ended = t->count - t->open;

	if (ended) {
		unit_format(UNIT_SECONDS, seconds(t->ns) / (double)ended, mean, sizeof mean);
		unit_format(UNIT_SECONDS, seconds(t->longest_ns), longest, sizeof longest);
	}
	if (kind)
		escape_terminal_into(of, sizeof of, kind);
	fprintf(out, "  %12.6f  %10" PRIu64 "  %12s  %12s  %s%s%s", seconds(t->ns), t->count, mean,
		longest, of, kind ? ": " : "", escape_terminal_into(name, sizeof name, t->name));
	if (t->open)
		fprintf(out, "  (without an end: %" PRIu64 ")", t->open);
	fputc('\n', out);
}

static void print_counter(const struct span_counter *c, FILE *out)
{
	char text[48], name[NAME_SHOWN];

	if (c->metric)
		unit_format(c->metric->unit, c->value, text, sizeof text);
	else
		snprintf(text, sizeof text, "%" PRId64, c->whole);
	fprintf(out, "  %12s  %s\n", text, escape_terminal_into(name, sizeof name, c->name));
}

static void print_losses(const struct run *r, FILE *out)
{
	struct losses x;

	for (uint32_t i = 0; !losses_make(&x, r) && i < x.n; i++)
		if (!strcmp(x.row[i].what, "spans"))
			fprintf(out, "losses       %s\n", x.row[i].words);
}

void span_totals_print(const struct span_totals *s, const struct run *r, FILE *out)
{
	print_times(r, out);
	for (uint32_t k = 0; k < s->norder; k++) {
		print_heading(s->order[k], out);
		for (uint32_t i = 0; i < s->ntotals; i++)
			if (s->total[i].kind == s->order[k])
				print_total(&s->total[i], NULL, out);
		for (uint32_t i = 0; i < s->ncounters; i++)
			if (s->counter[i].kind == s->order[k])
				print_counter(&s->counter[i], out);
	}
	if (!s->norder)
		fprintf(out, "the recording has no spans\n");
	print_losses(r, out);
}

static int by_time(const void *a, const void *b)
{
	const struct span_total *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

void span_totals_print_most(struct span_totals *s, FILE *out, uint32_t most)
{
	if (s->ntotals)
		qsort(s->total, s->ntotals, sizeof *s->total, by_time);
	print_heading("spans by total time", out);
	for (uint32_t i = 0; i < s->ntotals && i < most; i++)
		print_total(&s->total[i], s->norder > 1 ? s->total[i].kind : NULL, out);
	if (s->ntotals > most)
		fprintf(out, "  and %u more names: sonde show --spans has them all\n",
			s->ntotals - most);
}

/* ---- JSON ---- */

static void put_times(struct json *j, const struct run *r)
{
	int64_t begin, end;

	json_key(j, "total_seconds");
	if (run_extent(r, &begin, &end))
		json_real(j, seconds(end - begin));
	else
		json_null(j);
	json_key(j, "nodes");
	json_array(j);
	for (uint32_t i = 1; i < r->nnodes; i++) {
		const struct run_node *n = &r->nodes[i];
		char text[40];

		if (!n->rows)
			continue;
		json_object(j);
		json_put_text(j, "node", n->host);
		json_put_text(j, "begin_time",
			      clock_iso(run_utc_ns(r, i, n->first_ns), text, sizeof text));
		json_put_text(j, "end_time",
			      clock_iso(run_utc_ns(r, i, n->last_ns), text, sizeof text));
		json_put_real(j, "total_seconds", node_seconds(n));
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_total(struct json *j, const struct span_total *t)
{
	json_object(j);
	json_put_text(j, "name", t->name);
	json_put_int(j, "count", (int64_t)t->count);
	json_put_int(j, "without_end", (int64_t)t->open);
	json_put_real(j, "seconds", seconds(t->ns));
	json_put_real(j, "longest_seconds", seconds(t->longest_ns));
	json_object_end(j);
}

static void put_counter(struct json *j, const struct span_counter *c)
{
	json_object(j);
	json_put_text(j, "name", c->name);
	json_put_text(j, "label", c->metric ? c->metric->label : c->name);
	json_put_text(j, "unit", c->metric ? unit_name(c->metric->unit) : "");
	json_key(j, "value");
	if (!c->metric ||
	    (c->metric->storage == STORE_INT && c->metric->mul <= 1 && c->metric->div <= 1))
		json_int(j, c->whole);
	else
		json_real(j, c->value);
	json_object_end(j);
}

static void put_kind(struct json *j, const struct span_totals *s, const char *kind)
{
	json_object(j);
	json_put_text(j, "kind", kind);
	json_key(j, "spans");
	json_array(j);
	for (uint32_t i = 0; i < s->ntotals; i++)
		if (s->total[i].kind == kind)
			put_total(j, &s->total[i]);
	json_array_end(j);
	json_key(j, "counters");
	json_array(j);
	for (uint32_t i = 0; i < s->ncounters; i++)
		if (s->counter[i].kind == kind)
			put_counter(j, &s->counter[i]);
	json_array_end(j);
	json_object_end(j);
}

int span_totals_json(const struct span_totals *s, const struct span_shares *shares,
		     const struct run *r, FILE *out)
{
	struct bytes text = { 0 };
	struct json j = { .out = &text, .indent = true };
	struct losses losses;
	bool failed;

	json_object(&j);
	json_put_text(&j, "schema", "sonde/spans/1");
	json_put_text(&j, "recording", r->path);
	json_put_int(&j, "damages", r->ndamages);
	json_put_int(&j, "spans", (int64_t)s->spans);
	put_times(&j, r);
	failed = losses_make(&losses, r);
	losses_json(&losses, &j);
	json_key(&j, "kinds");
	json_array(&j);
	for (uint32_t i = 0; i < s->norder; i++)
		put_kind(&j, s, s->order[i]);
	json_array_end(&j);
	span_shares_json(&j, shares);
	json_object_end(&j);
	bytes_u8(&text, '\n');
	failed |= text.failed;
	if (!failed)
		fwrite(text.data, 1, text.len, out);
	bytes_free(&text);
	return failed ? -ENOMEM : 0;
}
