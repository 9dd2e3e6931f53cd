/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_table.h"

#include "core/stacks/symbol.h"
#include "report/page/page.h"
#include "report/page/page_html.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void html_table(struct bytes *b, const char *caption, const struct html_heading *h, size_t n)
{
	bytes_printf(b,
		     "<div class=\"panel scroll\" tabindex=\"0\" role=\"group\" "
		     "aria-label=\"%s\"><table class=\"sortable\"><caption>%s</caption><thead><tr>",
		     caption, caption);
	for (size_t i = 0; i < n; i++)
		bytes_printf(b, "<th scope=\"col\"%s%s>%s</th>", h[i].is_text ? " data-text" : "",
			     h[i].is_sorted ? " aria-sort=\"descending\"" : "", h[i].title);
	bytes_puts(b, "</tr></thead><tbody>\n");
}

void html_table_end(struct bytes *b)
{
	bytes_puts(b, "</tbody></table></div>");
}

void html_number_cell(struct bytes *b, enum unit u, double v)
{
	char exact[32], shown[64];

	snprintf(exact, sizeof exact, "%.6g", v);
	if (isfinite(v) && strcmp(exact, unit_format(u, v, shown, sizeof shown)) != 0)
		bytes_printf(b, "<td data-v=\"%s\">", exact);
	else
		bytes_puts(b, "<td>");
	html_value(b, u, v);
	bytes_puts(b, "</td>");
}

void html_name_cell(struct bytes *b, const char *name, double pid)
{
	enum {
		FITS = 40
	}; /* characters into the widest cell of a name; longer ones are cut there */

	bytes_puts(b, "<tr><th scope=\"row\" class=\"name\"");
	if (strlen(name) > FITS) {
		bytes_puts(b, " title=\"");
		html_text(b, name);
		bytes_puts(b, "\"");
	}
	bytes_puts(b, ">");
	html_text(b, name);
	if (isfinite(pid))
		bytes_printf(b, "<span class=\"soft\">[%.0f]</span>", pid);
	bytes_puts(b, "</th>");
}

void html_text_cell(struct bytes *b, const char *text)
{
	bytes_puts(b, "<td class=\"text\">");
	html_text(b, text);
	bytes_puts(b, "</td>");
}

void html_where_cell(struct bytes *b, const char *file, uint32_t line)
{
	char where[400];

	if (file)
		snprintf(where, sizeof where, line ? "%.300s:%u" : "%.300s", symbol_base(file),
			 line);
	html_text_cell(b, file ? where : NULL);
}

/* ---- processes, commands, nodes, metrics ---- */

enum { COMMANDS_MAX = 50, METRICS_MAX = 1000 };

static void process_row(struct bytes *b, const struct summary_process *p)
{
	html_name_cell(b, p->name, p->pid);
	html_number_cell(b, UNIT_SECONDS, p->cpu_s);
	html_number_cell(b, UNIT_BYTES, p->peak_rss_bytes);
	html_number_cell(b, UNIT_BYTES, p->read_bytes);
	html_number_cell(b, UNIT_BYTES, p->written_bytes);
	html_number_cell(b, UNIT_SECONDS, p->start_s);
	if (isfinite(p->end_s))
		html_number_cell(b, UNIT_SECONDS, p->end_s - p->start_s);
	else
		bytes_puts(b, "<td><span class=\"none\">still running at the end</span></td>");
	bytes_puts(b, "</tr>\n");
}

/* Most CPU first, unknown last. */
static int compare_cpu(const void *a, const void *b)
{
	const struct summary_process *x = a, *y = b;
	double cx = isnan(x->cpu_s) ? -1 : x->cpu_s, cy = isnan(y->cpu_s) ? -1 : y->cpu_s;

	if (cx != cy)
		return cx < cy ? 1 : -1;
	return x->instance < y->instance ? -1 : x->instance > y->instance;
}

/* The processes of all three lists, each once. Their number. */
static uint32_t merged(struct summary_process *out, const struct summary *s)
{
	const struct {
		const struct summary_process *list;
		uint32_t n;
	} lists[] = { { s->by_cpu, s->nby_cpu },
		      { s->by_memory, s->nby_memory },
		      { s->by_io, s->nby_io } };
	uint32_t n = 0;

	for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++)
		for (uint32_t i = 0; i < lists[l].n; i++) {
			uint32_t k = 0;

			while (k < n && out[k].instance != lists[l].list[i].instance)
				k++;
			if (k == n)
				out[n++] = lists[l].list[i];
		}
	qsort(out, n, sizeof *out, compare_cpu);
	return n;
}

void html_processes(struct bytes *b, const struct page_source *p)
{
	static const struct html_heading h[] = {
		{ "Process", true, false },
		{ "CPU time", false, true },
		{ "Peak memory (RSS)", false, false },
		{ "Read", false, false },
		{ "Written", false, false },
		{ "Started", false, false },
		{ "Ran for", false, false },
	};
	struct summary_process list[3 * SUMMARY_TOP];
	double unseen = summary_unseen_peak(p->summary);
	uint32_t n = merged(list, p->summary);

	if (!n) {
		bytes_puts(b, "<p class=\"panel empty\">This recording has no processes.</p>");
		return;
	}
	html_table(b, "The largest by CPU, by memory and by I/O", h, sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < n; i++)
		process_row(b, &list[i]);
	html_table_end(b);
	if (isnan(unseen))
		return;
	bytes_puts(b, "<p class=\"soft\">One process had ");
	html_value(b, UNIT_BYTES, unseen);
	bytes_puts(b, " between two samples.</p>");
}

void html_commands(struct bytes *b, const struct page_source *p)
{
	static const struct html_heading h[] = {
		{ "Command", true, false },  { "Processes", false, false },
		{ "CPU time", false, true }, { "Peak memory (RSS)", false, false },
		{ "Read", false, false },    { "Written", false, false },
	};
	const struct summary *s = p->summary;

	if (!s->ncommands) {
		bytes_puts(b,
			   "<p class=\"panel empty\">This recording has no totals by command.</p>");
		return;
	}
	html_table(b, "Totals of all processes with the same name", h, sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < s->ncommands && i < COMMANDS_MAX; i++) {
		html_name_cell(b, summary_command_shown(&s->commands[i]), NAN);
		html_number_cell(b, UNIT_COUNT, s->commands[i].processes);
		html_number_cell(b, UNIT_SECONDS, s->commands[i].cpu_s);
		html_number_cell(b, UNIT_BYTES, s->commands[i].peak_rss_bytes);
		html_number_cell(b, UNIT_BYTES, s->commands[i].read_bytes);
		html_number_cell(b, UNIT_BYTES, s->commands[i].written_bytes);
		bytes_puts(b, "</tr>\n");
	}
	html_table_end(b);
	if (s->ncommands > COMMANDS_MAX)
		bytes_printf(b, "<p class=\"soft\">and %u more that used less CPU</p>",
			     s->ncommands - COMMANDS_MAX);
}

static void comparison_row(struct bytes *b, const struct summary *s,
			   const struct summary_comparison *c)
{
	const struct spread *x = &c->spread;

	html_name_cell(b, c->label ? c->label : c->metric, NAN);
	html_number_cell(b, c->unit, c->adds_up ? x->total : NAN);
	html_number_cell(b, c->unit, x->mean);
	html_number_cell(b, c->unit, x->min);
	html_text_cell(b, s->hosts[x->least].host);
	html_number_cell(b, c->unit, x->max);
	html_text_cell(b, s->hosts[x->most].host);
	html_number_cell(b, UNIT_RATIO, x->imbalance);
	bytes_puts(b, "</tr>\n");
}

static void clocks(struct bytes *b, const struct summary *s)
{
	bytes_puts(b, "<p class=\"soft\">Imbalance is maximum / average - 1. The nodes are "
		      "aligned by their wall clocks, ");
	if (isnan(s->clock_error_s)) {
		bytes_puts(b, "of which not all kernels know the error.</p>");
		return;
	}
	bytes_puts(b, "which agree within ");
	html_value(b, UNIT_SECONDS, s->clock_error_s);
	bytes_puts(b, ".</p>");
}

void html_nodes(struct bytes *b, const struct page_source *p)
{
	static const struct html_heading h[] = {
		{ "Figure", true, false },   { "Total", false, false },
		{ "Average", false, false }, { "Least", false, false },
		{ "on", true, false },       { "Most", false, false },
		{ "on", true, false },       { "Imbalance", false, true },
	};
	const struct summary *s = p->summary;

	if (!s->ncomparisons)
		return;
	bytes_puts(b, "<section aria-labelledby=\"h-nodes\">\n<h2 id=\"h-nodes\">Nodes side by "
		      "side</h2>\n");
	html_table(b, "Totals and peaks of the job, means of the node", h, sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < s->ncomparisons; i++)
		comparison_row(b, s, &s->comparisons[i]);
	html_table_end(b);
	clocks(b, s);
	bytes_puts(b, "</section>");
}

static void metric_row(struct bytes *b, const struct run *r, const struct summary_metric *m,
		       bool with_node)
{
	const struct stats *st = &m->stats;

	html_name_cell(b, m->name, NAN);
	if (with_node)
		html_text_cell(b, r->nodes[m->node].host);
	html_number_cell(b, m->unit, stats_mean(st));
	html_number_cell(b, m->unit, st->n ? st->min : NAN);
	html_number_cell(b, m->unit, st->n ? st->max : NAN);
	html_number_cell(b, m->unit, st->n ? st->last : NAN);
	html_number_cell(b, UNIT_COUNT, (double)st->n);
	bytes_puts(b, "</tr>\n");
}

bool page_wants_all(const struct run *r)
{
	return r->nseries <= METRICS_MAX;
}

void html_metrics(struct bytes *b, const struct page_source *p)
{
	static const struct html_heading all[] = {
		{ "Metric", true, false },  { "Node", true, false },  { "Mean", false, false },
		{ "Least", false, false },  { "Most", false, false }, { "Last", false, false },
		{ "Values", false, false },
	};
	struct html_heading h[sizeof all / sizeof all[0]];
	const struct summary *s = p->summary;
	bool with_node = s->nnodes > 1;
	size_t n = 0;

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (with_node || i != 1)
			h[n++] = all[i];
	bytes_printf(
		b,
		"<details class=\"panel\"><summary>%u series, with their mean and range</summary>",
		s->nmetrics);
	html_table(b, "Means are weighted by time", h, n);
	for (uint32_t i = 0; i < s->nmetrics && i < METRICS_MAX; i++)
		metric_row(b, p->run, &s->metrics[i], with_node);
	html_table_end(b);
	if (s->nmetrics > METRICS_MAX)
		bytes_printf(b, "<p class=\"soft\">and %u more: sonde show --json has them all</p>",
			     s->nmetrics - METRICS_MAX);
	else if (!page_wants_all(p->run))
		bytes_puts(b, "<p class=\"soft\">Only the series that verdicts use: sonde show "
			      "--json has all.</p>");
	bytes_puts(b, "</details>");
}

/* ---- tasks of the job: MPI ranks, those of each launch of a step side by side ---- */

enum { TASKS_MAX = 1000 };
enum { STEP = 1, NODE }; /* columns that a job of one has not */

/* "0", "signal 9 (KILL)"; "" when it is not known. */
static const char *ending_of(const struct summary_task *t, char *out, size_t size)
{
	const char *name = t->signal > 0 ? sigabbrev_np((int)t->signal) : NULL;

	*out = '\0';
	if (t->signal > 0)
		snprintf(out, size, "signal %.0f%s%s%s", t->signal, name ? " (" : "",
			 name ? name : "", name ? ")" : "");
	else if (isfinite(t->exit_code))
		snprintf(out, size, "%.0f", t->exit_code);
	return out;
}

static void rank_cell(struct bytes *b, double rank)
{
	char name[32] = "";

	if (isfinite(rank))
		snprintf(name, sizeof name, "%.0f", rank);
	bytes_printf(b, "<tr><th scope=\"row\" data-v=\"%s\">%s</th>", name,
		     *name ? name : "<span class=\"none\">unknown</span>");
}

/* What it used as a share of the task that used most: a bar beside the number. */
static void share_cell(struct bytes *b, enum unit u, double v, double most, bool at_least)
{
	if (!isfinite(v) || !(most > 0)) {
		html_number_cell(b, u, v);
		return;
	}
	bytes_printf(
		b,
		"<td class=\"share\" data-v=\"%.9g\"><svg viewBox=\"0 0 100 6\" "
		"preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"track\" "
		"width=\"100\" height=\"6\"/><rect class=\"fill\" width=\"%.1f\" height=\"6\"/>"
		"</svg>",
		v, 100 * fmin(v / most, 1));
	bytes_puts(b, at_least ? "at least " : "");
	html_value(b, u, v);
	bytes_puts(b, "</td>");
}

static void task_row(struct bytes *b, const struct summary *s, const struct summary_step *step,
		     const struct summary_task *t)
{
	char ending[48];

	rank_cell(b, t->rank);
	if (s->nsteps > 1)
		html_text_cell(b, t->step);
	if (s->nhosts > 1)
		html_text_cell(b, t->host);
	share_cell(b, UNIT_SECONDS, t->cpu_s, step->cpu.max, t->cpu_is_bound);
	share_cell(b, UNIT_BYTES, t->peak_rss_bytes, step->memory.max, false);
	html_number_cell(b, UNIT_SECONDS, t->start_s);
	html_number_cell(b, UNIT_SECONDS, t->wall_s);
	html_text_cell(b, ending_of(t, ending, sizeof ending));
	bytes_puts(b, "</tr>\n");
}

static void spread(struct bytes *b, const struct summary *s)
{
	for (uint32_t i = 0; i < s->nsteps; i++) {
		const struct summary_step *x = &s->steps[i];

		if (x->n < 2 || isnan(x->cpu.imbalance))
			continue;
		bytes_puts(b, "<p class=\"soft\">");
		if (s->nsteps > 1) {
			bytes_puts(b, "Step ");
			html_text(b, s->tasks[x->first].step);
			bytes_printf(b, ", launch %u: ", s->tasks[x->first].launch + 1);
		}
		bytes_puts(b, "CPU time of a task ");
		html_value(b, UNIT_SECONDS, x->cpu.min);
		bytes_puts(b, " to ");
		html_value(b, UNIT_SECONDS, x->cpu.max);
		bytes_printf(b, ", imbalance (most / average - 1) %.0f %%.</p>",
			     100 * x->cpu.imbalance);
	}
}

void html_tasks(struct bytes *b, const struct page_source *p)
{
	static const struct html_heading all[] = {
		{ "Rank", false, false },
		{ "Step", true, false },
		{ "Node", true, false },
		{ "CPU time", false, false },
		{ "Peak memory (RSS)", false, false },
		{ "Started", false, false },
		{ "Ran for", false, false },
		{ "Exit", true, false },
	};
	struct html_heading h[sizeof all / sizeof all[0]];
	const struct summary *s = p->summary;
	uint32_t shown = 0;
	size_t n = 0;

	if (!s->ntasks)
		return;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if ((i != STEP || s->nsteps > 1) && (i != NODE || s->nhosts > 1))
			h[n++] = all[i];
	bytes_puts(b, "<section aria-labelledby=\"h-tasks\">\n<h2 id=\"h-tasks\">Tasks</h2>\n");
	html_table(b, "By rank; bars are relative to the task that used most", h, n);
	for (uint32_t i = 0; i < s->nsteps; i++)
		for (uint32_t t = 0; t < s->steps[i].n && shown < TASKS_MAX; t++, shown++)
			task_row(b, s, &s->steps[i], &s->tasks[s->steps[i].first + t]);
	html_table_end(b);
	if (s->ntasks > shown)
		bytes_printf(b, "<p class=\"soft\">and %u more: sonde show --json has them all</p>",
			     s->ntasks - shown);
	spread(b, s);
	bytes_puts(b, "</section>");
}
