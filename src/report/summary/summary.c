/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/summary.h"
#include "report/judging/rules.h"
#include "report/summary/code.h"
#include "report/summary/ending.h"
#include "report/summary/parts.h"
#include "report/summary/reason.h"
#include "report/summary/waittime.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- how much counters rose ---- */

/*
 * How much counters rose: the footers' last values less their first ones.
 *
 * What several recordings of one host saw of the machine at the same time is the same: it is their
 * mean, so that it counts once.
 */

static bool is_of_the_node(const struct metric *m)
{
	return m->kind == KIND_COUNTER && m->storage == STORE_INT && !m->formula &&
	       (!m->domain ||
		(strcmp(m->domain, "process") != 0 && strcmp(m->domain, "gpu_process") != 0));
}

/* Not of the machine, so that each recording has its own. */
static bool is_of_the_job(const struct metric *m)
{
	static const char *const scopes[] = { "job.", "cgroup", "monitor.", "perf." };

	for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
		if (strncmp(m->name, scopes[i], strlen(scopes[i])) == 0)
			return true;
	return false;
}

struct span {
	double from, to, sum;
};

/* share[i]: of what node i saw of its machine, the part that no other recording saw as well.
 * [nnodes]; to be freed; NULL: out of memory. */
static double *shares(const struct run *r)
{
	uint32_t *host = calloc(r->nnodes + 1, sizeof *host);
	struct span *span = calloc(r->nnodes + 1, sizeof *span);
	double *share = calloc(r->nnodes + 1, sizeof *share);
	bool made = host && span && share && !run_hosts(r, host);

	for (uint32_t i = 0; made && i < r->nnodes; i++)
		span[i] = (struct span){ NAN, NAN, 0 };
	for (uint32_t i = 1; made && i < r->nnodes; i++) {
		struct span *all = &span[host[i]];
		double from = run_seconds(r, i, r->nodes[i].first_ns);
		double to = run_seconds(r, i, r->nodes[i].last_ns);

		if (!r->nodes[i].rows || !(to > from))
			continue;
		all->from = fmin(all->from, from);
		all->to = fmax(all->to, to);
		all->sum += to - from;
	}
	for (uint32_t i = 1; made && i < r->nnodes; i++)
		share[i] = fmin(1, (span[host[i]].to - span[host[i]].from) / span[host[i]].sum);
	free(host);
	free(span);
	if (made)
		return share;
	free(share);
	return NULL;
}

static int growth_make(struct summary *s, const struct run *r, const struct series_index *x,
		       struct err *e)
{
	double *grown = malloc((r->nmetrics + 1) * sizeof *grown), *share = shares(r);
	bool made = grown && share;

	s->growth = calloc(r->nmetrics + 1, sizeof *s->growth);
	for (uint32_t i = 0; made && i < r->nmetrics; i++)
		grown[i] = NAN;
	for (uint32_t i = 1; made && i < r->nseries; i++) {
		const struct run_series *row = &r->series[i];
		const struct metric *m = &r->metrics[row->metric].row;
		double rise = x->last[i] - x->begin[i], *sum = &grown[row->metric];

		if (!is_of_the_node(m) || !(rise >= 0) || row->instance >= r->ninstances ||
		    row->node >= r->nnodes || r->instances[row->instance].flags & INSTANCE_ASIDE)
			continue;
		rise *= is_of_the_job(m) ? 1 : share[row->node];
		*sum = isnan(*sum) ? rise : *sum + rise;
	}
	for (uint32_t i = 1; made && s->growth && i < r->nmetrics; i++)
		if (!isnan(grown[i]))
			s->growth[s->ngrowth++] =
				(struct summary_growth){ r->metrics[i].row.name, grown[i] };
	free(grown);
	free(share);
	return made && s->growth
		       ? 0
		       : err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
}

double summary_grown(const struct summary *s, const char *metric)
{
	for (uint32_t i = 0; i < s->ngrowth; i++)
		if (strcmp(s->growth[i].metric, metric) == 0)
			return s->growth[i].grown;
	return NAN;
}

/* ---- ways to follow processes: metadata mechanism.NAME, "used" or "forbidden: why" ---- */

enum { OF_A_NODE_MAX = 64 }; /* recorders have a handful; a stranger's file may have any number */

static const char prefix[] = "mechanism.";

static bool is_mechanism(const struct run_meta *m)
{
	return m->type == META_TEXT && m->text && !strncmp(m->key, prefix, sizeof prefix - 1);
}

/* Where it goes: over what was said of it before, or behind the others; NULL when there are too
 * many. */
static struct summary_mechanism *place(struct summary *s, uint32_t node, const char *name)
{
	uint32_t i = s->nmechanisms, seen = 0;

	for (; i-- > 0 && s->mechanism[i].node == node; seen++)
		if (!strcmp(s->mechanism[i].name, name))
			return &s->mechanism[i];
	return seen < OF_A_NODE_MAX ? &s->mechanism[s->nmechanisms++] : NULL;
}

static void take(struct summary *s, const struct run_meta *m)
{
	const char *name = m->key + sizeof prefix - 1, *colon = strstr(m->text, ": ");
	struct summary_mechanism *to = place(s, m->node, name);
	int length = (int)(colon ? colon - m->text : (ptrdiff_t)strlen(m->text));

	if (!to)
		return;
	*to = (struct summary_mechanism){ .node = m->node, .name = name };
	snprintf(to->state, sizeof to->state, "%.*s", length, m->text);
	to->reason = colon ? colon + 2 : NULL;
}

static int mechanisms_make(struct summary *s, const struct run *r, struct err *e)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < r->nmetas; i++)
		n += is_mechanism(&r->metas[i]);
	s->nmechanisms = 0;
	s->mechanism = calloc(n + 1, sizeof *s->mechanism);
	if (!s->mechanism)
		return err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	for (uint32_t i = 1; i < r->nmetas; i++)
		if (is_mechanism(&r->metas[i]) && r->metas[i].node < r->nnodes)
			take(s, &r->metas[i]);
	return 0;
}

/* ---- all of it ---- */

int64_t summary_end_ns(const struct run *r, uint32_t node)
{
	const struct run_meta *m = run_find_meta(r, node, "monitor.waited_ns");
	int64_t first = r->nodes[node].first_ns, last = r->nodes[node].last_ns;

	if (!m || m->type != META_INT || m->value <= 0 || m->value > last - first)
		return last;
	return last - m->value;
}

void series_index_add(struct series_index *x, const struct run *r, const struct range *range,
		      uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t series = range[i].series;
		const struct metric *m;

		if (!range[i].count || series >= r->nseries)
			continue;
		m = &r->metrics[r->series[series].metric].row;
		if (isnan(x->begin[series]))
			x->begin[series] = metric_value(m, range[i].first);
		x->last[series] = metric_value(m, range[i].last);
		x->max[series] = fmax(x->max[series], metric_value(m, range[i].max));
		x->min[series] = fmin(x->min[series], metric_value(m, range[i].min));
		x->sum[series] += range[i].weighted_sum * metric_value(m, 1);
		x->seconds[series] += range[i].weight;
	}
}

int series_index_make(struct series_index *x, const struct run *r, struct err *e)
{
	x->begin = malloc((r->nseries + 1) * sizeof *x->begin);
	x->last = malloc((r->nseries + 1) * sizeof *x->last);
	x->max = malloc((r->nseries + 1) * sizeof *x->max);
	x->min = malloc((r->nseries + 1) * sizeof *x->min);
	x->sum = calloc(r->nseries + 1, sizeof *x->sum);
	x->seconds = calloc(r->nseries + 1, sizeof *x->seconds);
	x->next = calloc(r->nseries + 1, sizeof *x->next);
	x->first = calloc(r->ninstances + 1, sizeof *x->first);
	if (!x->begin || !x->last || !x->max || !x->min || !x->sum || !x->seconds || !x->next ||
	    !x->first)
		return err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	for (uint32_t i = 0; i < r->nseries; i++)
		x->begin[i] = x->last[i] = x->max[i] = x->min[i] = NAN;
	for (uint32_t i = r->nseries; i-- > 1;) {
		uint32_t instance = r->series[i].instance;

		if (instance >= r->ninstances && instance)
			continue;
		x->next[i] = x->first[instance];
		x->first[instance] = i;
	}
	return 0;
}

void series_index_free(struct series_index *x)
{
	free(x->begin);
	free(x->last);
	free(x->max);
	free(x->min);
	free(x->sum);
	free(x->seconds);
	free(x->next);
	free(x->first);
	*x = (struct series_index){ 0 };
}

double series_index_last(const struct series_index *x, const struct run *r, uint32_t instance,
			 uint32_t metric)
{
	double found = NAN;

	for (uint32_t i = x->first[instance]; i; i = x->next[i])
		if (metric && r->series[i].metric == metric && !isnan(x->last[i]))
			found = x->last[i];
	return found;
}

double series_index_grown(const struct series_index *x, const struct run *r, uint32_t instance,
			  uint32_t metric)
{
	double found = NAN;

	for (uint32_t i = x->first[instance]; i; i = x->next[i])
		if (metric && r->series[i].metric == metric && x->last[i] >= x->begin[i])
			found = x->last[i] - x->begin[i];
	return found;
}

/* Of its series of that metric, by fmax or fmin. */
static double furthest(const struct series_index *x, const struct run *r, uint32_t instance,
		       uint32_t metric, const double *of, double (*further)(double, double))
{
	double found = NAN;

	for (uint32_t i = x->first[instance]; i; i = x->next[i])
		if (metric && r->series[i].metric == metric)
			found = further(found, of[i]);
	return found;
}

double series_index_max(const struct series_index *x, const struct run *r, uint32_t instance,
			uint32_t metric)
{
	return furthest(x, r, instance, metric, x->max, fmax);
}

double series_index_min(const struct series_index *x, const struct run *r, uint32_t instance,
			uint32_t metric)
{
	return furthest(x, r, instance, metric, x->min, fmin);
}

/* What rules look at: the metrics of expressions, and those of which they tell the time. */
struct looked_at {
	struct bytes names, told;
};

/* Samples miss processes that are short; the totals do not. A peak below the mean tells nothing but
 * that, unless by so little that it is a steady job. */
static double peak_beside(double peak, double mean)
{
	const double steady = 0.9;

	if (!(peak < mean))
		return peak;
	return peak >= steady * mean ? mean : NAN;
}

static void doubt_peaks(struct summary *s)
{
	s->cores_used_peak = peak_beside(s->cores_used_peak, s->cores_used_mean);
	s->host_cores_used_peak =
		peak_beside(s->host_cores_used_peak, s->cores_used_mean / fmax(s->nhosts, 1));
}

static int make_parts(struct summary *s, struct run *r, struct series_index *x,
		      const struct summary_wish *w, struct err *e)
{
	int rc = summary_job_make(s, r, x, e);

	doubt_peaks(s);
	if (!rc)
		rc = summary_energy_make(s, r, x, e);
	if (!rc)
		rc = summary_nodes_make(s, r, w->compared, e);
	if (!rc)
		rc = summary_counters_make(s, r, x, e);
	if (!rc)
		rc = mechanisms_make(s, r, e);
	if (!rc)
		rc = summary_tasks_make(s, r, e);
	if (!rc)
		rc = summary_processes_make(s, r, x, e);
	if (!rc)
		rc = waittime_make(&s->waits, r, false, e);
	if (!rc)
		rc = growth_make(s, r, x, e);
	if (!rc)
		rc = summary_code_make(s, r, w->classes, e);
	if (!rc)
		rc = summary_straggler_make(s, r, x, e);
	if (!rc && (summary_holdups_make(s, r) || summary_elsewhere_make(s, r) ||
		    summary_story_make(s, r) || summary_devices_make(s, r, x) ||
		    losses_make(&s->losses, r)))
		rc = err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	if (rc)
		return rc;
	summary_failure_make(s, r, x);
	summary_pauses_make(s, r);
	rc = summary_standouts_make(s, r, x);
	summary_ending_make(s, r, x);
	if (rc || summary_account_make(s, r))
		return err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	return 0;
}

/* What another tool's data is best looked at with. */
static void find_views(struct summary *s, const struct run *r)
{
	const char *from = run_find_text(r, 0, "import.from");

	s->is_cascade = from && !strncmp(from, "cascade ", 8);
	s->is_timeline = from && !s->is_cascade && (r->npacked || r->nspans > 1);
}

static int make(struct summary *out, struct run *r, const struct rules *builtin,
		const struct looked_at *l, const struct summary_wish *w, struct err *e)
{
	const char *names = w->all ? NULL : (const char *)l->names.data;
	struct series_index x = { 0 };
	int rc;

	*out = (struct summary){ .path = r->path,
				 .start_utc_ns = r->t0_utc_ns,
				 .ndamages = r->ndamages };
	find_views(out, r);
	story_init(&out->story);
	out->verdicts = calloc(SUMMARY_VERDICTS, sizeof *out->verdicts);
	rc = out->verdicts ? series_index_make(&x, r, e)
			   : err_set(e, -ENOMEM, "out of memory for the verdicts");
	if (!rc)
		rc = summary_metrics_make(out, r, names, (const char *)l->told.data, &x, e);
	if (!rc)
		rc = make_parts(out, r, &x, w, e);
	if (w->public)
		out->reason = (struct summary_reason){ 0 };
	reason_find(&out->reason, w->site, builtin);
	ending_make(out);
	if (!rc)
		rules_apply(builtin, out);
	series_index_free(&x);
	if (rc)
		summary_free(out);
	return rc;
}

/* What rules look at, and what is compared over nodes. */
static void look_at(struct looked_at *l, const struct run *r, const struct rules *builtin,
		    const struct summary_wish *w)
{
	bytes_puts(&l->names, summary_kills_metric);
	bytes_printf(&l->told, "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s", summary_cores_metric,
		     summary_waited_metric, summary_threads_metric, summary_blocked_metric,
		     summary_memory_metric, summary_kills_metric, summary_gpus_metric,
		     summary_ready_metric, summary_count_metric, summary_node_cores_metric,
		     summary_steal_metric);
	rules_metrics(builtin, &l->names, &l->told);
	if (w->site)
		rules_metrics(w->site, &l->names, &l->told);
	if (r->nnodes > 2)
		summary_compared(&l->names);
	if (w->compared)
		bytes_printf(&l->names, "%s%s", l->names.len ? "," : "", w->compared);
	bytes_u8(&l->told, 0);
	if (summary_is_short(r) && !l->told.failed)
		bytes_printf(&l->names, ",%s", (const char *)l->told.data);
	bytes_u8(&l->names, 0);
}

int summary_make_as(struct summary *out, struct run *r, const struct summary_wish *w, struct err *e)
{
	struct looked_at l = { 0 };
	struct rules *builtin;
	int rc = rules_builtin(&builtin, e);

	*out = (struct summary){ 0 };
	if (rc)
		return rc;
	look_at(&l, r, builtin, w);
	rc = l.names.failed || l.told.failed
		     ? err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path)
		     : make(out, r, builtin, &l, w, e);
	if (!rc && w->site)
		rules_apply(w->site, out);
	bytes_free(&l.names);
	bytes_free(&l.told);
	rules_free(builtin);
	return rc;
}

int summary_make(struct summary *out, struct run *r, struct err *e)
{
	return summary_make_as(out, r, &(struct summary_wish){ .all = true }, e);
}

void summary_free(struct summary *s)
{
	free(s->metrics);
	pool_free(&s->names);
	free(s->nodes);
	free(s->hosts);
	free(s->comparisons);
	hostlist_free(&s->missing);
	hostlist_free(&s->unsynchronised);
	free(s->processes);
	free(s->commands);
	free(s->tasks);
	free(s->steps);
	free(s->mechanism);
	free(s->growth);
	free(s->verdicts);
	timeline_free(&s->timeline);
	code_free(s->code);
	waittime_free(s->waits);
	*s = (struct summary){ 0 };
}
