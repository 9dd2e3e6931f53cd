/* SPDX-License-Identifier: Apache-2.0 */
/* view_detail.c - all series of a process or a GPU; and the help. */
#include "top/view_part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

void view_draw_detail(struct view *v, struct cells *c, unsigned top, unsigned height)
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

/* ---- the help ---- */

static const char *const lines[] = {
	"arrows, Page Up/Down, Home, End: move     Enter: open     Esc, Backspace: back",
	"m: table or map of the nodes     g: processes or GPUs of a node     q, F10: quit",
	"Replay: Left, Right: a sample     Page Up/Down: 1/20 of the run     + -: speed",
	"Home, End: first, last sample     Space: play, pause     Up, Down: move",
	"t, F5: tree of processes     /, F3: search, n: next     < >, F6: another column sorts",
	"A capital letter sorts by its column, or shows it on the map; again: reversed.",
	"Map: a digit is tenths, # is all of it; L late, S silent, E ended, W waiting.",
	"- is what is not known; it is not 0. Rates need two samples.",
	"late: no sample for 3 intervals (5 s); silent: for 10 (a minute), maybe lost.",
};

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

static void help_columns(struct cells *c, unsigned row, const struct column *col, unsigned n)
{
	char text[160];

	for (unsigned i = 0; i < n && row + 1 < c->rows; i++) {
		snprintf(text, sizeof text, "%c %-8s %s", col[i].key ? col[i].key : ' ',
			 col[i].heading, col[i].what);
		row = put_wrapped(c, row, text);
	}
}

void view_draw_help(const struct view *v, struct cells *c)
{
	unsigned row = 0;

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		row = put_wrapped(c, row, lines[i]);
	row++;
	if (v->screen == VIEW_NODES || v->screen == VIEW_MAP)
		help_columns(c, row, columns_of_nodes, COLUMNS_OF_NODES);
	else if (v->screen == VIEW_GPUS)
		help_columns(c, row, columns_of_gpus, COLUMNS_OF_GPUS);
	else
		help_columns(c, row, columns_of_processes, COLUMNS_OF_PROCESSES);
}
