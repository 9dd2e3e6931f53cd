/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/tracking.h"

#include "base/clock.h"
#include "base/text/json.h"
#include "core/frame/derive.h"
#include "core/tracker.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which metric fills which field, and of which instances. What was imported knows no devices:
 * OF_NODE_ELSE fills the field of nodes where no other metric does. */
enum of { OF_NODE, OF_NODE_ELSE, OF_ROOT, OF_COUNTED, OF_LOOPBACK };
/* CPUs fill three fields: CPU_MEAN stands for them. What rates add up to is a counter again. */
static const struct wanted {
	const char *name; /* public */
	enum of of;
	enum tracker_field field;
} wanted[] = {
	{ "cpu.used_ratio", OF_COUNTED, TRACKER_CPU_MEAN },
	{ "node.cpu_used_ratio", OF_NODE_ELSE, TRACKER_CPU_MEAN },
	{ "lightgbm.cpu_least_used_ratio", OF_NODE_ELSE, TRACKER_CPU_MIN },
	{ "lightgbm.cpu_most_used_ratio", OF_NODE_ELSE, TRACKER_CPU_MAX },
	{ "node.memory_used_ratio", OF_NODE, TRACKER_MEMORY },
	{ "filesystem.used_ratio", OF_ROOT, TRACKER_DISK_USED },
	{ "lightgbm.disk_used_ratio", OF_NODE_ELSE, TRACKER_DISK_USED },
	{ "disk.read_bytes_per_second", OF_COUNTED, TRACKER_DISK_READ },
	{ "disk.written_bytes_per_second", OF_COUNTED, TRACKER_DISK_WRITTEN },
	{ "network.transmitted_bytes_per_second", OF_LOOPBACK, TRACKER_LOOPBACK_SENT },
	{ "network.transmitted_bytes_per_second", OF_COUNTED, TRACKER_NETWORK_SENT },
	{ "network.received_bytes_per_second", OF_LOOPBACK, TRACKER_LOOPBACK_RECEIVED },
	{ "network.received_bytes_per_second", OF_COUNTED, TRACKER_NETWORK_RECEIVED },
	{ "gpu.utilization_ratio", OF_COUNTED, TRACKER_GPU_USED },
	{ "gpu.memory_used_bytes", OF_COUNTED, TRACKER_GPU_MEMORY },
	{ "gpu.job_memory_bytes", OF_COUNTED, TRACKER_GPU_JOB_MEMORY },
	{ "gpu.energy_watts", OF_COUNTED, TRACKER_GPU_ENERGY },
};
enum { NWANTED = sizeof wanted / sizeof wanted[0], NAMES_SIZE = 1024 };

/* One recording of a host. */
struct part {
	struct tracking_host *host;
	struct tracker tracker;
	double total[TRACKER_FIELDS]; /* counters so far; NAN: there is no such device */
	double from_s;                /* what was before, another recording of the host has seen */
	double begin_s, window_s;
	struct tracker_sample open; /* of a window that is not over */
	int64_t window;
	uint32_t ncpus;
	bool filled[TRACKER_FIELDS];
	bool any;
};

struct pass {
	struct run *run;
	struct derive derive;
	uint8_t *field;    /* [ncells] 1 + the field it fills; 0: none */
	struct part *part; /* [nnodes] */
	uint32_t *first;   /* [nnodes] first recording of its host */
};

static bool suits(const struct run *r, uint32_t instance, enum of of)
{
	const struct run_instance *i = &r->instances[instance];
	const char *class;

	if (of <= OF_NODE_ELSE || !instance)
		return of <= OF_NODE_ELSE && !instance;
	if (of == OF_ROOT)
		return run_label(r, instance, "root");
	if (of == OF_COUNTED)
		return !(i->flags & INSTANCE_ASIDE);
	class = run_label(r, instance, "class");
	return class ? !strcmp(class, "loopback") : i->name && !strcmp(i->name, "lo");
}

static void find_field(struct pass *p, uint32_t cell, bool others)
{
	const struct cell *c = &p->derive.plan.cell[cell];
	const struct holder *h = &p->derive.plan.holder[c->holder];
	const char *name = p->derive.plan.quantity[c->quantity].name;
	struct part *part = &p->part[h->node];

	for (size_t i = 0; i < NWANTED && c->emitted; i++) {
		enum tracker_field field = wanted[i].field;

		if ((wanted[i].of == OF_NODE_ELSE) != others || strcmp(wanted[i].name, name) ||
		    !suits(p->run, h->instance, wanted[i].of))
			continue;
		if (others && part->filled[field])
			return;
		p->field[cell] = (uint8_t)(field + 1);
		if (tracker_fields[field].merge == TRACKER_MERGE_LAST)
			part->total[field] = part->tracker.before[field] = 0;
		part->filled[field] = true;
		part->ncpus += field == TRACKER_CPU_MEAN && !others;
		return;
	}
}

static bool is_sum(enum tracker_field field)
{
	return field == TRACKER_GPU_MEMORY || field == TRACKER_GPU_JOB_MEMORY;
}

/* Add to a field of this instant; counts[] are the instances that were in it. */
static void take(struct part *part, struct tracker_sample *s, enum tracker_field field,
		 const struct reading *v, uint32_t counts[TRACKER_FIELDS])
{
	double before = counts[field] ? s->value[field] : 0;

	counts[field]++;
	if (tracker_fields[field].merge == TRACKER_MERGE_LAST)
		part->total[field] += v->value * v->seconds;
	else
		s->value[field] = before + v->value;
	if (field != TRACKER_CPU_MEAN)
		return;
	s->stands_s = fmax(s->stands_s, v->seconds);
	if (!part->ncpus)
		return;
	s->value[TRACKER_CPU_MIN] = fmin(s->value[TRACKER_CPU_MIN], v->value);
	s->value[TRACKER_CPU_MAX] = fmax(s->value[TRACKER_CPU_MAX], v->value);
}

static struct tracker_sample gather(struct pass *p, const struct instant *in)
{
	struct tracker_sample s = tracker_sample_at((double)in->utc_ns / 1e9, in->seconds);
	struct part *part = &p->part[in->node];
	uint32_t counts[TRACKER_FIELDS] = { 0 };

	for (uint32_t i = 0; i < in->n; i++) {
		const struct reading v = instant_reading(in, i);

		if (p->field[v.cell])
			take(part, &s, (enum tracker_field)(p->field[v.cell] - 1), &v, counts);
	}
	for (unsigned f = 0; f < TRACKER_FIELDS; f++) {
		if (tracker_fields[f].merge == TRACKER_MERGE_LAST)
			s.value[f] = part->total[f];
		else if (counts[f] && !is_sum(f))
			s.value[f] /= counts[f];
	}
	return s;
}

static int keep(struct tracking_host *h, const struct tracker_sample *s)
{
	if (h->nsamples == h->cap) {
		uint32_t cap = h->cap ? 2 * h->cap : 64;
		struct tracker_sample *more = reallocarray(h->sample, cap, sizeof *more);

		if (!more)
			return -ENOMEM;
		h->sample = more;
		h->cap = cap;
	}
	h->sample[h->nsamples++] = *s;
	return 0;
}

/* Samples of a window become one. */
static int thin(struct part *part, const struct tracker_sample *s)
{
	int64_t window = part->window_s > 0
				 ? (int64_t)((s->seconds - part->begin_s) / part->window_s)
				 : part->window + 1;
	int rc = 0;

	if (part->any && window == part->window) {
		tracker_merge(&part->open, s);
		return 0;
	}
	if (part->any)
		rc = keep(part->host, &part->open);
	part->open = *s;
	part->window = window;
	part->any = true;
	return rc;
}

static int read_run(struct pass *p, bool samples, struct err *e)
{
	struct instant in;
	int rc;

	while ((rc = derive_next(&p->derive, &in, e)) > 0) {
		struct part *part = &p->part[in.node];
		struct tracker_sample s;

		if (!part->host || in.seconds <= part->from_s)
			continue;
		s = gather(p, &in);
		tracker_add(&part->tracker, &s);
		if (samples && thin(part, &s))
			return err_set(e, -ENOMEM, "out of memory for the samples of %.300s",
				       p->run->path);
	}
	return rc;
}

/* What an earlier recording of the host saw is not seen again. */
static double seen_until(const struct pass *p, uint32_t node)
{
	const struct run_node *n = p->run->nodes;
	double begin = run_seconds(p->run, node, n[node].first_ns), until = -INFINITY;

	for (uint32_t i = 1; i < p->run->nnodes; i++) {
		double other = run_seconds(p->run, i, n[i].first_ns);

		if (i != node && p->first[i] == p->first[node] && n[i].rows &&
		    (other < begin || (other == begin && i < node)))
			until = fmax(until, run_seconds(p->run, i, n[i].last_ns));
	}
	return until;
}

static void begin_parts(struct pass *p, struct tracking *t, uint32_t samples_max)
{
	for (uint32_t i = 1; i < p->run->nnodes; i++) {
		const struct run_node *n = &p->run->nodes[i];
		struct part *part = &p->part[i];
		double end_s = run_seconds(p->run, i, n->last_ns);

		tracker_init(&part->tracker);
		for (unsigned f = 0; f < TRACKER_FIELDS; f++)
			part->total[f] = NAN;
		for (uint32_t h = 0; h < t->n && !part->host; h++)
			part->host = t->host[h].node == p->first[i] ? &t->host[h] : NULL;
		if (!n->rows)
			continue;
		part->from_s = p->first[i] == i && t->n + 1 == p->run->nnodes ? -INFINITY
									      : seen_until(p, i);
		part->begin_s = run_seconds(p->run, i, n->first_ns);
		if (samples_max && n->rows > samples_max)
			part->window_s = (end_s - part->begin_s) / samples_max;
	}
}

static int by_step(const void *a, const void *b)
{
	const struct tracking_host *x = a, *y = b;

	return (x->step > y->step) - (x->step < y->step);
}

/* As the batch system numbers the nodes, when it told of each, and each has a number of its own. */
static void number_hosts(struct tracking *t, const struct run *r)
{
	bool told = true;

	for (uint32_t i = 0; i < t->n && told; i++) {
		const struct run_meta *m = run_find_meta(r, t->host[i].node, "job.node_index");

		told = m && m->type == META_INT && m->value >= 0 && m->value < UINT32_MAX;
		t->host[i].step = told ? (uint32_t)m->value : 0;
	}
	if (told)
		qsort(t->host, t->n, sizeof *t->host, by_step);
	for (uint32_t i = 1; i < t->n && told; i++)
		told = t->host[i].step != t->host[i - 1].step;
	for (uint32_t i = 0; i < t->n && !told; i++)
		t->host[i].step = i;
}

static int find_hosts(struct tracking *t, const struct pass *p)
{
	t->host = calloc(p->run->nnodes + 1u, sizeof *t->host);
	if (!t->host)
		return -ENOMEM;
	for (uint32_t i = 1; i < p->run->nnodes; i++) {
		if (p->first[i] != i)
			continue;
		tracker_init(&t->host[t->n].tracker);
		t->host[t->n].node = i;
		t->host[t->n++].name = p->run->nodes[i].host;
	}
	number_hosts(t, p->run);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	double x = ((const struct tracker_sample *)a)->seconds,
	       y = ((const struct tracker_sample *)b)->seconds;

	return (x > y) - (x < y);
}

/* What the summary says of a host. */
static void take_said(struct part *first, const struct summary_host *h, const struct summary *s)
{
	double *said = first->host ? first->host->tracker.said : NULL;
	double cores = s->nodes[h->node - 1].cores;

	if (!said)
		return;
	said[TRACKER_CPUS] = isnan(cores) && first->ncpus ? (double)first->ncpus : cores;
	said[TRACKER_JOB_CPU] = h->cpu_s;
	said[TRACKER_JOB_PEAK_MEMORY] = h->peak_memory_bytes;
	said[TRACKER_JOB_ENERGY] = h->energy_job_j;
	said[TRACKER_NODE_ENERGY] = h->energy_j;
}

/* That, and what its recordings add up to. */
static int finish(struct pass *p, struct tracking *t, const struct summary *s)
{
	int rc = 0;

	for (uint32_t i = 1; i < p->run->nnodes && !rc; i++) {
		struct part *part = &p->part[i];

		tracker_join(&part->host->tracker, &part->tracker);
		if (part->any)
			rc = keep(part->host, &part->open);
	}
	for (uint32_t h = 0; h < s->nhosts; h++)
		take_said(&p->part[s->hosts[h].node], &s->hosts[h], s);
	for (uint32_t h = 0; h < t->n; h++) {
		if (t->host[h].nsamples)
			qsort(t->host[h].sample, t->host[h].nsamples, sizeof *t->host[h].sample,
			      by_time);
	}
	return rc;
}

/* Those of the wanted metrics that the run has: a selection that matches nothing is an error. */
static void select_names(const struct run *r, char names[NAMES_SIZE])
{
	size_t n = 0;

	names[0] = '\0';
	for (size_t i = 0; i < NWANTED; i++) {
		bool has = false;

		for (uint32_t m = 1; m < r->nmetrics && !has; m++) {
			char name[256];

			metric_rate_name(&r->metrics[m].row, name, sizeof name);
			has = !strcmp(name, wanted[i].name);
		}
		if (has)
			n += (size_t)snprintf(names + n, NAMES_SIZE - n, "%s%s", n ? "," : "",
					      wanted[i].name);
	}
}

static int pass_through(struct pass *p, struct tracking *t, const struct summary *s,
			uint32_t samples_max, struct err *e)
{
	char names[NAMES_SIZE];
	const struct selection sel = { .metrics = names };
	int rc = find_hosts(t, p);

	if (rc)
		return err_set(e, rc, "out of memory for %u nodes", p->run->nnodes);
	begin_parts(p, t, samples_max);
	select_names(p->run, names);
	if (names[0]) {
		rc = derive_open(&p->derive, p->run, &sel, e);
		p->field = rc ? NULL : calloc(p->derive.plan.ncells + 1u, 1);
		if (!rc && !p->field)
			rc = err_set(e, -ENOMEM, "out of memory for %u series", p->run->nseries);
		for (uint32_t i = 1; p->field && i < p->derive.plan.ncells; i++)
			find_field(p, i, false);
		for (uint32_t i = 1; p->field && i < p->derive.plan.ncells; i++)
			find_field(p, i, true);
		rc = rc ? rc : read_run(p, samples_max, e);
	}
	if (!rc && finish(p, t, s))
		rc = err_set(e, -ENOMEM, "out of memory for the samples of %.300s", p->run->path);
	return rc;
}

int tracking_make(struct tracking *t, struct run *r, const struct summary *s, uint32_t samples_max,
		  struct err *e)
{
	struct pass p = { .run = r,
			  .part = calloc(r->nnodes + 1u, sizeof *p.part),
			  .first = calloc(r->nnodes + 1u, sizeof *p.first) };
	int rc;

	*t = (struct tracking){ 0 };
	if (!p.part || !p.first || run_hosts(r, p.first))
		rc = err_set(e, -ENOMEM, "out of memory for %u nodes", r->nnodes);
	else
		rc = pass_through(&p, t, s, samples_max, e);
	derive_close(&p.derive);
	free(p.field);
	free(p.part);
	free(p.first);
	return rc;
}

void tracking_free(struct tracking *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->host[i].sample);
	free(t->host);
	*t = (struct tracking){ 0 };
}

static void figures_json(const struct tracker *t, struct json *j)
{
	json_key(j, "metrics");
	json_object(j);
	for (size_t f = 0; f < TRACKER_FIGURES; f++) {
		double v = tracker_value(t, &tracker_figures[f]);

		if (!isfinite(v))
			continue;
		json_key(j, tracker_figures[f].name);
		json_real(j, v);
	}
	json_object_end(j);
	json_key(j, "unknown");
	json_object(j);
	for (size_t f = 0; f < TRACKER_PLAIN_FIGURES; f++) {
		if (isfinite(tracker_value(t, &tracker_figures[f])))
			continue;
		json_key(j, tracker_figures[f].name);
		json_text(j, tracker_unknown(t, &tracker_figures[f]));
	}
	json_object_end(j);
}

void tracking_json(const struct tracking *t, struct json *j)
{
	json_object(j);
	json_key(j, "schema");
	json_text(j, "sonde/tracker/1");
	json_key(j, "nodes");
	json_array(j);
	for (uint32_t i = 0; i < t->n; i++) {
		json_object(j);
		json_key(j, "step");
		json_int(j, t->host[i].step);
		json_key(j, "host");
		json_text(j, t->host[i].name);
		figures_json(&t->host[i].tracker, j);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

void tracking_samples_json(const struct tracking *t, struct json *j)
{
	json_object(j);
	for (uint32_t i = 0; i < t->n; i++) {
		char step[16];

		snprintf(step, sizeof step, "%u", t->host[i].step);
		json_key(j, step);
		json_array(j);
		for (uint32_t k = 0; k < t->host[i].nsamples; k++)
			tracker_sample_json(&t->host[i].sample[k], j);
		json_array_end(j);
	}
	json_object_end(j);
}
