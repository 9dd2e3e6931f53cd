/* SPDX-License-Identifier: Apache-2.0 */
/* summary_metrics.c - statistics of every metric in one pass over the values. */
#include "base/bytes.h"
#include "core/derive.h"
#include "core/glob.h"
#include "report/summary_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GLOBS_MAX = 4096 };

/* Work is more than this over half a second: shorter, a process that ends would be work. */
static const double work_cores = 0.05, window_s = 0.5;
static const char cores_metric[] = "job.cpu_cores";

/* The CPU time of one node's job in the open window. */
struct work {
	double from_s, to_s, cpu_s;
	double peak_cores; /* of the windows before; NAN: none */
	bool any;
};

struct pass {
	struct derive derive;
	struct stats *stats; /* [derive.plan.ncells] */
	struct work *work;   /* [run.nnodes] */
	double first_work_s, last_work_s;
};

static bool is_of_processes(const struct metric *m)
{
	return m->domain && (!strcmp(m->domain, "process") || !strcmp(m->domain, "command"));
}

/* Globs for every metric but those of processes, of which there may be very many: "node.*,disk.*".
 * Empty when there is nothing else; a recording of strangely many scopes is read whole. */
static void select_metrics(struct bytes *globs, const struct run *r)
{
	bytes_u8(globs, 0);
	for (uint32_t i = 1; i < r->nmetrics && globs->len < GLOBS_MAX; i++) {
		const struct metric *m = &r->metrics[i].row;
		int scope = (int)strcspn(m->name, ".");

		if (is_of_processes(m) || glob_match((const char *)globs->data, m->name))
			continue;
		globs->len--; /* over the NUL */
		bytes_printf(globs, "%s%.*s.*", globs->len ? "," : "", scope, m->name);
		bytes_u8(globs, 0);
	}
}

static bool is_cores(const struct pass *p, uint32_t cell)
{
	const struct plan *plan = &p->derive.plan;

	return !plan->holder[plan->cell[cell].holder].instance &&
	       strcmp(derive_quantity(&p->derive, cell)->name, cores_metric) == 0;
}

/* A rest that is shorter than a window tells no peak, unless it is all there is. */
static void close_window(struct pass *p, struct work *w)
{
	double span = w->to_s - w->from_s;

	if (!(span > 0))
		return;
	if (w->cpu_s > work_cores * fmax(span, window_s)) {
		p->first_work_s = fmin(p->first_work_s, w->from_s);
		p->last_work_s = fmax(p->last_work_s, w->to_s);
	}
	if (span >= window_s || isnan(w->peak_cores))
		w->peak_cores = fmax(w->peak_cores, w->cpu_s / span);
	w->from_s = w->to_s;
	w->cpu_s = 0;
}

static void add_work(struct pass *p, struct work *w, const struct reading *v, double at_s)
{
	if (!w->any)
		*w = (struct work){ .from_s = at_s - v->seconds, .peak_cores = NAN, .any = true };
	w->to_s = at_s;
	w->cpu_s += v->value * v->seconds;
	if (w->to_s - w->from_s >= window_s)
		close_window(p, w);
}

static void add_instant(struct pass *p, const struct instant *in)
{
	for (uint32_t i = 0; i < in->n; i++) {
		const struct reading *v = &in->reading[i];

		stats_add(&p->stats[v->cell], v->value, v->seconds, in->seconds);
		if (is_cores(p, v->cell))
			add_work(p, &p->work[in->node], v, in->seconds);
	}
}

static int read_all(struct pass *p, struct run *r, const char *globs, struct err *e)
{
	struct selection sel = { .table = FRAME_SERIES, .combine = true, .metrics = globs };
	struct instant in;
	int rc = derive_open(&p->derive, r, &sel, e);

	if (rc)
		return rc;
	p->stats = calloc(p->derive.plan.ncells + 1, sizeof *p->stats);
	p->work = calloc(r->nnodes + 1, sizeof *p->work);
	if (!p->stats || !p->work)
		return err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	while ((rc = derive_next(&p->derive, &in, e)) > 0)
		add_instant(p, &in);
	return rc;
}

/* metric, or metric[device]. */
static char *cell_name(const struct pass *p, const struct run *r, const struct holder *h,
		       uint32_t cell)
{
	struct bytes b = { 0 };

	bytes_puts(&b, derive_quantity(&p->derive, cell)->name);
	if (h->instance && r->instances[h->instance].name)
		bytes_printf(&b, "[%s]", r->instances[h->instance].name);
	bytes_u8(&b, 0);
	if (!b.failed)
		return (char *)b.data;
	bytes_free(&b);
	return NULL;
}

static int keep_metrics(struct summary *s, const struct pass *p, const struct run *r)
{
	const struct plan *plan = &p->derive.plan;

	s->metrics = calloc(plan->ncells + 1, sizeof *s->metrics);
	if (!s->metrics)
		return -ENOMEM;
	for (uint32_t c = 1; c < plan->ncells; c++) {
		const struct holder *h = &plan->holder[plan->cell[c].holder];
		const struct quantity *q = derive_quantity(&p->derive, c);
		struct summary_metric *m = &s->metrics[s->nmetrics];

		if (!p->stats[c].n)
			continue;
		m->name = cell_name(p, r, h, c);
		if (!m->name)
			return -ENOMEM;
		m->node = h->node;
		m->unit = q->unit;
		m->over_nodes = q->metric->over_nodes;
		m->stats = p->stats[c];
		s->nmetrics++;
	}
	return 0;
}

static void fill_work(struct summary *s, struct pass *p, const struct run *r)
{
	double start = NAN, end = NAN;

	s->cores_used_peak = s->idle_head_s = s->idle_tail_s = NAN;
	for (uint32_t i = 1; p->work && i < r->nnodes; i++) {
		struct work *w = &p->work[i];

		if (!w->any)
			continue;
		close_window(p, w);
		s->cores_used_peak = fmax(s->cores_used_peak, 0) + fmax(w->peak_cores, 0);
		start = fmin(start, run_seconds(r, i, r->nodes[i].first_ns));
		end = fmax(end, run_seconds(r, i, r->nodes[i].last_ns));
	}
	if (isnan(end))
		return;
	s->idle_head_s = (isnan(p->first_work_s) ? end : p->first_work_s) - start;
	s->idle_tail_s = isnan(p->last_work_s) ? 0 : end - p->last_work_s;
}

int summary_metrics_make(struct summary *s, struct run *r, struct err *e)
{
	struct pass p = { .first_work_s = NAN, .last_work_s = NAN };
	struct bytes globs = { 0 };
	int rc = 0;

	select_metrics(&globs, r);
	if (globs.failed)
		rc = -ENOMEM;
	else if (globs.len > 1)
		rc = read_all(&p, r, globs.len < GLOBS_MAX ? (const char *)globs.data : NULL, e);
	if (!rc)
		rc = keep_metrics(s, &p, r);
	if (!rc)
		fill_work(s, &p, r);
	if (rc == -ENOMEM)
		err_set(e, rc, "out of memory for the summary of %.300s", r->path);
	free(p.stats);
	free(p.work);
	derive_close(&p.derive);
	bytes_free(&globs);
	return rc;
}
