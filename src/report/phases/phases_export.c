/* SPDX-License-Identifier: Apache-2.0 */
/* phases_export.c - phases, or their totals, as CSV and JSON. */
#include "base/clock.h"
#include "base/pool.h"
#include "base/text/json.h"
#include "core/frame/losses.h"
#include "report/phases/phases.h"
#include "sink/sink.h"
#include "sink/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a table of values separated by commas ---- */

enum { FIGURES = 3 /* mean, most, total */, ROWS = 256 };

/* A table in the making: a batch of rows at a time. */
struct made {
	const struct phase_report *report;
	struct column *column;
	struct cells *cells;
	char **name;       /* of the metrics' columns */
	char (*node)[300]; /* [ROWS] */
	uint32_t ncolumns, nfixed, nrows;
};

static const struct column phase_columns[] = {
	{ "phase", COLUMN_TEXT, "", "Name of the phase.", NULL },
	{ "key", COLUMN_TEXT, "", "What its start and end had in common.", NULL },
	COLUMN_NODE,
	COLUMN_TRACK,
	COLUMN_BEGIN,
	COLUMN_SINCE("begin_seconds"),
	{ "end_seconds", COLUMN_REAL, "seconds", "Its end; empty: none was seen.", NULL },
	{ "duration_seconds", COLUMN_REAL, "seconds", "How long it took.", NULL },
	{ "size_bytes", COLUMN_REAL, "bytes", "What its marks say of its size.", NULL },
	{ "bytes_per_second", COLUMN_REAL, "bytes_per_second", "Size over duration.", NULL },
	{ "depth", COLUMN_INT, "", "Phases of its node that contain it.", NULL },
	{ "crosses", COLUMN_INT, "", "1: it overlaps another, and neither contains the other.",
	  NULL },
};

static const struct column total_columns[] = {
	{ "phase", COLUMN_TEXT, "", "Name of the phases.", NULL },
	{ "key", COLUMN_TEXT, "", "Of these alone; empty: of all keys.", NULL },
	{ "node", COLUMN_TEXT, "", "Host name; empty: of all nodes.", NULL },
	{ "count", COLUMN_INT, "", "How many.", NULL },
	{ "unfinished", COLUMN_INT, "", "How many of them did not end.", NULL },
	{ "total_seconds", COLUMN_REAL, "seconds", "Their durations added up.", NULL },
	{ "mean_seconds", COLUMN_REAL, "seconds", "Mean duration.", NULL },
	{ "min_seconds", COLUMN_REAL, "seconds", "Shortest.", NULL },
	{ "max_seconds", COLUMN_REAL, "seconds", "Longest.", NULL },
	{ "covered_seconds", COLUMN_REAL, "seconds", "Time of the nodes in which one went on.",
	  NULL },
	{ "first_begin_seconds", COLUMN_REAL, "seconds", "First begin, since the run began.",
	  NULL },
	{ "starts_apart_seconds", COLUMN_REAL, "seconds",
	  "From the first node's first start to the last node's.", NULL },
	{ "size_bytes", COLUMN_REAL, "bytes", "Their sizes added up.", NULL },
	{ "bytes_per_second", COLUMN_REAL, "bytes_per_second", "Size over duration.", NULL },
};

/* ---- cells ---- */

static void put_text(struct made *t, uint32_t column, const char *text)
{
	t->cells[column].s[t->nrows] = text;
	t->cells[column].state[t->nrows] = text && *text ? STATE_PRESENT : STATE_ABSENT;
}

static void put_int(struct made *t, uint32_t column, int64_t v)
{
	t->cells[column].i[t->nrows] = v;
	t->cells[column].state[t->nrows] = STATE_PRESENT;
}

static void put_real(struct made *t, uint32_t column, double v)
{
	t->cells[column].d[t->nrows] = v;
	t->cells[column].state[t->nrows] = isfinite(v) ? STATE_PRESENT : STATE_ABSENT;
}

static void put_figures(struct made *t, const struct phase_figure *f)
{
	uint32_t column = t->nfixed;

	for (uint32_t i = 0; i < t->report->meter.nmetrics; i++) {
		const struct phase_metric *m = &t->report->meter.metric[i];

		if (!m->known)
			continue;
		put_real(t, column++, f[i].mean);
		put_real(t, column++, f[i].most);
		if (m->total_unit != UNIT_NUMBER_OF)
			put_real(t, column++, f[i].total);
	}
}

static void put_phase(struct made *t, uint32_t i)
{
	const struct phase_report *p = t->report;
	const struct phase *x = &p->phases.phase[i];

	put_text(t, 0, x->name);
	put_text(t, 1, x->key);
	put_text(t, 2, phase_report_node(p, x->node, t->node[t->nrows], sizeof *t->node));
	put_text(t, 3, x->track ? p->run->instances[x->track].name : NULL);
	put_int(t, 4, run_utc_ns(p->run, x->node, x->begin_ns));
	put_real(t, 5, x->begin_s);
	put_real(t, 6, x->end_s);
	put_real(t, 7, x->duration_s);
	put_real(t, 8, x->size_bytes);
	put_real(t, 9, x->size_bytes / x->duration_s);
	put_int(t, 10, x->depth);
	put_int(t, 11, x->crosses);
	put_figures(t, phase_figures(&p->meter, p->meter.of_phase, i));
}

static void put_total(struct made *t, uint32_t i)
{
	const struct phase_report *p = t->report;
	const struct phase_total *x = &p->totals.total[i];

	put_text(t, 0, x->name);
	put_text(t, 1, x->key);
	put_text(t, 2, phase_report_node(p, x->node, t->node[t->nrows], sizeof *t->node));
	put_int(t, 3, x->n);
	put_int(t, 4, x->unfinished);
	put_real(t, 5, x->total_s);
	put_real(t, 6, x->mean_s);
	put_real(t, 7, x->min_s);
	put_real(t, 8, x->max_s);
	put_real(t, 9, x->covered_s);
	put_real(t, 10, x->first_begin_s);
	put_real(t, 11, x->starts_apart_s);
	put_real(t, 12, x->size_bytes);
	put_real(t, 13, x->bytes_per_second);
	put_figures(t, phase_figures(&p->meter, p->meter.of_total, i));
}

/* ---- the table ---- */

static int add_column(struct made *t, const char *name, const char *what, enum unit unit,
		      const char *help)
{
	struct bytes text = { 0 };

	bytes_printf(&text, "%s.%s", name, what);
	bytes_u8(&text, 0);
	if (text.failed)
		return -ENOMEM;
	t->name[t->ncolumns - t->nfixed] = (char *)text.data;
	t->column[t->ncolumns] = (struct column){ (const char *)text.data, COLUMN_REAL,
						  unit_name(unit), help, kind_name(KIND_GAUGE) };
	t->ncolumns++;
	return 0;
}

/* mean and most of each metric, and of a rate the total. */
static int add_figure_columns(struct made *t)
{
	const struct phase_meter *m = &t->report->meter;
	int rc = 0;

	for (uint32_t i = 0; i < m->nmetrics && !rc; i++) {
		const struct phase_metric *x = &m->metric[i];

		if (!x->known)
			continue;
		rc = add_column(t, x->name, "mean", x->unit, x->label);
		if (!rc)
			rc = add_column(t, x->name, "max", x->unit, x->label);
		if (!rc && x->total_unit != UNIT_NUMBER_OF)
			rc = add_column(t, x->total_name, "total", x->total_unit, x->label);
	}
	return rc;
}

static int made_open(struct made *t, const struct column *fixed, uint32_t n)
{
	size_t most = n + (size_t)t->report->meter.nmetrics * FIGURES;

	t->nfixed = t->ncolumns = n;
	t->column = calloc(most + 1, sizeof *t->column);
	t->cells = calloc(most + 1, sizeof *t->cells);
	t->name = calloc(most + 1, sizeof *t->name);
	t->node = calloc(ROWS, sizeof *t->node);
	if (!t->column || !t->cells || !t->name || !t->node)
		return -ENOMEM;
	memcpy(t->column, fixed, n * sizeof *fixed);
	for (size_t i = 0; i <= most; i++) {
		t->cells[i].i = calloc(ROWS, sizeof(int64_t));
		t->cells[i].state = calloc(ROWS, 1);
		if (!t->cells[i].i || !t->cells[i].state)
			return -ENOMEM;
	}
	return add_figure_columns(t);
}

static void made_close(struct made *t)
{
	for (uint32_t i = 0; t->cells && i <= t->nfixed + t->report->meter.nmetrics * FIGURES;
	     i++) {
		free(t->cells[i].i);
		free(t->cells[i].state);
	}
	for (uint32_t i = 0; t->name && i < t->report->meter.nmetrics * FIGURES; i++)
		free(t->name[i]);
	free(t->cells);
	free(t->name);
	free(t->column);
	free(t->node);
}

static int write_rows(struct made *t, bool totals, void *state, const struct sink *k, struct err *e)
{
	uint32_t n = totals ? t->report->totals.n : t->report->phases.n;
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++) {
		if (totals)
			put_total(t, i);
		else
			put_phase(t, i);
		t->nrows++;
		if (t->nrows < ROWS && i + 1 < n)
			continue;
		rc = k->batch(state, &(struct batch){ t->nrows, t->cells }, e);
		t->nrows = 0;
	}
	return rc;
}

int phase_report_csv(const struct phase_report *p, bool totals, FILE *out, struct err *e)
{
	const struct sink *k = sink_find("csv");
	struct made t = { .report = p };
	void *state = calloc(1, k->size);
	int rc = state ? 0 : -ENOMEM;

	if (!rc)
		rc = totals ? made_open(&t, total_columns,
					sizeof total_columns / sizeof *total_columns)
			    : made_open(&t, phase_columns,
					sizeof phase_columns / sizeof *phase_columns);
	if (rc) {
		err_set(e, rc, "out of memory for the table of phases");
	} else {
		const struct frame_schema schema = { .table = "phases",
						     .ncolumns = t.ncolumns,
						     .columns = t.column };

		rc = k->begin(state, &schema, out, e);
		if (!rc)
			rc = write_rows(&t, totals, state, k, e);
		if (!rc)
			rc = k->end(state, e);
		k->free(state);
	}
	free(state);
	made_close(&t);
	return rc;
}

/* ---- schema sonde/phases/1, as docs/schema/phases.json has it ---- */

/* The document, which is written as it is made. */
struct document {
	struct json json;
	const struct phase_report *report;
	struct pool names;
	const char **name; /* [run.nnodes] of each node, once it was needed */
	struct bytes text;
	FILE *out;
	struct err *e;
};

static void put_node(struct document *d, uint32_t node)
{
	char name[300];

	if (node && !d->name[node]) {
		phase_report_node(d->report, node, name, sizeof name);
		d->name[node] = pool_text(&d->names, name, strlen(name));
		d->text.failed |= !d->name[node];
	}
	json_put_text(&d->json, "node", node ? d->name[node] : NULL);
}

static int flush(struct document *d, size_t most)
{
	return text_flush(&d->text, d->out, most, d->e);
}

static void put_time(struct json *j, const char *key, const struct run *r, uint32_t node,
		     int64_t at_ns)
{
	json_key(j, key);
	if (at_ns == INT64_MAX)
		json_null(j);
	else
		json_time(j, run_utc_ns(r, node, at_ns));
}

static void figures(struct json *j, const struct phase_meter *m, const struct phase_figure *f)
{
	json_key(j, "metrics");
	json_object(j);
	for (uint32_t i = 0; i < m->nmetrics; i++) {
		if (isnan(f[i].most))
			continue;
		json_key(j, m->metric[i].name);
		json_object(j);
		json_put_real(j, "mean", f[i].mean);
		json_put_real(j, "max", f[i].most);
		json_put_real(j, "total", f[i].total);
		json_put_real(j, "known_seconds", f[i].known_s);
		json_object_end(j);
	}
	json_object_end(j);
}

static void metrics(struct json *j, const struct phase_meter *m)
{
	json_key(j, "metrics");
	json_object(j);
	for (uint32_t i = 0; i < m->nmetrics; i++) {
		bool adds_up = m->metric[i].total_unit != UNIT_NUMBER_OF;

		if (!m->metric[i].known)
			continue;
		json_key(j, m->metric[i].name);
		json_object(j);
		json_put_text(j, "label", m->metric[i].label);
		json_put_text(j, "unit", unit_name(m->metric[i].unit));
		json_put_text(j, "total", adds_up ? m->metric[i].total_name : NULL);
		json_put_text(j, "total_unit", adds_up ? unit_name(m->metric[i].total_unit) : NULL);
		json_object_end(j);
	}
	json_object_end(j);
}

static int phase(struct document *d, uint32_t i)
{
	const struct phase_report *p = d->report;
	const struct phase *x = &p->phases.phase[i];
	const struct phase_meter *m = &p->meter;
	struct json *j = &d->json;

	json_object(j);
	json_put_text(j, "name", x->name);
	json_put_text(j, "rule", x->rule->name);
	json_put_text(j, "key", *x->key ? x->key : NULL);
	put_node(d, x->node);
	json_put_text(j, "track", x->track ? p->run->instances[x->track].name : NULL);
	put_time(j, "begin_time", p->run, x->node, x->begin_ns);
	json_put_real(j, "begin_seconds", x->begin_s);
	put_time(j, "end_time", p->run, x->node, x->end_ns);
	json_put_real(j, "end_seconds", x->end_s);
	json_put_real(j, "duration_seconds", x->duration_s);
	json_put_text(j, "duration_from", isnan(x->duration_s) ? NULL : x->told ? "end" : "times");
	json_put_real(j, "uncertain_seconds", x->uncertain_s);
	json_put_real(j, "size_bytes", x->size_bytes);
	json_put_real(j, "bytes_per_second", x->size_bytes / x->duration_s);
	json_put_int(j, "depth", x->depth);
	json_put_bool(j, "crosses", x->crosses);
	json_put_text(j, "text", x->text);
	figures(j, m, phase_figures(m, m->of_phase, i));
	json_object_end(j);
	return flush(d, TEXT_BLOCK);
}

static int total(struct document *d, uint32_t i)
{
	const struct phase_report *p = d->report;
	const struct phase_total *t = &p->totals.total[i];
	const struct phase_meter *m = &p->meter;
	struct json *j = &d->json;

	json_object(j);
	json_put_text(j, "name", t->name);
	json_put_text(j, "key", t->key);
	put_node(d, t->node);
	json_put_int(j, "count", t->n);
	json_put_int(j, "unfinished", t->unfinished);
	json_put_int(j, "nodes", t->nodes);
	json_put_real(j, "total_seconds", t->total_s);
	json_put_real(j, "mean_seconds", t->mean_s);
	json_put_real(j, "min_seconds", t->min_s);
	json_put_real(j, "max_seconds", t->max_s);
	json_put_real(j, "uncertain_seconds", t->uncertain_s);
	json_put_real(j, "covered_seconds", t->covered_s);
	json_put_real(j, "first_begin_seconds", t->first_begin_s);
	json_put_real(j, "last_begin_seconds", t->last_begin_s);
	json_put_real(j, "last_end_seconds", t->last_end_s);
	json_put_real(j, "starts_apart_seconds", t->starts_apart_s);
	json_put_real(j, "size_bytes", t->size_bytes);
	json_put_real(j, "bytes_per_second", t->bytes_per_second);
	figures(j, m, phase_figures(m, m->of_total, i));
	json_object_end(j);
	return flush(d, TEXT_BLOCK);
}

static int loose(struct document *d, uint32_t i)
{
	static const char *const why[] = {
		[PHASE_NO_START] = "no start", [PHASE_LEFT_OUT] = "left out"
	};
	const struct phase_loose *l = &d->report->phases.loose[i];
	struct json *j = &d->json;

	json_object(j);
	json_put_text(j, "name", l->name);
	json_put_text(j, "rule", l->rule->name);
	put_node(d, l->node);
	json_put_real(j, "at_seconds", l->at_s);
	json_put_text(j, "why", why[l->why]);
	json_object_end(j);
	return flush(d, TEXT_BLOCK);
}

static int list(struct document *d, const char *key, uint32_t n,
		int (*row)(struct document *d, uint32_t i))
{
	int rc = 0;

	json_key(&d->json, key);
	json_array(&d->json);
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = row(d, i);
	json_array_end(&d->json);
	return rc;
}

static void head(struct document *d)
{
	const struct phase_report *p = d->report;
	struct json *j = &d->json;
	struct losses losses;

	d->text.failed |= losses_make(&losses, p->run) != 0;
	json_object(j);
	json_put_text(j, "schema", "sonde/phases/1");
	json_put_text(j, "recording", p->run->path);
	json_key(j, "begin_time");
	json_time(j, p->run->t0_utc_ns);
	json_put_int(j, "damages", p->run->ndamages);
	losses_json(&losses, j);
	json_put_bool(j, "metered", !p->unmetered);
	metrics(j, &p->meter);
}

int phase_report_json(const struct phase_report *p, FILE *out, struct err *e)
{
	struct document d = { .report = p, .out = out, .e = e };
	int rc;

	d.json = (struct json){ .out = &d.text, .indent = true };
	d.name = calloc(p->run->nnodes + 1u, sizeof *d.name);
	if (!d.name)
		return err_set(e, -ENOMEM, "out of memory");
	head(&d);
	rc = list(&d, "totals", p->totals.n, total);
	if (!rc)
		rc = list(&d, "phases", p->phases.n, phase);
	if (!rc)
		rc = list(&d, "unpaired", p->phases.nloose, loose);
	json_object_end(&d.json);
	bytes_u8(&d.text, '\n');
	if (!rc)
		rc = flush(&d, 0);
	bytes_free(&d.text);
	pool_free(&d.names);
	free(d.name);
	return rc;
}
