/* SPDX-License-Identifier: Apache-2.0 */
#include "top/grid.h"

#include "base/array.h"
#include "base/text/decimal.h"
#include "live/request.h"
#include "top/cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_OF_LINE = 24 }; /* a narrower column has the name alone */

const char *figure_text(char out[FIGURE_TEXT], enum now_figure f, double v)
{
	enum unit unit = now_figures[f].unit;

	if (isnan(v))
		snprintf(out, FIGURE_TEXT, "-");
	else if (unit == UNIT_RATIO)
		decimal_print(out, FIGURE_TEXT, "%.0f%%", v * 100);
	else if (unit == UNIT_CORES)
		decimal_print(out, FIGURE_TEXT, "%.*f", v < 999.95 ? 2 : 0, v);
	else
		unit_format(unit, v, out, FIGURE_TEXT);
	return out;
}

void grid_free(struct grid *t)
{
	free(t->row);
	t->row = NULL;
	t->n = t->cap = 0;
}

/* ---- rows ---- */

void grid_begin(struct grid *t)
{
	t->n = 0;
}

bool grid_add(struct grid *t, const struct row *r)
{
	struct row *moved = array_room(t->row, t->n, &t->cap, sizeof *moved);

	if (!moved)
		return false;
	t->row = moved;
	moved[t->n++] = *r;
	return true;
}

/* The largest first; what is not known last. */
static int by_figure(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b) - (a > b);
}

static int by_text(const char *a, const char *b)
{
	return strverscmp(a ? a : "", b ? b : "");
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct grid *t = ctx;
	const struct column *c = &t->column[t->sort];
	const struct row *x = a, *y = b;
	int order = 0;

	if (t->by_name)
		order = 0;
	else if (c->kind == COLUMN_FIGURE)
		order = by_figure(x->figure[c->figure], y->figure[c->figure]);
	else if (c->kind == COLUMN_STATE)
		order = by_text(x->state, y->state);
	else if (c->kind == COLUMN_PID)
		order = (x->pid > y->pid) - (x->pid < y->pid);
	else
		order = by_text(x->name, y->name);
	order = t->reversed ? -order : order;
	order = order ? order : by_text(x->name, y->name);
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

/* ---- as a tree ---- */

struct tree {
	uint32_t *by_id;           /* rows in order of their ids */
	uint32_t *child, *sibling; /* the first one, the next one; 1 + row, 0: none */
	struct row *sorted;
};

static int compare_ids(const void *a, const void *b, void *rows)
{
	const struct row *row = rows;
	uint32_t x = row[*(const uint32_t *)a].id, y = row[*(const uint32_t *)b].id;

	return (x > y) - (x < y);
}

/* 1 + the row of this id; 0: none. */
static uint32_t row_of(const struct grid *t, const struct tree *x, uint32_t id)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->row[x->by_id[middle]].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return id && low < t->n && t->row[x->by_id[low]].id == id ? 1 + x->by_id[low] : 0;
}

/* A recording may say that two are each other's parents: an older one has a smaller id. */
static uint32_t parent_of(const struct grid *t, const struct tree *x, uint32_t i)
{
	return t->row[i].parent < t->row[i].id ? row_of(t, x, t->row[i].parent) : 0;
}

static void tree_link(const struct grid *t, struct tree *x)
{
	for (uint32_t i = t->n; i-- > 0;) {
		uint32_t parent = parent_of(t, x, i);

		x->sibling[i] = x->child[parent];
		x->child[parent] = 1 + i;
	}
}

/* Depth first: behind a row its first child, else who follows it or one above it. */
static void tree_walk(struct grid *t, struct tree *x)
{
	enum { DEPTH_MOST = 12 };
	uint32_t n = 0, depth = 0, i = x->child[0];

	while (i) {
		x->sorted[n] = t->row[i - 1];
		x->sorted[n++].depth = (uint8_t)(depth < DEPTH_MOST ? depth : DEPTH_MOST);
		if (x->child[i]) {
			i = x->child[i];
			depth++;
			continue;
		}
		while (i && !x->sibling[i - 1]) {
			i = parent_of(t, x, i - 1);
			depth -= i > 0;
		}
		i = i ? x->sibling[i - 1] : 0;
	}
	memcpy(t->row, x->sorted, n * sizeof *t->row);
}

/* Siblings stay in the order that the rows have. Without memory nothing changes. */
static void tree_order(struct grid *t)
{
	struct tree x = {
		.by_id = calloc(t->n, sizeof *x.by_id),
		.child = calloc(t->n + 1, sizeof *x.child),
		.sibling = calloc(t->n, sizeof *x.sibling),
		.sorted = calloc(t->n, sizeof *x.sorted),
	};

	if (x.by_id && x.child && x.sibling && x.sorted) {
		for (uint32_t i = 0; i < t->n; i++)
			x.by_id[i] = i;
		qsort_r(x.by_id, t->n, sizeof *x.by_id, compare_ids, t->row);
		tree_link(t, &x);
		tree_walk(t, &x);
	}
	free(x.by_id);
	free(x.child);
	free(x.sibling);
	free(x.sorted);
}

void grid_end(struct grid *t)
{
	uint32_t at = t->at;

	if (t->n)
		qsort_r(t->row, t->n, sizeof *t->row, compare, t);
	for (uint32_t i = 0; i < t->n; i++)
		t->row[i].depth = 0;
	if (t->n && t->tree && !t->by_name)
		tree_order(t);
	for (uint32_t i = 0; t->chosen && i < t->n; i++)
		at = t->row[i].id == t->chosen ? i : at;
	t->at = at < t->n ? at : t->n ? t->n - 1 : 0;
	if (t->chosen && t->n) /* it may have gone */
		t->chosen = t->row[t->at].id;
}

const struct row *grid_chosen(const struct grid *t)
{
	return t->at < t->n ? &t->row[t->at] : NULL;
}

void grid_find(struct grid *t, const char *text, bool with_this)
{
	for (uint32_t k = with_this ? 0 : 1; *text && k <= t->n; k++) {
		uint32_t i = t->n ? (t->at + k) % t->n : 0;
		const struct row *r = &t->row[i];

		if (!t->n || !((r->name && strcasestr(r->name, text)) ||
			       (r->line && strcasestr(r->line, text))))
			continue;
		t->at = i;
		t->chosen = r->id;
		return;
	}
}

/* ---- keys ---- */

static bool sort_key(struct grid *t, int key)
{
	if (key == '<' || key == '>') {
		do
			t->sort = (t->sort + (key == '>' ? 1 : t->ncolumns - 1)) % t->ncolumns;
		while (t->column[t->sort].kind == COLUMN_WAIT);
		t->reversed = false;
		return true;
	}
	for (unsigned i = 0; key && i < t->ncolumns; i++) {
		if (t->column[i].key != key)
			continue;
		t->reversed = t->sort == i && !t->reversed;
		t->sort = i;
		return true;
	}
	return false;
}

/* How far a key moves the cursor; 0: not at all. */
static int64_t move_of(const struct grid *t, int key, bool is_map)
{
	int64_t line = is_map && t->step ? t->step : 1, page = is_map ? 8 * line : t->step;

	switch (key) {
	case KEY_UP:
		return -line;
	case KEY_DOWN:
		return line;
	case KEY_LEFT:
		return is_map ? -1 : 0;
	case KEY_RIGHT:
		return is_map ? 1 : 0;
	case KEY_PAGE_UP:
		return -page;
	case KEY_PAGE_DOWN:
		return page;
	case KEY_HOME:
		return -(int64_t)t->n;
	case KEY_END:
		return t->n;
	default:
		return 0;
	}
}

bool grid_key(struct grid *t, int key, bool is_map)
{
	int64_t move = move_of(t, key, is_map), at = t->at + move;

	if (sort_key(t, key)) {
		grid_end(t);
		return true;
	}
	if (!move)
		return false;
	at = at < 0 ? 0 : at >= t->n ? (int64_t)t->n - 1 : at;
	t->at = at < 0 ? 0 : (uint32_t)at;
	t->chosen = t->n ? t->row[t->at].id : 0;
	return true;
}

/* ---- a table ---- */

/* The columns for which there is room, and how wide the name's is. */
static uint64_t columns_shown(const struct grid *t, unsigned room, unsigned *name)
{
	uint64_t shown = (UINT64_C(1) << t->ncolumns) - 1;

	for (;;) {
		unsigned width = 0, worst = 0, least = 0;

		for (unsigned i = 0; i < t->ncolumns; i++) {
			if (!(shown >> i & 1))
				continue;
			width += t->column[i].width + 1U;
			least = t->column[i].kind == COLUMN_NAME ? t->column[i].width : least;
			if (!(shown >> worst & 1) || t->column[i].rank > t->column[worst].rank)
				worst = i;
		}
		*name = least + (room + 1 > width ? room + 1 - width : 0);
		if (width <= room + 1 || !t->column[worst].rank)
			return shown;
		shown &= ~(UINT64_C(1) << worst);
	}
}

struct place {
	unsigned row, at, width;
};

static void cell_draw(const struct grid *t, struct cells *c, struct place at, const struct row *r,
		      const struct column *col)
{
	char text[WAIT_TEXT];

	switch (col->kind) {
	case COLUMN_NAME: {
		unsigned in = 2U * r->depth < at.width / 2 ? 2U * r->depth : at.width / 2;

		cells_put(c, at.row, at.at + in, at.width - in, r->style,
			  r->line && at.width >= ROOM_OF_LINE ? r->line : r->name);
		return;
	}
	case COLUMN_WAIT:
		cells_put(c, at.row, at.at, at.width, r->style,
			  t->here ? wait_words(text, sizeof text, r->pid) : "-");
		return;
	case COLUMN_STATE:
		cells_put(c, at.row, at.at, at.width, r->style, r->state ? r->state : "-");
		return;
	case COLUMN_PID:
		snprintf(text, sizeof text, r->pid ? "%lld" : "-", (long long)r->pid);
		break;
	case COLUMN_FIGURE:
		figure_text(text, col->figure, r->figure[col->figure]);
	}
	cells_put_right(c, at.row, at.at, at.width, r->style, text);
}

/* A line of headings (r NULL) or of a row. */
static void line_draw(const struct grid *t, struct cells *c, unsigned row, const struct row *r)
{
	unsigned name, at = 0;
	uint64_t shown = columns_shown(t, c->columns, &name);

	for (unsigned i = 0; i < t->ncolumns; i++) {
		const struct column *col = &t->column[i];
		unsigned width = col->kind == COLUMN_NAME ? name : col->width;
		bool left = col->kind == COLUMN_NAME || col->kind == COLUMN_STATE ||
			    col->kind == COLUMN_WAIT;
		uint8_t style = i == t->sort ? STYLE_BOLD | STYLE_REVERSE : STYLE_BOLD;

		if (!(shown >> i & 1))
			continue;
		if (r)
			cell_draw(t, c, (struct place){ row, at, width }, r, col);
		else if (left)
			cells_put(c, row, at, width, style, col->heading);
		else
			cells_put_right(c, row, at, width, style, col->heading);
		at += width + 1;
	}
}

/* Keep the cursor in sight. */
static void scroll(struct grid *t, uint32_t seen)
{
	if (t->first + seen > t->n)
		t->first = t->n > seen ? t->n - seen : 0;
	if (t->at < t->first)
		t->first = t->at;
	if (seen && t->at >= t->first + seen)
		t->first = t->at - seen + 1;
}

void grid_draw(struct grid *t, struct cells *c, unsigned top, unsigned height, bool cursor)
{
	unsigned seen = height > 1 ? height - 1 : 0;
	char text[48];

	if (seen < t->n && seen > 1)
		seen--;
	t->step = seen;
	scroll(t, seen);
	line_draw(t, c, top, NULL);
	for (unsigned i = 0; i < seen && t->first + i < t->n; i++) {
		line_draw(t, c, top + 1 + i, &t->row[t->first + i]);
		if (cursor && t->first + i == t->at)
			cells_style(c, top + 1 + i, 0, c->columns, STYLE_REVERSE);
	}
	if (seen < t->n && height > 1) {
		snprintf(text, sizeof text, "%u to %u of %u", t->first + 1, t->first + seen, t->n);
		cells_put(c, top + height - 1, 0, c->columns, STYLE_PLAIN, text);
	}
}

/* ---- a map ---- */

/* What is hot is told by the digit; colour says it again. */
static uint8_t heat_style(double share)
{
	if (share >= 0.9)
		return STYLE_RED | STYLE_REVERSE;
	if (share >= 0.6)
		return STYLE_YELLOW | STYLE_REVERSE;
	return share >= 0.1 ? STYLE_CYAN : STYLE_BLUE;
}

static double whole_of(const struct grid *t, enum now_figure f)
{
	double most = 0;

	if (now_figures[f].unit == UNIT_RATIO)
		return 1;
	for (uint32_t i = 0; i < t->n; i++)
		most = fmax(most, t->row[i].figure[f]);
	return most;
}

static void heat_draw(struct cells *c, unsigned row, unsigned at, const struct row *r,
		      enum now_figure f, double whole)
{
	double v = r->figure[f], share = whole > 0 ? v / whole : 0;
	char text[2] = "-";
	uint8_t style = STYLE_PLAIN;

	if (r->mark) {
		text[0] = r->mark;
		style = STYLE_BOLD;
	} else if (!isnan(v)) {
		text[0] = share >= 0.995 ? '#' : (char)('0' + (share > 0 ? (int)(share * 10) : 0));
		style = heat_style(share);
	}
	cells_put(c, row, at, 1, style, text);
}

void grid_map(struct grid *t, struct cells *c, unsigned top, unsigned height)
{
	const struct column *col = &t->column[t->sort];
	enum now_figure f = col->kind == COLUMN_FIGURE ? col->figure : NOW_CPU_RATIO;
	double whole = whole_of(t, f);
	uint32_t first = 0, seen;

	t->step = c->columns;
	seen = t->step * height;
	if (t->at >= seen)
		first = (t->at / t->step - height + 1) * t->step;
	for (uint32_t i = first; i < t->n && i < first + seen; i++) {
		unsigned row = top + (i - first) / t->step, at = (i - first) % t->step;

		heat_draw(c, row, at, &t->row[i], f, whole);
		if (i == t->at)
			cells_style(c, row, at, 1, STYLE_REVERSE | STYLE_BOLD);
	}
}
