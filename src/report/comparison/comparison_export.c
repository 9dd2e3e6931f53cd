/* SPDX-License-Identifier: Apache-2.0 */
/* comparison_export.c - a comparison as JSON and as Markdown. */
#include "base/text/escape.h"
#include "base/text/json.h"
#include "report/comparison/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- for programs: docs/schema/compare.json is its schema ---- */

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
	for (int i = 0; i < BLAME_SUBJECTS; i++) {
		json_key(&j, blame_words[i].key);
		blame_json(&j, &x->blame[i]);
	}
	json_object_end(&j);
	bytes_puts(b, "\n");
	b->failed |= sentence.failed || advice.failed;
	bytes_free(&sentence);
	bytes_free(&advice);
}

/* ---- for a pull request ---- */

/*
 * For a pull request: the verdict, what differs of the machines folded
 * away, the gate, the figures people quote.
 *
 * Hostile text is escaped for HTML, which Markdown lets through, and for Markdown.
 */

enum { TEXT_MOST = 160, FIGURES_MOST = 40 };

static void text(struct bytes *b, const char *hostile)
{
	char shown[TEXT_MOST];

	escape_terminal_into(shown, sizeof shown, hostile);
	escape_markdown(b, shown);
}

/* Takes the text. */
static void said(struct bytes *b, struct bytes *text)
{
	struct bytes safe = { 0 };

	bytes_u8(text, '\0');
	if (!text->failed)
		escape_terminal(&safe, (const char *)text->data);
	bytes_u8(&safe, '\0');
	if (!safe.failed)
		escape_markdown(b, (const char *)safe.data);
	b->failed |= text->failed || safe.failed;
	bytes_free(text);
	bytes_free(&safe);
}

static void sentence(struct bytes *b, void (*make)(struct bytes *b, const struct comparison *x),
		     const struct comparison *x)
{
	struct bytes text = { 0 };

	make(&text, x);
	said(b, &text);
}

static void row(struct bytes *b, const char *name, const char *word,
		const struct comparison_figure *f)
{
	char a[64] = "", bb[64] = "", change[64], low[64], high[64], title[256];

	bytes_puts(b, "| ");
	text(b, comparison_title(f, name, title, sizeof title));
	bytes_printf(b, " | %s | %s | %s | ",
		     isnan(f->result.a) ? "" : unit_format(f->unit, f->result.a, a, sizeof a),
		     isnan(f->result.b) ? "" : unit_format(f->unit, f->result.b, bb, sizeof bb),
		     comparison_change(f, f->result.difference, change, sizeof change));
	if (!isnan(f->result.low))
		bytes_printf(b, "%s to %s", comparison_change(f, f->result.low, low, sizeof low),
			     comparison_change(f, f->result.high, high, sizeof high));
	bytes_puts(b, " | ");
	if (comparison_has_effect(f))
		bytes_printf(b, "%+.2f", f->result.effect);
	bytes_printf(b, " | %s |\n", word);
}

static void head(struct bytes *b, const char *what)
{
	bytes_printf(b,
		     "| %s | A | B | B - A | 95 %% interval | effect | |\n"
		     "|---|--:|--:|--:|:-:|--:|---|\n",
		     what);
}

static void gate(struct bytes *b, const struct comparison *x)
{
	head(b, "fails on");
	for (uint32_t i = 0; i < x->nconditions; i++) {
		const struct comparison_condition *c = &x->condition[i];
		char word[32];

		snprintf(word, sizeof word, c->verdict == GATE_FAILED ? "**%s**" : "%s",
			 comparison_verdict(c->verdict));
		row(b, c->text, word, &c->figure);
	}
}

static void figures(struct bytes *b, const struct comparison *x)
{
	uint32_t told = 0;

	bytes_puts(b, "\n<details><summary>Figures</summary>\n\n");
	head(b, "");
	for (uint32_t i = 0; i < x->nfigures; i++) {
		const struct comparison_figure *f = &x->figure[i];
		bool differs =
			f->result.finding == COMPARE_MORE || f->result.finding == COMPARE_LESS;

		if (f->result.finding != COMPARE_UNKNOWN &&
		    (f->leads || (differs && told++ < FIGURES_MOST)))
			row(b, f->name, isnan(f->result.low) ? "" : comparison_word(f), f);
	}
	bytes_puts(b, "\n</details>\n");
}

static void facts(struct bytes *b, const struct comparison *x)
{
	if (!x->nfacts)
		return;
	bytes_printf(b,
		     "<details><summary>%u difference%s of hardware, software or settings"
		     "</summary>\n\n| | | A | B |\n|---|---|---|---|\n",
		     x->nfacts, x->nfacts == 1 ? "" : "s");
	for (uint32_t i = 0; i < x->nfacts; i++) {
		const struct comparison_fact *f = &x->fact[i];

		bytes_printf(b, "| %s | ", f->what);
		text(b, f->key);
		bytes_puts(b, " | ");
		text(b, f->a ? f->a : "(unknown)");
		bytes_puts(b, " | ");
		text(b, f->b ? f->b : "(unknown)");
		bytes_puts(b, " |\n");
	}
	bytes_puts(b, "\n</details>\n\n");
}

static void blame(struct bytes *b, const struct blame *x)
{
	struct bytes sentence = { 0 }, note = { 0 };

	if (blame_is_empty(x))
		return;
	blame_sentence(&sentence, x);
	bytes_put(&note, x->note.data, x->note.len);
	bytes_puts(b, "\n");
	said(b, &sentence);
	bytes_puts(b, ". ");
	said(b, &note);
	bytes_puts(b, "\n");
	blame_markdown(b, x);
}

void comparison_markdown(struct bytes *b, const struct comparison *x)
{
	bytes_puts(b, "### Sonde: ");
	sentence(b, comparison_sentence, x);
	bytes_printf(b, "\n\nA: %u run%s, B: %u run%s.", x->n[GROUP_A],
		     x->n[GROUP_A] == 1 ? "" : "s", x->n[GROUP_B], x->n[GROUP_B] == 1 ? "" : "s");
	if (x->nfacts)
		bytes_printf(b, " **%u thing%s of their machines, software or settings differ%s.**",
			     x->nfacts, x->nfacts == 1 ? "" : "s", x->nfacts == 1 ? "s" : "");
	bytes_puts(b, " ");
	sentence(b, comparison_advice, x);
	bytes_puts(b, "\n\n");
	facts(b, x);
	gate(b, x);
	for (int i = 0; i < BLAME_SUBJECTS; i++)
		blame(b, &x->blame[i]);
	figures(b, x);
}
