/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_part.h - what the files of top/view.h share. Nobody outside includes this.
 */
#ifndef SONDE_TOP_VIEW_PART_H
#define SONDE_TOP_VIEW_PART_H

#include "top/view.h"

/* The tables' columns. */
enum { COLUMNS_OF_NODES = 10, COLUMNS_OF_PROCESSES = 9, COLUMNS_OF_GPUS = 7 };
extern const struct column columns_of_nodes[COLUMNS_OF_NODES];
extern const struct column columns_of_processes[COLUMNS_OF_PROCESSES];
extern const struct column columns_of_gpus[COLUMNS_OF_GPUS];

static inline bool view_in_node(const struct view *v)
{
	return v->screen >= VIEW_PROCESSES;
}
/* What was opened, or is at the cursor; NULL: none, or it has gone. */
const struct now_node *view_node(const struct view *v);
const struct row *view_thing(const struct view *v);

void view_draw_help(const struct view *v, struct cells *c);
/* All series of the thing at the cursor. */
void view_draw_detail(struct view *v, struct cells *c, unsigned top, unsigned height);

/* Hostile words on a line, two blanks between them, as long as there is room. */
struct words {
	struct cells *c;
	unsigned row, at;
	uint8_t style;
};
void words_add(struct words *w, const char *text);

void view_title_line(const struct view *v, struct cells *c);
/* Those figures for which there is room whole. */
void view_figures_line(struct cells *c, unsigned row, const double *figure);
/* Bars of the job's share and the others' of the node's cores and memory, and their history: so
 * many rows. */
enum { METER_ROWS = 3, METERS_FROM = 30 };
void view_meters(const struct view *v, struct cells *c, unsigned row, const double *figure);
/* What is wrong with a node; false when nothing is. */
bool view_trouble_line(const struct now_node *n, struct cells *c, unsigned row);
void view_keys_line(const struct view *v, struct cells *c);

#endif
