/* SPDX-License-Identifier: Apache-2.0 */
/* bench_list.c - the batches that are kept. */
#include "base/clock.h"
#include "base/escape.h"
#include "cmd/builtin.h"
#include "cmd/command.h"
#include "cmd/history.h"
#include "cmd/print.h"
#include "cmd/say.h"
#include "core/glob.h"
#include "core/metric.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct list_options {
	const char *store, *name;
	bool builtin, json;
};

static const struct option rows[] = {
	{ .name = "store",
	  .type = ARG_TEXT,
	  .value = "WHERE",
	  .help = "Read this store. Default: SONDE_STORE, else your own store.",
	  OPTION_OFFSET(struct list_options, store) },
	{ .name = "name",
	  .type = ARG_TEXT,
	  .value = "GLOBS",
	  .help = "List only these indicators: 'PiConv*,PiMatmul'.",
	  OPTION_OFFSET(struct list_options, name) },
	{ .name = "builtin",
	  .type = ARG_FLAG,
	  .help = "List the built-in benchmarks instead, which sonde bench run accepts by name.",
	  OPTION_OFFSET(struct list_options, builtin) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the list as JSON, schema sonde/bench-list/1; with --builtin "
		  "sonde/bench-builtin/1.",
	  OPTION_OFFSET(struct list_options, json) },
};

static const struct example examples[] = {
	{ "bench list", "all of them" },
	{ "bench list --name 'PiConv*'", "only some indicators" },
	{ "bench list --builtin", "benchmarks that need no script" },
};

/* The columns of what is asked. */
enum { ID, SOURCE, ORIGIN, START, TRIALS, FAILED, INDICATOR, COMPONENT, HOST, MEAN_S };

static const char question[] =
	"SELECT b.id, b.source, b.origin, b.start_ns, COUNT(t.id), "
	"SUM(CASE WHEN t.state = 'ok' THEN 0 ELSE 1 END), MIN(i.name), MIN(t.component), "
	"MIN(t.host), AVG(CASE WHEN t.state = 'ok' THEN t.duration_seconds END) "
	"FROM batches b LEFT JOIN trials t ON t.batch_id = b.id "
	"LEFT JOIN indicators i ON i.id = t.indicator_id "
	"GROUP BY b.id, b.source, b.origin, b.start_ns ORDER BY b.id";

static int64_t count(const struct field *f)
{
	double v = field_number(f); /* a sum of nothing is null */

	return isnan(v) ? 0 : (int64_t)v;
}

static void text_line(struct bytes *b, const struct field *row)
{
	char id[32], when[40] = "-", took[40] = "-", name[64], host[64], origin[300];

	snprintf(id, sizeof id, "bench:%" PRId64, row[ID].i);
	if (row[START].type == FIELD_INT)
		clock_iso(row[START].i / NS_PER_S * NS_PER_S, when, sizeof when);
	if (row[MEAN_S].type != FIELD_NULL)
		unit_format(UNIT_SECONDS, field_number(&row[MEAN_S]), took, sizeof took);
	bytes_printf(
		b, "%-10s  %-20s  %6" PRId64 "  %6" PRId64 "  %-11s  %-16s  %-16s  %s\n", id, when,
		count(&row[TRIALS]), row[TRIALS].i ? count(&row[FAILED]) : 0, took,
		escape_terminal_into(name, sizeof name, row[INDICATOR].s ? row[INDICATOR].s : "-"),
		escape_terminal_into(host, sizeof host, row[HOST].s ? row[HOST].s : "-"),
		escape_terminal_into(origin, sizeof origin, row[ORIGIN].s ? row[ORIGIN].s : "-"));
}

static void json_line(struct json *j, const struct field *row)
{
	json_object(j);
	json_key(j, "batch");
	json_int(j, row[ID].i);
	json_key(j, "source");
	json_text(j, row[SOURCE].s);
	json_key(j, "indicator");
	json_text(j, row[INDICATOR].s);
	json_key(j, "component");
	json_text(j, row[COMPONENT].s);
	json_key(j, "start");
	if (row[START].type == FIELD_INT)
		json_time(j, row[START].i);
	else
		json_null(j);
	json_key(j, "trials");
	json_int(j, count(&row[TRIALS]));
	json_key(j, "failed");
	json_int(j, row[TRIALS].i ? count(&row[FAILED]) : 0);
	json_key(j, "mean_duration_seconds");
	json_real(j, field_number(&row[MEAN_S]));
	json_key(j, "host");
	json_text(j, row[HOST].s);
	json_key(j, "origin");
	json_text(j, row[ORIGIN].s);
	json_object_end(j);
}

static int list(struct bytes *b, struct database *s, const struct list_options *o, struct err *e)
{
	struct json j = { .out = b, .indent = true };
	const struct field *row;
	int rc = database_query(s, question, NULL, 0, e);

	if (o->json) {
		json_object(&j);
		json_key(&j, "schema");
		json_text(&j, "sonde/bench-list/1");
		json_key(&j, "batches");
		json_array(&j);
	}
	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		if (o->name && (!row[INDICATOR].s || !glob_match(o->name, row[INDICATOR].s)))
			continue;
		if (!o->json && !b->len)
			bytes_printf(b, "%-10s  %-20s  %6s  %6s  %-11s  %-16s  %-16s  %s\n",
				     "BATCH", "START (UTC)", "TRIALS", "FAILED", "MEAN TIME",
				     "INDICATOR", "HOST", "SCRIPT");
		if (o->json)
			json_line(&j, row);
		else
			text_line(b, row);
	}
	if (o->json) {
		json_array_end(&j);
		json_object_end(&j);
		bytes_u8(b, '\n');
	}
	return rc;
}

static int list_builtin(bool as_json)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b, .indent = true };

	if (as_json) {
		json_object(&j);
		json_put_text(&j, "schema", "sonde/bench-builtin/1");
		json_key(&j, "benchmarks");
		json_array(&j);
	}
	for (size_t i = 0; i < nbuiltins; i++) {
		if (!as_json) {
			bytes_printf(&b, "%-10s  %s\n", builtins[i].name, builtins[i].what);
			continue;
		}
		json_object(&j);
		json_put_text(&j, "name", builtins[i].name);
		json_put_text(&j, "what", builtins[i].what);
		json_object_end(&j);
	}
	if (as_json) {
		json_array_end(&j);
		json_object_end(&j);
		bytes_u8(&b, '\n');
	}
	return print_bytes(&b);
}

static int list_exec(const void *options, int noperands, char **operands)
{
	const struct list_options *o = options;
	const struct history_options where = { .store = o->store };
	struct database *s = NULL;
	struct bytes b = { 0 };
	struct err e = { "" };
	int rc;

	if (noperands) {
		say("bench list: unexpected argument '%s'; sonde bench show shows one batch",
		    operands[0]);
		return EXIT_USAGE;
	}
	if (o->builtin)
		return list_builtin(o->json);
	rc = history_open(&s, &where, "bench list", &e);
	if (!rc)
		rc = list(&b, s, o, &e);
	database_close(s);
	if (rc) {
		say("bench list: %s", e.text);
		bytes_free(&b);
		return rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	if (!b.len)
		say("bench list: no such batch; sonde bench run SCRIPT creates one");
	return print_bytes(&b);
}

const struct command command_bench_list = {
	.name = "bench list",
	.operands = "",
	.what = "List the stored batches of trials",
	.description =
		"Prints one line per bench run or imported inspection, oldest first: number of "
		"trials, failed trials, mean time of the others, and indicator. Use bench:ID with "
		"show, stats and sonde compare.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct list_options),
	COMMAND_EXAMPLES(examples),
	.exec = list_exec,
};
