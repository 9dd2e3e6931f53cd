/* SPDX-License-Identifier: Apache-2.0 */
/* comparison_text.c - for a terminal of 80 columns, and the words that all forms share. */
#include "base/clock.h"
#include "base/text/escape.h"
#include "report/comparison/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FACTS_SHOWN = 12, OTHERS_SHOWN = 10, NAME_COLUMNS = 18, DRIFTED_NAMED = 6 };

const char *comparison_word(const struct comparison_figure *f)
{
	switch (f->result.finding) {
	case COMPARE_SAME:
		return "same";
	case COMPARE_MORE:
		return f->less_is_better ? "worse" : f->more_is_better ? "better" : "more";
	case COMPARE_LESS:
		return f->less_is_better ? "better" : f->more_is_better ? "worse" : "less";
	case COMPARE_INCONCLUSIVE:
		return "inconclusive";
	default:
		return "unknown";
	}
}

bool comparison_has_effect(const struct comparison_figure *f)
{
	return f->result.na > 1 && f->result.nb > 1 && !isnan(f->result.effect);
}

const char *comparison_verdict(enum verdict_of_gate v)
{
	static const char *const words[] = { [GATE_PASSED] = "not worse",
					     [GATE_FAILED] = "worse",
					     [GATE_INCONCLUSIVE] = "inconclusive" };

	return words[v];
}

const char *comparison_title(const struct comparison_figure *f, const char *name, char *out,
			     size_t size)
{
	if (f->unit_text)
		snprintf(out, size, "%.200s [%.40s]", name, f->unit_text);
	else
		snprintf(out, size, "%.200s", name);
	return out;
}

const char *comparison_change(const struct comparison_figure *f, double difference, char *out,
			      size_t size)
{
	double share = difference / fabs(f->result.a);
	char text[64];

	if (!isfinite(difference))
		snprintf(out, size, "unknown");
	else if (difference == 0)
		snprintf(out, size, "0 %%");
	else if (isfinite(share) && fabs(share) < 99.995)
		snprintf(out, size, "%+.*f %%", fabs(share) < 0.1 ? 1 : 0, 100 * share);
	else
		snprintf(out, size, "%s%s", difference > 0 ? "+" : "",
			 unit_format(f->unit, difference, text, sizeof text));
	return out;
}

/* ---- sentences ---- */

static void interval(struct bytes *b, const struct comparison_figure *f)
{
	char low[64], high[64];

	bytes_printf(b, "%s to %s", comparison_change(f, f->result.low, low, sizeof low),
		     comparison_change(f, f->result.high, high, sizeof high));
}

static void why(struct bytes *b, const struct comparison_condition *c)
{
	const struct comparison_figure *f = &c->figure;
	char change[64];

	bytes_printf(b, "%s ", c->quantity);
	if (f->unlike) {
		bytes_puts(b, "does not mean the same in all runs");
		return;
	}
	if (f->result.finding == COMPARE_UNKNOWN) {
		bytes_printf(b, "is unknown for all runs of %s", f->result.na ? "B" : "A");
		return;
	}
	bytes_printf(b, "%s", comparison_change(f, f->result.difference, change, sizeof change));
	if (isnan(f->result.low)) {
		bytes_puts(b, ", of single runs");
		return;
	}
	bytes_puts(b, " (");
	interval(b, f);
	bytes_puts(b, ")");
	if (c->verdict != GATE_INCONCLUSIVE)
		return;
	if (f->result.p < f->result.p_drift && f->result.p <= 0.05 && f->result.p_drift > 0.05)
		bytes_puts(b, ", which a drift of the machine could have caused: alternate A and "
			      "B, A B A B, to distinguish them");
	else if (f->repeats > f->result.na && f->repeats > f->result.nb)
		bytes_printf(b, ", about %u runs each are needed", f->repeats);
}

void comparison_sentence(struct bytes *b, const struct comparison *x)
{
	const char *before = ": ";

	bytes_puts(b, comparison_verdict(x->verdict));
	for (uint32_t i = 0; i < x->nconditions; i++) {
		if (x->condition[i].verdict != x->verdict)
			continue;
		bytes_puts(b, before);
		why(b, &x->condition[i]);
		before = "; ";
	}
}

static void single_runs(struct bytes *b, const struct comparison *x)
{
	static const double noise[] = { 0.01, 0.02, 0.05 };

	if (x->n[GROUP_HISTORY] >= HISTORY_LEAST) {
		bytes_printf(b,
			     "One run each: the variation of single runs is estimated from %u "
			     "similar runs.",
			     x->n[GROUP_HISTORY]);
		return;
	}
	bytes_printf(b,
		     "One run each cannot separate a difference from noise. For a margin of %.3g "
		     "%%, record",
		     100 * x->margin);
	for (size_t i = 0; i < sizeof noise / sizeof noise[0]; i++)
		bytes_printf(b, "%s %u runs each where runs vary by %.0f %%", i ? "," : "",
			     compare_repeats(noise[i], x->margin, x->level), 100 * noise[i]);
	bytes_puts(b, ", alternating A and B.");
}

/* When each run was must be known. */
static bool is_before(const struct comparison *x, enum comparison_group first,
		      enum comparison_group then)
{
	int64_t last = INT64_MIN, next = INT64_MAX;

	for (uint32_t i = 0; i < x->nruns; i++) {
		int64_t at = x->run[i].start_utc_ns;

		if (x->run[i].group == first)
			last = !at ? INT64_MAX : at > last ? at : last;
		else if (x->run[i].group == then)
			next = at < next ? at : next;
	}
	return last < next;
}

/* Why so many runs do not tell. */
static void order_of_runs(struct bytes *b, const struct comparison *x)
{
	bool a_first = is_before(x, GROUP_A, GROUP_B);

	if (a_first || is_before(x, GROUP_B, GROUP_A))
		bytes_printf(
			b,
			"All runs of %s came before all of %s, so a drift of the machine looks "
			"like a difference. The same number of runs gives more if you alternate "
			"them, A B A B.",
			a_first ? "A" : "B", a_first ? "B" : "A");
}

/* Whose differences are not B less A as they stand beside them. */
static bool differs(const struct comparison_figure *f)
{
	return f->result.finding == COMPARE_MORE || f->result.finding == COMPARE_LESS;
}

static void drifted(struct bytes *b, const struct comparison *x)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->nfigures; i++) {
		const struct comparison_figure *f = &x->figure[i];

		if ((!f->leads && !differs(f)) || f->result.drift == 0)
			continue;
		if (n < DRIFTED_NAMED)
			bytes_printf(
				b, "%s%s",
				n ? ", "
				  : "A drift from run to run is removed from the difference of ",
				f->name);
		n++;
	}
	if (n > DRIFTED_NAMED)
		bytes_printf(b, " and %u more", n - DRIFTED_NAMED);
	if (n)
		bytes_puts(b, "; A and B are as measured. ");
}

void comparison_advice(struct bytes *b, const struct comparison *x)
{
	drifted(b, x);
	for (uint32_t i = 0; i < x->nfigures; i++) {
		const struct comparison_figure *f = &x->figure[i];

		if (f->unlike)
			bytes_printf(b,
				     "%s is not compared: it was measured in different ways and "
				     "does not mean the same in all runs. ",
				     f->name);
		if (f->left_out)
			bytes_printf(b,
				     "%s of %u run%s is skipped: it was measured in another way. ",
				     f->name, f->left_out, f->left_out > 1 ? "s" : "");
	}
	if (x->n[GROUP_A] == 1 && x->n[GROUP_B] == 1)
		single_runs(b, x);
	else if (x->verdict == GATE_INCONCLUSIVE && !x->independent)
		order_of_runs(b, x);
}

/* ---- the terminal ---- */

static void shown(struct bytes *b, const char *text, size_t most)
{
	char out[256];

	escape_terminal_into(out, most + 1 < sizeof out ? most + 1 : sizeof out, text);
	bytes_puts(b, out);
}

/* Words of a text that is escaped already, in lines of 80 columns. */
static void wrapped(struct bytes *b, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (column && column + 1 + n > 80) {
			bytes_puts(b, "\n  ");
			column = 2;
		} else if (column) {
			bytes_puts(b, " ");
			column++;
		}
		bytes_put(b, text, n);
		column += n;
		text += n + strspn(text + n, " ");
	}
	bytes_puts(b, "\n");
}

static void sentence_line(struct bytes *b, const struct bytes *said)
{
	struct bytes line = { 0 }, safe = { 0 };

	if (!said->len)
		return;
	bytes_put(&line, said->data, said->len);
	bytes_u8(&line, '\0');
	if (!line.failed)
		escape_terminal(&safe, (const char *)line.data);
	bytes_u8(&safe, '\0');
	if (!safe.failed)
		wrapped(b, (const char *)safe.data);
	b->failed |= line.failed || safe.failed;
	bytes_free(&line);
	bytes_free(&safe);
}

/* ", 2026-11-28 09:30 to 10:15 UTC"; nothing if no run's start is known. */
static void put_starts(struct bytes *b, int64_t first_ns, int64_t last_ns, bool several)
{
	char from[40] = "", until[40] = "";

	if (!first_ns)
		return;
	clock_iso(first_ns / NS_PER_S * NS_PER_S, from, sizeof from);
	clock_iso(last_ns / NS_PER_S * NS_PER_S, until, sizeof until);
	bytes_printf(b, ", %.10s %.5s", from, strlen(from) > 11 ? from + 11 : "");
	if (several)
		bytes_printf(b, " to %.5s", strlen(until) > 11 ? until + 11 : "");
	bytes_puts(b, " UTC");
}

static void group_line(struct bytes *b, const struct comparison *x, enum comparison_group group)
{
	const struct comparison_run *first = NULL;
	int64_t last = 0;

	for (uint32_t i = 0; i < x->nruns; i++) {
		const struct comparison_run *run = &x->run[i];

		if (run->group != group)
			continue;
		if (!first || !first->start_utc_ns ||
		    (run->start_utc_ns && run->start_utc_ns < first->start_utc_ns))
			first = run;
		last = run->start_utc_ns > last ? run->start_utc_ns : last;
	}
	if (!first)
		return;
	bytes_printf(b, "%s  %u run%s", group == GROUP_A ? "A" : "B", x->n[group],
		     x->n[group] > 1 ? "s" : "");
	put_starts(b, first->start_utc_ns, last, x->n[group] > 1);
	if (first->path && *first->path) {
		bytes_puts(b, ": ");
		shown(b, first->path, 40);
		bytes_puts(b, x->n[group] > 1 ? ", ..." : "");
	}
	bytes_puts(b, "\n");
	if (first->command) {
		bytes_puts(b, "   ");
		shown(b, first->command, 76);
		bytes_puts(b, "\n");
	}
}

static void fact_value(struct bytes *b, const char *group, const char *text)
{
	bytes_printf(b, "    %s  ", group);
	shown(b, !text ? "(unknown)" : *text ? text : "(empty)", 72);
	bytes_puts(b, "\n");
}

static void facts(struct bytes *b, const struct comparison *x, bool all)
{
	uint32_t most = all || x->nfacts <= FACTS_SHOWN ? x->nfacts : FACTS_SHOWN;

	if (!x->nfacts) {
		bytes_puts(b, "\nNo difference of hardware, software or settings is known.\n");
		return;
	}
	bytes_puts(b, "\nDifferent in A and B\n");
	for (uint32_t i = 0; i < most; i++) {
		const struct comparison_fact *f = &x->fact[i];

		bytes_printf(b, "  %-12s", f->what);
		shown(b, f->key, 60);
		bytes_puts(b, "\n");
		fact_value(b, "A", f->a);
		fact_value(b, "B", f->b);
	}
	if (most < x->nfacts)
		bytes_printf(b, "  and %u more; --all shows them\n", x->nfacts - most);
}

/* A name that is too long for its column has a line of its own. */
static void figure_line(struct bytes *b, const struct comparison_figure *f)
{
	char a[64], bb[64], change[64], low[64], high[64], both[160], name[120], title[256];
	bool fits =
		strlen(escape_terminal_into(name, sizeof name,
					    comparison_title(f, f->name, title, sizeof title))) <=
		NAME_COLUMNS;

	if (!fits)
		bytes_printf(b, "%s\n", name);
	comparison_change(f, f->result.difference, change, sizeof change);
	bytes_printf(b, "%-*s %12s %12s %7s", NAME_COLUMNS, fits ? name : "",
		     isnan(f->result.a) ? "-" : unit_format(f->unit, f->result.a, a, sizeof a),
		     isnan(f->result.b) ? "-" : unit_format(f->unit, f->result.b, bb, sizeof bb),
		     change);
	if (!isnan(f->result.low)) {
		snprintf(both, sizeof both, "%s..%s",
			 comparison_change(f, f->result.low, low, sizeof low),
			 comparison_change(f, f->result.high, high, sizeof high));
		bytes_printf(b, " %-14s %s", both, comparison_word(f));
	}
	bytes_puts(b, "\n");
}

/* Figures that nobody asked for are told when they differ, those that differ most first. */
static void others(struct bytes *b, const struct comparison *x, bool all)
{
	uint32_t looked = 0, different = 0, told = 0;

	for (uint32_t i = 0; i < x->nfigures; i++) {
		looked += !x->figure[i].leads && !isnan(x->figure[i].result.p);
		different += !x->figure[i].leads && differs(&x->figure[i]);
	}
	for (uint32_t i = 0; i < x->nfigures; i++) {
		const struct comparison_figure *f = &x->figure[i];

		if (f->leads || f->result.finding == COMPARE_UNKNOWN ||
		    !(all || (differs(f) && told < OTHERS_SHOWN)))
			continue;
		if (!told++)
			bytes_puts(b, "\n");
		figure_line(b, f);
	}
	if (looked)
		bytes_printf(b,
			     "\nOf %u more figures %u differ%s; about %.0f would by "
			     "chance%s.\n",
			     looked, different, different == 1 ? "s" : "", looked * (1 - x->level),
			     all || told == different ? "" : "; --all shows all");
}

static void blame(struct bytes *b, const struct blame *x, bool all)
{
	struct bytes said = { 0 };

	if (blame_is_empty(x))
		return;
	bytes_puts(b, "\n");
	blame_sentence(&said, x);
	sentence_line(b, &said);
	blame_text(b, x, all);
	sentence_line(b, &x->note);
	b->failed |= said.failed;
	bytes_free(&said);
}

static void conditions(struct bytes *b, const struct comparison *x)
{
	bytes_puts(b, "\nGate\n");
	for (uint32_t i = 0; i < x->nconditions; i++) {
		const struct comparison_condition *c = &x->condition[i];
		struct bytes line = { 0 };

		bytes_printf(&line, "%s, fails on %s: ", comparison_verdict(c->verdict), c->text);
		why(&line, c);
		sentence_line(b, &line);
		b->failed |= line.failed;
		bytes_free(&line);
	}
}

/* How many conditions make the gate say what it says. */
static uint32_t of_verdict(const struct comparison *x)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->nconditions; i++)
		n += x->condition[i].verdict == x->verdict;
	return n;
}

void comparison_text(struct bytes *b, const struct comparison *x, bool all)
{
	struct bytes said = { 0 };

	group_line(b, x, GROUP_A);
	group_line(b, x, GROUP_B);
	facts(b, x, all);
	bytes_printf(b, "\n%-*s %12s %12s %7s %s\n", NAME_COLUMNS, "", "A", "B", "B-A",
		     "95 % interval");
	for (uint32_t i = 0; i < x->nfigures; i++)
		if (x->figure[i].leads && x->figure[i].result.finding != COMPARE_UNKNOWN)
			figure_line(b, &x->figure[i]);
	bytes_printf(b, "same: by less than %.3g %% or the floors (%s)\n", 100 * x->margin,
		     x->nfloors ? "--floor" : "10 ms, 1 MiB, 1 J");
	others(b, x, all);
	for (int i = 0; i < BLAME_SUBJECTS; i++)
		blame(b, &x->blame[i], all);
	conditions(b, x);
	bytes_printf(b, "\n%s", comparison_verdict(x->verdict));
	if (x->nconditions > 1)
		bytes_printf(b, ", by %u of %u conditions", of_verdict(x), x->nconditions);
	bytes_puts(b, "\n");
	comparison_advice(&said, x);
	sentence_line(b, &said);
	b->failed |= said.failed;
	bytes_free(&said);
}
