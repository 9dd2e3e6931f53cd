/* SPDX-License-Identifier: Apache-2.0 */
/* energy.c - the energy of the run, as the hardware measured it, and the job's share.
 *
 * Zones that are aside lie inside others. Steps of one host saw the same counters: one that ran
 * while another did has no energy of its own. */
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PACKAGES = 1, MEMORY = 2, NODE = 4, OTHER = 8 };

/* What the energy is of, by what was added up: the first row that has all of it. */
static const struct {
	unsigned parts;
	const char *words;
} coverages[] = {
	{ NODE, "whole nodes" },
	{ PACKAGES, "processors" },
	{ PACKAGES | MEMORY, "processors and memory" },
	{ ~0U, "what the nodes have meters for" },
};

struct node_energy {
	double joules;         /* of its zones; NAN: not known */
	double power_j, job_j; /* watts times seconds; NAN: not known */
	unsigned parts;        /* 0: no zone has a counter */
	double from_s, to_s;   /* since the run began */
	uint32_t host, next;   /* the first node of this one's host; its next, 0: none */
};

static unsigned part_of(const struct run *r, uint32_t instance)
{
	static const struct {
		const char *kind;
		unsigned of;
	} kinds[] = { { "package", PACKAGES }, { "dram", MEMORY }, { "node", NODE } };
	const char *kind = run_label(r, instance, "kind");

	for (size_t i = 0; kind && i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kind, kinds[i].kind) == 0)
			return kinds[i].of;
	return OTHER;
}

void summary_energy_ask(struct series_index *x)
{
	series_index_ask(x, "energy.consumed_joules", SERIES_RISE);
}

/* What a zone's counter rose by. Where it began anew, or gave no value, nobody knows what was used.
 * False when it has none: a meter of power. */
static bool zone_joules(const struct series_index *x, const struct run *r, uint32_t instance,
			uint32_t counter, double *joules)
{
	uint32_t n = 0;

	for (uint32_t k = x->first[instance]; k; k = x->kept[k].next) {
		if (r->series[x->kept[k].series].metric != counter)
			continue;
		*joules = n++ ? NAN : series_index_rise(x, k);
	}
	return n > 0;
}

static void add_counters(struct node_energy *nodes, const struct run *r,
			 const struct series_index *x)
{
	uint32_t counter = run_find_metric(r, "energy.consumed_joules");
	double joules;

	for (uint32_t i = 1; counter && i < r->ninstances; i++) {
		const struct run_instance *zone = &r->instances[i];
		struct node_energy *n = zone->node < r->nnodes ? &nodes[zone->node] : NULL;

		if (!n || !zone->domain || strcmp(zone->domain, "energy") != 0 ||
		    zone->flags & INSTANCE_ASIDE || !zone_joules(x, r, i, counter, &joules))
			continue;
		n->joules = (n->parts ? n->joules : 0) + joules;
		n->parts |= part_of(r, i);
	}
}

static void add_power(struct node_energy *nodes, const struct summary *s)
{
	for (uint32_t i = 0; i < s->nmetrics; i++) {
		const struct summary_metric *m = &s->metrics[i];

		if (strcmp(m->name, summary_power_metric) == 0)
			nodes[m->node].power_j = m->stats.weighted_sum;
		else if (strcmp(m->name, summary_job_power_metric) == 0)
			nodes[m->node].job_j = m->stats.weighted_sum;
	}
}

static int place(struct node_energy *nodes, const struct run *r)
{
	uint32_t *first = calloc(r->nnodes + 1, sizeof *first);

	if (!first || run_hosts(r, first)) {
		free(first);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i < r->nnodes; i++) {
		struct node_energy *n = &nodes[i], *host = &nodes[first[i]];

		n->from_s = run_seconds(r, i, r->nodes[i].first_ns);
		n->to_s = run_seconds(r, i, r->nodes[i].last_ns);
		n->host = first[i];
		if (host == n)
			continue;
		n->next = host->next;
		host->next = i;
	}
	free(first);
	return 0;
}

static bool lies_within(const struct node_energy *a, const struct node_energy *b)
{
	return b->from_s <= a->from_s && a->to_s <= b->to_s;
}

/* What node i adds to its host: nothing when another step saw it all; NAN when one saw a part. */
static double own_joules(const struct node_energy *nodes, uint32_t i)
{
	const struct node_energy *n = &nodes[i];

	for (uint32_t k = n->host; k; k = nodes[k].next) {
		const struct node_energy *other = &nodes[k];

		if (k == i || other->to_s <= n->from_s || n->to_s <= other->from_s)
			continue;
		if (lies_within(n, other) && (k < i || !lies_within(other, n)))
			return 0;
		if (!lies_within(other, n))
			return NAN;
	}
	return n->parts ? n->joules : n->power_j;
}

static const char *words_of(unsigned parts)
{
	size_t i = 0;

	while (parts & ~coverages[i].parts)
		i++;
	return coverages[i].words;
}

/* What a host used: what its recordings add up to. */
static void add_up_host(struct summary_host *h, const struct node_energy *nodes)
{
	double all = 0, job = 0;

	for (uint32_t i = h->node; i; i = nodes[i].next) {
		all += own_joules(nodes, i);
		job += nodes[i].job_j;
	}
	h->energy_j = all > 0 ? all : NAN;
	h->energy_job_j = all > 0 ? job : NAN;
}

static void add_up(struct summary *s, const struct node_energy *nodes, const struct run *r)
{
	unsigned parts = 0;

	s->energy_j = s->energy_job_j = r->nnodes > 1 ? 0 : NAN;
	for (uint32_t i = 1; i < r->nnodes; i++) {
		s->energy_j += own_joules(nodes, i);
		s->energy_job_j += nodes[i].job_j;
		parts |= nodes[i].parts ? nodes[i].parts : OTHER;
	}
	for (uint32_t h = 0; h < s->nhosts; h++)
		add_up_host(&s->hosts[h], nodes);
	if (!(s->energy_j > 0)) /* two samples are needed */
		s->energy_j = NAN;
	s->energy_job_j = isnan(s->energy_j) ? NAN : s->energy_job_j;
	s->energy_of = isnan(s->energy_j) ? NULL : words_of(parts);
}

int summary_energy_make(struct summary *s, const struct run *r, const struct series_index *x,
			struct err *e)
{
	struct node_energy *nodes = calloc(r->nnodes + 1, sizeof *nodes);
	int rc = nodes ? place(nodes, r) : -ENOMEM;

	for (uint32_t i = 0; !rc && i < r->nnodes; i++)
		nodes[i].power_j = nodes[i].job_j = NAN;
	if (!rc) {
		add_counters(nodes, r, x);
		add_power(nodes, s);
		add_up(s, nodes, r);
	}
	free(nodes);
	return rc ? err_set(e, rc, "out of memory for the summary of %.300s", r->path) : 0;
}
