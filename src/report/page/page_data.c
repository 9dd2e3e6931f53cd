/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_data.h"

#include "base/text/escape.h"
#include "base/text/json.h"
#include "core/frame/run.h"
#include "report/page/page_charts.h"
#include "report/page/page_code.h"
#include "report/page/page_events.h"
#include "report/page/page_kinds.h"
#include "report/page/page_series.h"
#include "report/paper/plots.h"
#include "report/summary/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct score {
	uint32_t node;
	double value; /* INFINITY: always shown */
};

static int by_value(const void *a, const void *b)
{
	const struct score *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double cpu_of(const struct summary_host *h)
{
	return h->cpu_s;
}

static double memory_of(const struct summary_host *h)
{
	return h->peak_memory_bytes;
}

/* How far each host's figure is from the middle one, as a share of it. room: [nhosts] */
static void add_distances(struct score *score, const struct summary *s, double *room,
			  double (*figure)(const struct summary_host *))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nhosts; i++)
		if (!isnan(figure(&s->hosts[i])))
			room[n++] = figure(&s->hosts[i]);
	if (!n)
		return;
	qsort(room, n, sizeof *room, by_number);
	for (uint32_t i = 0; i < s->nhosts && room[n / 2] > 0; i++) {
		double v = figure(&s->hosts[i]);

		score[s->hosts[i].node].value += isnan(v) ? 0 : fabs(v - room[n / 2]) / room[n / 2];
	}
}

static void mark_named(struct score *score, const struct run *r, const struct summary *s)
{
	for (uint32_t i = 0; i < s->nhosts; i++)
		if (s->hosts[i].lost || s->hosts[i].restarted)
			score[s->hosts[i].node].value = INFINITY;
	for (uint32_t i = 0; i < s->ncomparisons; i++) {
		score[s->hosts[s->comparisons[i].spread.least].node].value = INFINITY;
		score[s->hosts[s->comparisons[i].spread.most].node].value = INFINITY;
	}
	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (s->verdicts[i].node && s->verdicts[i].node < r->nnodes)
			score[s->verdicts[i].node].value = INFINITY;
}

int page_nodes_make(struct page_nodes *x, const struct run *r, const struct summary *s,
		    uint32_t max)
{
	struct score *score = calloc(r->nnodes + 1u, sizeof *score);
	double *room = calloc(s->nhosts + 1u, sizeof *room);
	uint32_t n = r->nnodes ? r->nnodes - 1 : 0;

	*x = (struct page_nodes){ .id = calloc(n + 1u, sizeof *x->id) };
	if (score && room && x->id) {
		for (uint32_t i = 1; i < r->nnodes; i++)
			score[i].node = i;
		if (n > max) {
			add_distances(score, s, room, cpu_of);
			add_distances(score, s, room, memory_of);
			mark_named(score, r, s);
			qsort(score + 1, n, sizeof *score, by_value);
			n = max;
		}
		for (x->n = 0; x->n < n; x->n++)
			x->id[x->n] = score[x->n + 1].node;
		qsort(x->id, x->n, sizeof *x->id, by_id);
	}
	free(score);
	free(room);
	return x->id && x->n == n ? 0 : -ENOMEM;
}

bool page_nodes_has(const struct page_nodes *x, uint32_t node)
{
	return bsearch(&node, x->id, x->n, sizeof node, by_id) != NULL;
}

void page_nodes_free(struct page_nodes *x)
{
	free(x->id);
	*x = (struct page_nodes){ 0 };
}

/* ---- processes of a node, as lanes ---- */

/* Of a node as many as a screen can show; of many nodes fewer. */
enum {
	LANE_PROCESSES_MAX = 500,
	LANE_PROCESSES_MIN = 10,
	LANE_PROCESSES_OF_ALL_NODES = 6000,
	LANE_NAME_MAX = 64,
	LANE_LINE_MAX = 200
};

/* Most CPU first, unknown last, then as they came. */
static int by_cpu(const void *a, const void *b)
{
	const struct summary_process *const *x = a, *const *y = b;
	double cx = isnan((*x)->cpu_s) ? -1 : (*x)->cpu_s;
	double cy = isnan((*y)->cpu_s) ? -1 : (*y)->cpu_s;

	if (cx != cy)
		return cx < cy ? 1 : -1;
	return (*x)->instance < (*y)->instance ? -1 : 1;
}

static int by_instance(const void *key, const void *member)
{
	uint32_t x = *(const uint32_t *)key;
	uint32_t y = ((const struct summary_process *)member)->instance;

	return (x > y) - (x < y);
}

/* Those of the node. The summary's are in order of instance. */
static uint32_t list_processes(const struct summary_process **out, const struct run_index *x,
			       const struct summary *s, uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t i = x->first[node]; i < x->first[node + 1]; i++) {
		const struct summary_process *p =
			s->nprocesses ? bsearch(&x->id[i], s->processes, s->nprocesses, sizeof *p,
						by_instance)
				      : NULL;

		if (p)
			out[n++] = p;
	}
	qsort(out, n, sizeof(struct summary_process *), by_cpu);
	return n;
}

static void number_json(struct json *j, const char *key, double v, double steps)
{
	if (!isfinite(v))
		return;
	json_key(j, key);
	json_real(j, round(v * steps) / steps);
}

static void process_json(struct json *j, const struct summary_process *p)
{
	char name[LANE_NAME_MAX], line[LANE_LINE_MAX];

	json_object(j);
	json_key(j, "name");
	json_text(j, escape_terminal_into(name, sizeof name, p->name ? p->name : ""));
	if (p->command_line)
		json_put_text(j, "args",
			      escape_terminal_into(line, sizeof line,
						   run_command_shown(p->command_line)));
	number_json(j, "pid", p->pid, 1);
	number_json(j, "start", p->start_s, 1e3);
	number_json(j, "end", p->end_s, 1e3);
	number_json(j, "cpu", p->cpu_s, 1e4);
	number_json(j, "memory", p->peak_rss_bytes, 1);
	number_json(j, "read", p->read_bytes, 1);
	number_json(j, "written", p->written_bytes, 1);
	json_object_end(j);
}

static uint32_t shown(const struct run *r)
{
	uint32_t each = LANE_PROCESSES_OF_ALL_NODES / r->nnodes;

	return each > LANE_PROCESSES_MAX   ? LANE_PROCESSES_MAX
	       : each < LANE_PROCESSES_MIN ? LANE_PROCESSES_MIN
					   : each;
}

/* Keys "processes_total" and "processes" of the object that is open. x: the run's instances. */
static void page_lanes_json(struct json *j, const struct run *r, const struct run_index *x,
			    const struct summary *s, uint32_t node)
{
	const struct summary_process **list =
		calloc(x->first[node + 1] - x->first[node] + 1u, sizeof(struct summary_process *));
	uint32_t n;

	if (!list) {
		j->out->failed = true;
		return;
	}
	n = list_processes(list, x, s, node);
	json_key(j, "processes_total");
	json_int(j, n);
	json_key(j, "processes");
	json_array(j);
	for (uint32_t i = 0; i < n && i < shown(r); i++)
		process_json(j, list[i]);
	json_array_end(j);
	free(list);
}

/* ---- data ---- */

enum value { VALUE_MEAN, VALUE_LEAST, VALUE_MOST };

static double value_of(enum value which, const struct trace *x, uint32_t n, uint32_t point)
{
	double v = NAN;

	for (uint32_t k = 0; k < n; k++) {
		const struct trace_point *p = &x[k].point[point];

		if (!(p->weight > 0))
			continue;
		if (which == VALUE_MEAN)
			v = trace_mean(p);
		else
			v = which == VALUE_MOST ? fmax(v, (double)p->max) : fmin(v, (double)p->min);
	}
	return v;
}

/* Of the n traces that a node has of a metric. */
static void values_json(struct json *j, enum value which, const struct trace *x, uint32_t n,
			uint32_t npoints)
{
	double *v = malloc((npoints + 1u) * sizeof *v);

	for (uint32_t i = 0; v && i < npoints; i++)
		v[i] = value_of(which, x, n, i);
	if (v)
		page_pack_numbers(j, v, npoints);
	else
		j->out->failed = true;
	free(v);
}

/* Maxima are only drawn for lines. */
static bool wants_max(const char *metric)
{
	for (size_t c = 0; c < npage_charts; c++)
		for (size_t l = 0; l < PAGE_LINES && page_charts[c].lines[l].metric; l++)
			if (strcmp(page_charts[c].lines[l].metric, metric) == 0)
				return page_charts[c].lines[l].role != PAGE_STACK;
	return true;
}

/* Several traces are of instances that nothing can add up, nor has a mean of them a meaning: from
 * the least to the most. */
static void lines_json(struct json *j, const struct trace *x, uint32_t n,
		       const struct trace_node *t, bool wants_most)
{
	json_object(j);
	if (n > 1) {
		json_key(j, "instances");
		json_int(j, n);
		json_key(j, "min");
		values_json(j, VALUE_LEAST, x, n, t->npoints);
	} else {
		json_key(j, "mean");
		values_json(j, VALUE_MEAN, x, n, t->npoints);
	}
	if (n > 1 || (t->thinned > 1 && wants_most)) {
		json_key(j, "max");
		values_json(j, VALUE_MOST, x, n, t->npoints);
	}
	json_object_end(j);
}

struct page_making {
	struct page_series series;
	struct page_index index;
	const struct run *run;
	const struct summary *summary;
	uint32_t map_columns;
	struct page_nodes nodes;
	struct own own;
	struct page_code code, waits;
	struct plots all; /* nodes together, of several */
	uint32_t *first;  /* run_hosts */
};

static void series_json(struct json *j, const struct page_making *p, uint32_t node)
{
	const struct page_series *d = &p->series;
	const struct trace_node *t = &d->traces->node[node];
	uint32_t n;

	json_key(j, "series");
	json_object(j);
	for (uint32_t i = 0; i < d->ndrawn; i++) {
		const struct trace *x = page_series_of(d, i, node, &n);

		if (!x)
			continue;
		json_key(j, d->drawn[i].key);
		lines_json(j, x, n, t, wants_max(d->drawn[i].key));
	}
	page_own_series_json(j, &p->own, node, t->at, t->npoints);
	page_kinds_series_json(j, &p->code.kinds, node, t->at, t->npoints);
	page_kinds_series_json(j, &p->waits.kinds, node, t->at, t->npoints);
	json_object_end(j);
}

static void missing_json(struct json *j, const struct page_series *d, const struct run *r,
			 const struct page_index *x, uint32_t node)
{
	char why[400], text[400];
	uint32_t n;

	json_key(j, "missing");
	json_object(j);
	for (uint32_t i = 0; i < d->ndrawn; i++) {
		const char *metric = d->drawn[i].metric;

		if (page_series_of(d, i, node, &n))
			continue;
		json_key(j, d->drawn[i].key);
		page_why_missing(r, x,
				 &(struct page_question){ node, metric, page_source_of(metric) },
				 why, sizeof why);
		json_text(j, escape_terminal_into(text, sizeof text, why));
	}
	json_object_end(j);
}

/* They are in order of node, from 1 on. */
static const struct summary_node *figures_of(const struct summary *s, uint32_t node)
{
	if (node <= s->nnodes && s->nodes[node - 1].node == node)
		return &s->nodes[node - 1];
	for (uint32_t i = 0; i < s->nnodes; i++)
		if (s->nodes[i].node == node)
			return &s->nodes[i];
	return NULL;
}

static void node_json(struct json *j, const struct page_making *p, uint32_t node)
{
	const struct traces *t = p->series.traces;
	const struct run *r = p->run;
	const struct trace_node *n = &t->node[node];
	const struct summary_node *f = figures_of(p->summary, node);
	const char *name = r->nodes[node].host ? r->nodes[node].host : "";
	char host[256];

	json_object(j);
	json_key(j, "id");
	json_int(j, (int64_t)node - 1);
	json_key(j, "host");
	json_text(j, escape_terminal_into(host, sizeof host, name));
	json_key(j, "cores");
	json_real(j, f ? f->cores : NAN);
	json_key(j, "memory");
	json_real(j, f ? f->memory_bytes : NAN);
	json_key(j, "end");
	json_real(j, n->npoints ? n->at[n->npoints - 1] : 0);
	json_key(j, "samples_in_a_point");
	json_int(j, n->thinned);
	json_key(j, "x");
	page_pack_bytes(j, n->at, n->npoints * sizeof *n->at);
	series_json(j, p, node);
	missing_json(j, &p->series, r, &p->index, node);
	page_maps_json(j, t, r, node, p->map_columns);
	page_lanes_json(j, r, &p->index.instances, p->summary, node);
	json_object_end(j);
}

/* What all hosts have; NAN when it is not known of one. */
static double on_all(const struct summary *s, bool cores)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->nnodes; i++)
		if (!s->nodes[i].again)
			sum += cores ? s->nodes[i].cores : s->nodes[i].memory_bytes;
	return sum;
}

static void total_series_json(struct json *j, const struct page_making *p, const double *at,
			      uint32_t n)
{
	struct plot_values v;

	json_key(j, "series");
	json_object(j);
	for (uint32_t i = 0; i < p->series.ndrawn; i++) {
		const struct page_drawn *d = &p->series.drawn[i];

		if (*d->instance)
			continue;
		if (!plot_values_of(&p->all, d->metric, &v))
			j->out->failed = true;
		if (v.n && !j->out->failed) {
			json_key(j, d->key);
			json_object(j);
			json_key(j, "mean");
			page_pack_numbers(j, v.mean, v.n);
			json_object_end(j);
		}
		free(v.at);
	}
	page_own_series_json(j, &p->own, 0, at, n);
	page_kinds_series_json(j, &p->code.kinds, 0, at, n);
	page_kinds_series_json(j, &p->waits.kinds, 0, at, n);
	json_object_end(j);
}

/* All nodes together, as on paper. */
static void total_json(struct json *j, const struct page_making *p)
{
	uint32_t n = plot_values_columns(&p->all);
	double *at = calloc(n, sizeof *at);

	json_key(j, "total");
	json_object(j);
	json_key(j, "hosts");
	json_int(j, p->summary->nhosts);
	json_key(j, "cores");
	json_real(j, on_all(p->summary, true));
	json_key(j, "memory");
	json_real(j, on_all(p->summary, false));
	json_key(j, "end");
	json_real(j, p->all.to_s);
	json_key(j, "x");
	for (uint32_t c = 0; at && c < n; c++)
		at[c] = (c + 0.5) * p->all.to_s / n;
	page_pack_bytes(j, at, at ? n * sizeof *at : 0);
	j->out->failed |= !at;
	if (at)
		total_series_json(j, p, at, n);
	missing_json(j, &p->series, p->run, &p->index, 1);
	json_object_end(j);
	free(at);
}

static double end_of(const struct page_making *p)
{
	return fmax(p->series.traces->to_s, p->summary->wall_s > 0 ? p->summary->wall_s : 0);
}

static void all_json(struct json *j, const struct page_making *p)
{
	double end_s = end_of(p);

	json_object(j);
	json_key(j, "schema");
	json_text(j, "sonde/report/2");
	json_key(j, "end");
	json_real(j, end_s);
	page_charts_json(j, &p->series, &p->own, &p->waits.kinds, &p->code.kinds, p->run);
	page_code_json(j, &p->code);
	page_code_json(j, &p->waits);
	page_events_json(j, p->run, end_s);
	if (p->run->nnodes > 2)
		total_json(j, p);
	json_key(j, "nodes_total");
	json_int(j, (int64_t)p->run->nnodes - 1);
	json_key(j, "nodes");
	json_array(j);
	for (uint32_t i = 0; i < p->nodes.n; i++)
		node_json(j, p, p->nodes.id[i]);
	json_array_end(j);
	json_object_end(j);
}

static int making_begin(struct page_making *p, const struct traces *t, struct err *e)
{
	const struct run *r = p->run;
	int rc = page_series_make(&p->series, r, t, p->summary);

	p->first = calloc(r->nnodes + 1u, sizeof *p->first);
	p->all = (struct plots){ .run = r, .traces = t, .first = p->first, .to_s = t->to_s };
	rc = rc ? rc : page_index_make(&p->index, r);
	rc = rc ? rc : page_nodes_make(&p->nodes, r, p->summary, PAGE_NODES_MAX);
	rc = rc ? rc : own_of_marks(&p->own, r);
	if (!rc)
		own_add_counters(&p->own, r, t);
	rc = rc ? rc : p->first ? run_hosts(r, p->first) : -ENOMEM;
	if (rc)
		return err_set(e, rc, "out of memory while writing the report");
	rc = page_code_make(&p->code, p->summary->code, end_of(p), e);
	return rc ? rc : page_code_make_waits(&p->waits, p->summary->waits, end_of(p), e);
}

int page_data_json(struct bytes *out, const struct run *r, const struct summary *s,
		   const struct traces *t, struct err *e)
{
	struct json j = { .out = out };
	struct page_making p = { .run = r, .summary = s, .map_columns = page_maps_columns(t) };
	int rc = making_begin(&p, t, e);

	if (!rc)
		all_json(&j, &p);
	page_code_free(&p.code);
	page_code_free(&p.waits);
	own_free(&p.own);
	page_nodes_free(&p.nodes);
	page_index_free(&p.index);
	page_series_free(&p.series);
	free(p.first);
	return rc;
}
