/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_part.h - what the files of the hot spot share. Nobody outside includes this.
 */
#ifndef SONDE_REPORT_JUDGING_HOTSPOT_PART_H
#define SONDE_REPORT_JUDGING_HOTSPOT_PART_H

#include "core/stacks/hot.h"
#include "report/summary/code.h"
#include "report/summary/summary.h"

/* A share of a half has an interval that begins at nearly nothing of fewer. */
static const double hotspot_least_samples = 5;

/* "Logger.debug (logging/__init__.py:1477)", "qsort (libc.so.6)". Of a package's file named as all
 * such are the package's name helps. */
void hotspot_put_place(char *out, size_t size, const struct hot_place *p);
/* out->in[which]; nearly_all: of the program's own code, the place that has nearly all of the time;
 * NULL: none has. 0 or -ENOMEM. */
int hotspot_say_in(struct summary_hot *out, const struct code *code, int which,
		   const struct hot *nearly_all);

#endif
