/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of processes, commands and metrics; the page's script makes them sortable. */
#include "report/page/page.h"
#include "report/page/page_html.h"
#include "report/page/page_table.h"

#include <math.h>
#include <stdlib.h>

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
		html_name_cell(b, s->commands[i].name, NAN);
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

	html_name_cell(b, c->metric, NAN);
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
