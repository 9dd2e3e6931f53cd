/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phases/cascade.h"
#include "base/clock.h"
#include "base/text/decimal.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "chart/panel.h"
#include "chart/svg.h"
#include "report/phases/phases.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int cascade_report_make(struct cascade_report *c, const struct run *r, bool as_graph_py, bool local,
			struct err *e)
{
	const struct phase_wish wish = { .marks_only = true,
					 .size_step = as_graph_py ? CASCADE_GRAPH_PY_STEP : 0 };
	int rc;

	*c = (struct cascade_report){ .run = r, .as_graph_py = as_graph_py, .local = local };
	rc = phase_rules_builtin(&c->rules, e);
	if (!rc)
		rc = phases_make(&c->phases, r, &c->rules, &wish, e);
	if (!rc && cascade_pools_make(&c->pools, r, &c->phases))
		rc = err_set(e, -ENOMEM, "out of memory for the pools of %.300s", r->path);
	return rc;
}

void cascade_report_free(struct cascade_report *c)
{
	cascade_pools_free(&c->pools);
	phases_free(&c->phases);
	phase_rules_free(&c->rules);
	*c = (struct cascade_report){ 0 };
}

uint32_t cascade_report_lacking(const struct cascade_report *c)
{
	uint32_t lacking = 0;

	for (uint32_t i = 0; i < c->pools.n; i++)
		for (uint32_t k = 0; k < c->pools.pool[i].nnodes; k++) {
			const struct cascade_node *n = &c->pools.pool[i].node[k];

			lacking += !n->counts || n->lacks || n->unfinished || n->unreadable_sizes;
		}
	return lacking;
}

/* The n-th thing that a node lacks, "nodeprep:start"; NULL: no more. */
static const char *lack_name(const struct cascade_node *n, unsigned i)
{
	static const struct {
		enum cascade_lack lack;
		const char *name;
	} names[] = { { CASCADE_NO_PREPARATION, "nodeprep:start" },
		      { CASCADE_UNPREPARED, "nodeprep:end" },
		      { CASCADE_NO_LOADING, "cascade:start" },
		      { CASCADE_UNLOADED, "cascade:gr-done" } };

	for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
		if ((n->lacks & names[k].lack) && !i--)
			return names[k].name;
	return NULL;
}

const char *cascade_file_name(const struct cascade_pool *p, char *out, size_t size)
{
	snprintf(out, size, "%s", *p->name ? p->name : "pool");
	for (char *c = out; *c; c++)
		if (*c == '$')
			*c = '-';
		else if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
			*c = '_';
	if (*out == '.' || *out == '-')
		*out = '_';
	return out;
}

const char *cascade_title(const struct cascade_pool *p, char *out, size_t size)
{
	const char *behind = strrchr(p->name, '$'), *pool = behind ? behind + 1 : p->name;

	snprintf(out, size, "Shipyard Performance for %s%s%s%s%s%s", *pool ? pool : "a pool",
		 *p->offer || *p->sku ? " (" : "", p->offer, *p->offer && *p->sku ? " " : "",
		 p->sku, *p->offer || *p->sku ? ")" : "");
	return out;
}

enum time_form { FILE_TIME, SHOWN_TIME, TIME_OF_DAY };
/* "2017-07-18-04:45:23.715110", "2017-07-18 04:45:23.715110", "04:45:23.715". Returns out. */
static const char *time_text(const struct cascade_report *c, int64_t utc_ns, enum time_form form,
			     char *out, size_t size)
{
	time_t s = (time_t)(utc_ns / NS_PER_S);
	long us = (long)(utc_ns % NS_PER_S / 1000);
	struct tm t = { 0 };
	char day[40] = "";

	if (c->local)
		localtime_r(&s, &t);
	else
		gmtime_r(&s, &t);
	if (form != TIME_OF_DAY)
		snprintf(day, sizeof day, "%04d-%02d-%02d%c", t.tm_year + 1900, t.tm_mon + 1,
			 t.tm_mday, form == FILE_TIME ? '-' : ' ');
	snprintf(out, size, "%s%02d:%02d:%02d.%0*ld", day, t.tm_hour, t.tm_min, t.tm_sec,
		 form == TIME_OF_DAY ? 3 : 6, form == TIME_OF_DAY ? us / 1000 : us);
	return out;
}

/* ---- what graph.py left: the table of a pool, the script of gnuplot, the chart ---- */

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
		bytes_puts(b, time_text(c, n->start_utc_ns, FILE_TIME, time, sizeof time));
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
		time_text(v->c, v->zero_ns + llround(at * 1e9), TIME_OF_DAY, a->label[a->nticks++],
			  AXIS_LABEL);
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

/* ---- for a terminal and as JSON ---- */

static const char *shown(char *out, size_t size, const char *text)
{
	return escape_terminal_into(out, size, text);
}

/* ---- text ---- */

static void put_seconds(struct bytes *b, int width, double v)
{
	if (isnan(v))
		bytes_printf(b, " %*s", width, "-");
	else
		bytes_printf(b, " %*.3f", width, v);
}

static void text_of_images(struct bytes *b, const struct cascade_node *n)
{
	char value[PHASE_VALUE_MAX], name[300];

	for (uint32_t i = 0; i < n->images; i++) {
		const struct phase *x = n->image[i];

		if (!phase_field(PHASE_COMMAS, x->text, "img", value, sizeof value))
			value[0] = '\0';
		bytes_printf(b, "  %s:%s", x->name, shown(name, sizeof name, value));
		if (isnan(x->duration_s))
			bytes_puts(b, " has no end\n");
		else
			bytes_printf(b, " %.3f\n", x->duration_s);
	}
}

static void text_of_lacks(struct bytes *b, const struct cascade_node *n)
{
	const char *lack;

	for (unsigned i = 0; (lack = lack_name(n, i)); i++)
		bytes_printf(b, "%s %s", i ? "," : "  it lacks", lack);
	if (n->lacks)
		bytes_puts(b, n->counts ? "\n" : ", and is in no total\n");
	else if (!n->counts)
		bytes_puts(b, "  its installation has no end: it is in no total\n");
	if (n->unreadable_sizes)
		bytes_printf(b, "  sizes that are none: %u\n", n->unreadable_sizes);
}

static void text_of_node(struct bytes *b, const struct cascade_report *c,
			 const struct cascade_node *n)
{
	char name[300], time[64] = "-";

	if (n->start_utc_ns != INT64_MAX)
		time_text(c, n->start_utc_ns, SHOWN_TIME, time, sizeof time);
	bytes_printf(b, "%s  %s\n", time, shown(name, sizeof name, n->host));
	put_seconds(b, 9, n->nodeprep_s);
	put_seconds(b, 9, n->docker_install_s);
	put_seconds(b, 9, n->private_registry_s);
	put_seconds(b, 9, n->container_pull_s);
	put_seconds(b, 9, n->global_resources_s);
	put_seconds(b, 9, n->acquisition_s);
	bytes_u8(b, '\n');
	text_of_images(b, n);
	text_of_lacks(b, n);
}

static void text_of_total(struct bytes *b, const char *name, double total, uint32_t n)
{
	bytes_printf(b, "total %s: %.5f avg: ", name, total);
	if (n)
		bytes_printf(b, "%.5f\n", total / n);
	else
		bytes_puts(b, "-\n");
}

static void text_of_pool(struct bytes *b, const struct cascade_report *c,
			 const struct cascade_pool *p)
{
	char name[600], title[1100];

	bytes_printf(b, "%s\n", shown(title, sizeof title, cascade_title(p, name, sizeof name)));
	bytes_printf(b, "graphing data from %s with pk=%s\n",
		     shown(title, sizeof title, c->run->path),
		     *p->name ? shown(name, sizeof name, p->name) : "-");
	for (uint32_t i = 0; i < p->nimages; i++)
		bytes_printf(b, "size of %s: %.0f\n", shown(name, sizeof name, p->image[i].name),
			     c->as_graph_py ? trunc(p->image[i].size_bytes)
					    : round(p->image[i].size_bytes));
	bytes_puts(b, "nodeready variance:");
	put_seconds(b, 0, p->variance_s);
	bytes_printf(b, "\n\n %9s %9s %9s %9s %9s %9s\n", "NODEPREP", "INSTALL", "REGISTRY",
		     "CONTAINER", "RESOURCES", "ACQUIRED");
	for (uint32_t i = 0; i < p->nnodes; i++)
		text_of_node(b, c, &p->node[i]);
	bytes_printf(b, "\nnodes: %u of %u\n", p->ncounted, p->nnodes);
	text_of_total(b, "gr", p->global_resources_s, p->ncounted);
	text_of_total(b, "acq", p->acquisition_s, p->ncounted);
}

void cascade_report_text(struct bytes *b, const struct cascade_report *c)
{
	for (uint32_t i = 0; i < c->pools.n; i++) {
		if (i)
			bytes_u8(b, '\n');
		text_of_pool(b, c, &c->pools.pool[i]);
	}
}

/* ---- JSON ---- */

/* What is empty is not known. */
static const char *known(const char *text)
{
	return *text ? text : NULL;
}

static const char *field_of(const struct phase *x, const char *key, char value[PHASE_VALUE_MAX])
{
	return phase_field(PHASE_COMMAS, x->text, key, value, PHASE_VALUE_MAX) ? known(value)
									       : NULL;
}

static void json_of_image(struct json *j, const struct phase *x)
{
	char value[PHASE_VALUE_MAX];

	json_object(j);
	json_put_text(j, "phase", x->name);
	json_put_text(j, "image", field_of(x, "img", value));
	json_put_text(j, "mode", field_of(x, "grtype", value));
	json_put_real(j, "seconds", x->duration_s);
	json_object_end(j);
}

static void json_of_node(struct json *j, const struct cascade_node *n)
{
	const char *lack;

	json_object(j);
	json_put_text(j, "node", n->host);
	json_key(j, "start_time");
	if (n->start_utc_ns == INT64_MAX)
		json_null(j);
	else
		json_time(j, n->start_utc_ns);
	json_put_bool(j, "counts", n->counts);
	json_key(j, "lacks");
	json_array(j);
	for (unsigned i = 0; (lack = lack_name(n, i)); i++)
		json_text(j, lack);
	json_array_end(j);
	json_put_int(j, "unreadable_sizes", n->unreadable_sizes);
	json_put_real(j, "nodeprep_seconds", n->nodeprep_s);
	json_put_real(j, "docker_install_seconds", n->docker_install_s);
	json_put_real(j, "private_registry_setup_seconds", n->private_registry_s);
	json_put_real(j, "container_pull_seconds", n->container_pull_s);
	json_put_real(j, "global_resources_seconds", n->global_resources_s);
	json_put_real(j, "pull_seconds", n->pull_s);
	json_put_real(j, "save_seconds", n->save_s);
	json_put_real(j, "load_seconds", n->load_s);
	json_put_real(j, "torrent_seconds", n->torrent_s);
	json_put_real(j, "acquisition_seconds", n->acquisition_s);
	json_key(j, "images");
	json_array(j);
	for (uint32_t i = 0; i < n->images; i++)
		json_of_image(j, n->image[i]);
	json_array_end(j);
	json_object_end(j);
}

static void json_of_sizes(struct json *j, const struct cascade_report *c,
			  const struct cascade_pool *p)
{
	json_key(j, "images");
	json_array(j);
	for (uint32_t i = 0; i < p->nimages; i++) {
		double size = p->image[i].size_bytes;

		json_object(j);
		json_put_text(j, "image", p->image[i].name);
		json_put_real(j, "size_bytes", c->as_graph_py ? trunc(size) : round(size));
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_of_pool(struct json *j, const struct cascade_report *c,
			 const struct cascade_pool *p)
{
	double n = p->ncounted ? (double)p->ncounted : (double)NAN;

	json_object(j);
	json_put_text(j, "pool", known(p->name));
	json_put_text(j, "offer", known(p->offer));
	json_put_text(j, "sku", known(p->sku));
	json_put_int(j, "counted_nodes", p->ncounted);
	json_put_real(j, "nodeready_variance_seconds", p->variance_s);
	json_put_real(j, "global_resources_seconds", p->global_resources_s);
	json_put_real(j, "mean_global_resources_seconds", p->global_resources_s / n);
	json_put_real(j, "acquisition_seconds", p->acquisition_s);
	json_put_real(j, "mean_acquisition_seconds", p->acquisition_s / n);
	json_of_sizes(j, c, p);
	json_key(j, "nodes");
	json_array(j);
	for (uint32_t i = 0; i < p->nnodes; i++)
		json_of_node(j, &p->node[i]);
	json_array_end(j);
	json_object_end(j);
}

void cascade_report_json(struct bytes *b, const struct cascade_report *c)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/cascade/1");
	json_put_text(&j, "recording", c->run->path);
	json_put_int(&j, "damages", c->run->ndamages);
	json_put_bool(&j, "as_graph_py", c->as_graph_py);
	json_key(&j, "pools");
	json_array(&j);
	for (uint32_t i = 0; i < c->pools.n; i++)
		json_of_pool(&j, c, &c->pools.pool[i]);
	json_array_end(&j);
	json_object_end(&j);
	bytes_u8(b, '\n');
}
