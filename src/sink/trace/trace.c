/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - the clock and the groups of a trace, and its counters. */
#include "sink/trace/trace.h"

#include "base/clock.h"
#include "core/glob.h"
#include "sink/text.h"
#include "sink/trace/trace_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PHASES = 1, PYTHON = GROUPS_OF_NODE - 1 }; /* domains: of phases, of samples of Python */
enum { LOSSES = 1 };                              /* the group of losses: node 0 has no other */

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a trace");
}

/* Never before the begin, nor beyond what there is. */
static int64_t since_begin(const struct trace *t, int64_t utc_ns)
{
	int64_t ns;

	if (utc_ns <= t->utc0_ns)
		return 0;
	return __builtin_sub_overflow(utc_ns, t->utc0_ns, &ns) ? INT64_MAX : ns;
}

int64_t trace_time(const struct trace *t, uint32_t node, int64_t mono_ns)
{
	return since_begin(t, run_utc_ns(t->run, node, mono_ns));
}

/* The same of seconds since the run began. */
static int64_t at_second(const struct trace *t, double seconds)
{
	double ns = seconds * NS_PER_S + (double)since_begin(t, t->run->t0_utc_ns);

	return ns < (double)INT64_MAX ? llround(ns) : INT64_MAX;
}

static void find_domains(struct trace *t)
{
	const struct run *r = t->run;

	t->domain[PHASES] = "phase";
	t->domain[PYTHON] = "Python";
	t->ndomains = PHASES + 1;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const char *domain = r->instances[i].domain;
		uint32_t d = 1;

		if (!domain || !*domain)
			continue;
		while (d < t->ndomains && strcmp(t->domain[d], domain) != 0)
			d++;
		if (d == PYTHON)
			d--;
		else if (d == t->ndomains)
			t->domain[t->ndomains++] = domain;
		t->domain_of[i] = (uint8_t)d;
	}
}

/* The trace begins with the run, or with the first mark or span, when that was before. Times before
 * 1970 are nobody's. */
static void find_begin(struct trace *t)
{
	const struct run *r = t->run;

	t->utc0_ns = r->t0_utc_ns;
	for (uint32_t i = 1; i < r->nmarks; i++) {
		int64_t utc = run_utc_ns(r, r->marks[i].node, r->marks[i].at_ns);

		if (utc < t->utc0_ns && utc >= 0)
			t->utc0_ns = utc;
	}
	for (uint32_t i = 1; i < r->nspans; i++) {
		int64_t utc = run_utc_ns(r, r->spans[i].node, r->spans[i].begin_ns);

		if (utc < t->utc0_ns && utc >= 0)
			t->utc0_ns = utc;
	}
	for (uint32_t i = 0; i < r->npacks; i++) {
		int64_t utc = run_utc_ns(r, r->packs[i].node, r->packs[i].first_ns);

		if (utc < t->utc0_ns && utc >= 0)
			t->utc0_ns = utc;
	}
}

/* Whether the run has any of these, by their public names. */
static bool has_metrics(const struct run *r, const char *globs)
{
	char name[256];

	for (uint32_t i = 1; i < r->nmetrics; i++) {
		const struct metric *m = &r->metrics[i].row;

		if (m->kind == KIND_COUNTER)
			metric_rate_name(m, name, sizeof name);
		if (glob_match(globs, m->kind == KIND_COUNTER ? name : m->name))
			return true;
	}
	return false;
}

static int open_counters(struct trace *t, const struct trace_wish *w, struct err *e)
{
	const struct selection sel = {
		.table = FRAME_SERIES,
		.lasting = !w->metrics,
		.metrics = w->metrics ? w->metrics : TRACE_METRICS,
		.from_s = w->from_s,
		.to_s = w->to_s,
	};
	int rc;

	if (!w->metrics && !has_metrics(t->run, TRACE_METRICS))
		return 0;
	t->has_counters = true;
	rc = derive_open(&t->derive, t->run, &sel, e);
	if (rc)
		return rc;
	t->named = calloc(t->derive.plan.ncells + 1u, 1);
	return t->named ? 0 : no_memory(e);
}

static int open_groups(struct trace *t, struct err *e)
{
	const struct run *r = t->run;

	t->rank = calloc(r->nnodes + 1u, sizeof *t->rank);
	t->domain_of = calloc(r->ninstances + 1u, 1);
	t->next_row = calloc((size_t)(r->nnodes + 1u) * GROUPS_OF_NODE, sizeof *t->next_row);
	if (!t->rank || !t->domain_of || !t->next_row || run_host_ranks(r, t->rank))
		return no_memory(e);
	find_domains(t);
	return 0;
}

int trace_open(struct trace **out, struct run *r, const struct trace_wish *w, struct err *e)
{
	struct trace *t = calloc(1, sizeof *t);
	int rc;

	*out = t;
	if (!t)
		return no_memory(e);
	if (w->to_s > 0 && w->to_s <= w->from_s)
		return err_set(e, -EINVAL, "the time range is empty: %g s is not before %g s",
			       w->from_s, w->to_s);
	t->run = r;
	t->min_ns = w->min_ns;
	t->phases = w->phases;
	find_begin(t);
	t->from_ns = w->from_s > 0 ? at_second(t, w->from_s) : 0;
	t->until_ns = w->to_s > 0 ? at_second(t, w->to_s) : INT64_MAX;
	rc = open_groups(t, e);
	return rc ? rc : open_counters(t, w, e);
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	if (t->has_counters)
		derive_close(&t->derive);
	if (t->state && t->format->free)
		t->format->free(t->state);
	free(t->state);
	bytes_free(&t->out);
	free(t->rank);
	free(t->domain_of);
	free(t->next_row);
	free(t->named);
	free(t);
}

/* A value of a wanted series is one of a counter, or of what one is made from. */
int trace_estimate(struct trace *t, uint64_t *events, struct err *e)
{
	struct run *r = t->run;
	const struct range *range;
	uint32_t n;
	int rc = 1;

	*events = r->npacked + r->nspans + r->nmarks + r->ninstances + r->npoints +
		  (t->phases ? t->phases->n : 0);
	while (t->has_counters && (rc = r->next_ranges(r, &range, &n, e)) > 0)
		for (uint32_t i = 0; i < n; i++)
			if (range[i].series < r->nseries && t->derive.plan.wanted[range[i].series])
				*events += range[i].count;
	if (rc < 0 || !t->has_counters)
		return rc < 0 ? rc : 0;
	rc = derive_rewind(&t->derive);
	return rc ? err_set(e, rc, "cannot read the recording again: %s", strerror(-rc)) : 0;
}

static void name_group(struct trace *t, uint32_t node, uint32_t domain, uint32_t group)
{
	char name[256];
	size_t n;

	run_host_name(t->run, node, t->rank[node], name, sizeof name);
	n = strlen(name);
	if (domain)
		snprintf(name + n, sizeof name - n, " %s", t->domain[domain]);
	t->format->group(t->state, &t->out, group, name);
	t->next_row[group] = 1;
}

static uint32_t group_of(struct trace *t, uint32_t node, uint32_t domain)
{
	uint32_t group;

	node = node < t->run->nnodes ? node : 0;
	group = node * GROUPS_OF_NODE + domain;
	if (!t->next_row[group])
		name_group(t, node, domain, group);
	return group;
}

uint32_t trace_group(struct trace *t, uint32_t node, uint32_t instance)
{
	return group_of(t, node, instance < t->run->ninstances ? t->domain_of[instance] : 0);
}

uint32_t trace_phase_group(struct trace *t, uint32_t node)
{
	return group_of(t, node, PHASES);
}

uint32_t trace_python_group(struct trace *t, uint32_t node)
{
	return group_of(t, node, PYTHON);
}

uint32_t trace_loss_group(struct trace *t)
{
	if (!t->next_row[LOSSES]) {
		t->format->group(t->state, &t->out, LOSSES, "losses");
		t->next_row[LOSSES] = 1;
	}
	return LOSSES;
}

uint32_t trace_add_row(struct trace *t, uint32_t group, const char *name)
{
	uint32_t row = t->next_row[group]++;

	t->format->row(t->state, &t->out, group, row, name);
	return row;
}

const char *trace_title(const struct trace *t, uint32_t instance, char *out, size_t size)
{
	const struct run_instance *i = &t->run->instances[instance];
	bool track = i->domain && !strcmp(i->domain, "track"); /* its name says which it is */
	const char *pid = track ? NULL : run_label(t->run, instance, "pid");

	snprintf(out, size, "%s%s%s", i->name ? i->name : "", pid ? " " : "", pid ? pid : "");
	return out;
}

int trace_flush(struct trace *t, struct err *e)
{
	return text_flush(&t->out, t->file, TEXT_BLOCK, e);
}

static struct trace_counter counter_of(struct trace *t, uint32_t cell, const char *name)
{
	const struct holder *h = &t->derive.plan.holder[t->derive.plan.cell[cell].holder];

	return (struct trace_counter){ trace_group(t, h->node, h->instance), cell, name,
				       derive_quantity(&t->derive, cell)->unit };
}

/* Viewers hold a value until the next one comes: a rate is put where its time begins. */
static void put_value(struct trace *t, const struct instant *at, const struct reading *r)
{
	const struct holder *h = &t->derive.plan.holder[t->derive.plan.cell[r->cell].holder];
	const struct quantity *q = derive_quantity(&t->derive, r->cell);
	double seconds = q->interval ? at->seconds - r->seconds : at->seconds;
	int64_t ns = at_second(t, seconds);
	char title[128], name[256];
	struct trace_counter c;

	snprintf(name, sizeof name, "%s%s%s",
		 h->instance ? trace_title(t, h->instance, title, sizeof title) : "",
		 h->instance ? " " : "", q->name);
	c = counter_of(t, r->cell, name);
	if (!t->named[r->cell])
		t->format->counter(t->state, &t->out, &c);
	t->named[r->cell] = 1;
	if (ns < t->from_ns)
		ns = t->from_ns;
	t->format->value(t->state, &t->out, &c, ns, r->value);
	t->count->values++;
}

static int put_counters(struct trace *t, struct err *e)
{
	struct instant at;
	int rc = 0;

	while (t->has_counters && (rc = derive_next(&t->derive, &at, e)) > 0) {
		for (uint32_t i = 0; i < at.n; i++) {
			const struct reading r = instant_reading(&at, i);

			put_value(t, &at, &r);
		}
		rc = trace_flush(t, e);
		if (rc)
			break;
	}
	return rc;
}

/* ---- counters of programs ---- */

static bool is_of_name(const struct run *r, uint32_t a, uint32_t b)
{
	const struct run_instance *x = &r->instances[a], *y = &r->instances[b];

	return x->node == y->node && x->domain && y->domain && !strcmp(x->domain, y->domain) &&
	       !strcmp(x->name, y->name);
}

/* With its process, if another one of the node has the same name. */
static void own_title(const struct trace *t, uint32_t instance, char *out, size_t size)
{
	const struct run *r = t->run;
	const char *name = r->instances[instance].name;
	uint32_t of = r->instances[instance].parent, i = 1;
	const char *pid = run_label(r, instance, "pid");
	char title[128] = "";

	while (i < r->ninstances && (i == instance || !is_of_name(r, i, instance)))
		i++;
	if (of)
		trace_title(t, of, title, sizeof title);
	if (i == r->ninstances)
		snprintf(out, size, "%s", name);
	else
		snprintf(out, size, "%s (%s)", name, of ? title : pid ? pid : "?");
}

/* Each value where it was set. Their ids are behind those of the cells. */
static int put_own(struct trace *t, struct err *e)
{
	const struct run *r = t->run;
	uint32_t ncells = t->has_counters ? t->derive.plan.ncells : 0;
	char **named = calloc(r->ninstances + 1u, sizeof *named);
	int rc = named ? 0 : no_memory(e);

	for (uint32_t i = 0; i < r->npoints && named && !rc; i++) {
		const struct run_point *p = &r->points[i];
		uint32_t node = r->instances[p->instance].node;
		int64_t ns = trace_time(t, node, p->at_ns);
		struct trace_counter c;
		char name[512];

		if (ns < t->from_ns || ns > t->until_ns)
			continue;
		c = (struct trace_counter){ trace_group(t, node, p->instance), ncells + p->instance,
					    named[p->instance], UNIT_ONE };
		if (!c.name) {
			own_title(t, p->instance, name, sizeof name);
			c.name = named[p->instance] = strdup(name);
			if (!c.name)
				rc = no_memory(e);
			else
				t->format->counter(t->state, &t->out, &c);
		}
		if (rc)
			break;
		t->format->value(t->state, &t->out, &c, ns, p->value);
		t->count->values++;
		rc = trace_flush(t, e);
	}
	for (uint32_t i = 0; named && i < r->ninstances; i++)
		free(named[i]);
	free(named);
	return rc;
}

int trace_write(struct trace *t, const struct trace_format *k, FILE *out, struct trace_count *n,
		struct err *e)
{
	int rc;

	*n = (struct trace_count){ 0 };
	t->format = k;
	t->file = out;
	t->count = n;
	t->state = calloc(1, k->size + 1);
	if (!t->state)
		return no_memory(e);
	k->begin(t->state, &t->out, t->utc0_ns);
	rc = trace_losses(t, e);
	if (!rc)
		rc = trace_marks(t, e);
	if (!rc)
		rc = trace_phases(t, e);
	if (!rc)
		rc = trace_spans(t, e);
	if (!rc)
		rc = trace_processes(t, e);
	if (!rc)
		rc = trace_samples(t, e);
	if (!rc)
		rc = put_counters(t, e);
	if (!rc)
		rc = put_own(t, e);
	if (rc)
		return rc;
	k->end(t->state, &t->out);
	return text_flush(&t->out, out, 0, e);
}
