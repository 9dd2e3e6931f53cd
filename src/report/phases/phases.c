/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phases/phases.h"
#include "base/text/escape.h"
#include "core/frame/losses.h"
#include "report/assets.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int phase_rules_builtin(struct phase_rules *rules, struct err *e)
{
	return phase_rules_add(rules, "phases", asset_phases,
			       (size_t)(asset_phases_end - asset_phases), e);
}

/* A run need not have any of the metrics that nobody named. */
static int add_figures(struct phase_report *p, const char *globs, struct err *e)
{
	int rc;

	p->unmetered = !globs && p->phases.n > PHASE_METERED_MAX;
	if (p->unmetered)
		return 0;
	rc = phase_meter_make(&p->meter, p->run, &p->phases, &p->totals,
			      globs ? globs : PHASE_METRICS, e);

	return rc == -EINVAL && !globs ? 0 : rc;
}

int phase_report_make(struct phase_report *p, struct run *r, const struct phase_report_wish *w,
		      struct err *e)
{
	const struct phase_wish wish = { .names = w->names, .marks_only = w->marks_only };
	int rc;

	*p = (struct phase_report){ .run = r };
	rc = phase_rules_builtin(&p->rules, e);
	if (!rc && w->rules)
		rc = phase_rules_read(&p->rules, w->rules, e);
	if (!rc)
		rc = phases_make(&p->phases, r, &p->rules, &wish, e);
	if (!rc && phase_totals_make(&p->totals, &p->phases))
		rc = err_set(e, -ENOMEM, "out of memory for the phases of %.300s", r->path);
	if (!rc && w->figures && p->phases.n)
		rc = add_figures(p, w->metrics, e);
	return rc;
}

void phase_report_free(struct phase_report *p)
{
	phase_meter_free(&p->meter);
	phase_totals_free(&p->totals);
	phases_free(&p->phases);
	phase_rules_free(&p->rules);
	*p = (struct phase_report){ 0 };
}

/* ---- for a terminal: a row for each name, what else is known of it below ---- */

enum { NAME_COLUMNS = 18, LABEL_COLUMNS = 24, ROWS_SHOWN = 40, LOOSE_SHOWN = 10 };

/* "-": not known. */
static const char *number(char *out, size_t size, enum unit u, double v)
{
	if (isnan(v))
		snprintf(out, size, "-");
	else
		unit_format(u, v, out, size);
	return out;
}

static void seconds(struct bytes *b, double v)
{
	char text[32];

	bytes_printf(b, " %10s", number(text, sizeof text, UNIT_SECONDS, v));
}

const char *phase_report_node(const struct phase_report *p, uint32_t node, char *out, size_t size)
{
	const struct run_node *n = &p->run->nodes[node];
	uint32_t before = 0;
	char name[300];

	out[0] = '\0';
	for (uint32_t i = 1; i < node; i++)
		before +=
			p->run->nodes[i].host && n->host && !strcmp(p->run->nodes[i].host, n->host);
	if (node) {
		run_host_name(p->run, node, before, name, sizeof name);
		escape_terminal_into(out, size, name);
	}
	return out;
}

static void name_column(struct bytes *b, int indent, int columns, const char *name)
{
	char shown[128];

	escape_terminal_into(shown, sizeof shown, name);
	bytes_printf(b, "%*s%-*s", indent, "", columns - indent, shown);
}

static void total_row(struct bytes *b, int indent, const char *name, const struct phase_total *t)
{
	name_column(b, indent, NAME_COLUMNS, name);
	bytes_printf(b, " %5u", t->n);
	seconds(b, t->total_s);
	seconds(b, t->mean_s);
	seconds(b, t->min_s);
	seconds(b, t->max_s);
	seconds(b, t->first_begin_s);
	bytes_puts(b, "\n");
}

static void figure_line(struct bytes *b, const struct phase_metric *m, const struct phase_figure *f)
{
	char mean[32], most[32], total[32];

	if (!m->used || isnan(f->most))
		return;
	name_column(b, 2, LABEL_COLUMNS, m->label);
	bytes_printf(b, " mean %-12s most %-12s", number(mean, sizeof mean, m->unit, f->mean),
		     number(most, sizeof most, m->unit, f->most));
	if (!isnan(f->total))
		bytes_printf(b, " total %s", number(total, sizeof total, m->total_unit, f->total));
	while (b->len && b->data[b->len - 1] == ' ')
		b->len--;
	bytes_puts(b, "\n");
}

/* What only some phases have. */
static void more_of_total(struct bytes *b, const struct phase_total *t)
{
	char text[2][32];

	if (!isnan(t->size_bytes))
		bytes_printf(b, "  %s at %s\n",
			     unit_format(UNIT_BYTES, t->size_bytes, text[0], sizeof text[0]),
			     number(text[1], sizeof text[1], UNIT_BYTES_PER_SECOND,
				    t->bytes_per_second));
	if (t->nodes > 1)
		bytes_printf(b, "  on %u nodes, whose first ones start %s apart\n", t->nodes,
			     unit_format(UNIT_SECONDS, t->starts_apart_s, text[0], sizeof text[0]));
	if (t->covered_s < t->times_s * 0.999)
		bytes_printf(b, "  they overlap: %s with at least one active\n",
			     unit_format(UNIT_SECONDS, t->covered_s, text[0], sizeof text[0]));
	if (t->unfinished)
		bytes_printf(b, "  did not end: %u\n", t->unfinished);
	if (t->uncertain_s > 0)
		bytes_printf(b, "  durations may be wrong by up to %s: lines without a time\n",
			     unit_format(UNIT_SECONDS, t->uncertain_s, text[0], sizeof text[0]));
}

/* Rows of a finer level, below their name. */
static void rows_of(struct bytes *b, const struct phase_report *p, const char *name, unsigned level)
{
	const struct phase_totals *t = &p->totals;
	uint32_t shown = 0, all = 0;
	char node[200];

	for (uint32_t i = t->first[level]; i < t->first[level + 1]; i++) {
		const struct phase_total *x = &t->total[i];
		struct bytes title = { 0 };

		if (strcmp(x->name, name) != 0 || all++ >= ROWS_SHOWN)
			continue;
		if (x->key)
			bytes_printf(&title, "%s%s", *x->key ? x->key : "(no key)",
				     x->node ? " " : "");
		if (x->node)
			bytes_printf(&title, "on %s",
				     phase_report_node(p, x->node, node, sizeof node));
		bytes_u8(&title, 0);
		b->failed |= title.failed;
		if (!title.failed)
			total_row(b, 2, (const char *)title.data, x);
		bytes_free(&title);
		shown++;
	}
	if (all > shown)
		bytes_printf(b, "  and %u more: --json and --csv have them all\n", all - shown);
}

static void one_name(struct bytes *b, const struct phase_report *p, uint32_t i, bool all)
{
	const struct phase_total *t = &p->totals.total[i];
	const struct phase_meter *m = &p->meter;

	total_row(b, 0, t->name, t);
	more_of_total(b, t);
	for (uint32_t k = 0; k < m->nmetrics; k++)
		figure_line(b, &m->metric[k], &m->of_total[(size_t)i * m->nmetrics + k]);
	rows_of(b, p, t->name, PHASE_BY_KEY);
	rows_of(b, p, t->name, PHASE_BY_NODE);
	if (all)
		rows_of(b, p, t->name, PHASE_BY_KEY | PHASE_BY_NODE);
}

/* ---- every phase ---- */

static void phase_line(struct bytes *b, const struct phase_report *p, const struct phase *x)
{
	char at[32], takes[32] = "no end", node[200], text[160];

	unit_format(UNIT_SECONDS, x->begin_s, at, sizeof at);
	if (!isnan(x->duration_s))
		unit_format(UNIT_SECONDS, x->duration_s, takes, sizeof takes);
	bytes_printf(b, "%10s  %10s  %*s%s", at, takes, (int)(x->depth < 10 ? x->depth * 2 : 20),
		     "", escape_terminal_into(text, sizeof text, x->name));
	if (*x->key)
		bytes_printf(b, "  %s", escape_terminal_into(text, sizeof text, x->key));
	if (p->run->nnodes > 2)
		bytes_printf(b, "  on %s", phase_report_node(p, x->node, node, sizeof node));
	bytes_printf(b, "%s\n", x->crosses ? "  (crosses another)" : "");
}

static void list(struct bytes *b, const struct phases *x, const struct phase_report *p)
{
	bytes_printf(b, "\n%10s  %10s  %s\n", "BEGINS", "TAKES", "PHASE");
	for (uint32_t i = 0; i < x->n; i++)
		phase_line(b, p, &x->phase[i]);
}

/* ---- what made no phase ---- */

static void loose(struct bytes *b, const struct phase_report *p)
{
	static const char *const why[] = {
		[PHASE_NO_START] = "ends what had not started",
		[PHASE_LEFT_OUT] = "is left out: the rule takes the first one",
	};
	const struct phases *x = &p->phases;
	char name[128], at[32], node[200];

	for (uint32_t i = 0; i < x->nloose && i < LOOSE_SHOWN; i++) {
		const struct phase_loose *l = &x->loose[i];

		escape_terminal_into(name, sizeof name, l->name);
		bytes_printf(b, "%s%s at %s%s%s %s (rule %s)\n", i ? "" : "\n", name,
			     unit_format(UNIT_SECONDS, l->at_s, at, sizeof at),
			     p->run->nnodes > 2 ? " on " : "",
			     p->run->nnodes > 2 ? phase_report_node(p, l->node, node, sizeof node)
						: "",
			     why[l->why], l->rule->name);
	}
	if (x->nloose > LOOSE_SHOWN)
		bytes_printf(b, "and %u more such marks: --json has them all\n",
			     x->nloose - LOOSE_SHOWN);
}

/* What phases are made of, as far as some of it was lost. */
static void lost(struct bytes *b, const struct run *r)
{
	struct losses x;

	for (uint32_t i = 0; !losses_make(&x, r) && i < x.n; i++)
		if (!strcmp(x.row[i].what, "spans") || !strcmp(x.row[i].what, "marks"))
			bytes_printf(b, "\nlosses: %s\n", x.row[i].words);
}

void phase_report_text(struct bytes *b, const struct phase_report *p, bool all)
{
	const struct phase_totals *t = &p->totals;
	uint32_t crossing = 0;

	if (p->phases.n)
		bytes_printf(b, "%-*s %5s %10s %10s %10s %10s %10s\n", NAME_COLUMNS, "PHASE",
			     "TIMES", "TOTAL", "MEAN", "LEAST", "MOST", "BEGINS");
	for (uint32_t i = t->first[0]; i < t->first[1]; i++)
		one_name(b, p, i, all);
	for (uint32_t i = 0; i < p->phases.n; i++)
		crossing += p->phases.phase[i].crosses;
	if (crossing)
		bytes_printf(
			b,
			"\n%u phases cross others: they overlap and neither contains the other\n",
			crossing);
	if (p->unmetered)
		bytes_printf(b, "\nno metrics for more than %d phases: choose some with --phases\n",
			     PHASE_METERED_MAX);
	if (all && p->phases.n)
		list(b, &p->phases, p);
	loose(b, p);
	lost(b, p->run);
}
