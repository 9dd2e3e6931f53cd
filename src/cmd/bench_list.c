/* SPDX-License-Identifier: Apache-2.0 */
/* bench_list.c - the batches that are kept. */
#include "base/array.h"
#include "base/clock.h"
#include "base/text/escape.h"
#include "base/text/jsontree.h"
#include "console/command.h"
#include "core/glob.h"
#include "core/metric.h"
#include "session/history.h"
#include "trial/benchprint.h"
#include "trial/scripted.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list_options {
	const char *store, *name, *tag;
	bool builtin, json;
};

static const struct option rows[] = {
	BENCH_STORE(struct list_options, store, "Read this store."),
	{ .name = "name",
	  .type = ARG_TEXT,
	  .value = "GLOBS",
	  .help = "List only these indicators: 'PiConv*,PiMatmul'.",
	  OPTION_OFFSET(struct list_options, name) },
	{ .name = "tag",
	  .type = ARG_TEXT,
	  .value = "NAME",
	  .help = "List only batches with this tag.",
	  OPTION_OFFSET(struct list_options, tag) },
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
enum {
	ID,
	SOURCE,
	ORIGIN,
	START,
	TRIALS,
	FAILED,
	INDICATOR,
	COMPONENT,
	HOST,
	MEAN_S,
	SWEEP,
	STACK,
	PARAMETERS,
	NOTE
};

/* Where no trial of a batch said it, what the same script said in others, if that is one thing. */
#define OF_SCRIPT                                                                                  \
	"(SELECT MIN(j.name) FROM batches c JOIN trials u ON u.batch_id = c.id JOIN indicators j " \
	"ON j.id = u.indicator_id WHERE c.script_sha256 = b.script_sha256 GROUP BY "               \
	"c.script_sha256 HAVING COUNT(DISTINCT j.name) = 1)"

static const char question[] =
	"SELECT b.id, b.source, b.origin, b.start_ns, COUNT(t.id), "
	"SUM(CASE WHEN t.state = 'ok' THEN 0 ELSE 1 END), COALESCE(MIN(i.name), " OF_SCRIPT
	"), MIN(t.component), "
	"MIN(t.host), AVG(CASE WHEN t.state = 'ok' THEN t.duration_seconds END), "
	"MIN(COALESCE(w.identifier, w.uid)), MIN(p.stack), MIN(p.parameters), "
	"MIN(b.note) "
	"FROM batches b LEFT JOIN trials t ON t.batch_id = b.id "
	"LEFT JOIN indicators i ON i.id = t.indicator_id "
	"LEFT JOIN sweep_points p ON p.batch_id = b.id AND p.sweep_id = (SELECT MIN(q.sweep_id) "
	"FROM sweep_points q WHERE q.batch_id = b.id) LEFT JOIN sweeps w ON w.id = p.sweep_id "
	"GROUP BY b.id, b.source, b.origin, b.start_ns, b.script_sha256 ORDER BY b.id";

/* What was chosen for the trials of a batch. */
struct chosen {
	int64_t batch;
	const char *name, *text;
};

struct chosen_list {
	struct chosen *v; /* [n] by batch, then by name */
	uint32_t n, cap;
	struct pool pool;
};

static const char chosen_question[] =
	"SELECT DISTINCT t.batch_id, f.name, f.text FROM environment_facts f "
	"JOIN trials t ON t.environment_id = f.environment_id WHERE f.name LIKE 'env.%' "
	"OR f.name LIKE 'script.%' OR f.name = 'trial.jobs' UNION SELECT batch_id, 'tag', tag FROM batch_tags "
	"ORDER BY 1, 2, 3";

static int read_chosen(struct chosen_list *l, struct database *s, struct err *e)
{
	const struct field *row;
	int rc = database_query(s, chosen_question, NULL, 0, e);

	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		void *grown = array_room(l->v, l->n, &l->cap, sizeof *l->v);
		struct chosen c = { .batch = row[0].i };

		rc = 0;
		if (grown)
			l->v = grown;
		c.name = row[1].s ? pool_text(&l->pool, row[1].s, strlen(row[1].s)) : NULL;
		c.text = row[2].s ? pool_text(&l->pool, row[2].s, strlen(row[2].s)) : NULL;
		if (!grown || !c.name || !c.text)
			rc = err_set(e, -ENOMEM, "out of memory for a list of batches");
		else
			l->v[l->n++] = c;
	}
	return rc;
}

static void free_chosen(struct chosen_list *l)
{
	free(l->v);
	pool_free(&l->pool);
}

/* The first of a batch; those behind it follow. l->n: there is none. */
static uint32_t first_chosen(const struct chosen_list *l, int64_t batch)
{
	uint32_t low = 0, high = l->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (l->v[middle].batch < batch)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* NULL: it has none of that name. */
static const char *find_chosen(const struct chosen_list *l, int64_t batch, const char *name)
{
	for (uint32_t i = first_chosen(l, batch); i < l->n && l->v[i].batch == batch; i++)
		if (!strcmp(l->v[i].name, name))
			return l->v[i].text;
	return NULL;
}

static bool is_tag(const struct chosen *c)
{
	return !strcmp(c->name, "tag");
}

static bool has_tag(const struct chosen_list *l, int64_t batch, const char *tag)
{
	for (uint32_t i = first_chosen(l, batch); i < l->n && l->v[i].batch == batch; i++)
		if (is_tag(&l->v[i]) && !strcmp(l->v[i].text, tag))
			return true;
	return false;
}

static bool is_variable(const struct chosen *c)
{
	return !strncmp(c->name, "env.", 4);
}

static int64_t count(const struct field *f)
{
	double v = field_number(f); /* a sum of nothing is null */

	return isnan(v) ? 0 : (int64_t)v;
}

static bool is_jobs(const struct chosen *c)
{
	return !strcmp(c->name, "trial.jobs");
}

/* "  [2 at a time]": of all trials, or of some. */
static void put_jobs(struct bytes *b, const struct field *row, const struct chosen_list *l)
{
	char text[40];

	for (uint32_t i = first_chosen(l, row[ID].i); i < l->n && l->v[i].batch == row[ID].i; i++)
		if (is_jobs(&l->v[i]))
			bytes_printf(b, "  [%s at a time]",
				     escape_terminal_into(text, sizeof text, l->v[i].text));
}

static void jobs_json(struct json *j, const struct field *row, const struct chosen_list *l)
{
	json_key(j, "jobs");
	json_array(j);
	for (uint32_t i = first_chosen(l, row[ID].i); i < l->n && l->v[i].batch == row[ID].i; i++)
		if (is_jobs(&l->v[i]))
			json_int(j, strtoll(l->v[i].text, NULL, 10));
	json_array_end(j);
}

/* "  # baseline, nightly: before the fix" */
static void put_note(struct bytes *b, const struct field *row, const struct chosen_list *l)
{
	const char *between = "  # ";
	char text[300];

	for (uint32_t i = first_chosen(l, row[ID].i); i < l->n && l->v[i].batch == row[ID].i; i++)
		if (is_tag(&l->v[i])) {
			bytes_printf(b, "%s%s", between,
				     escape_terminal_into(text, sizeof text, l->v[i].text));
			between = ", ";
		}
	if (row[NOTE].s)
		bytes_printf(b, "%s%s", *between == ' ' ? between : ": ",
			     escape_terminal_into(text, sizeof text, row[NOTE].s));
}

/* The variables, the script, its arguments: as one would type it. */
static void put_script(struct bytes *b, const struct field *row, const struct chosen_list *l)
{
	enum { SHOWN = 100 };
	const char *arguments = find_chosen(l, row[ID].i, "script.arguments");
	char text[300], value[SHOWN];

	for (uint32_t i = first_chosen(l, row[ID].i); i < l->n && l->v[i].batch == row[ID].i; i++)
		if (is_variable(&l->v[i]))
			bytes_printf(b, "%s=%s ",
				     escape_terminal_into(text, sizeof text, l->v[i].name + 4),
				     escape_terminal_into(value, sizeof value, l->v[i].text));
	bytes_puts(b, escape_terminal_into(text, sizeof text, row[ORIGIN].s ? row[ORIGIN].s : "-"));
	if (arguments)
		bytes_printf(b, " %s", escape_terminal_into(text, sizeof text, arguments));
	put_jobs(b, row, l);
	put_note(b, row, l);
	bytes_u8(b, '\n');
}

static void text_line(struct bytes *b, const struct field *row, const struct chosen_list *l)
{
	char id[32], when[40] = "-", took[40] = "-", name[64], host[64];

	snprintf(id, sizeof id, "bench:%" PRId64, row[ID].i);
	if (row[START].type == FIELD_INT)
		clock_iso(row[START].i / NS_PER_S * NS_PER_S, when, sizeof when);
	if (row[MEAN_S].type != FIELD_NULL)
		unit_format(UNIT_SECONDS, field_number(&row[MEAN_S]), took, sizeof took);
	bytes_printf(
		b, "%-10s  %-20s  %6" PRId64 "  %6" PRId64 "  %-11s  %-16s  %-16s  ", id, when,
		count(&row[TRIALS]), row[TRIALS].i ? count(&row[FAILED]) : 0, took,
		escape_terminal_into(name, sizeof name, row[INDICATOR].s ? row[INDICATOR].s : "-"),
		escape_terminal_into(host, sizeof host, row[HOST].s ? row[HOST].s : "-"));
	put_script(b, row, l);
}

static void parameters_json(struct json *j, const char *text)
{
	struct pool pool = { 0 };
	struct err ignored;
	const struct jsontree *v = text ? jsontree_read(&pool, text, strlen(text), &ignored) : NULL;

	json_key(j, "parameters");
	if (v)
		jsontree_write(j, v);
	else
		json_null(j);
	pool_free(&pool);
}

static void chosen_json(struct json *j, const struct field *row, const struct chosen_list *l)
{
	const char *dirty = find_chosen(l, row[ID].i, "script.git_dirty");

	json_key(j, "environment");
	json_object(j);
	for (uint32_t i = first_chosen(l, row[ID].i); i < l->n && l->v[i].batch == row[ID].i; i++)
		if (is_variable(&l->v[i]) && (!i || l->v[i - 1].batch != row[ID].i ||
					      strcmp(l->v[i - 1].name, l->v[i].name) != 0))
			json_put_text(j, l->v[i].name + 4, l->v[i].text);
	json_object_end(j);
	json_put_text(j, "arguments", find_chosen(l, row[ID].i, "script.arguments"));
	json_put_text(j, "git_commit", find_chosen(l, row[ID].i, "script.git_commit"));
	json_put_text(j, "git_branch", find_chosen(l, row[ID].i, "script.git_branch"));
	json_key(j, "git_dirty");
	if (dirty)
		json_bool(j, !strcmp(dirty, "true"));
	else
		json_null(j);
	jobs_json(j, row, l);
	json_put_text(j, "sweep", row[SWEEP].s);
	json_put_text(j, "stack", row[STACK].s);
	parameters_json(j, row[PARAMETERS].s);
	json_put_text(j, "note", row[NOTE].s);
	json_key(j, "tags");
	json_array(j);
	for (uint32_t i = first_chosen(l, row[ID].i); i < l->n && l->v[i].batch == row[ID].i; i++)
		if (is_tag(&l->v[i]))
			json_text(j, l->v[i].text);
	json_array_end(j);
}

static void json_line(struct json *j, const struct field *row, const struct chosen_list *l)
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
	chosen_json(j, row, l);
	json_object_end(j);
}

static int list(struct bytes *b, struct database *s, const struct list_options *o, struct err *e)
{
	struct json j = { .out = b, .indent = true };
	struct chosen_list l = { 0 };
	const struct field *row;
	int rc = read_chosen(&l, s, e);

	if (!rc)
		rc = database_query(s, question, NULL, 0, e);
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
		if (o->tag && !has_tag(&l, row[ID].i, o->tag))
			continue;
		if (!o->json && !b->len)
			bytes_printf(b, "%-10s  %-20s  %6s  %6s  %-11s  %-16s  %-16s  %s\n",
				     "BATCH", "START (UTC)", "TRIALS", "FAILED", "MEAN TIME",
				     "INDICATOR", "HOST", "SCRIPT");
		if (o->json)
			json_line(&j, row, &l);
		else
			text_line(b, row, &l);
	}
	if (o->json) {
		json_array_end(&j);
		json_object_end(&j);
		bytes_u8(b, '\n');
	}
	free_chosen(&l);
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
		"trials, failed trials, mean time of the others, and indicator. If no trial of a batch "
		"said which, it is that of the same script in other batches. Use bench:ID with "
		"show, stats and sonde compare.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct list_options),
	COMMAND_EXAMPLES(examples),
	.exec = list_exec,
};
