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

/* More than this is work. */
static const double work_cores = 0.05;
static const char cores_metric[] = "job.cpu_cores";

struct pass {
	struct derive derive;
	struct stats *stats; /* [derive.plan.ncells] */
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

static void add_instant(struct pass *p, const struct instant *in)
{
	for (uint32_t i = 0; i < in->n; i++) {
		const struct reading *v = &in->reading[i];

		stats_add(&p->stats[v->cell], v->value, v->seconds, in->seconds);
		if (v->value > work_cores && is_cores(p, v->cell)) {
			p->first_work_s = fmin(p->first_work_s, in->seconds - v->seconds);
			p->last_work_s = fmax(p->last_work_s, in->seconds);
		}
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
	if (!p->stats)
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

static void fill_work(struct summary *s, const struct pass *p, const struct run *r)
{
	double start = NAN, end = NAN;

	s->cores_used_peak = s->idle_head_s = s->idle_tail_s = NAN;
	for (uint32_t i = 0; i < s->nmetrics; i++)
		if (strcmp(s->metrics[i].name, cores_metric) == 0)
			s->cores_used_peak = fmax(s->cores_used_peak, 0) + s->metrics[i].stats.max;
	if (isnan(s->cores_used_peak))
		return;
	for (uint32_t i = 1; i < r->nnodes; i++) {
		if (!r->nodes[i].rows)
			continue;
		start = fmin(start, run_seconds(r, i, r->nodes[i].first_ns));
		end = fmax(end, run_seconds(r, i, r->nodes[i].last_ns));
	}
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
	if (!rc) {
		rc = keep_metrics(s, &p, r);
		fill_work(s, &p, r);
	}
	if (rc == -ENOMEM)
		err_set(e, rc, "out of memory for the summary of %.300s", r->path);
	free(p.stats);
	derive_close(&p.derive);
	bytes_free(&globs);
	return rc;
}
