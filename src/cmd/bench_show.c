/* SPDX-License-Identifier: Apache-2.0 */
/* bench_show.c - all that is kept of a batch, or of one of its trials. */
#include "base/clock.h"
#include "base/text/escape.h"
#include "base/text/number.h"
#include "console/command.h"
#include "session/history.h"
#include "trial/benchprint.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option rows[] = { BENCHTELL_OPTIONS("sonde/bench-show/1") };

static const struct example examples[] = {
	{ "bench show bench:3", "its trials, its machine, its software" },
	{ "bench show bench:3/2", "everything about its second trial" },
};

struct shown {
	struct bench_group g;
	int64_t trial;     /* 0: all of them */
	struct json *json; /* NULL: as text */
	struct bytes *out;
};

/* bench:3 or bench:3/2 */
static int parse(const char *word, int64_t *batch, int64_t *trial, struct err *e)
{
	char part[64];
	const char *slash = strchr(word, '/'), *at = slash ? slash + 1 : "";

	*trial = 0;
	snprintf(part, sizeof part, "%.*s", slash ? (int)(slash - word) : 63, word);
	*batch = bench_batch_id(part);
	if (*batch && (!slash || (number_i64(&at, trial) && !*at && *trial > 0)))
		return 0;
	return err_set(e, -EINVAL, "'%.100s' is not a batch; sonde bench list prints them", word);
}

/* A batch, a trial of it, or the newest batch of an indicator. */
static int find(struct shown *x, struct database *s, const char *word, int64_t *batch,
		struct err *e)
{
	uint32_t n;

	if (strchr(word, '/') || bench_batch_id(word))
		return parse(word, batch, &x->trial, e);
	return bench_batches(s, word, batch, 1, &n, e);
}

static void entry(struct shown *x, const char *name, const char *text)
{
	if (x->json) {
		json_key(x->json, name);
		json_text(x->json, text);
	} else if (text) {
		bytes_printf(x->out, "  %-30s ", name);
		escape_terminal(x->out, text);
		bytes_u8(x->out, '\n');
	}
}

static void number_entry(struct shown *x, const char *name, const struct field *f)
{
	char number[40];

	if (x->json) {
		json_key(x->json, name);
		if (f->type == FIELD_INT)
			json_int(x->json, f->i);
		else
			json_real(x->json, f->d);
		return;
	}
	if (f->type == FIELD_INT)
		snprintf(number, sizeof number, "%" PRId64, f->i);
	else
		snprintf(number, sizeof number, "%.9g", f->d);
	entry(x, name, number);
}

static void time_entry(struct shown *x, const char *name, const struct field *f)
{
	char when[40];

	if (!x->json) {
		entry(x, name, f->type == FIELD_INT ? clock_iso(f->i, when, sizeof when) : NULL);
		return;
	}
	json_key(x->json, name);
	if (f->type == FIELD_INT)
		json_time(x->json, f->i);
	else
		json_null(x->json);
}

static void part(struct shown *x, const char *name, const char *words)
{
	if (x->json) {
		json_key(x->json, name);
		json_object(x->json);
	} else {
		bytes_printf(x->out, "%s\n", words);
	}
}

static void part_end(struct shown *x)
{
	if (x->json)
		json_object_end(x->json);
}

static int put_facts(struct shown *x, struct database *s, int64_t id, struct err *e)
{
	const struct field v = field_int(id), *row;
	int rc = database_query(
		s,
		"SELECT name, text FROM environment_facts WHERE environment_id = $1 ORDER BY name",
		&v, 1, e);

	part(x, "environment", "its machine and software:");
	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		if (row[0].s)
			entry(x, row[0].s, row[1].s);
	}
	part_end(x);
	return rc;
}

/* Each column of its row, whatever there is. */
static int put_columns(struct shown *x, struct database *s, const char *const *column, size_t n,
		       struct err *e)
{
	const struct field v[] = { field_int(x->g.batch.id), field_int(x->trial) }, *row;
	struct bytes sql = { 0 };
	int rc;

	bytes_puts(&sql, "SELECT ");
	for (size_t i = 0; i < n; i++)
		bytes_printf(&sql, "%s%s", i ? ", " : "", column[i]);
	bytes_puts(&sql, " FROM trials WHERE batch_id = $1 AND number = $2");
	bytes_u8(&sql, 0);
	rc = sql.failed ? err_set(e, -ENOMEM, "out of memory")
			: database_first(s, (const char *)sql.data, v, 2, &row, e);
	bytes_free(&sql);
	for (size_t i = 0; i < n && rc > 0; i++) {
		if (!strcmp(column[i], "start_ns"))
			time_entry(x, "start", &row[i]);
		else if (!strcmp(column[i], "end_ns"))
			time_entry(x, "end", &row[i]);
		else if (row[i].type == FIELD_INT || row[i].type == FIELD_REAL)
			number_entry(x, column[i], &row[i]);
		else
			entry(x, column[i], row[i].s);
	}
	return rc < 0 ? rc : 0;
}

static int put_trial(struct shown *x, struct database *s, struct err *e)
{
	static const char *const columns[] = { "state",
					       "reason",
					       "component",
					       "version",
					       "overall_score",
					       "score",
					       "host",
					       "exit_code",
					       "signal",
					       "start_ns",
					       "end_ns",
					       "duration_seconds",
					       "ru_utime",
					       "ru_stime",
					       "ru_maxrss",
					       "ru_ixrss",
					       "ru_idrss",
					       "ru_isrss",
					       "ru_minflt",
					       "ru_majflt",
					       "ru_nswap",
					       "ru_inblock",
					       "ru_oublock",
					       "ru_msgsnd",
					       "ru_msgrcv",
					       "ru_nsignals",
					       "ru_nvcsw",
					       "ru_nivcsw",
					       "load_1m",
					       "governor",
					       "others_ratio",
					       "waited_ratio",
					       "steal_ratio",
					       "throttled_ratio",
					       "heat_throttles",
					       "frequency_hertz",
					       "peak_memory_bytes",
					       "peak_memory_kind",
					       "energy_joules",
					       "energy_apportioned_joules",
					       "counters",
					       "path",
					       "document",
					       "stdout",
					       "stderr" };
	const struct bench_row *r = NULL;
	int rc;

	for (uint32_t i = 0; i < x->g.ntrials; i++)
		if (x->g.row[i].number == x->trial)
			r = &x->g.row[i];
	if (!r)
		return err_set(e, -ENOENT, "bench:%" PRId64 " has no trial %" PRId64, x->g.batch.id,
			       x->trial);
	part(x, "trial", "the trial:");
	rc = put_columns(x, s, columns, sizeof columns / sizeof columns[0], e);
	part_end(x);
	return rc || !r->environment_id ? rc : put_facts(x, s, r->environment_id, e);
}

static void trial_line(struct shown *x, const struct bench_row *r)
{
	char took[40] = "-", when[40] = "-";

	if (!isnan(r->duration_s))
		snprintf(took, sizeof took, "%.4g s", r->duration_s);
	if (r->start_ns)
		clock_iso(r->start_ns / NS_PER_S * NS_PER_S, when, sizeof when);
	bytes_printf(x->out, "  %6" PRId64 "  %-20s  %-11s  ", r->number, when, took);
	bytes_puts(x->out, r->reason ? "failed: " : "ok");
	escape_terminal(x->out, r->reason ? r->reason : "");
	bytes_u8(x->out, '\n');
}

static void trial_json(struct shown *x, uint32_t at)
{
	const struct bench_row *r = &x->g.row[at];
	struct json *j = x->json;

	json_object(j);
	json_key(j, "trial");
	json_int(j, r->number);
	json_key(j, "start");
	if (r->start_ns)
		json_time(j, r->start_ns);
	else
		json_null(j);
	json_key(j, "reason");
	json_text(j, r->reason);
	json_key(j, "figures");
	json_object(j);
	for (uint32_t i = 0; i < x->g.nfigures; i++) {
		json_key(j, x->g.figure[i].name);
		json_real(j, x->g.figure[i].value[at]);
	}
	json_object_end(j);
	json_object_end(j);
}

static int put_batch(struct shown *x, struct database *s, struct err *e)
{
	int64_t environment = 0;

	if (x->json) {
		json_key(x->json, "trials");
		json_array(x->json);
	}
	for (uint32_t i = 0; i < x->g.ntrials; i++) {
		if (!environment)
			environment = x->g.row[i].environment_id;
		if (x->json)
			trial_json(x, i);
		else
			trial_line(x, &x->g.row[i]);
	}
	if (x->json)
		json_array_end(x->json);
	return environment ? put_facts(x, s, environment, e) : 0;
}

static int show(struct shown *x, struct database *s, const char *word, struct err *e)
{
	const struct trial_batch *b = &x->g.batch;
	int64_t batch;
	int rc = word ? find(x, s, word, &batch, e) : 0;

	if (!word) {
		batch = bench_newest(s, e);
		if (batch <= 0)
			return batch ? (int)batch
				     : err_set(e, -ENOENT,
					       "no trials stored yet; run sonde bench run SCRIPT");
	}
	if (!rc)
		rc = bench_group_read(&x->g, s, batch, e);
	if (rc)
		return rc;
	if (x->json) {
		json_object(x->json);
		json_key(x->json, "schema");
		json_text(x->json, "sonde/bench-show/1");
		json_key(x->json, "batch");
		json_int(x->json, b->id);
		entry(x, "indicator", x->g.indicator);
	} else {
		benchprint_head(x->out, &x->g);
	}
	entry(x, "component", x->g.component);
	entry(x, "origin", b->origin);
	entry(x, "command", b->command);
	entry(x, "script_sha256", b->script_sha256);
	entry(x, "user", b->user);
	entry(x, "host", x->g.host);
	entry(x, "note", b->note);
	entry(x, "tags", b->tags);
	rc = x->trial ? put_trial(x, s, e) : put_batch(x, s, e);
	if (x->json) {
		json_object_end(x->json);
		bytes_u8(x->out, '\n');
	}
	return rc;
}

static int show_exec(const void *options, int noperands, char **operands)
{
	const struct benchprint_options *o = options;
	const struct history_options where = { .store = o->store };
	struct database *s = NULL;
	struct bytes b = { 0 };
	struct json j = { .out = &b, .indent = true };
	struct shown x = { .out = &b, .json = o->json ? &j : NULL };
	struct err e = { "" };
	int rc;

	if (noperands > 1) {
		say("bench show: unexpected argument '%s'; give one batch", operands[1]);
		return EXIT_USAGE;
	}
	rc = history_open(&s, &where, "bench show", &e);
	if (!rc)
		rc = show(&x, s, noperands ? operands[0] : NULL, &e);
	bench_group_free(&x.g);
	database_close(s);
	if (!rc)
		return print_bytes(&b);
	say("bench show: %s", e.text);
	bytes_free(&b);
	return rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

const struct command command_bench_show = {
	.name = "bench show",
	.operands = "[bench:ID[/TRIAL]|INDICATOR]",
	.what = "Show everything stored about a batch or a trial",
	.description =
		"For a batch (default: the newest; of an indicator: its newest): its trials, how they ended, and the machine "
		"and software they ran on. For a trial: everything, including its output, its "
		"usage and the path of its recording.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct benchprint_options),
	COMMAND_EXAMPLES(examples),
	.exec = show_exec,
};
