/* SPDX-License-Identifier: Apache-2.0 */
/* bench_history.c - an indicator over time, and where it changed. */
#include "base/clock.h"
#include "base/text/escape.h"
#include "bench/series.h"
#include "console/command.h"
#include "output/outfile.h"
#include "trial/benchprint.h"
#include "trial/evidence.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS_SHOWN = 12, CHARTS_MAX = 64, ENOUGH = 50 };
static const double ALIKE = 0.1; /* autocorrelation that a short series hardly tells */
#define CHART_WIDTH  (18 / 2.54 * 72)
#define CHART_HEIGHT (9 / 2.54 * 72)

struct history_question {
	struct benchask ask;
	const char *by, *plot;
	bool json;
};

static const struct option rows[] = {
	BENCHASK_ROWS(struct history_question),
	{ .name = "by",
	  .type = ARG_TEXT,
	  .value = "WHAT",
	  .fallback = "parameters,hardware",
	  .help = "Group trials into series by parameters, hardware, software, or several of "
		  "them.",
	  OPTION_OFFSET(struct history_question, by) },
	{ .name = "plot",
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "Also draw the series: FILE.svg, FILE.png or FILE.pdf.",
	  OPTION_OFFSET(struct history_question, plot) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the history as JSON, schema sonde/bench-history/1.",
	  OPTION_OFFSET(struct history_question, json) },
};

static const struct example examples[] = {
	{ "bench history PiMatmul", "its score, or its first result" },
	{ "bench history PiMatmul -c elapsed -w device=cpu --plot elapsed.svg", "drawn, too" },
};

/* So many recordings are read on each side of a change. */
enum { BLAMED_RUNS = 10 };

struct answer {
	const struct history_question *o;
	struct campaign c;
	struct campaign_groups groups;
	const struct bench_figure *figure;
	struct series *series; /* [groups.n] */
};

/* ---- text ---- */

static void put_day(struct bytes *b, const struct campaign *c, uint32_t trial)
{
	char when[40];

	if (c->g.row[trial].start_ns)
		bytes_printf(b, "%s",
			     clock_iso(c->g.row[trial].start_ns / NS_PER_S * NS_PER_S, when,
				       sizeof when));
	else
		bytes_puts(b, "an unknown time");
}

static void facts_text(struct bytes *b, const struct comparison *x)
{
	if (!x->nfacts)
		bytes_puts(b, "    no known difference between both sides\n");
	for (uint32_t i = 0; i < x->nfacts && i < FACTS_SHOWN; i++) {
		const struct comparison_fact *f = &x->fact[i];
		char before[70], after[70];

		bytes_printf(b, "    %-9s ", f->what);
		escape_terminal(b, f->key);
		bytes_printf(b, ": %s -> %s\n",
			     escape_terminal_into(before, sizeof before, f->a ? f->a : "not known"),
			     escape_terminal_into(after, sizeof after, f->b ? f->b : "not known"));
	}
	if (x->nfacts > FACTS_SHOWN)
		bytes_printf(b, "    and %u more; --json has them\n", x->nfacts - FACTS_SHOWN);
}

static void blame_text_line(struct bytes *b, const struct blame *x)
{
	struct bytes said = { 0 };

	if (blame_is_empty(x))
		return;
	blame_sentence(&said, x);
	bytes_u8(&said, 0);
	bytes_puts(b, "    ");
	if (!said.failed)
		escape_terminal(b, (const char *)said.data);
	bytes_puts(b, "\n");
	bytes_free(&said);
}

static void change_text(struct bytes *b, const struct answer *a, const struct series *s, uint32_t i)
{
	const struct change *x = &s->changes.change[i];
	char trial[60], from[60], to[60], before[64], after[64];
	double level = 100 / fabs(x->before);

	bytes_printf(b, "  %s from %s on (", series_word(a->figure, x),
		     benchask_trial(&a->c, s->trial[x->at], trial, sizeof trial));
	put_day(b, &a->c, s->trial[x->at]);
	if (x->low < x->high)
		bytes_printf(b, "; between %s and %s with 95 %%",
			     benchask_trial(&a->c, s->trial[x->low], from, sizeof from),
			     benchask_trial(&a->c, s->trial[x->high], to, sizeof to));
	bytes_printf(b, "):\n    %s -> %s",
		     benchask_number(a->figure, x->before, before, sizeof before),
		     benchask_number(a->figure, x->after, after, sizeof after));
	if (isfinite(level))
		bytes_printf(b, ", %+.1f %%", x->difference * level);
	if (isfinite(level) && isfinite(x->difference_low))
		bytes_printf(b, " (95 %% interval %+.1f to %+.1f %%)", x->difference_low * level,
			     x->difference_high * level);
	bytes_printf(b, ", p %s %.3g\n", x->p <= 0.001 ? "<=" : "=", x->p);
	for (int k = 0; k < BLAME_SUBJECTS; k++)
		blame_text_line(b, &s->difference[i].blame[k]);
	facts_text(b, &s->difference[i]);
}

/* docs/bench.md has how often a change is reported where there is none. */
static bool is_doubtful(const struct series *s)
{
	return s->changes.n && s->n < ENOUGH && s->changes.likeness >= ALIKE;
}

static void series_text(struct bytes *b, const struct answer *a, const struct series *s)
{
	char n[32];

	escape_terminal(b, *s->group->label ? s->group->label : "all alike");
	bytes_printf(b, ": %s", benchask_trials(s->n, n, sizeof n));
	if (s->n) {
		bytes_puts(b, ", ");
		put_day(b, &a->c, s->trial[0]);
		bytes_puts(b, " to ");
		put_day(b, &a->c, s->trial[s->n - 1]);
	}
	if (s->nfailed)
		bytes_printf(b, "; %u more failed", s->nfailed);
	if (s->nwithout)
		bytes_printf(b, "; %u more have no value", s->nwithout);
	if (s->nskipped)
		bytes_printf(b, "; %u older ones are skipped", s->nskipped);
	bytes_u8(b, '\n');
	for (uint32_t i = 0; i < s->changes.n; i++)
		change_text(b, a, s, i);
	if (s->n < CHANGE_LEAST)
		bytes_printf(b, "  too few trials to detect a change: %u more are needed\n",
			     CHANGE_LEAST - s->n);
	else if (!s->changes.n)
		bytes_puts(b, "  no change detected\n");
	if (is_doubtful(s))
		bytes_printf(
			b,
			"  neighbours are alike (autocorrelation %.2f) and %u trials are few: "
			"of such series that never changed, about 1 in 12 shows a change; with "
			"%d trials 1 in 50\n",
			s->changes.likeness, s->n, ENOUGH);
}

static void text(struct bytes *b, const struct answer *a)
{
	escape_terminal(b, a->c.g.indicator);
	bytes_puts(b, ", ");
	escape_terminal(b, a->figure->name);
	if (a->figure->unit) {
		bytes_puts(b, " [");
		escape_terminal(b, a->figure->unit);
		bytes_puts(b, "]");
	}
	bytes_puts(b, ", over time\n");
	for (uint32_t i = 0; i < a->groups.n; i++)
		series_text(b, a, &a->series[i]);
}

/* ---- JSON ---- */

static void fact_json(struct json *j, const struct comparison_fact *f)
{
	json_object(j);
	json_put_text(j, "name", f->key);
	json_put_text(j, "of", f->what);
	json_put_text(j, "before", f->a);
	json_put_text(j, "after", f->b);
	json_object_end(j);
}

static void change_json(struct json *j, const struct answer *a, const struct series *s, uint32_t i)
{
	const struct change *x = &s->changes.change[i];
	const struct comparison *d = &s->difference[i];

	json_object(j);
	json_put_int(j, "at", x->at);
	json_put_int(j, "low", x->low);
	json_put_int(j, "high", x->high);
	json_put_text(j, "finding", series_word(a->figure, x));
	json_put_real(j, "p", x->p);
	json_put_real(j, "before", x->before);
	json_put_real(j, "after", x->after);
	json_put_real(j, "difference", x->difference);
	json_put_real(j, "difference_low", x->difference_low);
	json_put_real(j, "difference_high", x->difference_high);
	json_key(j, "compared");
	json_array(j);
	benchask_trial_json(j, &a->c, series_before(s, x));
	benchask_trial_json(j, &a->c, series_after(s, x));
	json_array_end(j);
	json_key(j, "facts");
	json_array(j);
	for (uint32_t k = 0; k < d->nfacts; k++)
		fact_json(j, &d->fact[k]);
	json_array_end(j);
	for (int k = 0; k < BLAME_SUBJECTS; k++) {
		json_key(j, blame_words[k].key);
		blame_json(j, &d->blame[k]);
	}
	json_object_end(j);
}

static void series_json(struct json *j, const struct answer *a, const struct series *s)
{
	json_object(j);
	json_put_text(j, "label", s->group->label);
	benchask_parameters_json(j, &a->c, s->group->trial[0]);
	json_put_int(j, "failed", s->nfailed);
	json_put_int(j, "without", s->nwithout);
	json_put_int(j, "older", s->nskipped);
	json_put_bool(j, "enough", s->n >= CHANGE_LEAST);
	json_put_real(j, "autocorrelation", s->n >= CHANGE_LEAST ? s->changes.likeness : NAN);
	json_put_bool(j, "doubtful", is_doubtful(s));
	json_key(j, "trials");
	json_array(j);
	for (uint32_t i = 0; i < s->n; i++)
		benchask_trial_json(j, &a->c, s->trial[i]);
	json_array_end(j);
	json_key(j, "values");
	json_array(j);
	for (uint32_t i = 0; i < s->n; i++)
		json_real(j, s->value[i]);
	json_array_end(j);
	json_key(j, "changes");
	json_array(j);
	for (uint32_t i = 0; i < s->changes.n; i++)
		change_json(j, a, s, i);
	json_array_end(j);
	json_object_end(j);
}

static void json(struct bytes *b, const struct answer *a)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/bench-history/1");
	json_put_text(&j, "indicator", a->c.g.indicator);
	json_put_text(&j, "figure", a->figure->name);
	json_put_text(&j, "unit", a->figure->unit);
	json_put_text(&j, "better", benchask_better(a->figure));
	json_key(&j, "series");
	json_array(&j);
	for (uint32_t i = 0; i < a->groups.n; i++)
		series_json(&j, a, &a->series[i]);
	json_array_end(&j);
	json_object_end(&j);
	bytes_u8(b, '\n');
}

/* ---- a drawing ---- */

static int format_of(const char *file, enum document_format *format, struct err *e)
{
	static const char *const endings[] = {
		[DOCUMENT_PNG] = ".png", [DOCUMENT_PDF] = ".pdf", [DOCUMENT_SVG] = ".svg"
	};
	size_t n = strlen(file);

	for (unsigned i = 0; i < DOCUMENT_FORMAT_NUMBER_OF; i++)
		if (n > 4 && file[n - 5] != '/' && !strcmp(file + n - 4, endings[i])) {
			*format = (enum document_format)i;
			return 0;
		}
	return err_set(e, -EINVAL,
		       "option --plot takes a file that ends with .svg, .png or .pdf, "
		       "not '%.200s'",
		       file);
}

static int draw(struct bytes *drawing, const struct answer *a)
{
	uint32_t n = a->groups.n < CHARTS_MAX ? a->groups.n : CHARTS_MAX;
	int rc = 0;

	shape_page(drawing, CHART_WIDTH, CHART_HEIGHT * fmax(n, 1));
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = series_draw(&a->series[i], &a->c, a->figure, drawing,
				 &(struct box){ 0, CHART_HEIGHT * i, CHART_WIDTH, CHART_HEIGHT });
	shape_end(drawing);
	if (a->groups.n > n)
		say("bench history: only the first %u of %u series are drawn; select with --where",
		    n, a->groups.n);
	return rc || drawing->failed ? -ENOMEM : 0;
}

static int plot(const struct answer *a, struct err *e)
{
	const char *file = a->o->plot, *slash = strrchr(file, '/');
	struct document d = { .dpi = 200 };
	struct bytes drawing = { 0 };
	struct outfile out;
	char directory[PATH_MAX];
	int rc = format_of(file, &d.format, e);

	if (rc)
		return rc;
	snprintf(d.title, sizeof d.title, "%.100s: %.100s over time", a->c.g.indicator,
		 a->figure->name);
	snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - file + 1) : 1,
		 slash ? file : ".");
	rc = draw(&drawing, a) ? err_set(e, -ENOMEM, "out of memory while drawing") : 0;
	if (!rc && d.format == DOCUMENT_SVG)
		rc = drawfile_svg(&out, directory, slash ? slash + 1 : file, d.title, &drawing, e);
	else if (!rc)
		rc = drawfile_paint(&out, directory, slash ? slash + 1 : file, &d, &drawing, e);
	bytes_free(&drawing);
	return rc;
}

/* ---- which code and which waits ---- */

/* Of trials that surely are before the change, or after it, those next to it. */
static int blame_change(const struct campaign *c, struct series *s, uint32_t i)
{
	const struct change *x = &s->changes.change[i];
	uint32_t first = i ? x[-1].high : 0, end = i + 1 < s->changes.n ? x[1].low : s->n;
	struct blame *b = s->difference[i].blame;
	int rc = 0;

	if (x->low > first + BLAMED_RUNS)
		first = x->low - BLAMED_RUNS;
	if (end > x->high + BLAMED_RUNS)
		end = x->high + BLAMED_RUNS;
	for (uint32_t at = first; at < x->low; at++)
		evidence_blame(b, 0, c->g.row[s->trial[at]].path);
	for (uint32_t at = x->high; at < end; at++)
		evidence_blame(b, 1, c->g.row[s->trial[at]].path);
	for (int k = 0; k < BLAME_SUBJECTS && !rc; k++)
		rc = blame_judge(&b[k]);
	return rc;
}

static int blame_changes(const struct campaign *c, struct series *s, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->changes.n && !rc; i++)
		rc = blame_change(c, s, i);
	return rc ? err_set(e, rc, "out of memory for the code of trials") : 0;
}

/* ---- the command ---- */

static int parse_by(const char *list, unsigned *by, struct err *e)
{
	static const char *const names[] = { "parameters", "hardware", "software" };

	*by = 0;
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t n = strcspn(at, ","), i = 0;

		while (i < 3 && (strlen(names[i]) != n || strncmp(names[i], at, n) != 0))
			i++;
		if (i == 3)
			return err_set(e, -EINVAL,
				       "option --by takes parameters, hardware and software, "
				       "with commas between them, not '%.80s'",
				       list);
		*by |= 1u << i;
	}
	return 0;
}

static int find(struct answer *a, int noperands, char **operands, struct err *e)
{
	enum document_format format;
	unsigned by;
	int rc = parse_by(a->o->by, &by, e);

	if (!rc && a->o->plot)
		rc = format_of(a->o->plot, &format, e);
	if (!rc)
		rc = benchask_read(&a->c, &a->figure, &a->o->ask, "bench history",
				   noperands == 1 ? operands[0] : NULL, e);
	if (!rc)
		rc = campaign_group(&a->groups, &a->c, by, e);
	if (rc)
		return rc;
	a->series = calloc(a->groups.n + 1u, sizeof *a->series);
	if (!a->series)
		return err_set(e, -ENOMEM, "out of memory for the series");
	for (uint32_t i = 0; i < a->groups.n && !rc; i++) {
		rc = series_make(&a->series[i], &a->c, &a->groups.group[i], a->figure, e);
		if (!rc)
			rc = blame_changes(&a->c, &a->series[i], e);
	}
	return rc || !a->o->plot ? rc : plot(a, e);
}

static int history_exec(const void *options, int noperands, char **operands)
{
	struct answer a = { .o = options };
	struct bytes b = { 0 };
	struct err e = { "" };
	int rc = find(&a, noperands, operands, &e), code;

	if (rc) {
		say("bench history: %s", e.text);
		code = rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else {
		if (a.o->json)
			json(&b, &a);
		else
			text(&b, &a);
		benchask_say_silent(&a.c, "bench history");
		benchprint_say_doubts(&a.c.g, a.c.left_out, "bench history");
		if (!a.groups.n)
			say("bench history: no matching trial");
		code = print_bytes(&b);
	}
	for (uint32_t i = 0; a.series && i < a.groups.n; i++)
		series_free(&a.series[i]);
	free(a.series);
	campaign_groups_free(&a.groups);
	campaign_free(&a.c);
	return code;
}

const struct command command_bench_history = {
	.name = "bench history",
	.operands = "INDICATOR|sweep:NAME|bench:ID",
	.what = "Show when an indicator changed, and what changed with it",
	.description =
		"Lists the trials of an indicator in the order of their start, one series for "
		"each combination of parameters and machine. Where the level of a series changed, "
		"it prints the first trial after the change (with a 95 % range), the size of the "
		"change with an interval, and what differs between both sides: hardware, system, "
		"packages, the script. At least ten trials are needed; failed trials are "
		"skipped.\n\n"
		"A change is detected from the ranks of the values and, if there are fewer than "
		"50, from their sizes, against noise with the observed correlation of "
		"neighbours. In about 2 of 100 series without a change, "
		"one is reported, counted per series; in more if neighbours are correlated, above "
		"all with fewer than 50 trials. A slow drift looks like one or several "
		"changes.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct history_question),
	COMMAND_EXAMPLES(examples),
	.exec = history_exec,
};
