/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/timingprint.h"

#include "base/text/escape.h"
#include "base/text/json.h"
#include "bench/group.h"
#include "console/command.h"
#include "core/metric.h"
#include "output/outfile.h"
#include "session/history.h"
#include "trial/benchprint.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- for people ---- */

static const char *time_text(double s, char out[40])
{
	snprintf(out, 40, "-");
	if (!isnan(s))
		unit_format(UNIT_SECONDS, s, out, 40);
	return out;
}

/* "3.5", "1.031": what is near 1 has a digit more. */
static const char *ratio_text(double v, char out[24])
{
	if (v > 1000)
		snprintf(out, 24, "> 1000");
	else
		snprintf(out, 24, v < 1.2 ? "%.3f" : v < 10 ? "%.2f" : "%.1f", v);
	return out;
}

static double mean_of(const double *v, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / n : (double)NAN;
}

static void command_line(struct bytes *b, const struct timing *t, uint32_t i)
{
	const struct timed *c = &t->command[i];
	char letter[8], mean[40], sd[40], low[40], high[40];

	bytes_printf(b, "%-3s %11s %11s %11s %11s  ", timing_letter(i, letter),
		     time_text(c->d.mean, mean), time_text(c->d.sd, sd), time_text(c->d.min, low),
		     time_text(c->d.max, high));
	escape_terminal(b, c->command);
	bytes_u8(b, '\n');
}

/* Of one with the fastest. */
static void answer_line(struct bytes *b, const struct timing *t, uint32_t i)
{
	const struct timed *c = &t->command[i];
	char fast[8], other[8], ratio[24], low[24], high[24];

	timing_letter(t->fastest, fast);
	timing_letter(i, other);
	ratio_text(c->ratio, ratio);
	ratio_text(c->low, low);
	ratio_text(c->high, high);
	if (isnan(c->low))
		bytes_printf(b,
			     "%s takes %s times as long as %s; with one run of each nothing is "
			     "shown.\n",
			     other, ratio, fast);
	else if (c->low > 1 && c->against.finding != COMPARE_INCONCLUSIVE)
		bytes_printf(b, "%s is %s times faster than %s (%s to %s).\n", fast, ratio, other,
			     low, high);
	else if (c->high < 1 && c->against.finding != COMPARE_INCONCLUSIVE)
		bytes_printf(b, "%s is %s times faster than %s (%s to %s).\n", other,
			     ratio_text(1 / c->ratio, ratio), fast, ratio_text(1 / c->high, low),
			     ratio_text(1 / c->low, high));
	else if (c->against.finding == COMPARE_SAME)
		bytes_printf(b, "%s and %s take the same time, within %.3g %% (%s to %s times).\n",
			     fast, other, 100 * t->margin, low, high);
	else
		bytes_printf(b, "No difference between %s and %s is shown (%s to %s times).\n",
			     fast, other, low, high);
}

static void notes(struct bytes *b, const struct timing *t)
{
	char text[40], letter[8];

	for (uint32_t i = 0; i < t->n; i++)
		if (t->command[i].noutliers)
			bytes_printf(b,
				     "%s: %u of %u runs are outliers; other work on the machine "
				     "or a cold cache may be why (--warmup, --prepare).\n",
				     timing_letter(i, letter), t->command[i].noutliers,
				     t->command[i].n);
	if (t->too_short)
		bytes_printf(b,
			     "Some take hardly longer than the start of the shell, %s, which "
			     "is part of these times; use -N.\n",
			     time_text(t->shell_s, text));
	else if (t->shell_s > 0)
		bytes_printf(b, "Without the start of the shell, %s.\n",
			     time_text(t->shell_s, text));
}

void timingprint_text(struct bytes *b, const struct timing *t)
{
	bytes_printf(b, "%-3s %11s %11s %11s %11s  COMMAND (%u runs each)\n", "", "MEAN", "SD",
		     "LEAST", "MOST", t->rounds);
	for (uint32_t i = 0; i < t->n; i++)
		command_line(b, t, i);
	for (uint32_t i = 0; i < t->n; i++)
		if (i != t->fastest)
			answer_line(b, t, i);
	notes(b, t);
}

/* ---- JSON ---- */

static void put_parameters(struct json *j, const struct timing *t, const struct timed *c)
{
	json_key(j, "parameters");
	json_object(j);
	for (uint32_t i = 0; i < t->nparameters; i++)
		json_put_text(j, t->name[i], c->parameter[i]);
	json_object_end(j);
}

static void put_times(struct json *j, const struct timing *t, const struct timed *c)
{
	json_key(j, "times");
	json_array(j);
	for (uint32_t i = 0; i < c->n; i++)
		json_real(j, timing_seconds(t, c->wall[i]));
	json_array_end(j);
	json_key(j, "memory_usage_byte");
	json_array(j);
	for (uint32_t i = 0; i < c->n; i++)
		json_int(j, (int64_t)c->memory[i]);
	json_array_end(j);
	json_key(j, "exit_codes");
	json_array(j);
	for (uint32_t i = 0; i < c->n; i++)
		json_int(j, c->code[i]);
	json_array_end(j);
}

/* What hyperfine writes of each command, in its order. */
static void result_json(struct json *j, const struct timing *t, const struct timed *c, bool own)
{
	json_object(j);
	json_put_text(j, "command", c->command);
	json_put_real(j, "mean", c->d.mean);
	json_put_real(j, "stddev", c->d.sd);
	json_put_real(j, "median", c->d.median);
	json_put_real(j, "user", mean_of(c->user, c->n));
	json_put_real(j, "system", mean_of(c->system, c->n));
	json_put_real(j, "min", c->d.min);
	json_put_real(j, "max", c->d.max);
	put_times(j, t, c);
	if (own || t->nparameters)
		put_parameters(j, t, c);
	if (own) {
		json_put_int(j, "outliers", c->noutliers);
		json_put_real(j, "ratio", c == &t->command[t->fastest] ? 1 : c->ratio);
		json_put_real(j, "ratio_low", c->low);
		json_put_real(j, "ratio_high", c->high);
	}
	json_object_end(j);
}

static void put_results(struct json *j, const struct timing *t, bool own)
{
	json_key(j, "results");
	json_array(j);
	for (uint32_t i = 0; i < t->n; i++)
		result_json(j, t, &t->command[i], own);
	json_array_end(j);
}

static void hyperfine_json(struct bytes *b, const struct timing *t)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	put_results(&j, t, false);
	json_object_end(&j);
	bytes_u8(b, '\n');
}

void timingprint_json(struct bytes *b, const struct timing *t)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/compare-commands/1");
	json_put_int(&j, "rounds", t->rounds);
	json_put_real(&j, "margin", t->margin);
	json_put_real(&j, "shell_seconds", t->shell_s);
	json_put_bool(&j, "shell_is_taken_out", !t->too_short);
	json_put_int(&j, "fastest", t->fastest);
	put_results(&j, t, true);
	json_object_end(&j);
	bytes_u8(b, '\n');
}

/* ---- tables ---- */

static void csv(struct bytes *b, const struct timing *t)
{
	bytes_puts(b, "command,mean,stddev,median,user,system,min,max");
	for (uint32_t i = 0; i < t->nparameters; i++) {
		char name[200];

		snprintf(name, sizeof name, "parameter_%.180s", t->name[i]);
		bytes_u8(b, ',');
		escape_csv(b, name);
	}
	bytes_u8(b, '\n');
	for (uint32_t i = 0; i < t->n; i++) {
		const struct timed *c = &t->command[i];
		const double v[] = { c->d.mean,
				     c->d.sd,
				     c->d.median,
				     mean_of(c->user, c->n),
				     mean_of(c->system, c->n),
				     c->d.min,
				     c->d.max };

		escape_csv(b, c->command);
		for (size_t k = 0; k < sizeof v / sizeof v[0]; k++) {
			bytes_u8(b, ',');
			if (!isnan(v[k]))
				bytes_printf(b, "%.9g", v[k]);
		}
		for (uint32_t k = 0; k < t->nparameters; k++) {
			bytes_u8(b, ',');
			escape_csv(b, c->parameter[k]);
		}
		bytes_u8(b, '\n');
	}
}

/* A cell of a table. */
static void put_cell(struct bytes *b, const char *text)
{
	struct bytes clean = { 0 };

	escape_terminal(&clean, text);
	bytes_u8(&clean, 0);
	for (const char *at = clean.failed ? "" : (const char *)clean.data; *at; at++) {
		if (strchr("|`\\<", *at))
			bytes_u8(b, '\\');
		bytes_u8(b, (uint8_t)*at);
	}
	b->failed |= clean.failed;
	bytes_free(&clean);
}

void timingprint_markdown(struct bytes *b, const struct timing *t)
{
	char text[24], low[24], high[24];

	bytes_puts(b, "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n"
		      "|:---|---:|---:|---:|---:|\n");
	for (uint32_t i = 0; i < t->n; i++) {
		const struct timed *c = &t->command[i];

		bytes_puts(b, "| ");
		put_cell(b, c->command);
		bytes_printf(b, " | %.1f ± %.1f | %.1f | %.1f | ", 1e3 * c->d.mean, 1e3 * c->d.sd,
			     1e3 * c->d.min, 1e3 * c->d.max);
		if (i == t->fastest)
			bytes_puts(b, "1.00 |\n");
		else
			bytes_printf(b, "%s (%s to %s) |\n", ratio_text(c->ratio, text),
				     ratio_text(c->low, low), ratio_text(c->high, high));
	}
}

static int put_file(const char *path, void (*make)(struct bytes *, const struct timing *),
		    const struct timing *t, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX];
	struct bytes b = { 0 };
	struct outfile f;
	int rc;

	make(&b, t);
	snprintf(directory, sizeof directory, "%.*s",
		 slash ? (int)(slash - path) + (slash == path) : 1, slash ? path : ".");
	rc = b.failed ? err_set(e, -ENOMEM, "out of memory for %.200s", path)
		      : outfile_open(&f, directory, slash ? slash + 1 : path, e);
	if (!rc) {
		if (fwrite(b.data, 1, b.len, f.file) != b.len)
			rc = err_set(e, -EIO, "cannot write %.300s: %s", path, strerror(errno));
		rc = outfile_close(&f, rc, e);
	}
	bytes_free(&b);
	return rc;
}

int timingprint_files(const struct timing *t, struct err *e)
{
	const struct timing_options *o = t->o;
	int rc = o->json ? put_file(o->json, hyperfine_json, t, e) : 0;

	if (!rc && o->csv)
		rc = put_file(o->csv, csv, t, e);
	return rc || !o->markdown ? rc : put_file(o->markdown, timingprint_markdown, t, e);
}

enum { BATCHES_MAX = 64, FIGURES_MAX = 1200 };

struct groups {
	struct bench_group group[BATCHES_MAX];
	enum comparison_group side[BATCHES_MAX];
	uint32_t n;
};

static int add_list(struct groups *g, struct database *s, const char *list,
		    enum comparison_group side, struct err *e)
{
	int rc = 0;

	for (const char *at = list; !rc;) {
		char word[64];
		size_t n = strcspn(at, ",");
		int64_t id[BATCHES_MAX + 1];
		uint32_t found;

		snprintf(word, sizeof word, "%.*s", n < sizeof word ? (int)n : 0, at);
		rc = bench_batches(s, word, id, BATCHES_MAX + 1, &found, e);
		if (!rc && g->n + found > BATCHES_MAX)
			return err_set(e, -EINVAL, "more than %d batches", BATCHES_MAX);
		for (uint32_t i = 0; i < found && !rc; i++) {
			g->side[g->n] = side;
			rc = bench_group_read(&g->group[g->n++], s, id[i], e);
		}
		if (!at[n])
			break;
		at += n + 1;
	}
	return rc;
}

/* What runs call it. */
static const char *name_of(const struct bench_figure *f)
{
	return !f->is_own && !strcmp(f->name, "duration_seconds") ? "wall_seconds" : f->name;
}

/* Does the script itself say something by this name? It goes before. */
static bool is_own(const struct bench_group *g, const char *name)
{
	for (uint32_t i = 0; i < g->nfigures; i++)
		if (g->figure[i].is_own && !strcmp(g->figure[i].name, name))
			return true;
	return false;
}

static double value_of(const struct bench_group *g, const char *name, uint32_t at)
{
	for (uint32_t i = 0; i < g->nfigures; i++)
		if (!g->figure[i].is_own && !strcmp(g->figure[i].name, name))
			return g->figure[i].value[at];
	return NAN;
}

static int add_trial(struct comparison *x, const struct bench_group *g, enum comparison_group side,
		     uint32_t at)
{
	struct comparison_value v[FIGURES_MAX];
	const struct comparison_run run = { .path = g->row[at].path ? g->row[at].path : "",
					    .command = g->batch.command,
					    .memory_kind = g->row[at].memory_kind,
					    .group = side,
					    .start_utc_ns = g->row[at].start_ns,
					    .hosts = 1 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->nfigures && n < FIGURES_MAX - 1; i++) {
		const struct bench_figure *f = &g->figure[i];

		if (!f->is_own && is_own(g, name_of(f)))
			continue;
		v[n++] = (struct comparison_value){
			.name = name_of(f),
			.unit = bench_unit(f),
			.unit_text = f->unit,
			.less_is_better = f->sense == BENCH_LESS_IS_BETTER,
			.more_is_better = f->sense == BENCH_MORE_IS_BETTER,
			.leads = f->is_own || f->sense != BENCH_NEITHER,
			.v = f->value[at],
		};
	}
	if (!is_own(g, "cpu_seconds"))
		v[n++] = (struct comparison_value){ .name = "cpu_seconds",
						    .unit = UNIT_SECONDS,
						    .less_is_better = true,
						    .leads = true,
						    .v = value_of(g, "ru_utime", at) +
							 value_of(g, "ru_stime", at) };
	return comparison_add_values(x, &run, v, n);
}

static int say_facts(struct comparison *x, struct database *s, const struct bench_group *g,
		     enum comparison_group side, struct err *e)
{
	const struct field v = field_int(g->batch.id), *row;
	int rc = database_query(
		s,
		"SELECT DISTINCT f.name, f.text FROM environment_facts f JOIN trials t ON "
		"t.environment_id = f.environment_id WHERE t.batch_id = $1",
		&v, 1, e);

	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		if (row[0].s && row[1].s)
			comparison_say_text(x, row[0].s, row[1].s, side);
	}
	return rc;
}

/* A value as the script wrote it. */
static void put_value(struct json *j, enum model_type type, const struct field *f)
{
	if (type == MODEL_BOOL)
		json_bool(j, f->i);
	else if (type == MODEL_JSON)
		bytes_puts(j->out, f->s ? f->s : "null");
	else if (f->type == FIELD_INT)
		json_int(j, f->i);
	else if (f->type == FIELD_REAL)
		json_real(j, f->d);
	else
		json_text(j, f->s);
}

/* Of a row of the parameters' columns, in their order. */
static void say_row(struct comparison *x, const struct bench_group *g, enum comparison_group side,
		    const struct field *row)
{
	for (uint32_t i = 0; i < g->model.ncolumns; i++) {
		const struct model_column *c = &g->model.column[i];
		struct bytes text = { 0 };
		struct json j = { .out = &text };
		char key[96];

		if (c->is_result)
			continue;
		if (row->type != FIELD_NULL) {
			snprintf(key, sizeof key, "parameter.%s", c->name);
			put_value(&j, c->type, row);
			bytes_u8(&text, 0);
			x->failed |= text.failed;
			if (!text.failed)
				comparison_say_text(x, key, (const char *)text.data, side);
		}
		bytes_free(&text);
		row++;
	}
}

/* What the scripts say they were asked to do: each combination once, however many trials had it. */
static int say_parameters(struct comparison *x, struct database *s, const struct bench_group *g,
			  enum comparison_group side, struct err *e)
{
	const struct field v = field_int(g->batch.id), *row;
	struct bytes sql = { 0 };
	uint32_t n = 0;
	int rc;

	bytes_puts(&sql, "SELECT DISTINCT ");
	for (uint32_t i = 0; i < g->model.ncolumns; i++) {
		if (g->model.column[i].is_result)
			continue;
		bytes_puts(&sql, n++ ? ", x." : "x.");
		indicator_quote(&sql, g->model.column[i].name);
	}
	bytes_printf(&sql,
		     " FROM trials t JOIN %s x ON x.trial_id = t.id WHERE t.batch_id = $1 AND "
		     "t.state = 'ok'",
		     n ? g->model.table : "");
	bytes_u8(&sql, 0);
	rc = sql.failed ? -ENOMEM : n ? database_query(s, (const char *)sql.data, &v, 1, e) : 0;
	while (n && !rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		say_row(x, g, side, row);
	}
	bytes_free(&sql);
	return rc == -ENOMEM || x->failed ? err_set(e, -ENOMEM, "out of memory for the trials")
					  : rc;
}

/* Without a condition of the user's. */
static int add_conditions(struct comparison *x, const struct bench_group *g, struct err *e)
{
	char text[160];
	int rc = 0;

	for (uint32_t i = 0; i < g->nfigures && !rc; i++) {
		const struct bench_figure *f = &g->figure[i];
		bool more = f->sense == BENCH_MORE_IS_BETTER;

		if (!f->is_own || f->sense == BENCH_NEITHER ||
		    x->nconditions == COMPARISON_CONDITIONS_MAX)
			continue;
		snprintf(text, sizeof text, "%s%s%.6g%%", f->name, more ? "<-" : ">+",
			 100 * x->margin);
		rc = comparison_add_condition(x, text, e);
		rc = rc == -EINVAL ? 0 : rc; /* its name is not the name of an expression */
	}
	if (rc || x->nconditions)
		return rc;
	snprintf(text, sizeof text, "wall_seconds>+%.6g%%", 100 * x->margin);
	return comparison_add_condition(x, text, e);
}

static int fill(struct comparison *x, struct groups *g, struct database *s, struct err *e)
{
	uint32_t trials = 0;
	int rc = 0;

	for (uint32_t i = 0; i < g->n; i++)
		trials += g->group[i].ntrials;
	if (!x->nconditions)
		rc = add_conditions(x, &g->group[0], e);
	if (!rc && comparison_expect(x, trials))
		rc = err_set(e, -ENOMEM, "out of memory for the figures of %u trials", trials);
	for (uint32_t i = 0; i < g->n && !rc; i++) {
		for (uint32_t k = 0; k < g->group[i].ntrials && !rc; k++)
			if (!g->group[i].row[k].reason && add_trial(x, &g->group[i], g->side[i], k))
				rc = err_set(e, -ENOMEM, "out of memory for the trials");
		if (!rc)
			rc = say_facts(x, s, &g->group[i], g->side[i], e);
		if (!rc)
			rc = say_parameters(x, s, &g->group[i], g->side[i], e);
		if (!rc && g->group[i].nfailed)
			say("compare: bench:%" PRId64 ": %u of %u trials failed and are left out",
			    g->group[i].batch.id, g->group[i].nfailed, g->group[i].ntrials);
		if (!rc)
			rc = benchprint_say_noise(&g->group[i], "compare", e);
		if (!rc)
			benchprint_say_memory(&g->group[i], "compare");
		if (!rc)
			benchprint_say_doubts(&g->group[i], NULL, "compare");
	}
	if (!rc && comparison_judge(x))
		rc = err_set(e, -ENOMEM, "out of memory while comparing");
	return rc;
}

int batchgroups_read(struct comparison *x, const char *store, char *const operand[2], struct err *e)
{
	const struct history_options where = { .store = store };
	struct groups g = { .n = 0 };
	struct database *s = NULL;
	int rc = history_open(&s, &where, "compare", e);

	for (int side = 0; side < 2 && !rc; side++)
		rc = add_list(&g, s, operand[side], side ? GROUP_B : GROUP_A, e);
	if (!rc)
		rc = fill(x, &g, s, e);
	for (uint32_t i = 0; i < g.n; i++)
		bench_group_free(&g.group[i]);
	database_close(s);
	return rc;
}
