/* SPDX-License-Identifier: Apache-2.0 */
/* plots_own.c - the job's own numbers over time: of one recording its values, of several their mean
 * and from the least to the most of them. */
#include "base/text/escape.h"
#include "chart/colour.h"
#include "chart/time_chart.h"
#include "report/paper/plots.h"
#include "report/summary/own.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plots_own {
	struct own own;
	struct plot_row row[OWN_CHARTS];
	char title[OWN_CHARTS][OWN_NAME], name[OWN_CHARTS][PLOT_NAME / 2];
};

static void add(struct plots *p, uint32_t series)
{
	struct plots_own *x = p->numbers;
	const struct own_series *s = &x->own.series[series];
	uint32_t i = p->n;
	struct plot *plot = &p->plot[p->n++];

	escape_terminal_into(x->title[i], sizeof x->title[i], s->name);
	snprintf(x->name[i], sizeof x->name[i], "own-%.50s", s->name);
	x->row[i] = (struct plot_row){ .name = x->name[i],
				       .title = x->title[i],
				       .note = s->mark ? "numbers in the job's marks"
						       : "a counter of the program",
				       .source = "",
				       .kind = PLOT_OWN,
				       .metric = "",
				       .unit = UNIT_ONE };
	*plot = (struct plot){ .title = x->title[i], .row = &x->row[i], .node = series };
	snprintf(plot->name, sizeof plot->name, "%s", x->name[i]);
	plots_name(p, "");
}

int plots_own_make(struct plots *p)
{
	struct plots_own *x = p->numbers = calloc(1, sizeof *x);

	if (!x || own_of_marks(&x->own, p->run))
		return -ENOMEM;
	own_add_counters(&x->own, p->run, p->traces);
	for (uint32_t i = 0; i < x->own.nseries && p->n < OWN_CHARTS; i++)
		if (own_is_first(&x->own, i))
			add(p, i);
	return 0;
}

void plots_own_free(struct plots *p)
{
	if (p->numbers)
		own_free(&p->numbers->own);
	free(p->numbers);
}

/* The times of the only series, or a grid over all. */
static bool values_of(const struct plots *p, uint32_t first, struct own_values *v)
{
	const struct own *own = &p->numbers->own;
	bool alone = p->run->nnodes == 2;
	uint32_t n = alone ? own->series[first].npoints : plot_values_columns(p);

	if (!own_values_reserve(v, n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		v->at_s[i] = alone ? own->series[first].at_s[i] : (i + 0.5) * p->to_s / n;
	return true;
}

void plots_own_draw(const struct plots *p, const struct plot *x, struct bytes *drawing,
		    const struct box *at)
{
	struct time_chart t = { .title = x->title, .unit = x->row->unit, .limit = NAN };
	struct own_values v;
	struct layer layer;
	char note[96];

	if (!values_of(p, x->node, &v)) {
		drawing->failed = true;
		return;
	}
	t.to_s = p->to_s;
	t.note = x->row->note;
	layer = (struct layer){
		.label = x->title, .colour = colour_named("green"), .at = v.at_s, .mean = v.mean
	};
	layer.n = v.n;
	if (own_values_of(&p->numbers->own, x->node, &v) > 1) {
		layer.min = v.least;
		layer.max = v.most;
		snprintf(note, sizeof note, "%s; mean of the nodes, least and most", x->row->note);
		t.note = note;
	}
	t.layer = &layer;
	t.nlayers = 1;
	time_chart_draw(drawing, at, &t);
	free(v.at_s);
}
