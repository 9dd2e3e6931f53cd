/* SPDX-License-Identifier: Apache-2.0 */
#include "top/view.h"

#include "core/frame/run.h"
#include "top/keys.h"
#include "top/view_part.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOP = 2, GPUS_SEEN = 8 };

void view_init(struct view *v, const struct now *now, const char *title)
{
	*v = (struct view){
		.now = now,
		.title = title,
		.nodes = { .column = columns_of_nodes, .ncolumns = COLUMNS_OF_NODES },
		.processes = { .column = columns_of_processes,
			       .ncolumns = COLUMNS_OF_PROCESSES,
			       .sort = 1 },
		.gpus = { .column = columns_of_gpus, .ncolumns = COLUMNS_OF_GPUS },
	};
}

void view_free(struct view *v)
{
	grid_free(&v->nodes);
	grid_free(&v->processes);
	grid_free(&v->gpus);
	now_things_free(&v->process);
	now_things_free(&v->gpu);
}

/* ---- rows ---- */

const struct now_node *view_node(const struct view *v)
{
	const struct row *r = grid_chosen(&v->nodes);
	uint32_t id = view_in_node(v) ? v->node_id : r ? r->id : 0;

	for (uint32_t i = 0; i < v->now->n; i++)
		if (v->now->node[i].id == id)
			return &v->now->node[i];
	return NULL;
}

const struct row *view_thing(const struct view *v)
{
	bool detail = v->screen == VIEW_DETAIL;
	const struct grid *t =
		(detail ? v->behind : v->screen) == VIEW_GPUS ? &v->gpus : &v->processes;

	if (!detail)
		return grid_chosen(t);
	for (uint32_t i = 0; i < t->n; i++)
		if (t->row[i].id == v->thing_id)
			return &t->row[i];
	return NULL;
}

static struct row row_of_node(const struct now_node *n)
{
	bool damaged = n->from->damages && (n->state == NOW_RUNNING || n->state == NOW_ENDED);
	struct row r = { .id = n->id, .name = n->name, .figure = n->figure };

	r.state = damaged ? "damaged" : now_state_name(n->state);
	if (n->state != NOW_RUNNING)
		r.mark = (char)toupper((unsigned char)now_state_name(n->state)[0]);
	if (n->state == NOW_SILENT || n->state == NOW_UNREADABLE || damaged)
		r.style = STYLE_RED | STYLE_BOLD;
	else if (n->state == NOW_LATE)
		r.style = STYLE_YELLOW | STYLE_BOLD;
	return r;
}

static void nodes_look(struct view *v)
{
	v->nodes.by_name = v->screen == VIEW_MAP;
	grid_begin(&v->nodes);
	for (uint32_t i = 0; i < v->now->n; i++) {
		const struct row r = row_of_node(&v->now->node[i]);

		v->failed |= !grid_add(&v->nodes, &r);
	}
	grid_end(&v->nodes);
}

static void things_look(struct view *v, struct grid *t, struct now_things *things,
			const char *domain)
{
	const struct now_node *n = view_node(v);

	things->n = 0;
	v->failed |= n && now_things(n, domain, things);
	grid_begin(t);
	for (uint32_t i = 0; i < things->n; i++) {
		const struct now_thing *x = &things->thing[i];
		const struct row r = {
			.id = x->id,
			.pid = x->pid,
			.name = x->name,
			.parent = x->parent,
			.figure = x->figure,
			.line = x->command_line ? run_command_shown(x->command_line) : NULL,
		};

		v->failed |= !grid_add(t, &r);
	}
	grid_end(t);
}

static void node_look(struct view *v)
{
	const struct now_node *n = view_node(v);

	v->processes.here = n && !v->now->replays && n->state != NOW_ENDED && now_is_here(n);
	things_look(v, &v->processes, &v->process, "process");
	things_look(v, &v->gpus, &v->gpu, "gpu");
}

static void open_node(struct view *v, const struct now_node *n)
{
	if (n->id != v->node_id) {
		v->processes.at = v->processes.chosen = 0;
		v->gpus.at = v->gpus.chosen = 0;
	}
	v->node_id = n->id;
	v->screen = VIEW_PROCESSES;
	node_look(v);
}

/* One node is opened at once; nodes that do not fit in a table are a map. */
static void place(struct view *v, unsigned rows)
{
	v->placed = true;
	if (v->now->n + TOP + 3 > rows)
		v->screen = v->list = VIEW_MAP;
	if (v->now->n == 1)
		open_node(v, &v->now->node[0]);
}

/* One more value when a sample has come; of another node it begins anew. */
static void history_look(struct view *v)
{
	const struct now_node *n = view_in_node(v) ? view_node(v) : NULL;
	const double *figure = n ? n->figure : v->now->figure;
	struct history *h = &v->history;
	int64_t mono_ns = 0;

	for (uint32_t i = 0; i < v->now->n; i++)
		if ((!n || n == &v->now->node[i]) && v->now->node[i].from->mono_ns > mono_ns)
			mono_ns = v->now->node[i].from->mono_ns;
	if (h->node_id != (n ? n->id : 0) || mono_ns < h->mono_ns)
		*h = (struct history){ .node_id = n ? n->id : 0 };
	if (mono_ns == h->mono_ns || isnan(figure[NOW_CPU]))
		return;
	h->mono_ns = mono_ns;
	if (h->n == HISTORY) {
		memmove(h->cores, h->cores + 1, sizeof h->cores - sizeof h->cores[0]);
		memmove(h->memory, h->memory + 1, sizeof h->memory - sizeof h->memory[0]);
		h->n--;
	}
	h->cores[h->n] = (float)figure[NOW_CPU];
	h->memory[h->n++] = (float)figure[NOW_MEMORY];
}

void view_look(struct view *v, unsigned rows)
{
	if (!v->placed && v->now->n)
		place(v, rows);
	nodes_look(v);
	if (view_in_node(v))
		node_look(v);
	history_look(v);
}

bool view_open_node(struct view *v, const char *name)
{
	for (uint32_t i = 0; i < v->now->n; i++) {
		if (strcmp(v->now->node[i].name, name) != 0)
			continue;
		v->nodes.chosen = v->now->node[i].id;
		v->placed = true;
		grid_end(&v->nodes);
		open_node(v, &v->now->node[i]);
		return true;
	}
	return false;
}

/* ---- keys ---- */

static void set_list(struct view *v, enum view_screen screen)
{
	v->screen = screen;
	v->nodes.by_name = screen == VIEW_MAP;
	grid_end(&v->nodes);
}

static enum view_answer back(struct view *v)
{
	if (v->screen == VIEW_DETAIL)
		v->screen = v->behind;
	else if (v->screen >= VIEW_PROCESSES && v->now->n > 1)
		set_list(v, v->list);
	else
		return VIEW_SAME;
	return VIEW_CHANGED;
}

static enum view_answer open_chosen(struct view *v)
{
	const struct now_node *n = view_node(v);
	const struct row *r = view_thing(v);

	if (!view_in_node(v) && n) {
		v->list = v->screen;
		open_node(v, n);
		return VIEW_CHANGED;
	}
	if (!view_in_node(v) || v->screen == VIEW_DETAIL || !r)
		return VIEW_SAME;
	v->thing_id = r->id;
	v->behind = v->screen;
	v->screen = VIEW_DETAIL;
	v->detail_first = 0;
	return VIEW_CHANGED;
}

static struct grid *grid_of(struct view *v)
{
	switch (v->screen) {
	case VIEW_PROCESSES:
		return &v->processes;
	case VIEW_GPUS:
		return &v->gpus;
	default:
		return &v->nodes;
	}
}

static enum view_answer detail_key(struct view *v, int key)
{
	if (key == KEY_DOWN || key == KEY_PAGE_DOWN)
		v->detail_first += key == KEY_DOWN ? 1 : 10;
	else if (key == KEY_UP || key == KEY_PAGE_UP)
		v->detail_first -= key == KEY_UP          ? v->detail_first > 0
				   : v->detail_first > 10 ? 10
							  : v->detail_first;
	else
		return VIEW_SAME;
	return VIEW_CHANGED;
}

/* m: table or map; g: processes or GPUs. */
static bool toggle(struct view *v, int key)
{
	if (key == 'm' && (v->screen == VIEW_NODES || v->screen == VIEW_MAP))
		set_list(v, v->screen == VIEW_MAP ? VIEW_NODES : VIEW_MAP);
	else if (key == 'g' && (v->screen == VIEW_PROCESSES || v->screen == VIEW_GPUS))
		v->screen = v->screen == VIEW_GPUS ? VIEW_PROCESSES : VIEW_GPUS;
	else
		return false;
	return true;
}

/* Each character that is typed moves the cursor to what holds the text; Enter keeps it there. */
static enum view_answer search_key(struct view *v, int key)
{
	size_t n = strlen(v->search);

	if (key == KEY_F3 || key == KEY_DOWN) {
		grid_find(grid_of(v), v->search, false);
	} else if (key == KEY_BACK && n) {
		v->search[n - 1] = '\0';
	} else if (key >= ' ' && key < 0x7f && n + 1 < sizeof v->search) {
		v->search[n] = (char)key;
		v->search[n + 1] = '\0';
		grid_find(grid_of(v), v->search, true);
	} else if (key == KEY_ENTER || key == KEY_ESCAPE || key == KEY_BACK) {
		v->searching = false;
	} else {
		return VIEW_SAME;
	}
	return VIEW_CHANGED;
}

/* /: search; n: the next one; t: a tree of the processes. */
static bool search_or_tree(struct view *v, int key)
{
	if (key == '/' && v->screen != VIEW_DETAIL && v->screen != VIEW_MAP) {
		v->searching = true;
		v->search[0] = '\0';
	} else if (key == 'n' && v->screen != VIEW_DETAIL && v->search[0]) {
		grid_find(grid_of(v), v->search, false);
	} else if (key == 't' && v->screen == VIEW_PROCESSES) {
		v->processes.tree = !v->processes.tree;
		grid_end(&v->processes);
	} else {
		return false;
	}
	return true;
}

/* What others are used to. */
static int key_meant(int key)
{
	static const struct {
		int key, means;
	} rows[] = {
		{ KEY_F1, 'h' }, { KEY_F3, '/' },  { KEY_F5, 't' },
		{ KEY_F6, '>' }, { KEY_F10, 'q' },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].key == key)
			return rows[i].means;
	return key;
}

enum view_answer view_key(struct view *v, int key)
{
	if (v->searching)
		return search_key(v, key);
	key = key_meant(key);
	if (key == 'q' && !v->help)
		return VIEW_QUIT;
	if (v->help) {
		v->help = false;
		return VIEW_CHANGED;
	}
	if (key == 'h' || key == '?') {
		v->help = true;
		return VIEW_CHANGED;
	}
	if (toggle(v, key) || search_or_tree(v, key))
		return VIEW_CHANGED;
	if (key == KEY_ENTER)
		return open_chosen(v);
	if (key == KEY_ESCAPE || key == KEY_BACK || (key == KEY_LEFT && view_in_node(v)))
		return back(v);
	if (v->screen == VIEW_DETAIL)
		return detail_key(v, key);
	return grid_key(grid_of(v), key, v->screen == VIEW_MAP) ? VIEW_CHANGED : VIEW_SAME;
}

/* ---- screens ---- */

static void draw_map(struct view *v, struct cells *c, unsigned top, unsigned height)
{
	const struct column *col = &v->nodes.column[v->nodes.sort];
	const struct now_node *n;
	char text[160];

	if (col->kind != COLUMN_FIGURE)
		col = &columns_of_nodes[2];
	snprintf(text, sizeof text, "%s: %s, in tenths%s", col->heading, col->what,
		 now_figures[col->figure].unit == UNIT_RATIO ? "" : " of the largest");
	cells_put(c, top, 0, c->columns, STYLE_PLAIN, text);
	grid_map(&v->nodes, c, top + 1, height - 3);
	n = view_node(v);
	if (!n)
		return;
	cells_put(c, top + height - 2, 0, c->columns, STYLE_BOLD, n->name);
	if (!view_trouble_line(n, c, top + height - 1))
		view_figures_line(c, top + height - 1, n->figure);
}

static void draw_node(struct view *v, struct cells *c, unsigned top, unsigned height)
{
	const struct now_node *n = view_node(v);
	unsigned gpus = v->gpus.n < GPUS_SEEN ? v->gpus.n : GPUS_SEEN;

	if (!n)
		return;
	if (view_trouble_line(n, c, top)) {
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
		view_draw_detail(v, c, top, height);
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
		view_keys_line(v, c);
	if (v->help) {
		view_draw_help(v, c);
		return;
	}
	view_title_line(v, c);
	view_figures_line(c, 1, n ? n->figure : v->now->figure);
	if (c->rows >= METERS_FROM)
		view_meters(v, c, TOP, n ? n->figure : v->now->figure);
	draw_body(v, c, c->rows >= METERS_FROM ? TOP + METER_ROWS : TOP);
}
