/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_parse.h - private to perf_table.c and perf_parse.c: a group that was read and is sound goes
 * into the table.
 *
 * What is added is copied. The parser itself is perf_table_parse.
 */
#ifndef SONDE_SOURCE_PERF_PERF_PARSE_H
#define SONDE_SOURCE_PERF_PERF_PARSE_H

#include "source/perf/perf_table.h"

/* 0; -E2BIG when the table is full, -ENOMEM. */
int perf_table_add(struct perf_table *t, const struct perf_group *g);

#endif
