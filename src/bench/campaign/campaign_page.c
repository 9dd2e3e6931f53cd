/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/campaign/campaign_page.h"

#include "base/packed.h"
#include "base/random.h"
#include "base/text/decimal.h"
#include "bench/campaign/campaign.h"
#include "core/describe.h"
#include "report/assets.h"
#include "report/comparison/comparison.h"
#include "report/page/page_html.h"
#include "report/page/page_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Each combination of a campaign compared with the best one, as `compare` does it, corrected for
 * how many there are (Holm). */

enum { CAMPAIGN_LEAST = 3 /* values of the best */ };

struct campaign_verdicts {
	struct comparison_figure *of; /* [n] of a group: A is the best, B the group */
	uint32_t n;
	uint32_t best; /* n: there is none to compare with */
};

static const double margin_ratio = 0.05, level = 0.95; /* as compare's own */

/* The values of a group, with the times of their trials. */
struct values {
	double *value;
	int64_t *at;
	uint32_t n;
	bool timed;
};

static int read_values(struct values *v, const struct campaign *c, const struct campaign_group *g,
		       const struct bench_figure *f)
{
	*v = (struct values){ .value = calloc(g->n + 1u, sizeof *v->value),
			      .at = calloc(g->n + 1u, sizeof *v->at),
			      .timed = true };
	if (!v->value || !v->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct bench_row *row = &c->g.row[g->trial[i]];

		if (row->reason || !isfinite(f->value[g->trial[i]]))
			continue;
		v->timed &= row->start_ns > 0;
		v->at[v->n] = row->start_ns;
		v->value[v->n++] = f->value[g->trial[i]];
	}
	return 0;
}

static void free_values(struct values *v)
{
	free(v->value);
	free(v->at);
}

static uint32_t count(const struct campaign *c, const struct campaign_group *g,
		      const struct bench_figure *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++)
		n += !c->g.row[g->trial[i]].reason && isfinite(f->value[g->trial[i]]);
	return n;
}

static uint32_t find_best(const struct campaign *c, const struct campaign_groups *groups,
			  const struct bench_figure *f)
{
	uint32_t best = groups->n;
	double reached = NAN;

	for (uint32_t i = 0; i < groups->n; i++) {
		double median = campaign_median(c, &groups->group[i], f);
		bool better = f->sense == BENCH_LESS_IS_BETTER   ? median < reached
			      : f->sense == BENCH_MORE_IS_BETTER ? median > reached
								 : false;

		if (count(c, &groups->group[i], f) < CAMPAIGN_LEAST || isnan(median))
			continue;
		if (best == groups->n || better) {
			best = i;
			reached = median;
		}
	}
	return best;
}

static int compare_one(struct comparison_figure *out, const struct values *best,
		       const struct campaign *c, const struct campaign_group *g,
		       const struct bench_figure *f)
{
	static const struct comparison none;
	const struct compare_wish wish = { .margin_ratio = margin_ratio,
					   .margin_absolute = comparison_floor_of(&none, f->name,
										  bench_unit(f)),
					   .level = level };
	const struct sample_group a = { best->value, best->timed ? best->at : NULL, best->n };
	struct values v;
	int rc = read_values(&v, c, g, f);
	const struct sample_group b = { v.value, best->timed && v.timed ? v.at : NULL, v.n };
	const struct sample_group plain = { best->value, b.at ? a.at : NULL, best->n };

	*out = (struct comparison_figure){ .name = f->name,
					   .unit = bench_unit(f),
					   .less_is_better = f->sense == BENCH_LESS_IS_BETTER,
					   .more_is_better = f->sense == BENCH_MORE_IS_BETTER };
	if (!rc)
		rc = compare_groups(&out->result, &plain, &b, &wish);
	free_values(&v);
	return rc;
}

static int by_p(const void *a, const void *b)
{
	double x = (*(struct comparison_figure *const *)a)->result.p;
	double y = (*(struct comparison_figure *const *)b)->result.p;

	return (x > y) - (x < y);
}

/* The more are asked about, the more one of them would differ by chance. */
static int correct(struct campaign_verdicts *x)
{
	struct comparison_figure **asked = calloc(x->n + 1u, sizeof(struct comparison_figure *));
	double least = 0;
	uint32_t n = 0;

	if (!asked)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->n; i++)
		if (i != x->best && !isnan(x->of[i].result.p))
			asked[n++] = &x->of[i];
	if (n)
		qsort(asked, n, sizeof(struct comparison_figure *), by_p);
	for (uint32_t i = 0; i < n; i++) {
		struct compared *r = &asked[i]->result;

		least = fmax(least, fmin(1, r->p * (n - i)));
		r->finding = compare_finding(r, least, level);
	}
	free(asked);
	return 0;
}

/* The best by its median; where neither more nor less is better, the first. 0 or -ENOMEM with a
 * sentence; free in either case. */
static int campaign_verdicts_make(struct campaign_verdicts *x, const struct campaign *c,
				  const struct campaign_groups *groups,
				  const struct bench_figure *f, struct err *e)
{
	struct values best = { 0 };
	int rc = 0;

	*x = (struct campaign_verdicts){ .of = calloc(groups->n + 1u, sizeof *x->of),
					 .n = groups->n,
					 .best = find_best(c, groups, f) };
	if (!x->of)
		rc = -ENOMEM;
	if (!rc && x->best < x->n)
		rc = read_values(&best, c, &groups->group[x->best], f);
	for (uint32_t i = 0; i < x->n && x->best < x->n && !rc; i++)
		rc = compare_one(&x->of[i], &best, c, &groups->group[i], f);
	if (!rc)
		rc = correct(x);
	free_values(&best);
	return rc ? err_set(e, rc, "out of memory for the combinations") : 0;
}

static void campaign_verdicts_free(struct campaign_verdicts *x)
{
	free(x->of);
}

/* ---- what a page is made of ---- */

/* Columns of the table: as many parameters as people can look at side by side. */
enum { PARAMETERS_MAX = 24, COLUMNS_MAX = PARAMETERS_MAX + 11 };

struct page {
	const struct campaign *c;
	const struct campaign_groups *groups;
	const struct bench_figure *figure;
	const struct campaign_verdicts *verdicts;
};

double campaign_median(const struct campaign *c, const struct campaign_group *g,
		       const struct bench_figure *f)
{
	double *v = f ? calloc(g->n + 1u, sizeof *v) : NULL, median = NAN;
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n && v; i++)
		if (!c->g.row[g->trial[i]].reason && isfinite(f->value[g->trial[i]]))
			v[n++] = f->value[g->trial[i]];
	if (v) {
		sort_values(v, n);
		median = quantile_of(v, n, 0.5);
	}
	free(v);
	return median;
}

bool campaign_differs(const struct campaign *c, const struct campaign_groups *groups,
		      const char *name)
{
	const char *first = groups->n ? campaign_text(c, groups->group[0].trial[0], name) : NULL;

	for (uint32_t i = 1; i < groups->n; i++) {
		const char *text = campaign_text(c, groups->group[i].trial[0], name);

		if (first && text ? strcmp(first, text) != 0 : first != text)
			return true;
	}
	return false;
}

/* ---- the parts ---- */

static void put_title(struct bytes *b, const struct page *p)
{
	html_text(b, p->c->g.indicator);
	if (p->c->sweep) {
		bytes_puts(b, ", sweep ");
		html_text(b, p->c->sweep);
	}
}

static void put_header(struct bytes *b, const struct page *p)
{
	uint32_t trials = 0, failed = 0;

	for (uint32_t i = 0; i < p->c->g.ntrials; i++)
		if (!p->c->left_out[i]) {
			trials++;
			failed += p->c->g.row[i].reason != NULL;
		}
	bytes_puts(b, "<h1><code>");
	html_text(b, p->c->g.indicator);
	bytes_puts(b, "</code></h1><ul class=\"facts\"><li>");
	if (p->c->sweep) {
		bytes_puts(b, "sweep <b>");
		html_text(b, p->c->sweep);
		bytes_puts(b, "</b></li><li>");
	}
	bytes_puts(b, "<b>");
	html_text(b, p->figure->name);
	bytes_puts(b, "</b>");
	if (p->figure->unit) {
		bytes_puts(b, " in ");
		html_text(b, p->figure->unit);
	}
	bytes_puts(b, p->figure->sense == BENCH_LESS_IS_BETTER   ? ", less is better"
		      : p->figure->sense == BENCH_MORE_IS_BETTER ? ", more is better"
								 : "");
	bytes_printf(b,
		     "</li><li><b>%u</b> trial%s</li><li><b>%u</b> of them failed</li>"
		     "<li><b>%u</b> combination%s tried</li>",
		     trials, trials == 1 ? "" : "s", failed, p->groups->n,
		     p->groups->n == 1 ? "" : "s");
	if (p->c->ngaps)
		bytes_printf(b, "<li><a href=\"#gaps\"><b>%u</b> without a result</a></li>",
			     p->c->ngaps);
	bytes_puts(b, "</ul>");
}

static void put_parameters(struct bytes *b, const struct page *p)
{
	campaign_chart_parameters(b, p->c, p->groups, p->figure);
}

static void put_front(struct bytes *b, const struct page *p)
{
	campaign_chart_front(b, p->c, p->groups);
}

/* ---- the table ---- */

struct columns {
	struct html_heading heading[COLUMNS_MAX];
	const char *parameter[PARAMETERS_MAX]; /* names */
	uint32_t nparameters, n;
	struct bytes titles; /* escaped, each with its NUL */
	size_t title[COLUMNS_MAX];
};

static void add_column(struct columns *x, const char *name, const char *unit, bool is_text)
{
	x->title[x->n] = x->titles.len;
	html_text(&x->titles, name);
	if (unit) {
		bytes_puts(&x->titles, " [");
		html_text(&x->titles, unit);
		bytes_puts(&x->titles, "]");
	}
	bytes_u8(&x->titles, 0);
	x->heading[x->n++].is_text = is_text;
}

/* Texts are sorted otherwise than numbers. */
static bool is_text(const struct page *p, const char *name)
{
	for (uint32_t i = 0; i < p->groups->n; i++) {
		const char *text = campaign_text(p->c, p->groups->group[i].trial[0], name);

		if (text && isnan(decimal_of(text)))
			return true;
	}
	return false;
}

static const struct bench_figure *known_figure(const struct page *p, const char *name)
{
	return strcmp(p->figure->name, name) != 0 ? campaign_figure(p->c, name) : NULL;
}

static const char *const beside[] = { "duration_seconds", "peak_memory_bytes", "energy_joules" };
enum { BESIDE = sizeof beside / sizeof beside[0] };

/* There is a best one, and another. */
static bool is_compared(const struct page *p)
{
	return p->verdicts->best < p->verdicts->n && p->verdicts->n > 1;
}

static void put_verdict(struct bytes *b, const struct page *p, uint32_t i)
{
	const struct comparison_figure *f = &p->verdicts->of[i];
	char text[64], low[64], high[64];

	if (!is_compared(p))
		return;
	if (i == p->verdicts->best) {
		html_text_cell(b, NULL);
		html_text_cell(b, NULL);
		html_text_cell(b, p->figure->sense == BENCH_NEITHER ? "reference" : "best");
		return;
	}
	html_text_cell(b, isnan(f->result.difference)
				  ? NULL
				  : comparison_change(f, f->result.difference, text, sizeof text));
	bytes_puts(b, "<td class=\"text\">");
	if (isnan(f->result.low))
		bytes_puts(b, "–");
	else
		bytes_printf(b, "%s to %s", comparison_change(f, f->result.low, low, sizeof low),
			     comparison_change(f, f->result.high, high, sizeof high));
	bytes_puts(b, "</td>");
	html_text_cell(b, comparison_word(f));
}

/* What the verdicts mean. */
static void put_words(struct bytes *b, const struct page *p)
{
	const char *label;

	if (!is_compared(p))
		return;
	label = p->groups->group[p->verdicts->best].label;
	bytes_puts(b, p->figure->sense == BENCH_NEITHER ? "<p>Compared with the first, <b>"
							: "<p>Compared with the best, <b>");
	html_text(b, *label ? label : "all alike");
	bytes_printf(b,
		     "</b>, as <code>sonde compare</code> does: the difference of the means with "
		     "its interval, and a verdict that is corrected for %u comparisons. A "
		     "difference within 5 %% is the same.</p>\n",
		     p->verdicts->n - 1);
}

static void choose_columns(struct columns *x, const struct page *p)
{
	add_column(x, "What", NULL, true);
	for (uint32_t i = 0; i < p->c->g.nparameters && x->nparameters < PARAMETERS_MAX; i++)
		if (campaign_differs(p->c, p->groups, p->c->g.parameter[i].name)) {
			x->parameter[x->nparameters++] = p->c->g.parameter[i].name;
			add_column(x, p->c->g.parameter[i].name, NULL,
				   is_text(p, p->c->g.parameter[i].name));
		}
	add_column(x, p->figure->name, p->figure->unit, false);
	if (is_compared(p)) {
		add_column(x, "Difference", NULL, true);
		add_column(x, "95 % interval", NULL, true);
		add_column(x, "Verdict", NULL, true);
	}
	add_column(x, "Trials", NULL, false);
	add_column(x, "Failed", NULL, false);
	for (size_t i = 0; i < BESIDE; i++)
		if (strcmp(p->figure->name, beside[i]) != 0)
			add_column(x, beside[i], NULL, false);
	for (uint32_t i = 0; i < x->n && !x->titles.failed; i++)
		x->heading[i].title = (const char *)x->titles.data + x->title[i];
}

static void put_row(struct bytes *b, const struct page *p, const struct columns *x, uint32_t i)
{
	const struct campaign_group *g = &p->groups->group[i];
	uint32_t failed = 0;

	for (uint32_t k = 0; k < g->n; k++)
		failed += p->c->g.row[g->trial[k]].reason != NULL;
	bytes_printf(b, "<tr id=\"g%u\"><th scope=\"row\" class=\"name\" title=\"", i + 1);
	html_text(b, g->label);
	bytes_puts(b, "\">");
	html_text(b, *g->label ? g->label : "all alike");
	bytes_puts(b, "</th>");
	for (uint32_t k = 0; k < x->nparameters; k++) {
		bytes_puts(b, x->heading[k + 1].is_text ? "<td class=\"text\">" : "<td>");
		html_text(b, campaign_text(p->c, g->trial[0], x->parameter[k]));
		bytes_puts(b, "</td>");
	}
	html_number_cell(b, bench_unit(p->figure), campaign_median(p->c, g, p->figure));
	put_verdict(b, p, i);
	bytes_printf(b, "<td>%u</td><td>%u</td>", g->n - failed, failed);
	for (size_t k = 0; k < BESIDE; k++) {
		const struct bench_figure *f = known_figure(p, beside[k]);

		if (strcmp(p->figure->name, beside[k]) != 0)
			html_number_cell(b, f ? bench_unit(f) : UNIT_ONE,
					 campaign_median(p->c, g, f));
	}
	bytes_puts(b, "</tr>\n");
}

static void put_table(struct bytes *b, const struct page *p)
{
	struct columns x = { .n = 0 };

	choose_columns(&x, p);
	if (x.titles.failed) {
		b->failed = true;
		bytes_free(&x.titles);
		return;
	}
	put_words(b, p);
	html_table(b, "Combinations of parameters, machine and software", x.heading, x.n);
	for (uint32_t i = 0; i < p->groups->n; i++)
		put_row(b, p, &x, i);
	html_table_end(b);
	bytes_free(&x.titles);
}

/* ---- what of a sweep is not there ---- */

static void put_gaps(struct bytes *b, const struct page *p)
{
	static const struct html_heading headings[] = { { .title = "What", .is_text = true },
							{ .title = "Why", .is_text = true } };

	if (!p->c->ngaps)
		return;
	bytes_puts(b,
		   "<section id=\"gaps\" aria-labelledby=\"h-gaps\">\n<h2 id=\"h-gaps\">Without a "
		   "result</h2>\n");
	html_table(b, "Combinations that were skipped, or of which no trial said anything",
		   headings, sizeof headings / sizeof headings[0]);
	for (uint32_t i = 0; i < p->c->ngaps; i++) {
		html_name_cell(b, p->c->gap[i].where, NAN);
		html_text_cell(b, p->c->gap[i].reason);
		bytes_puts(b, "</tr>\n");
	}
	html_table_end(b);
	bytes_puts(b, "</section>\n");
}

/* ---- the page ---- */

static void put_version(struct bytes *b, const struct page *p)
{
	(void)p;
	bytes_puts(b, SONDE_VERSION);
}

static const struct {
	const char *name, *text, *end;
	void (*make)(struct bytes *b, const struct page *p);
} parts[] = {
	{ "page.css", asset_page_css, asset_page_css_end, NULL },
	{ "bench.css", asset_bench_css, asset_bench_css_end, NULL },
	{ "dark.css", asset_dark_css, asset_dark_css_end, NULL },
	{ "element.js", asset_element_js, asset_element_js_end, NULL },
	{ "tables.js", asset_tables_js, asset_tables_js_end, NULL },
	{ "bench.js", asset_bench_js, asset_bench_js_end, NULL },
	{ "version", NULL, NULL, put_version },
	{ "title", NULL, NULL, put_title },
	{ "header", NULL, NULL, put_header },
	{ "parameters", NULL, NULL, put_parameters },
	{ "front", NULL, NULL, put_front },
	{ "table", NULL, NULL, put_table },
	{ "gaps", NULL, NULL, put_gaps },
};

static void put_part(struct bytes *out, const char *name, size_t n, const struct page *p)
{
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		if (strlen(parts[i].name) != n || memcmp(parts[i].name, name, n) != 0)
			continue;
		if (parts[i].make)
			parts[i].make(out, p);
		else
			packed_put(out, parts[i].text, parts[i].end);
	}
}

int campaign_page_make(struct bytes *out, const struct campaign *c,
		       const struct campaign_groups *groups, const struct bench_figure *f,
		       struct err *e)
{
	struct campaign_verdicts verdicts;
	const struct page p = { c, groups, f, &verdicts };
	const char *at = asset_bench_html, *end = asset_bench_html_end;
	char nonce[NONCE_SIZE];
	int rc = campaign_verdicts_make(&verdicts, c, groups, f, e);

	if (!rc)
		rc = nonce_make(nonce, e);

	while (!rc && at < end) {
		const char *open = memmem(at, (size_t)(end - at), "{{", 2);
		const char *close = open ? memmem(open, (size_t)(end - open), "}}", 2) : NULL;
		const char *name = close ? open + 2 : end;

		bytes_put(out, at, (size_t)((close ? open : end) - at));
		if (close && close - name == 5 && !memcmp(name, "nonce", 5))
			bytes_puts(out, nonce);
		else if (close)
			put_part(out, name, (size_t)(close - name), &p);
		at = close ? close + 2 : end;
	}
	campaign_verdicts_free(&verdicts);
	return rc            ? rc
	       : out->failed ? err_set(e, -ENOMEM, "out of memory while writing the page")
			     : 0;
}
