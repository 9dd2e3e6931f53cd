/* SPDX-License-Identifier: Apache-2.0 */
/* explain_pair.c - the findings of two runs: what the gate says, the figures that differ, the code
 * that is blamed, and what else is not the same. */
#include "report/explain/explain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS_MOST = 4, PARTS_MOST = EXPLAIN_NUMBERS };

/* Appends bytes as text, cut where there is no room. */
static void take(char *out, size_t size, struct bytes *text)
{
	bytes_u8(text, 0);
	if (!text->failed)
		explain_copy(out, size, (const char *)text->data);
	bytes_free(text);
}

static void add_gate(struct explain *x)
{
	const struct comparison *c = x->comparison;
	struct explain_finding *f = explain_add(x, EXPLAIN_DIFF, "gate");
	struct bytes sentence = { 0 }, advice = { 0 };

	if (!f)
		return;
	comparison_sentence(&sentence, c);
	comparison_advice(&advice, c);
	take(f->claim, sizeof f->claim, &sentence);
	take(f->next, sizeof f->next, &advice);
	f->severity = c->verdict == GATE_FAILED         ? SEVERITY_BAD
		      : c->verdict == GATE_INCONCLUSIVE ? SEVERITY_CANNOT_TELL
							: SEVERITY_GOOD;
	for (uint32_t i = 0; i < c->nconditions; i++) {
		const struct comparison_figure *g = &c->condition[i].figure;
		struct explain_number *n = explain_number(f, c->condition[i].quantity, UNIT_RATIO,
							  g->result.difference / fabs(g->result.a),
							  "compare:/gate/%u/difference_ratio", i);

		if (n) {
			n->low = g->result.low / fabs(g->result.a);
			n->high = g->result.high / fabs(g->result.a);
		}
	}
	explain_settle(f, "sonde compare", x->path, x->other);
}

/* ---- figures ---- */

static enum explain_topic topic_of(const char *figure)
{
	if (strstr(figure, "memory") || strstr(figure, "oom"))
		return EXPLAIN_MEMORY;
	if (strstr(figure, "read_") || strstr(figure, "written_"))
		return EXPLAIN_IO;
	return strncmp(figure, "idle", 4) ? EXPLAIN_WHERE : EXPLAIN_WAIT;
}

static bool differs(const struct comparison_figure *f)
{
	return f->result.finding == COMPARE_LESS || f->result.finding == COMPARE_MORE;
}

/* i: of the figures that `compare --json` has. */
static void add_figure(struct explain *x, const struct comparison_figure *g, uint32_t i)
{
	struct explain_finding *f = explain_add(x, topic_of(g->name), "figure");
	const char *word = comparison_word(g);
	char a[32], b[32], change[64], low[64], high[64];
	struct explain_number *n;

	if (!f)
		return;
	f->severity = !strcmp(word, "worse") ? SEVERITY_WARN : SEVERITY_NOTE;
	snprintf(f->claim, sizeof f->claim, "%.80s is %s: %s [%s, %s], from %s to %s", g->name,
		 word, comparison_change(g, g->result.difference, change, sizeof change),
		 comparison_change(g, g->result.low, low, sizeof low),
		 comparison_change(g, g->result.high, high, sizeof high),
		 unit_format(g->unit, g->result.a, a, sizeof a),
		 unit_format(g->unit, g->result.b, b, sizeof b));
	n = explain_number(f, g->name, g->unit, g->result.difference,
			   "compare:/figures/%u/difference", i);
	if (n) {
		n->low = g->result.low;
		n->high = g->result.high;
	}
	explain_number(f, "a", g->unit, g->result.a, "compare:/figures/%u/a", i);
	explain_number(f, "b", g->unit, g->result.b, "compare:/figures/%u/b", i);
	explain_settle(f, "sonde compare", x->path, x->other);
}

/* Those that people quote come first. */
static void add_figures(struct explain *x)
{
	const struct comparison *c = x->comparison;

	for (int leads = 1; leads >= 0; leads--) {
		uint32_t shown = 0;

		for (uint32_t i = 0; i < c->nfigures; i++) {
			const struct comparison_figure *g = &c->figure[i];

			if (g->result.finding == COMPARE_UNKNOWN)
				continue;
			if (differs(g) && g->leads == (leads == 1))
				add_figure(x, g, shown);
			shown++;
		}
	}
}

/* ---- code and waits ---- */

/* The parts of the level that `blame_sentence` speaks of: the first where any is blamed. */
static enum blame_level level_of(const struct blame *b)
{
	const enum blame_level *order = blame_words[b->subject].order;

	for (int k = 0; k < blame_words[b->subject].norder; k++)
		for (uint32_t i = 0; i < b->nparts; i++)
			if (b->part[i].level == order[k] && b->part[i].blamed)
				return order[k];
	return order[0];
}

/* Blamed parts, largest first; of none, the largest. */
static void put_parts(struct explain_finding *f, const struct blame *b)
{
	enum blame_level level = level_of(b);
	bool taken[BLAME_PARTS_MAX] = { false };

	for (int n = 0; n < PARTS_MOST; n++) {
		const struct blame_part *most = NULL;
		uint32_t at = 0, place = 0;
		struct explain_number *number;

		for (uint32_t i = 0, k = 0; i < b->nparts; i++) {
			const struct blame_part *p = &b->part[i];

			if (p->level != level)
				continue;
			if (!taken[i] &&
			    (!most || fabs(p->result.difference) > fabs(most->result.difference))) {
				most = p;
				at = i;
				place = k;
			}
			k++;
		}
		if (!most || (n && !most->blamed))
			return;
		taken[at] = true;
		number = explain_number(f, most->name, UNIT_SECONDS, most->result.difference,
					"compare:/%s/%s/%u/difference_seconds",
					blame_words[b->subject].key, blame_level_names[level],
					place);
		if (!number)
			return;
		number->low = most->result.low;
		number->high = most->result.high;
	}
}

static void add_blame(struct explain *x, const struct blame *b)
{
	static const char *const topics[] = {
		[BLAME_WALL] = "phases",
		[BLAME_CPU] = "blame",
		[BLAME_TIME] = "waits",
	};
	bool of_code = b->subject == BLAME_CPU, certain = false;
	struct explain_finding *f;
	struct bytes sentence = { 0 };

	/* Waits are not recorded unless they are asked for, and most jobs have no phases. */
	if (!of_code && blame_is_empty(b))
		return;
	f = explain_add(x, b->subject == BLAME_TIME ? EXPLAIN_WAIT : EXPLAIN_WHERE,
			topics[b->subject]);
	if (!f)
		return;
	for (uint32_t i = 0; i < b->nparts; i++)
		certain |= b->judged && b->part[i].blamed;
	f->severity = certain ? SEVERITY_WARN : SEVERITY_CANNOT_TELL;
	if (blame_is_empty(b)) {
		explain_copy(f->claim, sizeof f->claim,
			     "Which code makes the difference is not known: stacks were not "
			     "recorded");
		explain_copy(f->settle, sizeof f->settle, "sonde run --stacks -- COMMAND");
		return;
	}
	blame_sentence(&sentence, b);
	take(f->claim, sizeof f->claim, &sentence);
	if (b->judged)
		put_parts(f, b);
	explain_settle(f, "sonde compare", x->path, x->other);
}

/* ---- machines and settings ---- */

static void add_facts(struct explain *x)
{
	const struct comparison *c = x->comparison;
	struct explain_finding *f = c->nfacts ? explain_add(x, EXPLAIN_WHERE, "settings") : NULL;
	size_t n;

	if (!f)
		return;
	snprintf(f->claim, sizeof f->claim, "%u thing%s of machines, software or job differ%s",
		 c->nfacts, c->nfacts == 1 ? "" : "s", c->nfacts == 1 ? "s" : "");
	for (uint32_t i = 0; i < c->nfacts && i < FACTS_MOST; i++) {
		char a[32], b[32];

		explain_copy(a, sizeof a, c->fact[i].a ? c->fact[i].a : "nothing");
		explain_copy(b, sizeof b, c->fact[i].b ? c->fact[i].b : "nothing");
		n = strlen(f->claim);
		snprintf(f->claim + n, sizeof f->claim - n, "%s %.24s %s -> %s", i ? ";" : ":",
			 c->fact[i].key, a, b);
	}
	explain_settle(f, "sonde compare", x->path, x->other);
}

int explain_pair(struct explain *x, const struct comparison *c, const char *a, const char *b,
		 enum explain_topic ask)
{
	*x = (struct explain){ .path = a, .other = b, .comparison = c, .ask = ask };
	x->finding = calloc(EXPLAIN_FINDINGS, sizeof *x->finding);
	if (!x->finding)
		return -ENOMEM;
	add_gate(x);
	add_figures(x);
	for (int i = 0; i < BLAME_SUBJECTS; i++)
		add_blame(x, &c->blame[i]);
	add_facts(x);
	explain_rank(x);
	return 0;
}
