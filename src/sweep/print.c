/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/sweeping.h"

#include "base/text/escape.h"
#include "bench/group.h"
#include "console/command.h"
#include "output/outfile.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What came of a combination. */
struct outcome {
	uint32_t trials, failed;
	int64_t missing;
	double score, result, duration_s; /* medians; NAN: none */
	double shown;                     /* of the figure of the table */
	const char *reason;               /* of the first that failed */
};

static uint32_t excluded(const struct sweep_space *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->combinations; i++)
		n += s->excluded[i];
	return n;
}

/* ---- the heads ---- */

/* "; 96 trials in 2 rounds: 8 x 6, 4 x 12" */
static void text_rounds(struct bytes *b, const struct halving *h)
{
	int64_t before = 0;

	bytes_printf(b, "; %" PRId64 " trials in %u round%s:", h->trials, h->nrounds,
		     h->nrounds == 1 ? "" : "s");
	for (uint32_t i = 0; i < h->nrounds; i++) {
		bytes_printf(b, "%s %u x %" PRId64, i ? "," : "", h->round[i].combinations,
			     h->round[i].trials - before);
		before = h->round[i].trials;
	}
	bytes_u8(b, '\n');
}

static void json_rounds(struct json *j, const struct sweeping *x)
{
	json_key(j, "rounds");
	json_array(j);
	for (uint32_t i = 0; i < x->halving.nrounds; i++) {
		json_object(j);
		json_put_int(j, "combinations", x->halving.round[i].combinations);
		json_put_int(j, "trials", x->halving.round[i].trials);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_head(struct json *j, const struct sweeping *x)
{
	json_object(j);
	json_put_text(j, "schema", "sonde/bench-sweep/1");
	json_put_text(j, "sweep", x->uid);
	json_put_text(j, "identifier", x->spec.identifier);
	json_put_text(j, "decision", sweep_decision_names[x->spec.decision]);
	json_put_int(j, "seed", x->spec.seed);
	json_put_text(j, "result_name", x->spec.result);
	json_put_text(j, "order", sweep_order_names[x->spec.order]);
	json_put_int(j, "batch_size", x->spec.batch_size);
	json_rounds(j, x);
	json_put_int(j, "combinations", x->space.combinations);
	json_put_int(j, "excluded", excluded(&x->space));
}

static void text_head(struct bytes *b, const struct sweeping *x)
{
	bytes_printf(b, "sweep %s (%s", x->uid, sweep_decision_names[x->spec.decision]);
	if (x->spec.decision != SWEEP_ALL)
		bytes_printf(b, ", seed %" PRId64, x->spec.seed);
	bytes_printf(b, "): %u of %u combinations, %u excluded", x->nswept, x->space.combinations,
		     excluded(&x->space));
	if (x->spec.decision == SWEEP_HALVING) {
		text_rounds(b, &x->halving);
		return;
	}
	bytes_printf(b, "; %" PRId64 " trial%s of each%s\n", x->spec.batch_size,
		     x->spec.batch_size == 1 ? "" : "s",
		     x->spec.batch_size > 1 && x->spec.order == SWEEP_ROUNDS &&
				     !sweep_needs_results(x->spec.decision)
			     ? ", in rounds"
			     : "");
}

static void json_where(struct json *j, const struct sweeping *x, const struct swept *p)
{
	json_put_int(j, "combination", p->combination + 1);
	json_put_text(j, "stack", sweeping_stack(x, p));
	json_put_text(j, "environment", sweeping_environment(x, p));
	json_key(j, "parameters");
	json_object(j);
	for (uint32_t i = 0; i < x->spec.nparameters; i++)
		json_put_text(j, x->spec.parameter[i].name,
			      x->spec.parameter[i].values.word[p->at[SWEEP_AXIS_PARAMETER + i]]);
	json_object_end(j);
}

/* "host, plain: A=1 B=2" */
static void text_where(struct bytes *b, const struct sweeping *x, const struct swept *p)
{
	escape_terminal(b, sweeping_stack(x, p));
	bytes_puts(b, ", ");
	escape_terminal(b, sweeping_environment(x, p));
	for (uint32_t i = 0; i < x->spec.nparameters; i++) {
		bytes_puts(b, i ? " " : ": ");
		escape_terminal(b, x->spec.parameter[i].name);
		bytes_u8(b, '=');
		escape_terminal(b,
				x->spec.parameter[i].values.word[p->at[SWEEP_AXIS_PARAMETER + i]]);
	}
	bytes_u8(b, '\n');
}

static void put_skipped(struct bytes *b, struct json *j, const struct sweeping *x)
{
	if (j) {
		json_key(j, "skipped");
		json_array(j);
	}
	for (uint32_t i = 0; i < x->nswept; i++) {
		const struct swept *p = x->swept[i];

		if (!p->skipped)
			continue;
		if (j) {
			json_object(j);
			json_where(j, x, p);
			json_put_text(j, "reason", p->skipped);
			json_object_end(j);
			continue;
		}
		bytes_puts(b, "skipped     ");
		text_where(b, x, p);
		bytes_puts(b, "            ");
		escape_terminal(b, p->skipped);
		bytes_u8(b, '\n');
	}
	if (j)
		json_array_end(j);
}

/* ---- what would be ---- */

int sweepprint_plan(struct sweeping *x)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b, .indent = true };

	if (x->o->json) {
		json_head(&j, x);
		json_key(&j, "would_run");
		json_array(&j);
	} else {
		text_head(&b, x);
		if (sweep_needs_results(x->spec.decision))
			bytes_puts(&b, "It begins with the first one; the next depend on its "
				       "results.\n");
	}
	for (uint32_t i = 0; i < x->nswept; i++) {
		if (x->swept[i]->skipped)
			continue;
		if (x->o->json) {
			json_object(&j);
			json_where(&j, x, x->swept[i]);
			json_object_end(&j);
		} else {
			bytes_printf(&b, "%6u  ", x->swept[i]->combination + 1);
			text_where(&b, x, x->swept[i]);
		}
	}
	if (x->o->json) {
		json_array_end(&j);
		if (*x->lacks)
			json_put_text(&j, "skipped", x->lacks);
		else
			put_skipped(&b, &j, x);
		json_object_end(&j);
		bytes_u8(&b, '\n');
		return print_bytes(&b);
	}
	put_skipped(&b, NULL, x);
	if (*x->lacks) {
		bytes_puts(&b, "None of them would be run: ");
		escape_terminal(&b, x->lacks);
		bytes_u8(&b, '\n');
	}
	return print_bytes(&b);
}

/* ---- what was ---- */

static double median_of(const struct bench_group *g, const char *name)
{
	for (uint32_t i = 0; name && i < g->nfigures; i++)
		if (!strcmp(g->figure[i].name, name))
			return g->figure[i].d.median;
	return NAN;
}

/* What a table shows when nothing says what decides: the score, else a result of which is known
 * what is better, else any. NULL: there is none. */
static const char *figure_shown(const struct bench_group *g)
{
	const char *first = NULL;

	for (uint32_t i = 0; i < g->nfigures; i++)
		if (!strcmp(g->figure[i].name, "score"))
			return "score";
	for (uint32_t i = 0; i < g->nfigures; i++) {
		const struct bench_figure *f = &g->figure[i];

		if (f->is_own && f->sense != BENCH_NEITHER)
			return f->name;
		if (f->is_own && !first)
			first = f->name;
	}
	return first;
}

/* Of the first combination that has one; in the sweep's pool. */
static int find_shown(struct sweeping *x, const char **name, struct err *e)
{
	int rc = 0;

	*name = x->spec.result;
	for (uint32_t i = 0; i < x->nswept && !rc && !*name; i++) {
		struct bench_group g = { 0 };
		const char *found;

		if (x->swept[i]->skipped)
			continue;
		rc = bench_group_read(&g, x->store.database, x->swept[i]->batch.id, e);
		found = rc ? NULL : figure_shown(&g);
		if (found) {
			*name = pool_text(&x->pool, found, strlen(found));
			rc = *name ? 0 : err_set(e, -ENOMEM, "out of memory for a table");
		}
		bench_group_free(&g);
	}
	return rc;
}

static int look(struct sweeping *x, const struct swept *p, const char *shown, struct outcome *o,
		struct err *e)
{
	struct bench_group g = { 0 };
	int rc = bench_group_read(&g, x->store.database, p->batch.id, e);

	*o = (struct outcome){ .score = NAN, .result = NAN, .duration_s = NAN, .shown = NAN };
	if (!rc) {
		o->trials = g.ntrials;
		o->failed = g.nfailed;
		o->missing = p->wanted;
		o->score = median_of(&g, "score");
		o->result = median_of(&g, x->spec.result);
		o->duration_s = median_of(&g, "duration_seconds");
		o->shown = median_of(&g, shown);
	}
	/* An earlier sweep may have run more of them than this one asks for. */
	for (uint32_t i = 0; i < g.ntrials && !rc; i++)
		o->missing -= g.row[i].number <= p->wanted;
	for (uint32_t i = 0; i < g.ntrials && !rc && !o->reason; i++)
		if (g.row[i].reason)
			o->reason = pool_text(&x->pool, g.row[i].reason, strlen(g.row[i].reason));
	if (!o->reason && o->missing)
		o->reason = p->missing;
	bench_group_free(&g);
	return rc;
}

static void json_response(struct json *j, struct sweeping *x, const struct swept *p,
			  const struct outcome *o)
{
	json_object(j);
	json_where(j, x, p);
	json_put_int(j, "batch", p->batch.id);
	json_put_int(j, "trials", o->trials);
	json_put_int(j, "failed", o->failed);
	json_put_int(j, "missing", o->missing);
	json_put_text(j, "reason", o->reason);
	json_put_real(j, "score", o->score);
	json_put_real(j, "result", o->result);
	json_put_real(j, "duration_seconds", o->duration_s);
	json_object_end(j);
}

static void put_cell(struct bytes *b, double v)
{
	char text[32] = "-";

	if (!isnan(v))
		snprintf(text, sizeof text, "%.4g", v);
	bytes_printf(b, "  %10s", text);
}

static void text_response(struct bytes *b, struct sweeping *x, const struct swept *p,
			  const struct outcome *o)
{
	char id[32];

	snprintf(id, sizeof id, "bench:%" PRId64, p->batch.id);
	bytes_printf(b, "%-10s  %6u  %6u", id, o->trials, o->failed);
	put_cell(b, o->duration_s);
	put_cell(b, o->shown);
	bytes_puts(b, "  ");
	text_where(b, x, p);
	if (!o->reason)
		return;
	bytes_puts(b, o->failed ? "            failed: " : "            missing: ");
	escape_terminal(b, o->reason);
	bytes_u8(b, '\n');
}

static int put_report(struct bytes *b, struct bytes *text, struct sweeping *x, bool *well,
		      struct err *e)
{
	struct json j = { .out = b, .indent = true };
	struct outcome o;
	const char *shown, *heading;
	char name[64];
	int rc = find_shown(x, &shown, e);

	heading = !shown || (!x->spec.result && !strcmp(shown, "score")) ? "SCORE" : shown;
	text_head(text, x);
	bytes_printf(text, "%-10s  %6s  %6s  %10s  %10.10s  %s\n", "BATCH", "TRIALS", "FAILED",
		     "SECONDS", escape_terminal_into(name, sizeof name, heading),
		     "STACK, ENVIRONMENT: PARAMETERS");
	json_head(&j, x);
	json_put_text(&j, "directory", x->sweep.directory);
	put_skipped(b, &j, x);
	json_key(&j, "responses");
	json_array(&j);
	*well = !x->refused;
	for (uint32_t i = 0; i < x->nswept && !rc; i++) {
		if (x->swept[i]->skipped)
			continue;
		rc = look(x, x->swept[i], shown, &o, e);
		if (rc)
			break;
		*well &= !o.failed && !o.missing;
		json_response(&j, x, x->swept[i], &o);
		text_response(text, x, x->swept[i], &o);
	}
	json_array_end(&j);
	if (x->best)
		json_put_int(&j, "best", x->best->combination + 1);
	json_object_end(&j);
	bytes_u8(b, '\n');
	if (x->best) {
		bytes_printf(text, "best        bench:%" PRId64 ", ", x->best->batch.id);
		text_where(text, x, x->best);
	}
	put_skipped(text, NULL, x);
	return rc;
}

static int keep_report(const struct sweeping *x, const struct bytes *b, struct err *e)
{
	struct outfile f;
	int rc = outfile_open(&f, x->sweep.directory, "report.json", e);

	if (rc)
		return rc;
	if (fwrite(b->data, 1, b->len, f.file) != b->len)
		rc = err_set(e, -EIO, "cannot write %.300s: %s", f.path, strerror(errno));
	return outfile_close(&f, rc, e);
}

int sweepprint_report(struct sweeping *x, bool *well)
{
	struct bytes b = { 0 }, text = { 0 };
	struct err e = { "" };
	int rc = put_report(&b, &text, x, well, &e), code = EXIT_FAILED;

	if (!rc)
		rc = keep_report(x, &b, &e);
	if (rc)
		say("bench sweep: %s", e.text);
	else
		code = print_bytes(x->o->json ? &b : &text);
	bytes_free(&b);
	bytes_free(&text);
	return code;
}
