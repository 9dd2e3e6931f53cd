/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plots.h - the plots of a run: which there are, and each as a drawing.
 *
 * What a run has no values of is left out and named with the reason, but for the roofline, whose
 * place is always there to say which counters, or which permission, it lacks. Nodes are added up or
 * averaged as the metric says, and shown beside each other.
 *
 * Which plots there are beside the charts of the page is one table (plots_table.c): with
 * page_charts.h the only place where the plots name metrics.
 */
#ifndef SONDE_REPORT_PAPER_PLOTS_H
#define SONDE_REPORT_PAPER_PLOTS_H

#include "chart/shape.h"
#include "report/page/page_charts.h"
#include "report/phases/traces.h"
#include "report/summary/summary.h"

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

/* PLOT_LINES: as many as can be told apart. */
enum { PLOT_NAME = 128, PLOT_WHY = 256, PLOT_LINES = 8 };

struct plot {
	char name[PLOT_NAME]; /* a file's, without its ending: only letters, digits, . _ - */
	const char *title;
	const struct plot_row *row;
	uint32_t node; /* PLOT_CORES: whose; PLOT_OWN: which series is the first of its name */
};

struct plot_missing {
	const char *title;
	char why[PLOT_WHY]; /* hostile */
};

struct plots {
	const struct run *run;
	const struct summary *summary;
	const struct plot_set *set;
	const struct traces *traces;
	struct traces *own;     /* when nobody read them before */
	uint32_t *first, *rank; /* run_hosts, run_host_ranks */
	struct plot_row *chart; /* [npage_charts] */
	struct plots_own *numbers;
	struct plot *plot;
	struct plot_missing *missing;
	uint32_t n, nmissing;
	double to_s; /* where time ends */
};

/* What the plots of the set show. */
void plots_wish(struct traces *t, const struct plot_set *set);
/* Of traces that this was wished of; NULL: it reads the run. Borrows run, summary and traces. 0, or
 * -errno with a sentence; free in either case. */
int plots_make(struct plots *p, struct run *r, const struct summary *s, const struct plot_set *set,
	       const struct traces *t, struct err *e);
void plots_free(struct plots *p);

/* Into a box of a page that was begun. */
void plots_draw(const struct plots *p, const struct plot *x, struct bytes *drawing,
		const struct box *at);

/* The size of one that is a file of its own: 18 cm wide. */
#define PLOT_WIDTH  (18 / 2.54 * 72)
#define PLOT_HEIGHT (9 / 2.54 * 72)

/* Values over time. */
struct plot_values {
	double *at, *mean, *min, *max; /* one allocation, at `at`; min NULL: no band */
	uint32_t n;
};
/* Of all nodes together, for the page, too: of p it needs run, traces, first and to_s. n 0 when
 * nothing is there. False: out of memory. */
bool plot_values_of(const struct plots *p, const char *metric, struct plot_values *out);
/* How many points those of several nodes have. */
uint32_t plot_values_columns(const struct plots *p);
/* Private to plots*.c. */
/* Of one trace. */
bool plot_values_of_trace(const struct plots *p, const struct trace *x, struct plot_values *out);
const char *plots_host(const struct plots *p, uint32_t node, char *out, size_t size);
/* The last one's name as that of a file, unlike all others: `apart` and a number when it must be.
 */
void plots_name(struct plots *p, const char *apart);
/* The job's own numbers: they come first. -ENOMEM when out of memory. */
int plots_own_make(struct plots *p);
void plots_own_free(struct plots *p);
/* perfmon's: whether there is one, and it. */
bool plots_perfmon_there(const struct plots *p, const struct plot_row *row);
void plots_perfmon_draw(const struct plots *p, const struct plot *x, struct bytes *drawing,
			const struct box *at);

#endif
