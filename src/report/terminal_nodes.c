/* SPDX-License-Identifier: Apache-2.0 */
/* terminal_nodes.c - the nodes side by side, as a table for a terminal of 80 columns. */
#include "base/escape.h"
#include "report/cell.h"
#include "report/summary.h"

#include <math.h>
#include <stdio.h>

enum { LABEL = 14, HOST = 33 };

static const char *host_cell(char out[HOST + 1], const struct summary *s, uint32_t at)
{
	const char *host = s->hosts[at].host;

	return escape_terminal_into(out, HOST + 1, host ? host : "?");
}

static void print_comparison(const struct summary *s, const struct summary_comparison *c, FILE *out)
{
	char total[CELL], mean[CELL], least[CELL], most[CELL], imbalance[CELL];
	char label[256], on[HOST + 1], and[HOST + 1];

	escape_terminal_into(label, sizeof label, c->label ? c->label : c->metric);
	fprintf(out, "  %-*s", LABEL, label);
	if (!c->label) /* a name of its own line */
		fprintf(out, "\n  %-*s", LABEL, "");
	fprintf(out, " %11s %11s %11s %11s %10s\n",
		cell_text(total, c->unit, c->adds_up ? c->spread.total : NAN),
		cell_text(mean, c->unit, c->spread.mean), cell_text(least, c->unit, c->spread.min),
		cell_text(most, c->unit, c->spread.max),
		cell_text(imbalance, UNIT_RATIO, c->spread.imbalance));
	if (c->spread.min < c->spread.max)
		fprintf(out, "  %-*s least on %s, most on %s\n", LABEL, "",
			host_cell(on, s, c->spread.least), host_cell(and, s, c->spread.most));
}

void summary_print_nodes(const struct summary *s, FILE *out)
{
	char error[CELL];

	if (!s->ncomparisons)
		return;
	fprintf(out, "\n%-*s %11s %11s %11s %11s %10s\n", LABEL + 2, "Nodes", "total", "average",
		"least", "most", "imbalance");
	for (uint32_t i = 0; i < s->ncomparisons; i++)
		print_comparison(s, &s->comparisons[i], out);
	fprintf(out, "  aligned by wall clock, ");
	if (isnan(s->clock_error_s))
		fprintf(out, "of which not all kernels know the error\n");
	else
		fprintf(out, "within %s\n", cell_text(error, UNIT_SECONDS, s->clock_error_s));
}
