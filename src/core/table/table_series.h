/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_series.h - what the tidy and the wide table of the series share: where their instants come
 * from.
 */
#ifndef SONDE_CORE_TABLE_TABLE_SERIES_H
#define SONDE_CORE_TABLE_TABLE_SERIES_H

#include "core/frame/frame_table.h"
#include "core/frame/frame_window.h"

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
