/* SPDX-License-Identifier: Apache-2.0 */
/* comparison_json.c - docs/schema/compare.json is its schema. */
#include "base/text/json.h"
#include "report/comparison/comparison.h"

#include <math.h>

static void put_runs(struct json *j, const struct comparison *x, const char *key,
		     enum comparison_group group)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < x->nruns; i++) {
		const struct comparison_run *run = &x->run[i];

		if (run->group != group)
			continue;
		json_object(j);
		json_put_text(j, "recording", run->path);
		json_put_text(j, "command", run->command);
		json_key(j, "start");
		if (run->start_utc_ns)
			json_time(j, run->start_utc_ns);
		else
			json_null(j);
		json_key(j, "hosts");
		json_int(j, run->hosts);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_facts(struct json *j, const struct comparison *x)
{
	json_key(j, "differences");
	json_array(j);
	for (uint32_t i = 0; i < x->nfacts; i++) {
		json_object(j);
		json_put_text(j, "of", x->fact[i].what);
		json_put_text(j, "key", x->fact[i].key);
		json_put_text(j, "a", x->fact[i].a);
		json_put_text(j, "b", x->fact[i].b);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_values(struct json *j, const struct comparison *x,
		       const struct comparison_figure *f, const char *key,
		       enum comparison_group group)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < x->nruns; i++)
		if (x->run[i].group == group)
			json_real(j, f->value[i]);
	json_array_end(j);
}

/* Members of an open object. */
static void put_figure(struct json *j, const struct comparison *x,
		       const struct comparison_figure *f)
{
	const struct compared *r = &f->result;
	double whole = fabs(r->a);

	json_put_text(j, "unit", f->unit_text ? f->unit_text : unit_name(f->unit));
	json_put_text(j, "finding", comparison_word(f));
	json_put_real(j, "a", r->a);
	json_put_real(j, "b", r->b);
	json_put_real(j, "difference", r->difference);
	json_put_real(j, "low", r->low);
	json_put_real(j, "high", r->high);
	json_put_real(j, "difference_ratio", r->difference / whole);
	json_put_real(j, "low_ratio", r->low / whole);
	json_put_real(j, "high_ratio", r->high / whole);
	json_put_real(j, "margin", r->margin);
	json_put_real(j, "p_different", r->p);
	json_put_real(j, "p_without_drift", r->p_drift);
	json_put_real(j, "p_not_same", r->p_same);
	json_put_real(j, "p_ranks", r->p_ranks);
	json_put_real(j, "effect", r->effect);
	json_put_real(j, "spread", r->spread);
	json_key(j, "spread_from_history");
	json_int(j, f->history);
	json_put_real(j, "drift_per_run", r->drift);
	json_put_real(j, "likeness_of_neighbours", r->likeness);
	json_put_real(j, "interval_widened", r->widened);
	json_key(j, "repeats_needed");
	if (f->repeats)
		json_int(j, f->repeats);
	else
		json_null(j);
	put_values(j, x, f, "values_a", GROUP_A);
	put_values(j, x, f, "values_b", GROUP_B);
}

static void put_gate(struct json *j, const struct comparison *x)
{
	json_key(j, "gate");
	json_array(j);
	for (uint32_t i = 0; i < x->nconditions; i++) {
		const struct comparison_condition *c = &x->condition[i];

		json_object(j);
		json_put_text(j, "condition", c->text);
		json_put_text(j, "figure", c->quantity);
		json_put_text(j, "verdict", comparison_verdict(c->verdict));
		json_put_real(j, "p_corrected", c->p);
		put_figure(j, x, &c->figure);
		json_object_end(j);
	}
	json_array_end(j);
}

void comparison_json(struct bytes *b, const struct comparison *x)
{
	struct json j = { .out = b, .indent = true };
	struct bytes sentence = { 0 }, advice = { 0 };

	comparison_sentence(&sentence, x);
	bytes_u8(&sentence, '\0');
	comparison_advice(&advice, x);
	bytes_u8(&advice, '\0');
	json_object(&j);
	json_put_text(&j, "schema", "sonde/compare/1");
	json_put_text(&j, "verdict", comparison_verdict(x->verdict));
	json_put_text(&j, "sentence", sentence.failed ? NULL : (const char *)sentence.data);
	json_put_text(&j, "advice", advice.len > 1 ? (const char *)advice.data : NULL);
	json_put_real(&j, "level", x->level);
	json_put_real(&j, "margin_ratio", x->margin);
	put_runs(&j, x, "runs_a", GROUP_A);
	put_runs(&j, x, "runs_b", GROUP_B);
	put_runs(&j, x, "history", GROUP_HISTORY);
	put_facts(&j, x);
	put_gate(&j, x);
	json_key(&j, "figures");
	json_array(&j);
	for (uint32_t i = 0; i < x->nfigures; i++) {
		if (x->figure[i].result.finding == COMPARE_UNKNOWN)
			continue;
		json_object(&j);
		json_put_text(&j, "name", x->figure[i].name);
		put_figure(&j, x, &x->figure[i]);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_key(&j, "blame");
	blame_json(&j, &x->blame);
	json_object_end(&j);
	bytes_puts(b, "\n");
	b->failed |= sentence.failed || advice.failed;
	bytes_free(&sentence);
	bytes_free(&advice);
}
