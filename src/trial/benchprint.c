/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/benchprint.h"

#include "base/text/escape.h"
#include "base/text/json.h"
#include "base/text/number.h"
#include "bench/doubt.h"
#include "bench/trial.h"
#include "console/command.h"
#include "session/history.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which trials of a batch ran beside others, as their facts say. */

enum { JOBS, CPUS, TRIALS };

static const char question[] =
	"SELECT j.text, c.text, COUNT(*) FROM trials t "
	"JOIN environment_facts j ON j.environment_id = t.environment_id AND j.name = 'trial.jobs' "
	"JOIN environment_facts c ON c.environment_id = t.environment_id AND c.name = 'trial.cpus' "
	"WHERE t.batch_id = $1 GROUP BY j.text, c.text ORDER BY j.text, c.text";

/* A fact is a text; 0: it is not a number. */
static int64_t jobs_of(const struct field *row)
{
	const char *at = row[JOBS].s;
	int64_t v;

	return at && number_i64(&at, &v) && v > 0 ? v : 0;
}

static void put(struct bytes *out, int64_t jobs, int64_t trials, uint32_t of, const char *between)
{
	bytes_printf(out, "%s%" PRId64 " of %" PRIu32 " trials ran %" PRId64 " at a time", between,
		     trials, of, jobs);
}

/* "4 of 6 trials ran 2 at a time, each on cores of its own"; nothing, if none did. of: trials of
 * the batch. 0 or -errno with a sentence, as below. */
static int batch_jobs_text(struct database *s, int64_t batch, uint32_t of, struct bytes *out,
			   struct err *e)
{
	const struct field v = field_int(batch), *row;
	int64_t jobs = 0, trials = 0;
	bool any = false;
	int rc = database_query(s, question, &v, 1, e);

	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		if (jobs && jobs_of(row) != jobs) {
			put(out, jobs, trials, of, any ? ", " : "");
			any = true;
			trials = 0;
		}
		jobs = jobs_of(row);
		trials += row[TRIALS].i;
	}
	if (!jobs || rc)
		return rc;
	put(out, jobs, trials, of, any ? ", " : "");
	bytes_puts(out, ", each on cores of its own");
	return 0;
}

/* [{"jobs": 2, "cpus": "0-3", "trials": 3}, ...] */
static int batch_jobs_json(struct database *s, int64_t batch, struct json *j, struct err *e)
{
	const struct field v = field_int(batch), *row;
	int rc = database_query(s, question, &v, 1, e);

	json_array(j);
	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		json_object(j);
		json_put_int(j, "jobs", jobs_of(row));
		json_put_text(j, "cpus", row[CPUS].s);
		json_put_int(j, "trials", row[TRIALS].i);
		json_object_end(j);
	}
	json_array_end(j);
	return rc;
}

/* ---- trials and batches ---- */

enum { REASONS_MAX = 8 };

void benchprint_trial(const struct trial *t, int64_t of)
{
	char took[40] = "";

	if (!isnan(t->duration_s))
		snprintf(took, sizeof took, "%.4g s, ", t->duration_s);
	say("trial %" PRId64 " of %" PRId64 ": %s%s%s", t->number, of, took,
	    *t->reason ? "failed: " : "ok", t->reason);
}

void benchprint_head(struct bytes *b, const struct bench_group *g)
{
	char text[300];

	bytes_printf(b, "bench:%" PRId64 " ", g->batch.id);
	escape_terminal(b, g->indicator ? g->indicator : "(no indicator)");
	if (g->component)
		bytes_printf(b, " (%s)", escape_terminal_into(text, sizeof text, g->component));
	bytes_printf(b, ": %u trial%s, %u failed\n", g->ntrials, g->ntrials == 1 ? "" : "s",
		     g->nfailed);
}

/* Each reason once, with how often. */
static void put_reasons(struct bytes *b, const struct bench_group *g)
{
	const char *seen[REASONS_MAX];
	uint32_t times[REASONS_MAX] = { 0 }, n = 0, others = 0;

	for (uint32_t i = 0; i < g->ntrials; i++) {
		uint32_t k = 0;

		if (!g->row[i].reason)
			continue;
		while (k < n && strcmp(seen[k], g->row[i].reason) != 0)
			k++;
		if (k == REASONS_MAX) {
			others++;
			continue;
		}
		seen[k] = g->row[i].reason;
		times[k]++;
		n += k == n;
	}
	for (uint32_t k = 0; k < n; k++) {
		bytes_printf(b, "  failed (%u): ", times[k]);
		escape_terminal(b, seen[k]);
		bytes_u8(b, '\n');
	}
	if (others)
		bytes_printf(b, "  failed (%u): for other reasons\n", others);
}

/* of: trials that might fail a check. */
static uint32_t count_well(const struct bench_group *g, const bool *left_out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->ntrials; i++)
		n += !g->row[i].reason && !(left_out && left_out[i]);
	return n;
}

static void put_doubts(struct bytes *b, const struct bench_group *g)
{
	for (uint32_t i = 0; i < g->model.nchecks; i++) {
		const struct bench_doubt *first;
		uint32_t n = bench_doubts_of(g, i, NULL, &first);
		struct bytes text = { 0 };

		if (!n)
			continue;
		bench_doubt_text(g, first, n, count_well(g, NULL), &text);
		bytes_u8(&text, 0);
		bytes_puts(b, "  doubtful: ");
		escape_terminal(b, text.failed ? "" : (const char *)text.data);
		bytes_u8(b, '\n');
		bytes_free(&text);
	}
}

void benchprint_say_doubts(const struct bench_group *g, const bool *left_out, const char *verb)
{
	for (uint32_t i = 0; i < g->model.nchecks; i++) {
		const struct bench_doubt *first;
		uint32_t n = bench_doubts_of(g, i, left_out, &first);
		struct bytes text = { 0 };

		if (!n)
			continue;
		bench_doubt_text(g, first, n, count_well(g, left_out), &text);
		bytes_u8(&text, 0);
		if (!text.failed)
			say("%s: %s", verb, (const char *)text.data);
		bytes_free(&text);
	}
}

static void put_noise(struct bytes *b, const struct bench_group *g, const struct noises *x)
{
	if (!x->n)
		return;
	bytes_puts(b, "  noise: ");
	noises_text(x, g, b);
	bytes_u8(b, '\n');
}

int benchprint_say_noise(const struct bench_group *g, const char *verb, struct err *e)
{
	struct bytes text = { 0 };
	struct noises x;
	int rc = noises_find(&x, g, e);

	if (!rc && x.n) {
		noises_text(&x, g, &text);
		bytes_u8(&text, 0);
		if (!text.failed)
			say("%s: bench:%" PRId64 ": %s", verb, g->batch.id,
			    (const char *)text.data);
	}
	bytes_free(&text);
	noises_free(&x);
	return rc;
}

void benchprint_say_memory(const struct bench_group *g, const char *verb)
{
	struct bytes text = { 0 };

	bench_memory_text(g, &text);
	bytes_u8(&text, 0);
	if (!text.failed && *text.data && g->batch.id)
		say("%s: bench:%" PRId64 ": %s", verb, g->batch.id, (const char *)text.data);
	else if (!text.failed && *text.data)
		say("%s: %s", verb, (const char *)text.data);
	bytes_free(&text);
}

static void put_memory(struct bytes *b, const struct bench_group *g)
{
	if (!g->memory_left_out)
		return;
	bytes_puts(b, "  ");
	bench_memory_text(g, b);
	bytes_u8(b, '\n');
}

static void put_number(struct bytes *b, double v)
{
	char text[32] = "-";

	if (!isnan(v))
		snprintf(text, sizeof text, "%.4g", v);
	bytes_printf(b, " %10s", text);
}

static void figure_line(struct bytes *b, const struct bench_figure *f)
{
	const double v[] = { f->d.mean, f->d.median, f->d.sd,  f->d.sem, f->d.q1,  f->d.q3,
			     f->d.iqr,  f->d.min,    f->d.max, f->d.cv,  f->d.skew };
	struct bytes name = { 0 };

	escape_terminal(&name, f->name);
	if (f->unit) {
		bytes_puts(&name, " [");
		escape_terminal(&name, f->unit);
		bytes_puts(&name, "]");
	}
	bytes_u8(&name, 0);
	bytes_printf(b, "  %-26s %5u", name.failed ? "" : (const char *)name.data, f->d.n);
	bytes_free(&name);
	for (size_t i = 0; i < sizeof v / sizeof v[0]; i++)
		put_number(b, v[i]);
	bytes_u8(b, '\n');
}

static int put_jobs(struct bytes *b, struct database *s, const struct bench_group *g, struct err *e)
{
	struct bytes text = { 0 };
	int rc = batch_jobs_text(s, g->batch.id, g->ntrials, &text, e);

	if (text.len)
		bytes_printf(b, "  side by side: %.*s\n", (int)text.len, (const char *)text.data);
	bytes_free(&text);
	return rc;
}

static int stats_text(struct bytes *b, struct database *s, const struct bench_group *g,
		      const struct noises *x, struct err *e)
{
	static const char *const heads[] = { "MEAN", "MEDIAN", "SD",  "SE", "Q1",  "Q3",
					     "IQR",  "MIN",    "MAX", "CV", "SKEW" };

	int rc;

	benchprint_head(b, g);
	put_reasons(b, g);
	put_doubts(b, g);
	put_noise(b, g, x);
	put_memory(b, g);
	rc = put_jobs(b, s, g, e);
	if (g->nfigures)
		bytes_printf(b, "  %-26s %5s", "", "N");
	for (size_t i = 0; g->nfigures && i < sizeof heads / sizeof heads[0]; i++)
		bytes_printf(b, " %10s", heads[i]);
	if (g->nfigures)
		bytes_u8(b, '\n');
	for (uint32_t i = 0; i < g->nfigures; i++)
		figure_line(b, &g->figure[i]);
	return rc;
}

static void figure_json(struct json *j, const struct bench_figure *f)
{
	const struct description *d = &f->d;

	json_key(j, f->name);
	json_object(j);
	json_key(j, "unit");
	json_text(j, f->unit);
	json_key(j, "n");
	json_int(j, d->n);
	json_put_real(j, "mean", d->mean);
	json_put_real(j, "median", d->median);
	json_put_real(j, "sd", d->sd);
	json_put_real(j, "se", d->sem);
	json_put_real(j, "min", d->min);
	json_put_real(j, "q1", d->q1);
	json_put_real(j, "q3", d->q3);
	json_put_real(j, "max", d->max);
	json_put_real(j, "iqr", d->iqr);
	json_put_real(j, "cv", d->cv);
	json_put_real(j, "cv_median", d->cv_median);
	json_put_real(j, "skew", d->skew);
	json_object_end(j);
}

static void doubts_json(struct json *j, const struct bench_group *g)
{
	json_key(j, "doubtful");
	json_array(j);
	for (uint32_t i = 0; i < g->ndoubts; i++) {
		const struct bench_doubt *x = &g->doubt[i];

		json_object(j);
		json_put_int(j, "trial", g->row[x->row].number);
		json_put_text(j, "check", g->model.check[x->check].text);
		json_put_real(j, "reported", x->reported);
		json_put_real(j, "computed", x->computed);
		json_object_end(j);
	}
	json_array_end(j);
}

static void noise_json(struct json *j, const struct bench_group *g, const struct noises *x)
{
	json_key(j, "disturbed");
	json_array(j);
	for (uint32_t i = 0; i < x->n; i++) {
		json_object(j);
		json_put_int(j, "trial", g->row[x->noise[i].row].number);
		json_put_text(j, "why", x->noise[i].why);
		json_object_end(j);
	}
	json_array_end(j);
	json_put_bool(j, "worth_little", x->worth_little);
}

static int group_json(struct json *j, struct database *s, const struct bench_group *g,
		      const struct noises *x, struct err *e)
{
	int rc;

	json_object(j);
	json_key(j, "batch");
	json_int(j, g->batch.id);
	json_key(j, "indicator");
	json_text(j, g->indicator);
	json_key(j, "component");
	json_text(j, g->component);
	json_key(j, "origin");
	json_text(j, g->batch.origin);
	json_key(j, "trials");
	json_int(j, g->ntrials);
	json_key(j, "failed");
	json_array(j);
	for (uint32_t i = 0; i < g->ntrials; i++) {
		if (!g->row[i].reason)
			continue;
		json_object(j);
		json_key(j, "trial");
		json_int(j, g->row[i].number);
		json_key(j, "reason");
		json_text(j, g->row[i].reason);
		json_object_end(j);
	}
	json_array_end(j);
	doubts_json(j, g);
	noise_json(j, g, x);
	json_put_text(j, "peak_memory_kind", g->memory_kind);
	json_put_int(j, "peak_memory_left_out", g->memory_left_out);
	json_key(j, "side_by_side");
	rc = batch_jobs_json(s, g->batch.id, j, e);
	json_key(j, "figures");
	json_object(j);
	for (uint32_t i = 0; i < g->nfigures; i++)
		figure_json(j, &g->figure[i]);
	json_object_end(j);
	json_object_end(j);
	return rc;
}

int benchprint_stats(struct database *s, const int64_t *batch, uint32_t n, bool json)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b, .indent = true };
	struct err e = { "" };
	int rc = 0;

	if (json) {
		json_object(&j);
		json_key(&j, "schema");
		json_text(&j, "sonde/bench-stats/1");
		json_key(&j, "batches");
		json_array(&j);
	}
	for (uint32_t i = 0; i < n && !rc; i++) {
		struct bench_group g = { 0 };
		struct noises x = { 0 };

		rc = bench_group_read(&g, s, batch[i], &e);
		if (!rc)
			rc = noises_find(&x, &g, &e);
		if (!rc && json)
			rc = group_json(&j, s, &g, &x, &e);
		else if (!rc)
			rc = stats_text(&b, s, &g, &x, &e);
		noises_free(&x);
		bench_group_free(&g);
	}
	if (rc) {
		say("bench: %s", e.text);
		bytes_free(&b);
		return EXIT_FAILED;
	}
	if (json) {
		json_array_end(&j);
		json_object_end(&j);
		bytes_u8(&b, '\n');
	}
	return print_bytes(&b);
}

#define SWEEP_WORD "sweep:"
#define BENCH_WORD "bench:"

/* Of a batch, its trials alone. */
static int read_batch(struct campaign *c, struct database *s, int64_t batch, struct err *e)
{
	const struct field v = field_int(batch), *row = NULL;
	char name[CONTRACT_NAME + 1], condition[64];
	int rc = database_first(s,
				"SELECT i.name FROM trials t JOIN indicators i ON i.id = "
				"t.indicator_id WHERE t.batch_id = $1 ORDER BY t.number LIMIT 1",
				&v, 1, &row, e);

	if (rc <= 0 || !row)
		return rc < 0 ? rc
			      : err_set(e, -ENOENT,
					"no trial of bench:%" PRId64
					" said what it measures; sonde "
					"bench list lists batches",
					batch);
	snprintf(name, sizeof name, "%s", row[0].s);
	snprintf(condition, sizeof condition, "batch=%" PRId64, batch);
	rc = campaign_read(c, s, name, e);
	return rc ? rc : campaign_where(c, condition, e);
}

const char *benchask_indicator(const char *word)
{
	return strncmp(word, BENCH_WORD, strlen(BENCH_WORD)) ? word : word + strlen(BENCH_WORD);
}

int benchask_campaign(struct campaign *c, struct database *s, const char *word, struct err *e)
{
	int64_t batch = bench_batch_id(word);

	if (!strncmp(word, SWEEP_WORD, strlen(SWEEP_WORD)))
		return campaign_read_sweep(c, s, word + strlen(SWEEP_WORD), e);
	if (batch)
		return read_batch(c, s, batch, e);
	return campaign_read(c, s, benchask_indicator(word), e);
}

int benchask_read(struct campaign *c, const struct bench_figure **f, const struct benchask *ask,
		  const char *verb, const char *indicator, struct err *e)
{
	const struct history_options where = { .store = ask->store };
	struct database *s = NULL;
	int rc;

	if (!indicator)
		return err_set(e, -EINVAL,
			       "no indicator given: sonde %s INDICATOR; sonde bench list lists "
			       "them",
			       verb);
	rc = history_open(&s, &where, verb, e);
	if (!rc)
		rc = benchask_campaign(c, s, indicator, e);
	database_close(s);
	for (uint32_t i = 0; i < ask->where.n && !rc; i++)
		rc = campaign_where(c, ask->where.text[i], e);
	rc = rc ? rc : campaign_choose(c, ask->column, f, e);
	if (!rc && !strcmp((*f)->name, "peak_memory_bytes"))
		benchprint_say_memory(&c->g, verb);
	return rc;
}

void benchask_say_silent(const struct campaign *c, const char *verb)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->g.ntrials; i++)
		n += !c->left_out[i] && !campaign_said(c, i);
	if (n)
		say("%s: %u trial%s failed before %s said what %s", verb, n, n == 1 ? "" : "s",
		    n == 1 ? "it" : "they", n == 1 ? "it was" : "they were");
}

const char *benchask_number(const struct bench_figure *f, double v, char *out, size_t size)
{
	enum unit u = bench_unit(f);

	if (isnan(v))
		snprintf(out, size, "-");
	else if (u != UNIT_ONE)
		unit_format(u, v, out, size);
	else
		snprintf(out, size, "%.5g%s%.40s", v, f->unit ? " " : "", f->unit ? f->unit : "");
	return out;
}

const char *benchask_trial(const struct campaign *c, uint32_t trial, char *out, size_t size)
{
	snprintf(out, size, "bench:%" PRId64 "/%" PRId64, c->g.row[trial].batch_id,
		 c->g.row[trial].number);
	return out;
}

const char *benchask_trials(uint32_t n, char *out, size_t size)
{
	snprintf(out, size, "%u trial%s", n, n == 1 ? "" : "s");
	return out;
}

void benchask_trial_json(struct json *j, const struct campaign *c, uint32_t trial)
{
	json_object(j);
	json_put_int(j, "batch", c->g.row[trial].batch_id);
	json_put_int(j, "trial", c->g.row[trial].number);
	json_key(j, "start");
	if (c->g.row[trial].start_ns)
		json_time(j, c->g.row[trial].start_ns);
	else
		json_null(j);
	json_object_end(j);
}

void benchask_parameters_json(struct json *j, const struct campaign *c, uint32_t trial)
{
	json_key(j, "parameters");
	json_object(j);
	for (uint32_t i = 0; i < c->g.nparameters; i++)
		if (c->g.parameter[i].text[trial])
			json_put_text(j, c->g.parameter[i].name, c->g.parameter[i].text[trial]);
	json_object_end(j);
}

const char *benchask_better(const struct bench_figure *f)
{
	return f->sense == BENCH_LESS_IS_BETTER   ? "less"
	       : f->sense == BENCH_MORE_IS_BETTER ? "more"
						  : NULL;
}
