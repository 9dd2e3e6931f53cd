/* SPDX-License-Identifier: Apache-2.0 */
/* bench_schema.c - the declared indicators as a schema. */
#include "bench/declare.h"
#include "console/command.h"
#include "trial/scripted.h"

#include <errno.h>

enum { FORM_SQL, FORM_RDF, FORM_JSON };

struct schema_options {
	struct option_list models;
	int64_t format, database;
};

static const struct option rows[] = {
	{ .name = "format",
	  .type = ARG_CHOICE,
	  .value = "sql|rdf|json",
	  .fallback = "sql",
	  .help = "Tables of SQL; predicates and types of Dgraph; JSON, schema "
		  "sonde/bench-schema/1.",
	  OPTION_OFFSET(struct schema_options, format) },
	{ .name = "database",
	  .type = ARG_CHOICE,
	  .value = "sqlite|postgres",
	  .fallback = "sqlite",
	  .help = "Whose SQL.",
	  OPTION_OFFSET(struct schema_options, database) },
	{ .name = "model",
	  .type = ARG_LIST,
	  .value = "FILE",
	  .help = "Columns of indicators, beside the built-in ones; may be given again.",
	  OPTION_OFFSET(struct schema_options, models) },
};

static const struct example examples[] = {
	{ "bench schema", "the store's tables" },
	{ "bench schema --format rdf", "for a graph database" },
};

static int schema_exec(const void *options, int noperands, char **operands)
{
	const struct schema_options *o = options;
	struct models m = { 0 };
	struct bytes b = { 0 };
	struct err e = { "" };
	int rc;

	if (noperands) {
		say("bench schema: it takes no '%s'; columns of more indicators come by --model FILE",
		    operands[0]);
		return EXIT_USAGE;
	}
	rc = benchmodels_read(&m, &o->models, &e);
	if (rc)
		say("bench schema: %s", e.text);
	else if (o->format == FORM_SQL)
		declare_sql(&b, &m, o->database == 1);
	else if (o->format == FORM_RDF)
		declare_rdf(&b, &m);
	else
		declare_json(&b, &m);
	models_free(&m);
	return rc ? EXIT_USAGE : print_bytes(&b);
}

const struct command command_bench_schema = {
	.name = "bench schema",
	.operands = "",
	.what = "Print the indicators' columns as a schema",
	.description =
		"The tables of the store with one for each indicator that is declared, as statements of "
		"SQL; or the same indicators for Dgraph, or as JSON. An indicator that nobody declares "
		"gets its columns from its first result.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct schema_options),
	COMMAND_EXAMPLES(examples),
	.exec = schema_exec,
};
