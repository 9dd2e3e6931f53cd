/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cascade.h - how the nodes of Batch Shipyard's pools started, with the numbers of its graph.py: as
 * text, as JSON, as the files that it wrote.
 *
 * Names are hostile and escaped here.
 */
#ifndef SONDE_REPORT_PHASES_CASCADE_H
#define SONDE_REPORT_PHASES_CASCADE_H

#include "base/bytes.h"
#include "core/phase/cascade.h"

struct cascade_report {
	const struct run *run; /* borrowed */
	struct phase_rules rules;
	struct phases phases;
	struct cascade_pools pools;
	bool as_graph_py; /* sizes are 1024^n where docker said 1000^n */
	bool local;       /* times are of this machine's time zone, as there; else UTC */
};

/* 0 or -errno with a sentence. Free in either case. */
int cascade_report_make(struct cascade_report *c, const struct run *r, bool as_graph_py, bool local,
			struct err *e);
void cascade_report_free(struct cascade_report *c);
/* Nodes that are in no total, and ends and sizes that are not known. */
uint32_t cascade_report_lacking(const struct cascade_report *c);

void cascade_report_text(struct bytes *b, const struct cascade_report *c);
/* Schema sonde/cascade/1. */
void cascade_report_json(struct bytes *b, const struct cascade_report *c);

/* ACCOUNT-POOL, only of characters that a file's name may have. Returns out. */
const char *cascade_file_name(const struct cascade_pool *p, char *out, size_t size);
/* The table that gnuplot reads, what tells it to draw STEM.dat, and the same chart as a drawing. */
void cascade_table(struct bytes *b, const struct cascade_report *c, const struct cascade_pool *p);
void cascade_script(struct bytes *b, const struct cascade_pool *p, const char *stem);
void cascade_draw(struct bytes *drawing, const struct cascade_report *c,
		  const struct cascade_pool *p, double width, double height);
/* "Shipyard Performance for POOL (OFFER SKU)". Returns out. */
const char *cascade_title(const struct cascade_pool *p, char *out, size_t size);

#endif
