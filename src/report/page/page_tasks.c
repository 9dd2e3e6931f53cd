/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of the job, as MPI ranks, those of each launch of a step side by side. */
#include "report/page/page_html.h"
#include "report/page/page_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
	uint32_t told = 0;
	size_t n = 0;

	if (!s->ntasks)
		return;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if ((i != STEP || s->nsteps > 1) && (i != NODE || s->nhosts > 1))
			h[n++] = all[i];
	bytes_puts(b, "<section aria-labelledby=\"h-tasks\">\n<h2 id=\"h-tasks\">Tasks</h2>\n");
	html_table(b, "By rank; bars are relative to the task that used most", h, n);
	for (uint32_t i = 0; i < s->nsteps; i++)
		for (uint32_t t = 0; t < s->steps[i].n && told < TASKS_MAX; t++, told++)
			task_row(b, s, &s->steps[i], &s->tasks[s->steps[i].first + t]);
	html_table_end(b);
	if (s->ntasks > told)
		bytes_printf(b, "<p class=\"soft\">and %u more: sonde show --json has them all</p>",
			     s->ntasks - told);
	spread(b, s);
	bytes_puts(b, "</section>");
}
