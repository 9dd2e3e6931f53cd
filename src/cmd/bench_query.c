/* SPDX-License-Identifier: Apache-2.0 */
/* bench_query.c - the trials that a named query of a model asks for. */
#include "base/text/escape.h"
#include "console/command.h"
#include "session/history.h"
#include "trial/benchprint.h"
#include "trial/scripted.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct query_options {
	const char *store;
	struct option_list where, models;
	bool json;
};

static const struct option rows[] = {
	{ .name = "where",
	  .letter = 'w',
	  .type = ARG_LIST,
	  .value = "CONDITION",
	  .help = "Add this condition to those of the query, in the form that sonde bench advise "
		  "accepts. Repeatable.",
	  OPTION_OFFSET(struct query_options, where) },
	{ .name = "model",
	  .type = ARG_LIST,
	  .value = "FILE",
	  .help = "Read more indicators and queries from FILE. Repeatable.",
	  OPTION_OFFSET(struct query_options, models) },
	BENCH_STORE(struct query_options, store, "Read this store."),
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the answer as JSON, schema sonde/bench-query/1.",
	  OPTION_OFFSET(struct query_options, json) },
};

static const struct example examples[] = {
	{ "bench query PiMatmul best", "the ten fastest trials" },
	{ "bench query PiMatmul best -w device=cpu", "only trials on CPUs" },
	{ "bench query --model site.model PiSite slow", "your own query" },
};

enum { CELL = 64 };

struct answer {
	const struct query_options *o;
	struct models models;
	const struct model_query *query;
	struct campaign c;
	struct campaign_answer found;
	const char **column; /* [ncolumns] */
	uint32_t ncolumns;
};

/* ---- what is asked ---- */

static int find_query(struct answer *a, const char *indicator, const char *name, struct err *e)
{
	const struct model *m = models_find(&a->models, indicator);
	char known[200] = "";
	size_t n = 0;

	if (!m)
		return err_set(e, -EINVAL,
			       "no model declares '%.80s'; one comes by --model FILE, and sonde "
			       "bench schema --format json has those there are",
			       indicator);
	a->query = name ? model_find_query(m, name) : NULL;
	if (a->query)
		return 0;
	for (uint32_t i = 0; i < m->nqueries && n < sizeof known; i++)
		n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "",
				      m->query[i].name);
	if (!m->nqueries)
		return err_set(e, -EINVAL,
			       "the model of %s has no queries; docs/bench.md says how "
			       "one is declared",
			       m->name);
	return err_set(e, -EINVAL, "no query given; the model of %s has %s", m->name, known);
}

/* As it asks; else all parameters and results. */
static int choose_columns(struct answer *a, struct err *e)
{
	const struct model_query *q = a->query;
	const struct bench_group *g = &a->c.g;

	a->column = calloc(QUERY_SHOWN + g->ntexts + g->nfigures, sizeof *a->column);
	if (!a->column)
		return err_set(e, -ENOMEM, "out of memory for columns");
	for (uint32_t i = 0; i < q->nshow; i++)
		a->column[a->ncolumns++] = q->show[i];
	for (uint32_t i = 0; i < g->nparameters && !q->nshow; i++)
		a->column[a->ncolumns++] = g->parameter[i].name;
	for (uint32_t i = 0; i < g->nfigures && !q->nshow; i++)
		if (g->figure[i].is_own)
			a->column[a->ncolumns++] = g->figure[i].name;
	for (uint32_t i = g->nparameters; i < g->ntexts && !q->nshow; i++)
		a->column[a->ncolumns++] = g->parameter[i].name;
	return 0;
}

static int find(struct answer *a, int noperands, char **operands, struct err *e)
{
	const struct history_options where = { .store = a->o->store };
	const char *name = noperands == 2 ? operands[1] : NULL;
	struct database *s = NULL;
	bool of_batch;
	int rc;

	if (noperands < 1 || noperands > 2)
		return err_set(e, -EINVAL,
			       "no indicator or query given: sonde bench query INDICATOR NAME");
	of_batch = bench_batch_id(operands[0]) > 0;
	rc = benchmodels_read(&a->models, &a->o->models, e);
	if (!rc && !of_batch)
		rc = find_query(a, benchask_indicator(operands[0]), name, e);
	if (!rc)
		rc = history_open(&s, &where, "bench query", e);
	if (!rc)
		rc = benchask_campaign(&a->c, s, operands[0], e);
	database_close(s);
	if (!rc && of_batch)
		rc = find_query(a, a->c.g.indicator, name, e);
	for (uint32_t i = 0; i < a->o->where.n && !rc; i++)
		rc = campaign_where(&a->c, a->o->where.text[i], e);
	if (!rc)
		rc = campaign_ask(&a->found, &a->c, a->query, e);
	return rc ? rc : choose_columns(a, e);
}

/* ---- text ---- */

static const char *cell(const struct answer *a, uint32_t trial, const char *name, char out[CELL])
{
	const struct bench_figure *f = campaign_figure(&a->c, name);
	const char *text;
	double v;
	char number[CELL];

	if (!campaign_value(&a->c, name, trial, &text, &v))
		return "-";
	if (text)
		return escape_terminal_into(out, CELL, text);
	if (f)
		return escape_terminal_into(out, CELL,
					    benchask_number(f, v, number, sizeof number));
	snprintf(out, CELL, "%.15g", v);
	return out;
}

static void text_line(struct bytes *b, const struct answer *a, const uint32_t *trial,
		      const int *width)
{
	char out[CELL];

	bytes_printf(b, "%-14s", trial ? benchask_trial(&a->c, *trial, out, sizeof out) : "TRIAL");
	for (uint32_t i = 0; i < a->ncolumns; i++)
		bytes_printf(b, "  %-*s", width[i],
			     trial ? cell(a, *trial, a->column[i], out)
				   : escape_terminal_into(out, sizeof out, a->column[i]));
	while (b->len && b->data[b->len - 1] == ' ')
		b->len--;
	bytes_u8(b, '\n');
}

static int text(struct bytes *b, const struct answer *a, struct err *e)
{
	const struct campaign_answer *found = &a->found;
	int *width = calloc(a->ncolumns + 1u, sizeof *width);
	char out[CELL];

	if (!width)
		return err_set(e, -ENOMEM, "out of memory for columns");
	for (uint32_t i = 0; i < a->ncolumns; i++) {
		width[i] = (int)strlen(escape_terminal_into(out, sizeof out, a->column[i]));
		for (uint32_t k = 0; k < found->n; k++) {
			int n = (int)strlen(cell(a, found->trial[k], a->column[i], out));

			width[i] = n > width[i] ? n : width[i];
		}
	}
	if (found->n)
		text_line(b, a, NULL, width);
	for (uint32_t i = 0; i < found->n; i++)
		text_line(b, a, &found->trial[i], width);
	free(width);
	return 0;
}

/* ---- JSON ---- */

/* A number or a truth value where the model says so. */
static void value_json(struct json *j, const struct answer *a, uint32_t trial, const char *name)
{
	const struct model_column *column = model_find(&a->c.g.model, name);
	const char *text;
	double v;

	if (!campaign_value(&a->c, name, trial, &text, &v))
		json_null(j);
	else if (text && column && column->type == MODEL_BOOL)
		json_bool(j, !strcmp(text, "true"));
	else if (!text || (column && column->type <= MODEL_REAL && !isnan(v)))
		json_real(j, v);
	else
		json_text(j, text);
}

static void trial_json(struct json *j, const struct answer *a, uint32_t trial)
{
	const struct bench_row *row = &a->c.g.row[trial];

	json_object(j);
	json_put_int(j, "batch", row->batch_id);
	json_put_int(j, "trial", row->number);
	json_key(j, "start");
	if (row->start_ns)
		json_time(j, row->start_ns);
	else
		json_null(j);
	json_key(j, "values");
	json_array(j);
	for (uint32_t i = 0; i < a->ncolumns; i++)
		value_json(j, a, trial, a->column[i]);
	json_array_end(j);
	json_object_end(j);
}

static void json(struct bytes *b, const struct answer *a)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/bench-query/1");
	json_put_text(&j, "indicator", a->c.g.indicator);
	json_put_text(&j, "query", a->query ? a->query->name : NULL);
	json_put_int(&j, "found", a->found.nfound);
	json_put_int(&j, "failed", a->found.nfailed);
	json_key(&j, "columns");
	json_array(&j);
	for (uint32_t i = 0; i < a->ncolumns; i++) {
		const struct bench_figure *f = campaign_figure(&a->c, a->column[i]);

		json_object(&j);
		json_put_text(&j, "name", a->column[i]);
		json_put_text(&j, "unit", f ? f->unit : NULL);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_key(&j, "trials");
	json_array(&j);
	for (uint32_t i = 0; i < a->found.n; i++)
		trial_json(&j, a, a->found.trial[i]);
	json_array_end(&j);
	json_object_end(&j);
	bytes_u8(b, '\n');
}

/* ---- the command ---- */

static void say_rest(const struct answer *a)
{
	char n[40];

	if (!a->found.n)
		say("bench query: no matching trial");
	else if (a->found.n < a->found.nfound)
		say("bench query: the first %u of %u trials", a->found.n, a->found.nfound);
	if (a->found.nfailed)
		say("bench query: %s that failed %s left out",
		    benchask_trials(a->found.nfailed, n, sizeof n),
		    a->found.nfailed == 1 ? "is" : "are");
}

static int query_exec(const void *options, int noperands, char **operands)
{
	struct answer a = { .o = options };
	struct bytes b = { 0 };
	struct err e = { "" };
	int rc = find(&a, noperands, operands, &e), code;

	if (!rc && a.o->json)
		json(&b, &a);
	else if (!rc)
		rc = text(&b, &a, &e);
	if (rc) {
		say("bench query: %s", e.text);
		code = rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else {
		say_rest(&a);
		code = print_bytes(&b);
	}
	campaign_answer_free(&a.found);
	campaign_free(&a.c);
	models_free(&a.models);
	free(a.column);
	return code;
}

const struct command command_bench_query = {
	.name = "bench query",
	.operands = "INDICATOR|bench:ID NAME",
	.what = "Run a named query of an indicator's model",
	.description =
		"The model file of an indicator defines its queries: the columns to show, which "
		"trials, their order and number; docs/bench.md describes the format. Failed "
		"trials are skipped. If NAME is missing, the error lists the queries.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct query_options),
	COMMAND_EXAMPLES(examples),
	.exec = query_exec,
};
