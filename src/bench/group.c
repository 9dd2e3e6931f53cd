/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/group.h"

#include "base/array.h"
#include "base/text/escape.h"
#include "base/text/number.h"
#include "bench/contract.h"
#include "bench/doubt.h"
#include "store/database.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int batch_tag_check(const char *tag, struct err *e)
{
	if (contract_is_name(tag) && strlen(tag) <= BATCH_TAG)
		return 0;
	return err_set(
		e, -EINVAL,
		"'%.80s' is not a tag: a letter, then letters, digits, _ . and -, at most %d", tag,
		BATCH_TAG);
}

int batch_note_check(const char *note, struct err *e)
{
	if (escape_is_utf8(note) && strlen(note) <= BATCH_NOTE)
		return 0;
	return err_set(e, -EINVAL, "a note is a text in UTF-8 of at most %d bytes", BATCH_NOTE);
}

int batch_note_put(struct database *s, int64_t batch, const char *note, struct err *e)
{
	const struct field v[] = { field_int(batch), field_text(*note ? note : NULL) };

	return database_exec(s, "UPDATE batches SET note = $2 WHERE id = $1", v, 2, e);
}

int batch_tag_put(struct database *s, int64_t batch, const char *tag, struct err *e)
{
	const struct field v[] = { field_int(batch), field_text(tag) };

	return database_exec(s,
			     "INSERT INTO batch_tags (batch_id, tag) VALUES ($1, $2) ON CONFLICT "
			     "DO NOTHING",
			     v, 2, e);
}

int batch_tag_drop(struct database *s, int64_t batch, const char *tag, struct err *e)
{
	const struct field v[] = { field_int(batch), field_text(tag) };

	return database_exec(s, "DELETE FROM batch_tags WHERE batch_id = $1 AND tag = $2", v, 2, e);
}

int64_t bench_batch_id(const char *word)
{
	int64_t id;

	if (!strncmp(word, "bench:", 6))
		word += 6;
	return number_i64(&word, &id) && !*word && id > 0 ? id : 0;
}

#define TAG "tag:"

static const char of_indicator[] =
	"SELECT id FROM (SELECT DISTINCT t.batch_id AS id FROM trials t JOIN indicators i ON i.id "
	"= t.indicator_id WHERE i.name = $1 ORDER BY id DESC LIMIT $2) AS newest ORDER BY id";
static const char of_tag[] = "SELECT id FROM (SELECT batch_id AS id FROM batch_tags WHERE tag = $1 "
			     "ORDER BY id DESC LIMIT $2) AS newest ORDER BY id";

static const char *without(const char *word, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(word, prefix, n) ? word : word + n;
}

int bench_batches(struct database *s, const char *word, int64_t *batch, uint32_t most, uint32_t *n,
		  struct err *e)
{
	const struct field v[] = { field_text(without(without(word, "bench:"), TAG)),
				   field_int(most) },
			   *row;
	int64_t id = bench_batch_id(word);
	int rc;

	*n = 0;
	if (id) {
		batch[(*n)++] = id;
		return 0;
	}
	rc = database_query(s, v[0].s == without(word, "bench:") ? of_indicator : of_tag, v, 2, e);
	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		if (*n < most)
			batch[(*n)++] = row[0].i;
	}
	if (!rc && !*n)
		return err_set(e, -EINVAL,
			       "'%.100s' is not a batch, nor an indicator or a tag with trials; "
			       "sonde bench list prints them",
			       word);
	return rc;
}

/* What every trial has, beside the columns of its indicator. */
static const struct {
	const char *column, *unit;
	enum bench_sense sense;
} machine[] = {
	{ "score", NULL, BENCH_MORE_IS_BETTER },
	{ "duration_seconds", "s", BENCH_LESS_IS_BETTER },
	{ "ru_utime", "s", BENCH_LESS_IS_BETTER },
	{ "ru_stime", "s", BENCH_LESS_IS_BETTER },
	{ "ru_maxrss", "KiB", BENCH_LESS_IS_BETTER },
	{ "ru_minflt", NULL, BENCH_NEITHER },
	{ "ru_majflt", NULL, BENCH_NEITHER },
	{ "ru_inblock", NULL, BENCH_NEITHER },
	{ "ru_oublock", NULL, BENCH_NEITHER },
	{ "ru_nvcsw", NULL, BENCH_NEITHER },
	{ "ru_nivcsw", NULL, BENCH_NEITHER },
	{ "peak_memory_bytes", "B", BENCH_LESS_IS_BETTER },
	{ "energy_joules", "J", BENCH_LESS_IS_BETTER },
	{ "energy_apportioned_joules", "J", BENCH_LESS_IS_BETTER },
	{ "load_1m", NULL, BENCH_NEITHER },
	{ "others_ratio", NULL, BENCH_NEITHER },
	{ "waited_ratio", NULL, BENCH_NEITHER },
	{ "steal_ratio", NULL, BENCH_NEITHER },
	{ "throttled_ratio", NULL, BENCH_NEITHER },
	{ "heat_throttles", NULL, BENCH_NEITHER },
	{ "frequency_hertz", "Hz", BENCH_NEITHER },
};
enum { MACHINE = sizeof machine / sizeof machine[0], ROW = 14 };

bool bench_is_figure(const char *name)
{
	for (size_t i = 0; i < MACHINE; i++)
		if (!strcmp(machine[i].column, name))
			return true;
	return false;
}

int64_t bench_newest(struct database *s, struct err *e)
{
	const struct field *row = NULL;
	int rc = database_first(s, "SELECT MAX(id) FROM batches", NULL, 0, &row, e);

	return rc < 0 ? rc : rc && row ? row[0].i : 0;
}

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for the trials of a batch");
}

static const char *keep(struct bench_group *g, const struct field *f)
{
	return f->s ? pool_text(&g->pool, f->s, strlen(f->s)) : NULL;
}

static int read_tags(struct bench_group *g, struct database *s, struct err *e)
{
	const struct field v = field_int(g->batch.id), *row;
	struct bytes b = { 0 };
	int rc = database_query(s, "SELECT tag FROM batch_tags WHERE batch_id = $1 ORDER BY tag",
				&v, 1, e);

	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		bytes_printf(&b, "%s%s", b.len ? ", " : "", row[0].s ? row[0].s : "");
	}
	if (!rc && b.len)
		g->batch.tags = b.failed ? NULL : pool_text(&g->pool, (const char *)b.data, b.len);
	if (!rc && b.len && !g->batch.tags)
		rc = no_memory(e);
	bytes_free(&b);
	return rc;
}

static int read_batch(struct bench_group *g, struct database *s, int64_t id, struct err *e)
{
	const struct field v = field_int(id), *row = NULL;
	int rc = database_first(s,
				"SELECT uid, source, origin, script_sha256, command, user_name, "
				"start_ns, specification, note FROM batches WHERE id = $1",
				&v, 1, &row, e);

	if (rc < 0)
		return rc;
	if (!rc || !row)
		return err_set(e, -ENOENT, "there is no bench:%" PRId64 " in %.300s", id,
			       database_shown(s));
	g->batch = (struct trial_batch){ .uid = keep(g, &row[0]),
					 .source = keep(g, &row[1]),
					 .origin = keep(g, &row[2]),
					 .script_sha256 = keep(g, &row[3]),
					 .command = keep(g, &row[4]),
					 .user = keep(g, &row[5]),
					 .start_ns = row[6].i,
					 .specification = keep(g, &row[7]),
					 .id = id,
					 .note = keep(g, &row[8]) };
	return read_tags(g, s, e);
}

/* That of most of its trials. */
static int read_indicator(struct bench_group *g, struct database *s, struct err *e)
{
	const struct field v = field_int(g->batch.id), *row = NULL;
	int rc = database_first(
		s,
		"SELECT i.name, MIN(t.component) FROM trials t JOIN indicators i ON i.id = "
		"t.indicator_id WHERE t.batch_id = $1 GROUP BY i.name ORDER BY COUNT(*) "
		"DESC, i.name LIMIT 1",
		&v, 1, &row, e);

	if (rc <= 0 || !row)
		return rc;
	g->indicator = keep(g, &row[0]);
	g->component = keep(g, &row[1]);
	if (!g->indicator)
		return no_memory(e);
	rc = indicator_read(s, g->indicator, &g->model, e);
	return rc < 0 ? rc : 0;
}

/* ---- figures ---- */

static int add_figure(struct bench_group *g, const struct bench_figure *f, struct err *e)
{
	void *grown = array_room(g->figure, g->nfigures, &g->figure_cap, sizeof *g->figure);

	if (!grown)
		return no_memory(e);
	g->figure = grown;
	g->figure[g->nfigures++] = *f;
	return 0;
}

enum unit bench_unit(const struct bench_figure *f)
{
	return !f->unit                ? UNIT_ONE
	       : !strcmp(f->unit, "s") ? UNIT_SECONDS
	       : !strcmp(f->unit, "B") ? UNIT_BYTES
	       : !strcmp(f->unit, "J") ? UNIT_JOULES
				       : UNIT_ONE;
}

static bool is_number(const struct model_column *c)
{
	return c->is_result && (c->type == MODEL_INT || c->type == MODEL_REAL);
}

static bool is_word(const struct model_column *c)
{
	return c->is_result &&
	       (c->type == MODEL_TEXT || c->type == MODEL_BOOL || c->type == MODEL_ANY);
}

/* "GB/s", "images/s"; not "ms/step", which is a time. */
static bool is_rate(const char *unit)
{
	size_t n = strlen(unit);

	return n > 2 && !strcmp(unit + n - 2, "/s");
}

/* What a unit tells of what is good; a score's direction tells more. */
static enum bench_sense sense_of(const struct model *m, const struct model_column *c)
{
	static const char *const times[] = { "s", "ms", "us", "ns", "B", "J" };

	if (m->score && !strcmp(m->score, c->name))
		return m->best > m->worst ? BENCH_MORE_IS_BETTER : BENCH_LESS_IS_BETTER;
	for (size_t i = 0; c->unit && i < sizeof times / sizeof times[0]; i++)
		if (!strcmp(c->unit, times[i]))
			return BENCH_LESS_IS_BETTER;
	return c->unit && is_rate(c->unit) ? BENCH_MORE_IS_BETTER : BENCH_NEITHER;
}

/* What a script measured itself stands in the place of what was measured of it by the same name. */
static bool is_own(const struct bench_group *g, const char *name)
{
	for (uint32_t i = 0; i < g->model.ncolumns; i++)
		if (is_number(&g->model.column[i]) && !strcmp(g->model.column[i].name, name))
			return true;
	return false;
}

static int plan_figures(struct bench_group *g, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < g->model.ncolumns && !rc; i++) {
		const struct model_column *c = &g->model.column[i];
		const struct bench_figure f = { .name = c->name,
						.unit = c->unit,
						.sense = sense_of(&g->model, c),
						.is_own = true };

		if (is_number(c))
			rc = add_figure(g, &f, e);
	}
	for (uint32_t i = 0; i < MACHINE && !rc; i++) {
		const struct bench_figure f = { .name = machine[i].column,
						.unit = machine[i].unit,
						.sense = machine[i].sense };

		if (!is_own(g, f.name))
			rc = add_figure(g, &f, e);
	}
	return rc;
}

static int plan_parameters(struct bench_group *g, struct err *e)
{
	g->parameter = calloc(g->model.ncolumns + 1u, sizeof *g->parameter);
	if (!g->parameter)
		return no_memory(e);
	for (uint32_t i = 0; i < g->model.ncolumns; i++)
		if (!g->model.column[i].is_result)
			g->parameter[g->nparameters++].name = g->model.column[i].name;
	g->ntexts = g->nparameters;
	for (uint32_t i = 0; i < g->model.ncolumns; i++)
		if (is_word(&g->model.column[i]))
			g->parameter[g->ntexts++].name = g->model.column[i].name;
	return 0;
}

/* Of a batch with what the script said, of an indicator with what it was asked. */
static void select_trials(struct bytes *sql, const struct bench_group *g, bool all)
{
	bytes_puts(sql, "SELECT t.number, t.start_ns, t.exit_code, t.signal, t.duration_seconds, "
			"t.reason, t.path, t.environment_id, t.host, t.state, t.batch_id, "
			"t.component, t.version, t.peak_memory_kind");
	for (uint32_t i = 0; i < g->nfigures; i++) {
		bytes_puts(sql, g->figure[i].is_own ? ", x." : ", t.");
		indicator_quote(sql, g->figure[i].name);
	}
	for (uint32_t i = 0; i < g->ntexts; i++) {
		bytes_puts(sql, ", x.");
		indicator_quote(sql, g->parameter[i].name);
	}
	bytes_puts(sql, " FROM trials t");
	if (g->indicator)
		bytes_printf(sql, " LEFT JOIN %s x ON x.trial_id = t.id", g->model.table);
	bytes_puts(sql,
		   all ? " WHERE t.indicator_id = $1 OR (t.indicator_id IS NULL AND t.batch_id "
			 "IN (SELECT batch_id FROM trials WHERE indicator_id = $1)) "
			 "ORDER BY t.start_ns, t.batch_id, t.number"
		       : " WHERE t.batch_id = $1 ORDER BY t.number");
	bytes_u8(sql, 0);
}

static int64_t whole(const struct field *f)
{
	return f->type == FIELD_INT ? f->i : -1;
}

/* Room for one more in every column. */
static int grow(struct bench_group *g, struct err *e)
{
	uint32_t cap = g->row_cap;
	void *grown = array_room(g->row, g->ntrials, &g->row_cap, sizeof *g->row);

	if (!grown)
		return no_memory(e);
	g->row = grown;
	for (uint32_t i = 0; i < g->nfigures && g->row_cap != cap; i++) {
		double *value = g->figure[i].value;

		value = reallocarray(value, g->row_cap, sizeof *value);
		if (!value)
			return no_memory(e);
		g->figure[i].value = value;
	}
	for (uint32_t i = 0; i < g->ntexts && g->row_cap != cap; i++) {
		const char **text = g->parameter[i].text;

		text = reallocarray(text, g->row_cap, sizeof *text);
		if (!text)
			return no_memory(e);
		g->parameter[i].text = text;
	}
	return 0;
}

/* A parameter as people write it. */
static const char *keep_value(struct bench_group *g, const struct model_column *c,
			      const struct field *f)
{
	char text[40];

	if (f->type == FIELD_TEXT)
		return keep(g, f);
	if (f->type == FIELD_NULL)
		return NULL;
	if (c->type == MODEL_BOOL)
		snprintf(text, sizeof text, "%s", field_number(f) != 0 ? "true" : "false");
	else if (f->type == FIELD_INT)
		snprintf(text, sizeof text, "%" PRId64, f->i);
	else
		snprintf(text, sizeof text, "%.15g", f->d);
	return pool_text(&g->pool, text, strlen(text));
}

/* A word of ours: it goes into sentences. */
static bool is_kind(const char *text)
{
	return text && *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz")];
}

static int add_row(struct bench_group *g, const struct field *row, struct err *e)
{
	bool failed = !row[9].s || strcmp(row[9].s, "ok") != 0;
	int rc = grow(g, e);

	if (rc)
		return rc;
	g->row[g->ntrials] = (struct bench_row){
		.number = row[0].i,
		.start_ns = row[1].type == FIELD_INT ? row[1].i : 0,
		.exit_code = whole(&row[2]),
		.signal = whole(&row[3]),
		.duration_s = field_number(&row[4]),
		.reason = failed ? keep(g, &row[5]) : NULL,
		.path = keep(g, &row[6]),
		.environment_id = row[7].type == FIELD_INT ? row[7].i : 0,
		.host = keep(g, &row[8]),
		.batch_id = row[10].i,
		.component = keep(g, &row[11]),
		.version = keep(g, &row[12]),
		.memory_kind = is_kind(row[13].s) ? keep(g, &row[13]) : NULL,
	};
	if (failed && !g->row[g->ntrials].reason)
		g->row[g->ntrials].reason = "";
	if (!g->host)
		g->host = g->row[g->ntrials].host;
	for (uint32_t i = 0; i < g->nfigures; i++)
		g->figure[i].value[g->ntrials] = failed ? (double)NAN : field_number(&row[ROW + i]);
	for (uint32_t i = 0; i < g->ntexts; i++)
		g->parameter[i].text[g->ntrials] =
			keep_value(g, model_find(&g->model, g->parameter[i].name),
				   &row[ROW + g->nfigures + i]);
	g->nfailed += failed;
	g->ntrials++;
	return 0;
}

/* Figures without any value go. */
static int describe_figures(struct bench_group *g, struct err *e)
{
	double *known = calloc(g->ntrials + 1u, sizeof *known);
	uint32_t kept = 0;

	if (!known)
		return no_memory(e);
	for (uint32_t i = 0; i < g->nfigures; i++) {
		struct bench_figure f = g->figure[i];
		uint32_t n = 0;

		for (uint32_t k = 0; k < g->ntrials; k++)
			if (isfinite(f.value[k]))
				known[n++] = f.value[k];
		f.d = describe(known, n);
		if (n)
			g->figure[kept++] = f;
		else
			free(f.value);
	}
	g->nfigures = kept;
	free(known);
	return 0;
}

static int read_rows(struct bench_group *g, struct database *s, int64_t id, bool all, struct err *e)
{
	const struct field v = field_int(id), *row;
	struct bytes sql = { 0 };
	int rc;

	select_trials(&sql, g, all);
	rc = sql.failed ? no_memory(e) : database_query(s, (const char *)sql.data, &v, 1, e);
	bytes_free(&sql);
	while (!rc && (rc = database_next(s, &row, e)) > 0)
		rc = add_row(g, row, e);
	if (!rc)
		bench_memory_choose(g);
	if (!rc)
		rc = describe_figures(g, e);
	return rc ? rc : bench_doubts_find(g, e);
}

int bench_group_read(struct bench_group *g, struct database *s, int64_t batch, struct err *e)
{
	int rc = read_batch(g, s, batch, e);

	if (!rc)
		rc = read_indicator(g, s, e);
	if (!rc)
		rc = plan_figures(g, e);
	if (!rc)
		rc = plan_parameters(g, e);
	return rc ? rc : read_rows(g, s, batch, false, e);
}

int bench_group_read_indicator(struct bench_group *g, struct database *s, const char *indicator,
			       struct err *e)
{
	int rc = indicator_read(s, indicator, &g->model, e);

	if (rc < 0)
		return rc;
	if (!rc)
		return err_set(e, -ENOENT,
			       "no trial of '%.100s' is kept in %.300s; sonde bench list has the "
			       "indicators that are",
			       indicator, database_shown(s));
	g->indicator = g->model.name;
	rc = plan_figures(g, e);
	if (!rc)
		rc = plan_parameters(g, e);
	return rc ? rc : read_rows(g, s, g->model.id, true, e);
}

int bench_group_add_parameter(struct bench_group *g, const char *name, const char **text,
			      struct err *e)
{
	void *grown = reallocarray(g->parameter, g->ntexts + 1u, sizeof *g->parameter);

	if (!grown) {
		free(text);
		return no_memory(e);
	}
	g->parameter = grown;
	/* Results stay behind the parameters. */
	memmove(&g->parameter[g->nparameters + 1], &g->parameter[g->nparameters],
		(g->ntexts - g->nparameters) * sizeof *g->parameter);
	g->parameter[g->nparameters++] = (struct bench_parameter){ name, text };
	g->ntexts++;
	return 0;
}

void bench_group_free(struct bench_group *g)
{
	for (uint32_t i = 0; i < g->nfigures; i++)
		free(g->figure[i].value);
	for (uint32_t i = 0; i < g->ntexts; i++)
		free(g->parameter[i].text);
	free(g->figure);
	free(g->parameter);
	free(g->row);
	free(g->doubt);
	model_free(&g->model);
	pool_free(&g->pool);
	*g = (struct bench_group){ 0 };
}
