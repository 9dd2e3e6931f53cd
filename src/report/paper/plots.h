/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plots.h - the plots of a run: which there are, and each as a drawing.
 *
 * What a run has no values of is left out and named with the reason, but for the roofline, whose
 * place is always there to say which counters, or which permission, it lacks. Nodes are added up or
 * averaged as the metric says, and shown beside each other.
 */
#ifndef SONDE_REPORT_PAPER_PLOTS_H
#define SONDE_REPORT_PAPER_PLOTS_H

#include "chart/shape.h"
#include "report/paper/plots_table.h"
#include "report/phases/traces.h"
#include "report/summary/summary.h"

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
void plots_own_draw(const struct plots *p, const struct plot *x, struct bytes *drawing,
		    const struct box *at);
/* perfmon's: whether there is one, and it. */
bool plots_perfmon_there(const struct plots *p, const struct plot_row *row);
void plots_perfmon_draw(const struct plots *p, const struct plot *x, struct bytes *drawing,
			const struct box *at);
#endif
