/* SPDX-License-Identifier: Apache-2.0 */
/* blame_text.c - where the difference lies: a sentence, tables for a terminal of 80 columns, for
 * Markdown and the page, and JSON. */
#include "base/text/escape.h"
#include "base/text/json.h"
#include "report/comparison/blame.h"
#include "report/lines.h"
#include "report/page/page_html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAMED_MOST = 5, ROWS_MOST = 6, NAME_COLUMNS = 40, SHOWN = 200 };

/* Of the whole of A, in points. */
static double blame_points(const struct blame *b, double seconds)
{
	return b->whole.a > 0 ? 100 * seconds / b->whole.a : NAN;
}

/* ---- the sentence ---- */

/* ".1.2.13" of libz.so.1.2.13; "": it has none. */
static const char *version_of(const char *file)
{
	const char *end = strstr(file, ".so.");

	return end ? end + 4 : "";
}

bool blame_module_words(struct bytes *out, const struct blame *b, const char *module)
{
	const struct blame_module *m = NULL;

	for (uint32_t i = 0; i < b->nmodules && !m; i++)
		m = strcmp(b->module[i].name, module) ? NULL : &b->module[i];
	if (!m || !m->file[0] || !m->file[1] || m->mixed[0] || m->mixed[1])
		return false;
	if (strcmp(m->file[0], m->file[1]) != 0 && *version_of(m->file[0]) &&
	    *version_of(m->file[1]))
		bytes_printf(out, "%.*s %.40s -> %.40s", (int)strcspn(m->name, "."), m->name,
			     version_of(m->file[0]), version_of(m->file[1]));
	else if (strcmp(m->file[0], m->file[1]) != 0)
		bytes_printf(out, "%.60s -> %.60s", m->file[0], m->file[1]);
	else if (*m->build_id[0] && *m->build_id[1] && strcmp(m->build_id[0], m->build_id[1]) != 0)
		bytes_printf(out, "another build of %.60s", m->file[1]);
	else
		return false;
	return true;
}

static void put_name(struct bytes *out, const struct blame_part *p)
{
	if (p->kind == BLAME_MODULE)
		bytes_printf(out, "functions of %.60s", *p->module ? p->module : "unknown code");
	else
		bytes_printf(out, "%.80s", p->name);
}

/* What rounds to 0 has no sign. Returns out. */
static const char *points_text(const struct blame *b, double seconds, char out[CELL])
{
	double points = blame_points(b, seconds);

	snprintf(out, CELL, fabs(points) < 0.05 ? "%.1f" : "%+.1f",
		 fabs(points) < 0.05 ? 0 : points);
	return out;
}

static void put_points(struct bytes *out, const struct blame *b, double seconds)
{
	char points[CELL];

	bytes_printf(out, "%s points", points_text(b, seconds, points));
}

static void put_blamed(struct bytes *out, const struct blame *b, const struct blame_part *p)
{
	struct bytes words = { 0 };

	put_name(out, p);
	bytes_puts(out, " ");
	put_points(out, b, p->result.difference);
	if (*p->module && blame_module_words(&words, b, p->module)) {
		bytes_puts(out, " (");
		bytes_put(out, words.data, words.len);
		bytes_puts(out, ")");
	}
	out->failed |= words.failed;
	bytes_free(&words);
}

/* Whether p differs more than q, or as much and is before it. What only follows from others comes
 * after them. */
static bool is_before(const struct blame_part *p, const struct blame_part *q)
{
	double size = fabs(p->result.difference), other = fabs(q->result.difference);

	if (p->follows != q->follows)
		return q->follows;
	return size > other || (size >= other && p < q);
}

/* The one that differs most of those after `last`, or of all; NULL: there is none. */
static const struct blame_part *next_of(const struct blame *b, enum blame_level level, bool blamed,
					const struct blame_part *last)
{
	const struct blame_part *most = NULL;

	for (uint32_t i = 0; i < b->nparts; i++) {
		const struct blame_part *p = &b->part[i];

		if (p->level == level && (p->blamed || !blamed) && (!last || is_before(last, p)) &&
		    (!most || is_before(p, most)))
			most = p;
	}
	return most;
}

static bool any_blamed(const struct blame *b, enum blame_level level)
{
	return next_of(b, level, true, NULL) != NULL;
}

static void put_parts(struct bytes *out, const struct blame *b, enum blame_level level)
{
	double rest = b->whole.b - b->whole.a;
	const struct blame_part *p = NULL;

	for (int n = 0; n < NAMED_MOST && (p = next_of(b, level, true, p)); n++) {
		bytes_puts(out, n ? "; " : "");
		put_blamed(out, b, p);
		rest -= p->result.difference;
	}
	if (fabs(blame_points(b, rest)) < 0.05)
		return;
	bytes_puts(out, "; rest ");
	put_points(out, b, rest);
}

static void put_single(struct bytes *out, const struct blame *b)
{
	const struct blame_words *w = &blame_words[b->subject];
	const struct blame_part *p = next_of(b, w->order[0], false, NULL);

	bytes_printf(out, "of single runs, which do not show how much runs vary, so %s is blamed",
		     w->nothing);
	if (!p)
		return;
	bytes_puts(out, "; the largest part is ");
	put_blamed(out, b, p);
}

void blame_sentence(struct bytes *out, const struct blame *b)
{
	const struct blame_words *w = &blame_words[b->subject];
	int at = 0;

	if (!b->judged) {
		bytes_put(out, b->refused.data, b->refused.len);
		return;
	}
	bytes_printf(out, "%+.1f %%", blame_points(b, b->whole.b - b->whole.a));
	if (!isnan(b->whole.low))
		bytes_printf(out, " [%.1f, %.1f]", blame_points(b, b->whole.low),
			     blame_points(b, b->whole.high));
	bytes_printf(out, " %s: ", w->of);
	while (at < w->norder && !any_blamed(b, w->order[at]))
		at++;
	if (isnan(b->whole.low))
		put_single(out, b);
	else if (at < w->norder)
		put_parts(out, b, w->order[at]);
	else
		bytes_puts(out, w->alike);
}

/* ---- tables ---- */

struct line {
	double a, b, low, high;
	bool blamed;
};

static struct line line_of(const struct blame_part *p)
{
	bool known = !isnan(p->result.low), counted = p->level != BLAME_PHASE;

	return (struct line){ p->result.a, p->result.b,
			      known || !counted ? p->result.low : p->counted_low,
			      known || !counted ? p->result.high : p->counted_high, p->blamed };
}

/* Which parts of a level have a line: those that are blamed and the others that differ most. */
static void choose(const struct blame *b, enum blame_level level, bool all, bool *chosen)
{
	const struct blame_part *p = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->nparts; i++) {
		chosen[i] = b->part[i].level == level && (all || b->part[i].blamed);
		n += chosen[i];
	}
	while (n < ROWS_MOST && (p = next_of(b, level, false, p))) {
		n += !chosen[p - b->part];
		chosen[p - b->part] = true;
	}
}

/* A level with one name tells nothing, where nothing else is beside it. */
static bool is_shown(const struct blame *b, enum blame_level level)
{
	uint32_t named = 0;

	for (uint32_t i = 0; i < b->nparts; i++)
		named += b->part[i].level == level && b->part[i].kind <= BLAME_MODULE;
	return named > (level == BLAME_FUNCTION || level == BLAME_PHASE ? 0 : 1);
}

static void text_line(struct bytes *out, const struct blame *b, const struct line *l,
		      const char *name)
{
	char a[CELL], other[CELL], low[CELL], high[CELL], points[CELL];
	char both[2 * CELL + 2] = "", cut[NAME_COLUMNS * 4 + 1];

	if (!isnan(l->low))
		snprintf(both, sizeof both, "%s..%s", points_text(b, l->low, low),
			 points_text(b, l->high, high));
	bytes_printf(out, "%c %9s %9s %7s %-14s %s\n", l->blamed ? '*' : ' ',
		     cell_text(a, UNIT_SECONDS, l->a), cell_text(other, UNIT_SECONDS, l->b),
		     points_text(b, l->b - l->a, points), both,
		     escape_terminal_into(cut, NAME_COLUMNS + 1, name));
}

static void markdown_line(struct bytes *out, const struct blame *b, const struct line *l,
			  const char *name)
{
	char a[CELL], other[CELL], low[CELL], high[CELL], points[CELL], cut[SHOWN];

	escape_terminal_into(cut, sizeof cut, name);
	bytes_puts(out, l->blamed ? "| **" : "| ");
	escape_markdown(out, cut);
	bytes_printf(out, "%s | %s | %s | %s | ", l->blamed ? "**" : "",
		     cell_text(a, UNIT_SECONDS, l->a), cell_text(other, UNIT_SECONDS, l->b),
		     points_text(b, l->b - l->a, points));
	if (!isnan(l->low))
		bytes_printf(out, "%s to %s", points_text(b, l->low, low),
			     points_text(b, l->high, high));
	bytes_puts(out, " |\n");
}

static void html_line(struct bytes *out, const struct blame *b, const struct line *l,
		      const char *name)
{
	char low[CELL], high[CELL], points[CELL];

	bytes_puts(out, l->blamed ? "<tr><td class=\"name\"><b>" : "<tr><td class=\"name\">");
	html_text(out, name);
	bytes_puts(out, l->blamed ? "</b><td class=\"n\">" : "<td class=\"n\">");
	html_value(out, UNIT_SECONDS, l->a);
	bytes_puts(out, "<td class=\"n\">");
	html_value(out, UNIT_SECONDS, l->b);
	bytes_printf(out, "<td class=\"n\">%s<td class=\"n\">",
		     points_text(b, l->b - l->a, points));
	if (!isnan(l->low))
		bytes_printf(out, "%s to %s", points_text(b, l->low, low),
			     points_text(b, l->high, high));
	bytes_puts(out, "\n");
}

typedef void put_line(struct bytes *out, const struct blame *b, const struct line *l,
		      const char *name);

static void put_part(struct bytes *out, const struct blame *b, const struct blame_part *p,
		     put_line *put)
{
	struct bytes name = { 0 };
	struct line l = line_of(p);

	put_name(&name, p);
	if (*p->module && p->kind == BLAME_NAMED)
		bytes_printf(&name, " (%.40s)", p->module);
	bytes_u8(&name, 0);
	if (!name.failed)
		put(out, b, &l, (const char *)name.data);
	out->failed |= name.failed;
	bytes_free(&name);
}

static void put_level(struct bytes *out, const struct blame *b, enum blame_level level, bool all,
		      put_line *put)
{
	bool chosen[BLAME_PARTS_MAX] = { false };
	struct line rest = { .low = NAN, .high = NAN };
	char words[64];
	uint32_t left = 0;

	choose(b, level, all, chosen);
	for (uint32_t i = 0; i < b->nparts; i++) {
		const struct blame_part *p = &b->part[i];

		if (chosen[i])
			put_part(out, b, p, put);
		if (chosen[i] || p->level != level)
			continue;
		rest.a += p->result.a;
		rest.b += p->result.b;
		left++;
	}
	snprintf(words, sizeof words, "%u more", left);
	if (left)
		put(out, b, &rest, words);
}

static void put_whole(struct bytes *out, const struct blame *b, put_line *put)
{
	struct line l = { b->whole.a, b->whole.b, b->whole.low, b->whole.high, false };

	put(out, b, &l, blame_words[b->subject].whole);
}

static void put_legend(struct bytes *out, const struct blame *b)
{
	if (isnan(b->whole.low) && b->subject == BLAME_WALL)
		return;
	if (isnan(b->whole.low))
		bytes_puts(out, "intervals of the parts: of the counting of samples alone\n");
	else
		bytes_printf(
			out,
			"* differs for certain: all intervals of the %u parts hold together in "
			"%.0f %%\n  of comparisons\n",
			b->nparts, 100 * b->level);
}

void blame_text(struct bytes *out, const struct blame *b, bool all)
{
	for (int level = BLAME_LEVELS; b->judged && level-- > 0;) {
		if (!is_shown(b, (enum blame_level)level))
			continue;
		bytes_printf(out, "\n  %9s %9s %7s %-14s by %s\n", "A", "B", "points", "interval",
			     blame_words[b->subject].head[level]);
		put_level(out, b, (enum blame_level)level, all, text_line);
		put_whole(out, b, text_line);
	}
	if (b->judged)
		put_legend(out, b);
}

void blame_markdown(struct bytes *out, const struct blame *b)
{
	if (!b->judged)
		return;
	bytes_printf(out, "\n<details><summary>Where the difference in %s lies</summary>\n",
		     b->subject == BLAME_CPU ? "CPU time" : blame_words[b->subject].of);
	for (int level = 0; level < BLAME_LEVELS; level++) {
		if (!is_shown(b, (enum blame_level)level))
			continue;
		bytes_printf(out,
			     "\n| %s | A | B | points | interval |\n"
			     "|---|--:|--:|--:|:-:|\n",
			     blame_words[b->subject].head[level]);
		put_level(out, b, (enum blame_level)level, false, markdown_line);
		put_whole(out, b, markdown_line);
	}
	bytes_puts(out, "\n</details>\n");
}

void blame_html(struct bytes *out, const struct blame *b)
{
	for (int i = 0; i < blame_words[b->subject].norder && b->judged; i++) {
		enum blame_level level = blame_words[b->subject].order[i];

		if (!is_shown(b, level))
			continue;
		bytes_printf(out,
			     "<h2>%s by %s</h2><div class=\"panel\" tabindex=\"0\"><table><thead>"
			     "<tr><th>Name<th class=\"n\">A<th class=\"n\">B<th class=\"n\">Points"
			     "<th class=\"n\">Interval</thead><tbody>\n",
			     blame_words[b->subject].title, blame_words[b->subject].head[level]);
		put_level(out, b, level, false, html_line);
		put_whole(out, b, html_line);
		bytes_puts(out, "</tbody></table></div>\n");
	}
}

/* ---- for programs: names are whole ---- */

static const char *const kinds[] = {
	[BLAME_NAMED] = "named",           [BLAME_MODULE] = "renamed or inlined",
	[BLAME_OTHERS] = "others",         [BLAME_SHORT] = "too short to be sampled",
	[BLAME_UNSAMPLED] = "not sampled", [BLAME_KERNEL] = "kernel",
	[BLAME_ON_CPU] = "on a CPU",       [BLAME_READY] = "ready",
	[BLAME_UNSEEN] = "unseen",         [BLAME_OUTSIDE] = "outside of phases",
};
_Static_assert(sizeof kinds / sizeof kinds[0] == BLAME_KINDS, "a name each");

static void put_text(struct json *j, const char *key, const struct bytes *text)
{
	struct bytes copy = { 0 };

	bytes_put(&copy, text->data, text->len);
	bytes_u8(&copy, 0);
	json_put_text(j, key, text->len && !copy.failed ? (const char *)copy.data : NULL);
	j->out->failed |= copy.failed;
	bytes_free(&copy);
}

static void put_values(struct json *j, const struct blame *b, const struct blame_part *p, int side)
{
	json_key(j, side ? "values_b" : "values_a");
	json_array(j);
	for (uint32_t i = 0; i < b->nruns; i++)
		if (b->run[i].side == side)
			json_real(j, p ? p->value[i] : b->run[i].whole_s);
	json_array_end(j);
}

/* Members of an open object; p NULL: the whole. */
static void put_difference(struct json *j, const struct blame *b, const struct compared *c,
			   const struct blame_part *p)
{
	json_put_real(j, "a_seconds", c->a);
	json_put_real(j, "b_seconds", c->b);
	json_put_real(j, "difference_seconds", c->difference);
	json_put_real(j, "low_seconds", c->low);
	json_put_real(j, "high_seconds", c->high);
	json_put_real(j, "difference_ratio", blame_points(b, c->difference) / 100);
	json_put_real(j, "low_ratio", blame_points(b, c->low) / 100);
	json_put_real(j, "high_ratio", blame_points(b, c->high) / 100);
	json_put_real(j, "p_different", c->p);
	json_put_real(j, "p_without_drift", c->p_drift);
	put_values(j, b, p, 0);
	put_values(j, b, p, 1);
}

static void json_part(struct json *j, const struct blame *b, const struct blame_part *p)
{
	bool sampled =
		p->level != BLAME_COMMAND && p->level != BLAME_PHASE && p->kind < BLAME_SHORT;
	struct bytes words = { 0 };

	json_object(j);
	json_put_text(j, "name", p->name);
	json_put_text(j, "kind", kinds[p->kind]);
	json_put_text(j, "module", *p->module ? p->module : NULL);
	json_put_bool(j, "blamed", p->blamed);
	json_put_real(j, "p_corrected", p->p);
	json_put_real(j, "counted_low_seconds", p->level == BLAME_PHASE ? NAN : p->counted_low);
	json_put_real(j, "counted_high_seconds", p->level == BLAME_PHASE ? NAN : p->counted_high);
	json_put_real(j, "samples_a", sampled ? p->samples[0] : NAN);
	json_put_real(j, "samples_b", sampled ? p->samples[1] : NAN);
	put_difference(j, b, &p->result, p);
	if (*p->module)
		blame_module_words(&words, b, p->module);
	put_text(j, "module_changed", &words);
	bytes_free(&words);
	json_object_end(j);
}

static void json_level(struct json *j, const struct blame *b, enum blame_level level)
{
	json_key(j, blame_level_names[level]);
	json_array(j);
	for (uint32_t i = 0; i < b->nparts; i++)
		if (b->judged && b->part[i].level == level)
			json_part(j, b, &b->part[i]);
	json_array_end(j);
}

void blame_json(struct json *j, const struct blame *b)
{
	struct bytes sentence = { 0 };

	if (blame_is_empty(b)) {
		json_null(j);
		return;
	}
	blame_sentence(&sentence, b);
	json_object(j);
	put_text(j, "sentence", &sentence);
	put_text(j, "refused", &b->refused);
	put_text(j, "note", &b->note);
	json_put_real(j, "level", b->level);
	json_key(j, "parts");
	json_int(j, b->judged ? b->nparts : 0);
	json_key(j, "whole");
	if (b->judged) {
		json_object(j);
		put_difference(j, b, &b->whole, NULL);
		json_object_end(j);
	} else {
		json_null(j);
	}
	for (int level = 0; level < BLAME_LEVELS; level++)
		if (blame_words[b->subject].head[level])
			json_level(j, b, (enum blame_level)level);
	json_object_end(j);
	bytes_free(&sentence);
}
