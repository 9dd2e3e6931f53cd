/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_window.h - instants gathered into windows of time: a time-weighted mean, minimum and
 * maximum.
 *
 * A reading belongs to the window in which it was made and weighs as long as it stands for (a rate:
 * its interval; else the time since the row before it). Windows begin at the selection's from.
 */
#ifndef SONDE_CORE_FRAME_FRAME_WINDOW_H
#define SONDE_CORE_FRAME_FRAME_WINDOW_H

#include "core/frame/derive.h"
#include "core/statistics/stats.h"

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

/* 0 or -errno. Close in either case. d is borrowed. */
int window_open(struct window *w, struct derive *d, double every_s, struct err *e);
/* As derive_next; the instant is the window's begin. */
int window_next(struct window *w, struct instant *out, struct err *e);
void window_rewind(struct window *w);
void window_close(struct window *w);

#endif
