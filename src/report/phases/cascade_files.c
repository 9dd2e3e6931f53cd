/* SPDX-License-Identifier: Apache-2.0 */
/* cascade_files.c - what graph.py left: the table of a pool, gnuplot's script, the chart. */
#include "base/clock.h"
#include "base/text/decimal.h"
#include "chart/colour.h"
#include "chart/panel.h"
#include "report/phases/cascade.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- ACCOUNT-POOL.dat ---- */

/* As Python prints it: the fewest digits that make this number. What there was none of is 0. */
static void put_number(struct bytes *b, double v)
{
	char room[DECIMAL_ROOM];
	const char *text = decimal_shortest(room, v);

	if (isnan(v))
		bytes_puts(b, " 0");
	else
		bytes_printf(b, " %s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

/* A sum, with a point whatever the locale. */
static void put_sum(struct bytes *b, double v)
{
	char text[400];

	decimal_print(text, sizeof text, "%.5f", v);
	bytes_printf(b, " %s", text);
}

/* A word: what would be another column, or to gnuplot begin a text of several words, becomes '_'.
 */
static void put_word(struct bytes *b, const char *text)
{
	for (; *text; text++)
		bytes_u8(b, (unsigned char)*text <= ' ' || *text == 127 || *text == '"'
				    ? '_'
				    : (uint8_t)*text);
}

void cascade_table(struct bytes *b, const struct cascade_report *c, const struct cascade_pool *p)
{
	char time[64];

	bytes_puts(b, "NodePrepStartTime NodeId NodePrep+DockerInstall PrivateRegistrySetup "
		      "ShipyardContainerPull GlobalResourcesLoad TotalPull TotalSave TotalLoad "
		      "TotalTorrent\n");
	for (uint32_t i = 0; i < p->nnodes; i++) {
		const struct cascade_node *n = &p->node[i];

		if (!n->counts)
			continue;
		bytes_puts(b,
			   cascade_time(c, n->start_utc_ns, CASCADE_FILE_TIME, time, sizeof time));
		bytes_u8(b, ' ');
		put_word(b, n->host);
		put_number(b, n->docker_install_s);
		put_number(b, n->private_registry_s);
		put_number(b, n->container_pull_s);
		put_number(b, n->global_resources_s);
		put_sum(b, n->pull_s);
		put_sum(b, n->save_s);
		put_sum(b, n->load_s);
		put_sum(b, n->torrent_s);
		bytes_u8(b, '\n');
	}
}

/* ---- ACCOUNT-POOL.plot ---- */

/* Between single quotes gnuplot takes all as it is but these. */
static void put_quoted(struct bytes *b, const char *text)
{
	bytes_u8(b, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			bytes_u8(b, '\'');
		bytes_u8(b, (unsigned char)*text < ' ' ? ' ' : (uint8_t)*text);
	}
	bytes_u8(b, '\'');
}

/* Of what the nodes take, a hundredth; nodes that start together have no extent of their own. */
static double box_width_s(const struct cascade_pool *p)
{
	return p->variance_s > 0 ? p->variance_s / 100 : 1;
}

void cascade_script(struct bytes *b, const struct cascade_pool *p, const char *stem)
{
	char title[1100], table[640], width[64];

	snprintf(table, sizeof table, "%s.dat", stem);
	bytes_puts(b, "set terminal pngcairo enhanced transparent crop\nset title ");
	put_quoted(b, cascade_title(p, title, sizeof title));
	bytes_puts(b, " noenhanced font \", 10\"\n"
		      "set key top right horizontal autotitle columnhead font \", 7\"\n"
		      "set xtics rotate by 45 right font \", 7\"\n"
		      "set ytics font \", 8\"\n"
		      "set xlabel \"Node Prep Start Time\" font \", 8\"\n"
		      "set ylabel \"Seconds\" font \", 8\"\n"
		      "set format x \"%H:%M:%.3S\"\n"
		      "set xdata time\n"
		      "set timefmt \"%Y-%m-%d-%H:%M:%S\"\n"
		      "set style fill solid\n");
	decimal_print(width, sizeof width, "%.5f", box_width_s(p));
	bytes_printf(b, "set boxwidth %s absolute\nplot ", width);
	put_quoted(b, table);
	bytes_puts(b, " using 1:($3+$4+$5+$6) with boxes, \\\n"
		      "\t\"\" using 1:($3+$4+$5) with boxes, \\\n"
		      "\t\"\" using 1:($3+$4) with boxes, \\\n"
		      "\t\"\" using 1:3 with boxes\n");
}

/* ---- ACCOUNT-POOL.png ---- */

enum { STACKED = 4, TICKS_WANTED = 6 };

struct canvas {
	struct bytes *drawing;
	const struct cascade_report *c;
	const struct cascade_pool *p;
	struct panel panel;
	int64_t zero_ns; /* second 0 of the axis */
	double to_s;
};

/* From the bottom to the top. */
static void stack_of(const struct cascade_node *n, double sum[STACKED])
{
	const double part[STACKED] = { n->docker_install_s, n->private_registry_s,
				       n->container_pull_s, n->global_resources_s };

	for (unsigned i = 0; i < STACKED; i++)
		sum[i] = (i ? sum[i - 1] : 0) + (isnan(part[i]) ? 0 : part[i]);
}

static double step_of(double span_s)
{
	static const double steps[] = {
		0.001, 0.002, 0.005, 0.01, 0.02, 0.05,  0.1,   0.2,   0.5,
		1,     2,     5,     10,   15,   30,    60,    120,   300,
		600,   900,   1800,  3600, 7200, 14400, 21600, 43200, 86400
	};
	double days;

	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
		if (span_s / steps[i] <= TICKS_WANTED)
			return steps[i];
	days = ceil(span_s / 86400 / TICKS_WANTED);
	return days * 86400;
}

/* The time of day, as graph.py labels it; margins so that no bar is cut. */
static void make_time_axis(struct canvas *v)
{
	double margin = fmax(v->to_s * 0.03, 0.5), step = step_of(v->to_s + 2 * margin), first;
	struct axis *a = &v->panel.x;
	/* Ticks are at whole steps of UTC's clock: begin there. Of the day alone, so that a whole
	 * second is one. */
	double second = (double)(v->zero_ns % (86400 * NS_PER_S)) / 1e9;

	*a = (struct axis){ .from = -margin, .to = v->to_s + margin, .divisor = 1 };
	first = ceil((second - margin) / step) * step - second;
	for (double at = first; at <= a->to && a->nticks < AXIS_TICKS; at += step) {
		a->tick[a->nticks] = at;
		cascade_time(v->c, v->zero_ns + llround(at * 1e9), CASCADE_TIME_OF_DAY,
			     a->label[a->nticks++], AXIS_LABEL);
	}
}

static void make_axes(struct canvas *v)
{
	double most = 0, sum[STACKED];

	for (uint32_t i = 0; i < v->p->nnodes; i++)
		if (v->p->node[i].counts) {
			stack_of(&v->p->node[i], sum);
			most = fmax(most, sum[STACKED - 1]);
		}
	/* A unit without prefixes: the axis says seconds, however many. */
	axis_of_values(&v->panel.y, UNIT_CORES, 0, most > 0 ? most : 1, false);
	snprintf(v->panel.y.unit, sizeof v->panel.y.unit, "Seconds");
	make_time_axis(v);
	panel_axes(v->drawing, &v->panel, "Node Prep Start Time");
}

static const char *const parts[STACKED] = { "NodePrep+DockerInstall", "PrivateRegistrySetup",
					    "ShipyardContainerPull", "GlobalResourcesLoad" };

static double place_of(const struct canvas *v, const struct cascade_node *n)
{
	return axis_place(&v->panel.x, (double)(n->start_utc_ns - v->zero_ns) / 1e9);
}

static void draw_bar(struct canvas *v, const struct cascade_node *n, double x, double width)
{
	const struct axis *y = &v->panel.y;
	double sum[STACKED];

	stack_of(n, sum);
	for (unsigned k = 0; k < STACKED; k++) {
		double top = axis_place(y, sum[k]), low = axis_place(y, k ? sum[k - 1] : 0);

		shape_box(v->drawing, &(struct box){ x, top, width, low - top }, colour_series(k));
	}
}

/* Nodes that start so close that one would hide another share a bar's width. */
static void draw_bars(struct canvas *v)
{
	const struct panel *p = &v->panel;
	const struct cascade_node *node = v->p->node, *end = node + v->p->nnodes, *next;
	double width = p->plot.w * box_width_s(v->p) / (p->x.to - p->x.from);

	width = fmin(fmax(width, 1.5), 40);
	for (; node < end; node = next) {
		double first = place_of(v, node), x = first - width / 2;
		uint32_t beside = 0;

		for (next = node; next < end && place_of(v, next) - first < width; next++)
			beside += next->counts;
		for (; node < next; node++)
			if (node->counts) {
				draw_bar(v, node, x, width / beside);
				x += width / beside;
			}
	}
}

void cascade_draw(struct bytes *drawing, const struct cascade_report *c,
		  const struct cascade_pool *p, double width, double height)
{
	const struct box whole = { 0, 0, width, height };
	struct canvas v = { .drawing = drawing, .c = c, .p = p };
	struct legend_entry legend[STACKED];
	char title[1100];

	shape_page(drawing, width, height);
	panel_begin(drawing, &v.panel, &whole, cascade_title(p, title, sizeof title), "");
	for (unsigned i = 0; i < STACKED; i++)
		legend[i] = (struct legend_entry){ .label = parts[STACKED - 1 - i],
						   .colour = colour_series(STACKED - 1 - i),
						   .filled = true };
	for (uint32_t i = p->nnodes; i; i--)
		if (p->node[i - 1].counts)
			v.zero_ns = p->node[i - 1].start_utc_ns;
	v.to_s = p->ncounted ? p->variance_s : 0;
	if (p->ncounted) {
		panel_legend(drawing, &v.panel, legend, STACKED);
		make_axes(&v);
		draw_bars(&v);
	} else {
		panel_sentence(drawing, &v.panel, "No node of the pool has all of its events.");
	}
	shape_end(drawing);
}
