/* SPDX-License-Identifier: Apache-2.0 */
#include "top/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GPUS_SEEN = 8 };

/* Hostile words on a line, two blanks between them, as long as there is room. */
struct words {
	struct cells *c;
	unsigned row, at;
	uint8_t style;
};
/* Bars of the job's share and the others' of the node's cores and memory, and their history: so
 * many rows. */
enum { METER_ROWS = 3, METERS_FROM = 30 };

static void words_add(struct words *w, const char *text)
{
	unsigned space = w->at ? 2 : 0;

	if (w->at && w->at + space + strlen(text) > w->c->columns)
		return; /* half a figure is another figure */
	w->at += space;
	w->at += cells_put(w->c, w->row, w->at, w->c->columns - w->at, w->style, text);
}

static void words_figure(struct words *w, const char *before, const double *figure,
			 enum now_figure f, const char *after)
{
	char value[FIGURE_TEXT], text[96];

	if (isnan(figure[f]))
		return;
	snprintf(text, sizeof text, "%s%s%s", before, figure_text(value, f, figure[f]), after);
	words_add(w, text);
}

static void share_add(struct words *w, const char *before, const double *figure,
		      enum now_figure used, enum now_figure of, enum now_figure ratio)
{
	char part[FIGURE_TEXT], whole[FIGURE_TEXT], share[FIGURE_TEXT], text[96];

	if (isnan(figure[used]))
		return;
	figure_text(part, used, figure[used]);
	if (isnan(figure[of]))
		snprintf(text, sizeof text, "%s%s", before, part);
	else
		snprintf(text, sizeof text, "%s%s of %s, %s", before, part,
			 figure_text(whole, of, figure[of]),
			 figure_text(share, ratio, figure[ratio]));
	words_add(w, text);
}

/* Those figures for which there is room whole. */
static void draw_figures(struct cells *c, unsigned row, const double *figure)
{
	struct words w = { .c = c, .row = row };

	share_add(&w, "CPU ", figure, NOW_CPU, NOW_CORES, NOW_CPU_RATIO);
	words_figure(&w, "others ", figure, NOW_OTHERS_CPU, "");
	share_add(&w, "memory ", figure, NOW_MEMORY, NOW_MEMORY_LIMIT, NOW_MEMORY_RATIO);
	words_figure(&w, "GPU ", figure, NOW_GPU, "");
	words_figure(&w, "read ", figure, NOW_READ, "");
	words_figure(&w, "written ", figure, NOW_WRITTEN, "");
	words_figure(&w, "", figure, NOW_PROCESSES,
		     figure[NOW_PROCESSES] == 1 ? " process" : " processes");
	share_add(&w, "GPU memory ", figure, NOW_GPU_MEMORY, NOW_GPU_MEMORY_TOTAL,
		  NOW_GPU_MEMORY_RATIO);
	words_figure(&w, "CPU time ", figure, NOW_CPU_TIME, "");
	if (!w.at)
		words_add(&w, "no figures: nothing of it runs, or no sample has come");
}

/* ---- meters ---- */

/* The job's part, then the others', of the whole. */
static void bar_draw(struct cells *c, unsigned row, unsigned at, unsigned width,
		     const double part[2], double whole)
{
	unsigned from = 0;

	cells_put(c, row, at, 1, STYLE_BOLD, "[");
	cells_put(c, row, at + width - 1, 1, STYLE_BOLD, "]");
	for (int k = 0; k < 2; k++) {
		double share = whole > 0 && part[k] > 0 ? fmin(part[k] / whole, 1) : 0;
		unsigned to = from + (unsigned)lround(share * (width - 2));

		for (; from < to && from < width - 2; from++)
			cells_put(c, row, at + 1 + from, 1, k ? STYLE_YELLOW : STYLE_CYAN,
				  k ? ":" : "|");
	}
}

static void meter_draw(struct cells *c, unsigned row, const char *name, const double *figure,
		       const enum now_figure which[4])
{
	unsigned width = c->columns / 3, at = 8 + width + 2;
	const double part[2] = { figure[which[0]], figure[which[1]] };
	struct words w = { .c = c, .row = row, .at = at };
	char text[FIGURE_TEXT];

	cells_put(c, row, 0, 7, STYLE_BOLD, name);
	bar_draw(c, row, 8, width, part, figure[which[2]]);
	w.at = at - 2;
	words_figure(&w, "| job ", figure, which[0], "");
	words_figure(&w, ": others ", figure, which[1], "");
	if (!isnan(figure[which[2]])) {
		char whole[64];

		snprintf(whole, sizeof whole, "of %s",
			 figure_text(text, which[2], figure[which[2]]));
		words_add(&w, whole);
	}
	if (which[3] != which[0])
		words_figure(&w, "load ", figure, which[3], "");
}

/* As many of the newest as fit, of the largest of them. Returns the columns that it took. */
static unsigned history_draw(struct cells *c, unsigned row, unsigned at, unsigned width,
			     const float *v, unsigned n)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const plain[] = { "_", ".", "-", "=", "+", "*", "%", "#" };
	unsigned from = n > width ? n - width : 0;
	float most = 0;

	for (unsigned i = from; i < n; i++)
		most = v[i] > most ? v[i] : most; /* NAN is not larger */
	for (unsigned i = from; i < n; i++) {
		unsigned level = most > 0 && v[i] > 0 ? (unsigned)(v[i] / most * 7.99F) : 0;

		cells_put(c, row, at + i - from, 1, STYLE_CYAN,
			  isnan(v[i]) ? " "
			  : c->utf8   ? blocks[level]
				      : plain[level]);
	}
	return n - from;
}

static void draw_meters(const struct view *v, struct cells *c, unsigned row, const double *figure)
{
	static const enum now_figure cpu[] = { NOW_CPU, NOW_OTHERS_CPU, NOW_NODE_CORES, NOW_LOAD };
	static const enum now_figure memory[] = { NOW_MEMORY, NOW_OTHERS_MEMORY,
						  NOW_NODE_MEMORY_TOTAL, NOW_MEMORY };
	const struct history *h = &v->history;
	unsigned half = c->columns / 2;

	meter_draw(c, row, "CPU", figure, cpu);
	meter_draw(c, row + 1, "Memory", figure, memory);
	cells_put(c, row + 2, 0, 13, STYLE_BOLD, "History cores");
	history_draw(c, row + 2, 14, half - 16, h->cores, h->n);
	cells_put(c, row + 2, half, 6, STYLE_BOLD, "memory");
	history_draw(c, row + 2, half + 7, c->columns - half - 8, h->memory, h->n);
}

static void states_add(struct words *w, const struct now *now)
{
	char text[64];

	if (now->n != 1) {
		snprintf(text, sizeof text, "%u nodes", now->n);
		words_add(w, text);
	}
	for (unsigned s = 0; s < NOW_STATE_NUMBER_OF; s++) {
		if (!now->state[s] || (now->n == 1 && s == NOW_RUNNING))
			continue;
		snprintf(text, sizeof text, "%u %s", now->state[s], now_state_name(s));
		words_add(w, now->n == 1 ? now_state_name(s) : text);
	}
	if (now->damaged) {
		snprintf(text, sizeof text, "%u damaged", now->damaged);
		words_add(w, text);
	}
}

static void draw_title(const struct view *v, struct cells *c)
{
	struct words w = { .c = c, .style = STYLE_REVERSE };
	const struct now_node *n = view_in_node(v) ? view_node(v) : NULL;
	char text[96];

	cells_style(c, 0, 0, c->columns, STYLE_REVERSE);
	words_add(&w, v->title);
	if (n && v->now->n > 1) {
		words_add(&w, ">");
		words_add(&w, n->name);
	}
	states_add(&w, v->now);
	if (v->replay) {
		replay_text(v->replay, text, sizeof text);
		words_add(&w, text);
	} else if (!isnan(v->now->elapsed_s)) {
		words_add(&w, unit_format(UNIT_SECONDS, v->now->elapsed_s, text, sizeof text));
	}
	if (v->failed)
		words_add(&w, "out of memory: something is missing");
}

/* What is wrong with a node; false when nothing is. */
static bool draw_trouble(const struct now_node *n, struct cells *c, unsigned row)
{
	struct words w = { .c = c, .row = row, .style = STYLE_BOLD };
	char text[96], age[32];

	if (n->state == NOW_RUNNING && !n->from->damages)
		return false;
	words_add(&w, now_state_name(n->state));
	if (n->state == NOW_ENDED)
		words_add(&w, "sonde show has its summary");
	if (n->state == NOW_UNREADABLE && n->from->error)
		words_add(&w, n->from->error);
	if (n->state == NOW_LATE || n->state == NOW_SILENT) {
		snprintf(text, sizeof text, "its last sample came %s ago",
			 unit_format(UNIT_SECONDS, n->age_s, age, sizeof age));
		words_add(&w, text);
	}
	if (n->from->damages) {
		snprintf(text, sizeof text, "damaged in %llu places, which are left out",
			 (unsigned long long)n->from->damages);
		words_add(&w, text);
	}
	return true;
}

static void draw_keys(const struct view *v, struct cells *c)
{
	static const char *const keys[] = {
		[VIEW_NODES] = "h help  q quit  Enter open  m map  C M G R W sort",
		[VIEW_MAP] = "h help  q quit  Enter open  m table  C M G R W show",
		[VIEW_PROCESSES] =
			"h help  q quit  Esc back  Enter all  s stacks  t tree  / search  g GPUs",
		[VIEW_GPUS] = "h help  q quit  Esc back  Enter all  g processes  G M P T sort",
		[VIEW_DETAIL] = "h help  q quit  Esc back",
		[VIEW_STACKS] = "h help  q quit  Esc back  s look again  Up Down move",
	};

	if (v->searching) {
		unsigned at = cells_put(c, c->rows - 1, 0, c->columns, STYLE_BOLD, "search: ");

		at += cells_put(c, c->rows - 1, at, c->columns - at, STYLE_REVERSE, v->search);
		cells_put(c, c->rows - 1, at + 2, c->columns, STYLE_PLAIN,
			  "Down: next  Enter: done");
		return;
	}
	cells_put(c, c->rows - 1, 0, c->columns, STYLE_BOLD,
		  v->help ? "any key: back"
		  : v->replay
			  ? "h help  q quit  Space play  Left Right step  PgUp PgDn jump  + - speed"
			  : keys[v->screen]);
}

/* ---- all series of a process or a GPU ---- */

enum { LABEL_MOST = 44 };

static void value_draw(struct cells *c, unsigned row, const struct now_node *n, uint32_t i)
{
	const struct follow_series *s = &n->from->series[i];
	unsigned label = c->columns / 2 < LABEL_MOST ? c->columns / 2 : LABEL_MOST;
	enum unit unit;
	double v = now_value(n, i, &unit);
	char text[64] = "-";

	cells_put(c, row, 0, label, STYLE_PLAIN, s->metric->label);
	if (s->state != STATE_PRESENT)
		snprintf(text, sizeof text, "- (%s)", state_name(s->state));
	else if (!isnan(v))
		unit_format(unit, v, text, sizeof text);
	cells_put(c, row, label + 1, c->columns - label - 1, STYLE_BOLD, text);
}

/* All series of the thing at the cursor. */
static void draw_detail(struct view *v, struct cells *c, unsigned top, unsigned height)
{
	const struct now_node *n = view_node(v);
	const struct row *r = view_thing(v);
	struct words w = { .c = c, .row = top, .style = STYLE_BOLD };
	unsigned seen = 0, at = 0;
	char pid[32];

	if (!n || !r) {
		words_add(&w, "it has ended");
		return;
	}
	words_add(&w, r->name);
	if (r->pid) {
		snprintf(pid, sizeof pid, "process %lld", (long long)r->pid);
		words_add(&w, pid);
	}
	for (uint32_t i = 0; i < n->nseries; i++)
		seen += n->from->series[i].instance == r->id;
	if (v->detail_first + (height - 1) > seen)
		v->detail_first = seen > height - 1 ? seen - (height - 1) : 0;
	seen = 0;
	for (uint32_t i = 0; i < n->nseries && at + 1 < height; i++) {
		if (n->from->series[i].instance != r->id || seen++ < v->detail_first)
			continue;
		value_draw(c, top + ++at, n, i);
	}
}

/* In as many rows as it takes, broken at blanks; the next row. */
static unsigned put_wrapped(struct cells *c, unsigned row, const char *text)
{
	while (*text && row + 1 < c->rows) {
		size_t n = strlen(text), cut = n;

		if (n > c->columns)
			for (cut = c->columns; cut && text[cut] != ' ';)
				cut--;
		cut = cut ? cut : n;
		cells_put(c, row++, 0, (unsigned)cut, STYLE_PLAIN, text);
		text += cut + strspn(text + cut, " ");
	}
	return row;
}

/* ---- stacks ---- */

/* From the line on that was moved to; the last one stays in sight. */
static void draw_stacks(struct view *v, struct cells *c, unsigned top)
{
	const char *at = (const char *)v->looked.data, *end = at + v->looked.len;
	unsigned lines = 0, row = top;

	for (const char *x = at; x < end; x++)
		lines += *x == '\n';
	if (v->detail_first >= lines)
		v->detail_first = lines ? lines - 1 : 0;
	for (unsigned i = 0; at < end && row + 1 < c->rows; i++) {
		const char *to = memchr(at, '\n', (size_t)(end - at));
		char text[1024];

		to = to ? to : end;
		snprintf(text, sizeof text, "%.*s", (int)(to - at), at);
		if (i >= v->detail_first)
			row = put_wrapped(c, row, text);
		at = to + 1;
	}
}

/* ---- the help ---- */

static const char *const lines[] = {
	"arrows, Page Up/Down, Home, End: move     Enter: open     Esc, Backspace: back",
	"m: table or map of the nodes     g: processes or GPUs of a node     q, F10: quit",
	"Replay: Left, Right: a sample     Page Up/Down: 1/20 of the run     + -: speed",
	"Home, End: first, last sample     Space: play, pause     Up, Down: move",
	"s: what the threads of a process do and wait for, in which functions",
	"t, F5: tree of processes     /, F3: search, n: next     < >, F6: another column sorts",
	"A capital letter sorts by its column, or shows it on the map; again: reversed.",
	"Map: a digit is tenths, # is all of it; L late, S silent, E ended, W waiting.",
	"- is what is not known; it is not 0. Rates need two samples.",
	"late: no sample for 3 intervals (5 s); silent: for 10 (a minute), maybe lost.",
};

static void help_columns(struct cells *c, unsigned row, const struct grid *t)
{
	char text[160];

	for (unsigned i = 0; i < t->ncolumns && row + 1 < c->rows; i++) {
		snprintf(text, sizeof text, "%c %-8s %s", t->column[i].key ? t->column[i].key : ' ',
			 t->column[i].heading, t->column[i].what);
		row = put_wrapped(c, row, text);
	}
}

static void draw_help(const struct view *v, struct cells *c)
{
	const struct grid *shown = v->screen == VIEW_GPUS ? &v->gpus
				   : view_in_node(v)      ? &v->processes
							  : &v->nodes;
	unsigned row = 0;

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		row = put_wrapped(c, row, lines[i]);
	row++;
	help_columns(c, row, shown);
}

/* ---- screens ---- */

static void draw_map(struct view *v, struct cells *c, unsigned top, unsigned height)
{
	const struct column *col = &v->nodes.column[v->nodes.sort];
	const struct now_node *n;
	char text[160];

	if (col->kind != COLUMN_FIGURE)
		col = &v->nodes.column[2];
	snprintf(text, sizeof text, "%s: %s, in tenths%s", col->heading, col->what,
		 now_figures[col->figure].unit == UNIT_RATIO ? "" : " of the largest");
	cells_put(c, top, 0, c->columns, STYLE_PLAIN, text);
	grid_map(&v->nodes, c, top + 1, height - 3);
	n = view_node(v);
	if (!n)
		return;
	cells_put(c, top + height - 2, 0, c->columns, STYLE_BOLD, n->name);
	if (!draw_trouble(n, c, top + height - 1))
		draw_figures(c, top + height - 1, n->figure);
}

static void draw_node(struct view *v, struct cells *c, unsigned top, unsigned height)
{
	const struct now_node *n = view_node(v);
	unsigned gpus = v->gpus.n < GPUS_SEEN ? v->gpus.n : GPUS_SEEN;

	if (!n)
		return;
	if (draw_trouble(n, c, top)) {
		top++;
		height--;
	}
	gpus = gpus && gpus + 1 > height / 3 ? height / 3 : gpus ? gpus + 1 : 0;
	if (v->screen == VIEW_GPUS) {
		grid_draw(&v->gpus, c, top, height, true);
		return;
	}
	if (gpus > 1) {
		grid_draw(&v->gpus, c, top, gpus, false);
		top += gpus;
		height -= gpus;
	}
	grid_draw(&v->processes, c, top, height, true);
}

static void draw_body(struct view *v, struct cells *c, unsigned top)
{
	unsigned height = c->rows - top - 1;

	if (!v->now->n) {
		cells_put(c, top, 0, c->columns, STYLE_PLAIN,
			  "No recording is here yet: waiting for one.");
		return;
	}
	switch (v->screen) {
	case VIEW_NODES:
		grid_draw(&v->nodes, c, top, height, true);
		break;
	case VIEW_MAP:
		draw_map(v, c, top, height);
		break;
	case VIEW_PROCESSES:
	case VIEW_GPUS:
		draw_node(v, c, top, height);
		break;
	case VIEW_DETAIL:
		draw_detail(v, c, top, height);
		break;
	case VIEW_STACKS:
		draw_stacks(v, c, top);
	}
}

static void draw_too_small(struct cells *c)
{
	char text[96];

	snprintf(text, sizeof text, "%u x %u is too small: %d x %d", c->columns, c->rows,
		 VIEW_COLUMNS_LEAST, VIEW_ROWS_LEAST);
	cells_put(c, 0, 0, c->columns, STYLE_PLAIN, text);
	cells_put(c, 1, 0, c->columns, STYLE_PLAIN, "is needed; q: quit");
}

void view_draw(struct view *v, struct cells *c, bool keys)
{
	const struct now_node *n = view_in_node(v) ? view_node(v) : NULL;

	cells_clear(c);
	if (c->rows < VIEW_ROWS_LEAST || c->columns < VIEW_COLUMNS_LEAST) {
		draw_too_small(c);
		return;
	}
	if (keys)
		draw_keys(v, c);
	if (v->help) {
		draw_help(v, c);
		return;
	}
	draw_title(v, c);
	draw_figures(c, 1, n ? n->figure : v->now->figure);
	if (c->rows >= METERS_FROM)
		draw_meters(v, c, VIEW_TOP, n ? n->figure : v->now->figure);
	draw_body(v, c, c->rows >= METERS_FROM ? VIEW_TOP + METER_ROWS : VIEW_TOP);
}
