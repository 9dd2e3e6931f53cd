/* SPDX-License-Identifier: Apache-2.0 */
#include "top/view.h"

#include "base/clock.h"
#include "core/frame/run.h"
#include "top/cells.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct column columns_of_nodes[] = {
	{ 'N', COLUMN_NAME, 0, 8, 0, "NODE", "the node, and the number of its recorder if it had several" },
	{ 'S', COLUMN_STATE, 0, 7, 0, "STATE", "running, late, silent, waiting, ended, damaged, unreadable" },
	{ 'C', COLUMN_FIGURE, NOW_CPU_RATIO, 5, 0, "CPU%", "CPU time, of the cores that the job may use" },
	{ 0, COLUMN_FIGURE, NOW_CPU, 6, 4, "CORES", "cores in use" },
	{ 'M', COLUMN_FIGURE, NOW_MEMORY_RATIO, 5, 1, "MEM%", "memory, of its limit: asked for, allowed, or the node's" },
	{ 0, COLUMN_FIGURE, NOW_MEMORY, 10, 3, "MEMORY", "memory of the job: PSS, or RSS where PSS is not known" },
	{ 'G', COLUMN_FIGURE, NOW_GPU, 5, 2, "GPU%", "use of the GPUs, their average" },
	{ 'R', COLUMN_FIGURE, NOW_READ, 10, 5, "READ", "bytes read a second, from cache or not" },
	{ 'W', COLUMN_FIGURE, NOW_WRITTEN, 10, 6, "WRITTEN", "bytes written a second" },
	{ 'P', COLUMN_FIGURE, NOW_PROCESSES, 5, 7, "PROCS", "processes that live" },
};

static const struct column columns_of_processes[] = {
	{ 'I', COLUMN_PID, 0, 7, 1, "PID", "the process's id" },
	{ 'C', COLUMN_FIGURE, NOW_CPU, 6, 0, "CORES", "cores in use" },
	{ 'M', COLUMN_FIGURE, NOW_MEMORY, 10, 0, "RSS", "resident memory; shared pages count in full" },
	{ 'R', COLUMN_FIGURE, NOW_READ, 10, 3, "READ", "bytes read a second, from cache or not" },
	{ 'W', COLUMN_FIGURE, NOW_WRITTEN, 10, 4, "WRITTEN", "bytes written a second" },
	{ 'H', COLUMN_FIGURE, NOW_THREADS, 4, 5, "THR", "threads" },
	{ 'T', COLUMN_FIGURE, NOW_CPU_TIME, 11, 2, "CPU TIME", "CPU time so far" },
	{ 0, COLUMN_WAIT, 0, 21, 6, "WAITS FOR", "what it waits for, or runs; of processes of this machine" },
	{ 'N', COLUMN_NAME, 0, 8, 0, "COMMAND", "its command line where there is room, else its name" },
};

static const struct column columns_of_gpus[] = {
	{ 'N', COLUMN_NAME, 0, 8, 0, "GPU", "its name" },
	{ 'G', COLUMN_FIGURE, NOW_GPU, 5, 0, "GPU%", "time in which a kernel ran" },
	{ 'M', COLUMN_FIGURE, NOW_GPU_MEMORY_RATIO, 5, 1, "MEM%", "memory that is allocated" },
	{ 0, COLUMN_FIGURE, NOW_GPU_MEMORY, 10, 2, "MEMORY", "memory that is allocated" },
	{ 0, COLUMN_FIGURE, NOW_GPU_MEMORY_TOTAL, 10, 5, "OF", "memory that it has" },
	{ 'P', COLUMN_FIGURE, NOW_POWER, 9, 3, "POWER", "power" },
	{ 'T', COLUMN_FIGURE, NOW_TEMPERATURE, 10, 4, "TEMP", "temperature" },
};
/* clang-format on */

void view_init(struct view *v, const struct now *now, const char *title)
{
	*v = (struct view){
		.now = now,
		.title = title,
		.nodes = { .column = columns_of_nodes,
			   .ncolumns = sizeof columns_of_nodes / sizeof columns_of_nodes[0] },
		.processes = { .column = columns_of_processes,
			       .ncolumns =
				       sizeof columns_of_processes / sizeof columns_of_processes[0],
			       .sort = 1 },
		.gpus = { .column = columns_of_gpus,
			  .ncolumns = sizeof columns_of_gpus / sizeof columns_of_gpus[0] },
	};
}

void view_free(struct view *v)
{
	grid_free(&v->nodes);
	grid_free(&v->processes);
	grid_free(&v->gpus);
	now_things_free(&v->process);
	now_things_free(&v->gpu);
	bytes_free(&v->looked);
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
	bool detail = v->screen >= VIEW_DETAIL;
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
	if (v->now->n + VIEW_TOP + 3 > rows)
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
	if (v->screen >= VIEW_DETAIL)
		v->screen = v->behind;
	else if (v->screen >= VIEW_PROCESSES && v->now->n > 1)
		set_list(v, v->list);
	else
		return VIEW_SAME;
	return VIEW_CHANGED;
}

static void open_thing(struct view *v, const struct row *r, enum view_screen screen)
{
	if (v->screen < VIEW_DETAIL)
		v->behind = v->screen;
	v->thing_id = r->id;
	v->screen = screen;
	v->detail_first = 0;
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
	if (!view_in_node(v) || v->screen >= VIEW_DETAIL || !r)
		return VIEW_SAME;
	open_thing(v, r, VIEW_DETAIL);
	return VIEW_CHANGED;
}

/* s: the stacks of the process at the cursor, or that was opened; again: anew. */
static bool look_at_stacks(struct view *v)
{
	const struct row *r = view_thing(v);
	bool process = v->screen == VIEW_PROCESSES ||
		       (v->screen >= VIEW_DETAIL && v->behind == VIEW_PROCESSES);

	if (!process || !r || !r->pid)
		return false;
	bytes_reset(&v->looked);
	if (!v->processes.here || !v->stacks)
		bytes_puts(&v->looked, "Stacks are shown of running processes of this machine.\n");
	else
		v->stacks(&v->looked, r->pid);
	v->failed |= v->looked.failed;
	open_thing(v, r, VIEW_STACKS);
	return true;
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
	if (key == '/' && v->screen < VIEW_DETAIL && v->screen != VIEW_MAP) {
		v->searching = true;
		v->search[0] = '\0';
	} else if (key == 'n' && v->screen < VIEW_DETAIL && v->search[0]) {
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
	if (toggle(v, key) || search_or_tree(v, key) || (key == 's' && look_at_stacks(v)))
		return VIEW_CHANGED;
	if (key == KEY_ENTER)
		return open_chosen(v);
	if (key == KEY_ESCAPE || key == KEY_BACK || (key == KEY_LEFT && view_in_node(v)))
		return back(v);
	if (v->screen >= VIEW_DETAIL)
		return detail_key(v, key);
	return grid_key(grid_of(v), key, v->screen == VIEW_MAP) ? VIEW_CHANGED : VIEW_SAME;
}

/* ---- replay ---- */

enum { REPLAY_PAGES = 20 };

static void go(struct replay *r, int64_t at_ns)
{
	const struct now_span *s = &r->span;

	r->at_ns = at_ns < s->first_ns ? s->first_ns : at_ns > s->last_ns ? s->last_ns : at_ns;
}

void replay_init(struct replay *r, const struct now_span *span, int64_t at_ns)
{
	*r = (struct replay){ .span = *span, .speed = 1 };
	go(r, at_ns < span->last_ns - span->begin_ns ? span->begin_ns + at_ns : span->last_ns);
	r->plays = !at_ns && r->at_ns < span->last_ns;
	r->tick_ns = clock_mono_ns();
}

static int64_t page(const struct replay *r)
{
	int64_t part = (r->span.last_ns - r->span.first_ns) / REPLAY_PAGES;

	return part > r->span.interval_ns ? part : r->span.interval_ns;
}

static void play(struct replay *r, int64_t mono_ns)
{
	r->plays = !r->plays && r->at_ns < r->span.last_ns;
	r->tick_ns = mono_ns;
}

static void speed(struct replay *r, bool faster)
{
	if (faster && r->speed < REPLAY_SPEED_MOST)
		r->speed *= 2;
	else if (!faster && r->speed > 1)
		r->speed /= 2;
}

bool replay_key(struct replay *r, int key, int64_t mono_ns)
{
	replay_tick(r, mono_ns);
	switch (key) {
	case KEY_LEFT:
	case KEY_RIGHT:
		go(r, r->at_ns + (key == KEY_RIGHT ? 1 : -1) * r->span.interval_ns);
		r->plays = false;
		return true;
	case KEY_PAGE_UP:
	case KEY_PAGE_DOWN:
		go(r, r->at_ns + (key == KEY_PAGE_DOWN ? 1 : -1) * page(r));
		return true;
	case KEY_HOME:
	case KEY_END:
		go(r, key == KEY_HOME ? r->span.first_ns : r->span.last_ns);
		r->plays = r->plays && key == KEY_HOME;
		return true;
	case ' ':
		play(r, mono_ns);
		return true;
	case '+':
	case '-':
		speed(r, key == '+');
		return true;
	default:
		return false;
	}
}

void replay_tick(struct replay *r, int64_t mono_ns)
{
	int64_t passed = mono_ns - r->tick_ns, left = r->span.last_ns - r->at_ns;

	if (!r->plays)
		return;
	r->tick_ns = mono_ns;
	go(r, passed < left / r->speed ? r->at_ns + passed * r->speed : r->span.last_ns);
	r->plays = r->at_ns < r->span.last_ns;
}

/* Since the begin: milliseconds are shown of the first minute only, seconds always. */
static const char *since(const struct replay *r, int64_t utc_ns, char text[32])
{
	int64_t ms = (utc_ns - r->span.begin_ns) / NS_PER_MS, s = ms / 1000;

	if (s >= 60) {
		snprintf(text, 32, "%lld:%02d:%02d", (long long)(s / 3600), (int)(s / 60 % 60),
			 (int)(s % 60));
		return text;
	}
	return unit_format(UNIT_SECONDS, (double)ms / 1e3, text, 32);
}

void replay_text(const struct replay *r, char *out, size_t size)
{
	char at[32], all[32], fast[16] = "";

	if (r->speed > 1)
		snprintf(fast, sizeof fast, " x%u", r->speed);
	snprintf(out, size, "replay  %s of %s  %s%s", since(r, r->at_ns, at),
		 since(r, r->span.last_ns, all), r->plays ? "playing" : "paused", fast);
}
