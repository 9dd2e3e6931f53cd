/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_series.h - what the tidy and the wide table of the series share: where their instants come
 * from.
 */
#ifndef SONDE_CORE_TABLE_TABLE_SERIES_H
#define SONDE_CORE_TABLE_TABLE_SERIES_H

#include "core/frame/derive.h"
#include "core/frame/frame_table.h"
#include "core/statistics/stats.h"

/* Instants gathered into windows of time: a time-weighted mean, minimum and maximum.
 *
 * A reading belongs to the window in which it was made and weighs as long as it stands for (a rate:
 * its interval; else the time since the row before it). Windows begin at the selection's from. */
struct node_window {
	uint32_t first, last; /* cells with values in the open window, linked by next */
	int64_t index;        /* of the open window */
};

struct window {
	struct derive *derive;
	double every_s;
	struct stats *stats; /* [ncells] */
	uint32_t *next;      /* [ncells] */
	struct node_window *node;
	struct instant in; /* read, but not yet in a window */
	bool held;
	uint32_t *cell; /* of the instant that is given, and its value, min, max, stands */
	double *value;
	uint32_t cap;
};

struct series {
	struct derive derive;
	struct window window;
	bool windowed;
};

/* 0 or -errno. Close in either case. */
int series_open(struct series *s, struct run *r, const struct selection *sel, struct err *e);
/* As derive_next. */
int series_next(struct series *s, struct instant *out, struct err *e);
int series_rewind(struct series *s);
void series_close(struct series *s);

#endif
