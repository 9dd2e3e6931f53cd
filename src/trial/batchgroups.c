/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/batchgroups.h"

#include "bench/group.h"
#include "console/say.h"
#include "session/history.h"
#include "trial/benchprint.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
