/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c - what groups of runs used, and what to ask for next time. */
#include "store/usage.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "console/command.h"
#include "core/metric.h"
#include "session/history.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct usage_options {
	struct history_options history; /* first, as HISTORY_OPTIONS wants it */
	const char *lake;
	int64_t by, percentile, margin;
	bool json;
};

_Static_assert(offsetof(struct usage_options, history) == 0, "HISTORY_OPTIONS");

static const struct option rows[] = {
	{ .name = "by",
	  .type = ARG_CHOICE,
	  .value = "name|array|host|user|account",
	  .fallback = "name",
	  .help = "Group runs by job name (or program name), array job, host (each run counts on "
		  "every host it used), or user.",
	  OPTION_OFFSET(struct usage_options, by) },
	HISTORY_OPTIONS,
	{ .name = "lake",
	  .type = ARG_TEXT,
	  .value = "ROOT",
	  .help = "The runs of this lake, which `sonde export --lake` or a site's prolog wrote, "
		  "instead of the history.",
	  OPTION_OFFSET(struct usage_options, lake) },
	{ .name = "percentile",
	  .type = ARG_COUNT,
	  .value = "N",
	  .fallback = "95",
	  .min = 1,
	  .max = 100,
	  .help = "Cover this percentage of the runs with the suggested request.",
	  OPTION_OFFSET(struct usage_options, percentile) },
	{ .name = "margin",
	  .type = ARG_COUNT,
	  .value = "PERCENT",
	  .fallback = "20",
	  .max = 1000,
	  .help = "Add this margin to the suggested request.",
	  OPTION_OFFSET(struct usage_options, margin) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the groups as JSON, schema sonde/usage/1.",
	  OPTION_OFFSET(struct usage_options, json) },
};

static const struct example examples[] = {
	{ "usage", "usage of each job name" },
	{ "usage --by array --since 7d", "usage of each array job" },
	{ "usage --lake /lake --by account --since 30d", "what each project requested and used" },
	{ "usage --name train --percentile 90 --margin 10", "request less" },
};

static void number(char *out, size_t size, enum unit unit, double v)
{
	if (isnan(v))
		snprintf(out, size, "-");
	else
		unit_format(unit, v, out, size);
}

static void figure_line(struct bytes *b, const struct usage_figure *f)
{
	char text[6][32];
	const double v[6] = { f->asked, f->p50, f->p90, f->p95, f->max, f->next };

	for (size_t i = 0; i < 6; i++)
		number(text[i], sizeof text[i], f->row->unit, v[i]);
	bytes_printf(b, "  %-14s %6u  %-12s  %-12s  %-12s  %-12s  %-12s  %s\n", f->row->label, f->n,
		     text[0], text[1], text[2], text[3], text[4], text[5]);
}

static void hours(char *out, size_t size, double v)
{
	snprintf(out, size, v < 1000 ? "%.3g" : "%.0f", v);
}

static void total_line(struct bytes *b, const struct usage_total *t)
{
	char asked[32], used[32];

	hours(asked, sizeof asked, t->asked_h);
	hours(used, sizeof used, t->used_h);
	bytes_printf(b, "  %-14s %6u  requested %s, used %s (%.0f %%)\n", t->label, t->n, asked,
		     used, 100 * t->used_h / t->asked_h);
}

static void group_text(struct bytes *b, const struct usage_group *g)
{
	char name[200], of[200] = "";

	escape_terminal_into(name, sizeof name, g->name);
	if (g->of)
		escape_terminal_into(of, sizeof of, g->of);
	bytes_printf(b, "%s%s%s%s: %u run%s", name, g->of ? " (" : "", of, g->of ? ")" : "",
		     g->runs, g->runs == 1 ? "" : "s");
	if (g->failed)
		bytes_printf(b, ", %u failed", g->failed);
	bytes_puts(b, "\n");
	for (size_t i = 0; i < USAGE_FIGURES; i++)
		if (g->figure[i].n)
			figure_line(b, &g->figure[i]);
	for (size_t i = 0; i < USAGE_TOTALS; i++)
		if (g->total[i].n)
			total_line(b, &g->total[i]);
}

static void print_text(struct bytes *b, const struct usage *u, const struct usage_options *o)
{
	if (u->n)
		bytes_printf(b, "  %-14s %6s  %-12s  %-12s  %-12s  %-12s  %-12s  %s\n", "", "RUNS",
			     "REQUESTED", "HALF", "90 %", "95 %", "MOST", "NEXT TIME");
	for (uint32_t i = 0; i < u->n; i++)
		group_text(b, &u->group[i]);
	if (u->n)
		bytes_printf(b,
			     "REQUESTED: half of the runs requested at most this much. "
			     "HALF, 90 %% and 95 %%: that share of the runs used at most this "
			     "much. NEXT TIME: enough for %d %% of these runs, plus %d %%.\n",
			     (int)o->percentile, (int)o->margin);
}

static void figure_json(struct json *j, const struct usage_figure *f)
{
	json_key(j, f->row->name);
	json_object(j);
	json_key(j, "unit");
	json_text(j, unit_name(f->row->unit));
	json_key(j, "runs");
	json_int(j, f->n);
	json_put_real(j, "p50", f->p50);
	json_put_real(j, "p90", f->p90);
	json_put_real(j, "p95", f->p95);
	json_put_real(j, "max", f->max);
	json_put_real(j, "next", f->next);
	json_put_real(j, "asked", f->asked);
	json_object_end(j);
}

static void total_json(struct json *j, const struct usage_total *t)
{
	json_key(j, t->name);
	json_object(j);
	json_key(j, "runs");
	json_int(j, t->n);
	json_put_real(j, "asked", t->asked_h);
	json_put_real(j, "used", t->used_h);
	json_object_end(j);
}

static void group_json(struct json *j, const struct usage_group *g)
{
	json_object(j);
	json_key(j, "name");
	json_text(j, g->name);
	json_key(j, "of");
	json_text(j, g->of);
	json_key(j, "runs");
	json_int(j, g->runs);
	json_key(j, "failed");
	json_int(j, g->failed);
	json_key(j, "figures");
	json_object(j);
	for (size_t i = 0; i < USAGE_FIGURES; i++)
		if (g->figure[i].n)
			figure_json(j, &g->figure[i]);
	json_object_end(j);
	json_key(j, "totals");
	json_object(j);
	for (size_t i = 0; i < USAGE_TOTALS; i++)
		if (g->total[i].n)
			total_json(j, &g->total[i]);
	json_object_end(j);
	json_object_end(j);
}

static void print_json(struct bytes *b, const struct usage *u, const struct usage_options *o)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_key(&j, "schema");
	json_text(&j, "sonde/usage/1");
	json_key(&j, "by");
	json_text(&j, usage_by_name((enum usage_by)o->by));
	json_key(&j, "percentile");
	json_int(&j, o->percentile);
	json_key(&j, "margin_percent");
	json_int(&j, o->margin);
	json_key(&j, "groups");
	json_array(&j);
	for (uint32_t i = 0; i < u->n; i++)
		group_json(&j, &u->group[i]);
	json_array_end(&j);
	json_object_end(&j);
	bytes_u8(b, '\n');
}

static int usage_exec(const void *options, int noperands, char **operands)
{
	const struct usage_options *o = options;
	struct history h = { 0 };
	struct usage u = { 0 };
	struct bytes b = { 0 };
	int code;

	if (noperands) {
		say("usage: unexpected argument '%s'; it reads the history, or --lake ROOT",
		    operands[0]);
		return EXIT_USAGE;
	}
	if (o->lake && o->history.store) {
		say("usage: --store and --lake are two places; give one");
		return EXIT_USAGE;
	}
	code = o->lake ? history_find_in_lake(&h, &o->history, o->lake, "usage")
		       : history_find(&h, &o->history, "usage");
	if (code == EXIT_OK) {
		if (usage_make(&u, &h, (enum usage_by)o->by, (double)o->percentile / 100,
			       (double)o->margin / 100))
			b.failed = true;
		else if (o->json)
			print_json(&b, &u, o);
		else
			print_text(&b, &u, o);
		if (!u.n && !o->json && !b.failed)
			say("usage: no matching run in the %s", o->lake ? "lake" : "history");
		code = print_bytes(&b);
	}
	usage_free(&u);
	history_free(&h);
	return code;
}

const struct command command_usage = {
	.name = "usage",
	.operands = "",
	.what = "Show what jobs used, and what to request next time",
	.description =
		"Groups the runs in the history by job name (all runs of a campaign, arrays "
		"included), array job, host, user or account. For each group it prints what the "
		"runs requested, what half, 90 % and 95 % of them used at most, the maximum, and "
		"what to request next time: cores (the mean of each run), peak memory, time, and "
		"GPUs (the share of time in which they were busy); then the core hours and GPU "
		"hours that were requested and used. Runs that are still active are skipped; failed runs are "
		"counted.\n\n"
		"The suggested request is the percentile of --percentile plus the margin of "
		"--margin, rounded up to whole cores, 100 MiB or minutes. Figures of several "
		"nodes are summed.\n\n"
		"With --lake it reads the summaries in the files of a lake: the jobs of all users "
		"whom the site records.\n\n"
		"`sonde ls --history` lists the runs, `sonde ls --add DIR` adds recordings.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct usage_options),
	COMMAND_EXAMPLES(examples),
	.exec = usage_exec,
};
