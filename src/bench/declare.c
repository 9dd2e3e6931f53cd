/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/declare.h"

#include "base/text/escape.h"
#include "bench/indicator.h"
#include "bench/model.h"
#include "bench/trial.h"
#include "store/schema.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static bool is_glob(const struct model_column *c)
{
	return strchr(c->name, '*');
}

/* ---- SQL ---- */

static void table_sql(struct bytes *b, const struct model *m)
{
	bytes_printf(
		b,
		"CREATE TABLE %s (trial_id INTEGER PRIMARY KEY REFERENCES trials (id) ON DELETE "
		"CASCADE",
		m->table);
	for (uint32_t i = 0; i < m->ncolumns; i++) {
		if (is_glob(&m->column[i]))
			continue;
		bytes_puts(b, ",\n    ");
		indicator_quote(b, m->column[i].name);
		bytes_printf(b, " %s", indicator_sql_type(m->column[i].type));
	}
	bytes_puts(b, ");\n");
	for (uint32_t i = 0; i < m->ncolumns; i++) {
		if (is_glob(&m->column[i]) || !m->column[i].indexed)
			continue;
		bytes_printf(b, "CREATE INDEX %s_%u ON %s (", m->table, i, m->table);
		indicator_quote(b, m->column[i].name);
		bytes_puts(b, ");\n");
	}
}

void declare_sql(struct bytes *b, const struct models *m, bool postgres)
{
	schema_text(b, postgres);
	for (uint32_t i = 0; i < m->n; i++)
		table_sql(b, &m->model[i]);
}

/* ---- RDF ---- */

static const char *rdf_type(enum model_type t)
{
	return t == MODEL_INT    ? "int"
	       : t == MODEL_REAL ? "float"
	       : t == MODEL_BOOL ? "bool"
				 : "string";
}

static const char *rdf_index(enum model_type t)
{
	return t == MODEL_INT    ? "int"
	       : t == MODEL_REAL ? "float"
	       : t == MODEL_BOOL ? "bool"
				 : "exact";
}

static void predicate(struct bytes *b, const char *name, enum model_type t, bool indexed)
{
	bytes_puts(b, "<");
	escape_utf8(b, name);
	bytes_printf(b, ">: %s", rdf_type(t));
	if (indexed)
		bytes_printf(b, " @index(%s)", rdf_index(t));
	bytes_puts(b, " .\n");
}

/* What every indicator has. */
static const struct model_column common[] = {
	{ .name = "component", .type = MODEL_TEXT, .indexed = true },
	{ .name = "framework", .type = MODEL_TEXT, .indexed = true },
	{ .name = "origin", .type = MODEL_TEXT, .indexed = true },
	{ .name = "version", .type = MODEL_TEXT, .indexed = true },
	{ .name = "overall_score", .type = MODEL_REAL },
	{ .name = "exit_code", .type = MODEL_INT },
};
enum { COMMON = sizeof common / sizeof common[0] };

static void common_rdf(struct bytes *b)
{
	for (size_t i = 0; i < COMMON; i++)
		predicate(b, common[i].name, common[i].type, common[i].indexed);
	for (unsigned i = 0; i < TRIAL_USAGES; i++)
		predicate(b, trial_usage_names[i], i < 2 ? MODEL_REAL : MODEL_INT, false);
}

/* A predicate has one type in all of a graph: where models differ it is a text. */
static void shared_predicate(struct bytes *b, const struct models *m, uint32_t model,
			     uint32_t column)
{
	const struct model_column *c = &m->model[model].column[column];
	enum model_type type = c->type;
	bool indexed = c->indexed;

	for (uint32_t i = 0; i < m->n; i++)
		for (uint32_t k = 0; k < m->model[i].ncolumns; k++) {
			const struct model_column *other = &m->model[i].column[k];

			if (strcasecmp(other->name, c->name) != 0)
				continue;
			if (i < model)
				return; /* it was there */
			type = other->type == type ? type : MODEL_TEXT;
			indexed |= other->indexed;
		}
	predicate(b, c->name, type, indexed);
}

static void type_rdf(struct bytes *b, const struct model *m)
{
	bytes_printf(b, "\ntype %s {\n", m->name);
	for (size_t i = 0; i < COMMON; i++)
		bytes_printf(b, "  %s\n", common[i].name);
	for (unsigned i = 0; i < TRIAL_USAGES; i++)
		bytes_printf(b, "  %s\n", trial_usage_names[i]);
	for (uint32_t i = 0; i < m->ncolumns; i++)
		if (!is_glob(&m->column[i]))
			bytes_printf(b, "  <%s>\n", m->column[i].name);
	bytes_puts(b, "}\n");
}

void declare_rdf(struct bytes *b, const struct models *m)
{
	common_rdf(b);
	for (uint32_t i = 0; i < m->n; i++)
		for (uint32_t k = 0; k < m->model[i].ncolumns; k++)
			if (!is_glob(&m->model[i].column[k]))
				shared_predicate(b, m, i, k);
	for (uint32_t i = 0; i < m->n; i++)
		type_rdf(b, &m->model[i]);
}

/* ---- JSON ---- */

static void column_json(struct json *j, const struct model_column *c)
{
	json_object(j);
	json_key(j, "name");
	json_text(j, c->name);
	json_key(j, "part");
	json_text(j, c->is_result ? "result" : "parameter");
	json_key(j, "type");
	json_text(j, model_type_name(c->type));
	json_key(j, "unit");
	json_text(j, c->unit);
	json_put_bool(j, "index", c->indexed);
	json_put_bool(j, "required", c->required);
	json_put_text(j, "role", model_role_name(c->role));
	json_object_end(j);
}

static void texts_json(struct json *j, const char *key, const char *const *text, uint32_t n)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < n; i++)
		json_text(j, text[i]);
	json_array_end(j);
}

static void query_json(struct json *j, const struct model_query *q)
{
	json_object(j);
	json_put_text(j, "name", q->name);
	texts_json(j, "show", q->show, q->nshow);
	texts_json(j, "where", q->condition, q->nconditions);
	json_key(j, "order");
	json_array(j);
	for (uint32_t i = 0; i < q->norders; i++) {
		json_object(j);
		json_put_text(j, "name", q->order[i]);
		json_put_bool(j, "descending", q->descending[i]);
		json_object_end(j);
	}
	json_array_end(j);
	json_key(j, "limit");
	if (q->limit)
		json_int(j, q->limit);
	else
		json_null(j);
	json_object_end(j);
}

void declare_json(struct bytes *b, const struct models *m)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_key(&j, "schema");
	json_text(&j, "sonde/bench-schema/1");
	json_key(&j, "indicators");
	json_array(&j);
	for (uint32_t i = 0; i < m->n; i++) {
		json_object(&j);
		json_key(&j, "name");
		json_text(&j, m->model[i].name);
		json_key(&j, "table");
		json_text(&j, m->model[i].table);
		json_key(&j, "score");
		json_text(&j, m->model[i].score);
		json_key(&j, "worst");
		json_real(&j, m->model[i].score ? m->model[i].worst : (double)NAN);
		json_key(&j, "best");
		json_real(&j, m->model[i].score ? m->model[i].best : (double)NAN);
		json_key(&j, "columns");
		json_array(&j);
		for (uint32_t k = 0; k < m->model[i].ncolumns; k++)
			column_json(&j, &m->model[i].column[k]);
		json_array_end(&j);
		json_key(&j, "checks");
		json_array(&j);
		for (uint32_t k = 0; k < m->model[i].nchecks; k++)
			json_text(&j, m->model[i].check[k].text);
		json_array_end(&j);
		json_key(&j, "queries");
		json_array(&j);
		for (uint32_t k = 0; k < m->model[i].nqueries; k++)
			query_json(&j, &m->model[i].query[k]);
		json_array_end(&j);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	bytes_u8(b, '\n');
}
