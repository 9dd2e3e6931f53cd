/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plots_table.h - which plots there are beside the charts of the page: one table.
 *
 * Together with page_charts.h the only place where the plots name metrics.
 */
#ifndef SONDE_REPORT_PAPER_PLOTS_TABLE_H
#define SONDE_REPORT_PAPER_PLOTS_TABLE_H

#include "report/page/page_charts.h"

enum plot_kind {
	PLOT_CHART = 0,  /* of the page's table, all nodes together */
	PLOT_TOTAL,      /* one metric, all nodes together */
	PLOT_NODES,      /* nodes x time; of several nodes only */
	PLOT_NODE_LINES, /* a line for each node; of several, but not of many */
	PLOT_CORES,      /* instances x time on one node */
	PLOT_INSTANCES,  /* a line for each instance; of many: instances x time */
	PLOT_ROOFLINE,
	PLOT_OWN,         /* what the job counted itself, or said in its marks */
	PLOT_PERFMON_ALL, /* of perfmon: all nodes together, or their average */
	PLOT_PERFMON_EACH /* of perfmon: a line for each node */
};

struct plot_row {
	const char *name, *title, *note;
	const char *source; /* what reads the metric: its failure is the reason */
	enum plot_kind kind;
	const char *metric;
	enum unit unit;
	unsigned group;   /* of a page: those of another begin another */
	const char *part; /* of perfmon: of which kind of instances the sum; NULL: all */
	bool total, log;  /* of perfmon: nodes are added up; the scale is logarithmic */
	const struct page_chart *chart; /* PLOT_CHART: what the rest was made from */
};

/* Which plots belong together. */
struct plot_set {
	const struct plot_row *row;
	size_t n;
	bool charts; /* those of the page before them */
	uint32_t a_page;
};
extern const struct plot_set plots_of_sonde, plots_of_perfmon;

/* Operations a second: the first, or, where there is none, all of the others together; and the
 * traffic they are held against: the first that there is. */
extern const char plot_operations[];
extern const char *const plot_operations_by_precision[];
struct plot_traffic {
	const char *metric, *words;
};
extern const struct plot_traffic plot_traffics[];
extern const char plot_roofline_missing[];

enum { PLOT_PRECISIONS = 3, PLOT_TRAFFICS = 2 };

#endif
