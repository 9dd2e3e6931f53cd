/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comparison_markdown.c - for a pull request: the verdict, what differs of the machines folded
 * away, the gate, the figures people quote.
 *
 * Hostile text is escaped for HTML, which Markdown lets through, and for Markdown.
 */
#include "base/text/escape.h"
#include "report/comparison/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MOST = 160, FIGURES_MOST = 40 };

static void text(struct bytes *b, const char *hostile)
{
	char shown[TEXT_MOST];

	escape_terminal_into(shown, sizeof shown, hostile);
	escape_markdown(b, shown);
}

static void sentence(struct bytes *b, void (*make)(struct bytes *b, const struct comparison *x),
		     const struct comparison *x)
{
	struct bytes said = { 0 }, safe = { 0 };

	make(&said, x);
	bytes_u8(&said, '\0');
	if (!said.failed)
		escape_terminal(&safe, (const char *)said.data);
	bytes_u8(&safe, '\0');
	if (!safe.failed)
		escape_markdown(b, (const char *)safe.data);
	b->failed |= said.failed || safe.failed;
	bytes_free(&said);
	bytes_free(&safe);
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

static void blamed(struct bytes *b, const struct comparison *x)
{
	blame_sentence(b, &x->blame);
}

static void blame_note(struct bytes *b, const struct comparison *x)
{
	bytes_put(b, x->blame.note.data, x->blame.note.len);
}

static void blame(struct bytes *b, const struct comparison *x)
{
	if (blame_is_empty(&x->blame))
		return;
	bytes_puts(b, "\n");
	sentence(b, blamed, x);
	bytes_puts(b, ". ");
	sentence(b, blame_note, x);
	bytes_puts(b, "\n");
	blame_markdown(b, &x->blame);
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
	blame(b, x);
	figures(b, x);
}
