/* SPDX-License-Identifier: Apache-2.0 */
/* phases_json.c - schema sonde/phases/1, as docs/schema/phases.json has it. */
#include "base/clock.h"
#include "base/pool.h"
#include "base/text/json.h"
#include "core/frame/losses.h"
#include "report/phases/phases.h"
#include "sink/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
