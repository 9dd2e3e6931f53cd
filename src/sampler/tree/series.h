/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - totals of ended processes by command name; bounded, whatever the job starts.
 *
 * At most COMMANDS_MAX names have a row of their own; all further names share the row "(other)".
 * Scripts that come when half of the rows are taken count as their interpreter.
 */
#ifndef SONDE_SAMPLER_TREE_SERIES_H
#define SONDE_SAMPLER_TREE_SERIES_H

#include "core/sample.h"
#include "sampler/tree/table.h"

struct tree;

enum { COMMANDS_MAX = 256, COMMAND_NAME = 48 };

struct command_row {
	char name[COMMAND_NAME];
	uint32_t slot;
	int64_t processes, cpu_ns, read_bytes, written_bytes, peak_rss_bytes;
	bool io_seen; /* of one of them at least */
};

struct commands {
	struct command_row row[COMMANDS_MAX + 1]; /* the last one is "(other)" */
	uint32_t n;
	bool other;
};

struct command_use {
	const char *name; /* what it is called */
	const char *comm; /* and its command alone, when there are many names */
	int64_t cpu_ns, read_bytes, written_bytes, peak_rss_bytes; /* cpu, peak 0: not seen */
	bool io_known;
};

void series_put(struct tree *t, struct sample *s);
void series_ended(struct tree *t, struct process *p, int64_t at_ns);
void series_last(struct tree *t);

#endif
