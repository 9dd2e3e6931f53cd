/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t run_utc_ns(const struct run *r, uint32_t node, int64_t mono_ns)
{
	int64_t utc;

	if (node >= r->nnodes || __builtin_sub_overflow(mono_ns, r->nodes[node].mono0_ns, &utc) ||
	    __builtin_add_overflow(utc, r->nodes[node].utc0_ns, &utc))
		return mono_ns < 0 ? INT64_MIN : INT64_MAX;
	return utc;
}

static int by_host(const void *a, const void *b, void *nodes)
{
	const struct run_node *node = nodes;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(node[x].host ? node[x].host : "", node[y].host ? node[y].host : "");

	return order ? order : (x > y) - (x < y);
}

int run_hosts(const struct run *r, uint32_t *first)
{
	uint32_t *sorted = calloc(r->nnodes + 1u, sizeof *sorted);
	const char *host = NULL;
	uint32_t of_host = 0;

	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->nnodes; i++)
		first[i] = sorted[i] = i;
	if (r->nnodes > 1)
		qsort_r(sorted + 1, r->nnodes - 1, sizeof *sorted, by_host, r->nodes);
	for (uint32_t i = 1; i < r->nnodes; i++) {
		const char *now = r->nodes[sorted[i]].host;

		if (!now || !*now) /* nobody knows whether two of these are one */
			continue;
		if (!host || strcmp(host, now) != 0)
			of_host = sorted[i];
		host = now;
		first[sorted[i]] = of_host;
	}
	free(sorted);
	return 0;
}

double run_seconds(const struct run *r, uint32_t node, int64_t mono_ns)
{
	int64_t utc = run_utc_ns(r, node, mono_ns), ns;

	if (__builtin_sub_overflow(utc, r->t0_utc_ns, &ns))
		return ((double)utc - (double)r->t0_utc_ns) / 1e9;
	return (double)ns / 1e9;
}

int run_host_ranks(const struct run *r, uint32_t *rank)
{
	uint32_t *first = calloc(r->nnodes + 1u, 2 * sizeof *first), *seen;
	int rc = first ? run_hosts(r, first) : -ENOMEM;

	seen = first ? first + r->nnodes + 1u : NULL;
	for (uint32_t i = 1; i < r->nnodes && !rc; i++)
		rank[i] = seen[first[i]]++;
	free(first);
	return rc;
}

void run_host_name(const struct run *r, uint32_t node, uint32_t rank, char *out, size_t size)
{
	const char *host = r->nodes[node].host;

	if (rank)
		snprintf(out, size, "%s.%u", host ? host : "", rank + 1);
	else
		snprintf(out, size, "%s", host ? host : "");
}

static const struct run_meta *find_meta_of(const struct run *r, uint32_t node, const char *key)
{
	const struct run_index *x = r->metas_of;
	uint32_t low, high;

	if (node >= r->nnodes)
		return NULL;
	low = x->first[node];
	high = x->first[node + 1];
	while (low < high) { /* the first behind all of that key */
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(r->metas[x->id[middle]].key, key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == x->first[node] || strcmp(r->metas[x->id[low - 1]].key, key) != 0)
		return NULL;
	return &r->metas[x->id[low - 1]];
}

const struct run_meta *run_find_meta(const struct run *r, uint32_t node, const char *key)
{
	if (node && r->metas_of)
		return find_meta_of(r, node, key);
	for (uint32_t i = r->nmetas; i-- > 1;) {
		const struct run_meta *m = &r->metas[i];

		if ((!node || m->node == node) && !strcmp(m->key, key))
			return m;
	}
	return NULL;
}

double run_meta_number(const struct run_meta *m)
{
	switch (m->type) {
	case META_INT:
	case META_BOOL:
		return (double)m->value;
	case META_REAL:
		return m->real;
	default:
		return NAN;
	}
}

const char *run_find_text(const struct run *r, uint32_t node, const char *key)
{
	const struct run_meta *m = run_find_meta(r, node, key);

	return m && m->type == META_TEXT && m->text && *m->text ? m->text : NULL;
}

const char *run_find_user(const struct run *r)
{
	static const char *const keys[] = { "job.user", "job.environment.USER",
					    "job.environment.LOGNAME" };
	const char *user = NULL;

	for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !user; i++)
		user = run_find_text(r, 0, keys[i]);
	return user;
}

void run_series_of(const struct run *r, uint32_t from, uint32_t to, uint32_t *first,
		   uint32_t *behind)
{
	*first = r->nseries;
	*behind = 1;
	for (uint32_t i = from; i < to && i < r->nnodes; i++) {
		const struct run_node *n = &r->nodes[i];

		if (n->first_series < *first)
			*first = n->behind_series ? n->first_series : 1;
		if (n->behind_series > *behind || !n->behind_series)
			*behind = n->behind_series ? n->behind_series : r->nseries;
	}
	if (*behind < *first)
		*behind = *first;
}

struct run_refusal run_refusal_of(const struct run *r, const struct run_series *s)
{
	return s->refusal ? r->refusals[s->refusal] : (struct run_refusal){ 0 };
}

uint32_t run_find_metric(const struct run *r, const char *name)
{
	for (uint32_t i = 1; i < r->nmetrics; i++) {
		if (!strcmp(r->metrics[i].row.name, name))
			return i;
	}
	return 0;
}

const char *run_label(const struct run *r, uint32_t instance, const char *key)
{
	const struct run_instance *in;

	if (!instance || instance >= r->ninstances)
		return NULL;
	in = &r->instances[instance];
	for (uint32_t i = in->nlabels; i-- > 0;) {
		const struct run_label *label = &r->labels[in->first_label + i];

		if (!strcmp(label->key, key))
			return label->value;
	}
	return NULL;
}

const char *run_command_shown(const char *command_line)
{
	size_t n = strcspn(command_line, " '");

	while (n > 0 && command_line[n - 1] != '/')
		n--;
	return command_line + n;
}

bool run_final_value(const struct run *r, uint32_t instance, const char *metric, double *out)
{
	const struct run_instance *in;

	if (!instance || instance >= r->ninstances)
		return false;
	in = &r->instances[instance];
	for (uint32_t i = in->nfinals; i-- > 0;) {
		const struct run_final *final = &r->finals[in->first_final + i];
		const struct metric *row = &r->metrics[final->metric].row;

		if (!strcmp(row->name, metric)) {
			*out = metric_value(row, final->value);
			return true;
		}
	}
	return false;
}

/* ---- index ---- */

static uint32_t node_of_instance(const struct run *r, uint32_t i)
{
	return r->instances[i].node;
}

static uint32_t node_of_series(const struct run *r, uint32_t i)
{
	return r->series[i].node;
}

static uint32_t node_of_meta(const struct run *r, uint32_t i)
{
	return r->metas[i].node;
}

/* Counted, then placed. Ids run from 1 to n - 1; those of no node are left out. */
static int make(struct run_index *x, const struct run *r, uint32_t n,
		uint32_t (*node_of)(const struct run *r, uint32_t i))
{
	uint32_t sum = 0;

	*x = (struct run_index){ calloc(r->nnodes + 2u, sizeof *x->first),
				 calloc(n + 1u, sizeof *x->id) };
	if (!x->first || !x->id)
		return -ENOMEM;
	for (uint32_t i = 1; i < n; i++)
		if (node_of(r, i) < r->nnodes)
			x->first[node_of(r, i)]++;
	for (uint32_t node = 0; node <= r->nnodes; node++) {
		uint32_t of_node = x->first[node];

		x->first[node] = sum;
		sum += of_node;
	}
	for (uint32_t i = 1; i < n; i++)
		if (node_of(r, i) < r->nnodes)
			x->id[x->first[node_of(r, i)]++] = i;
	for (uint32_t node = r->nnodes; node; node--) /* each is now where the next begins */
		x->first[node] = x->first[node - 1];
	x->first[0] = 0;
	return 0;
}

int run_index_instances(struct run_index *x, const struct run *r)
{
	return make(x, r, r->ninstances, node_of_instance);
}

int run_index_series(struct run_index *x, const struct run *r)
{
	return make(x, r, r->nseries, node_of_series);
}

int run_index_metas(struct run_index *x, const struct run *r)
{
	return make(x, r, r->nmetas, node_of_meta);
}

/* In which order a node's metadata are by key. Nodes of a job mostly have the same keys: then that
 * is known from the node before, since equal texts of a run have one address. */
struct order {
	const struct run *run;
	const uint32_t *id; /* of the node, as they came */
	const char **key;   /* of the node before, as they came */
	uint32_t *place;    /* [n] of id, by key */
	uint32_t *room, n;
};

static int by_key(const void *a, const void *b, void *order)
{
	const struct order *o = order;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = strcmp(o->run->metas[o->id[x]].key, o->run->metas[o->id[y]].key);

	return c ? c : (x > y) - (x < y);
}

static void order_node(struct order *o, uint32_t *id, uint32_t n)
{
	bool same = n == o->n;

	for (uint32_t i = 0; i < n && same; i++)
		same = o->run->metas[id[i]].key == o->key[i];
	o->id = id;
	o->n = n;
	for (uint32_t i = 0; i < n && !same; i++) {
		o->key[i] = o->run->metas[id[i]].key;
		o->place[i] = i;
	}
	if (!same && n)
		qsort_r(o->place, n, sizeof *o->place, by_key, o);
	for (uint32_t i = 0; i < n; i++)
		o->room[i] = id[o->place[i]];
	if (n)
		memcpy(id, o->room, n * sizeof *id);
}

int run_index_keys(struct run_index *x, const struct run *r)
{
	struct order o = { .run = r,
			   .key = calloc(r->nmetas + 1u, sizeof *o.key),
			   .place = calloc(r->nmetas + 1u, 2 * sizeof *o.place) };
	int rc = o.key && o.place ? run_index_metas(x, r) : -ENOMEM;

	o.room = o.place ? o.place + r->nmetas + 1u : NULL;
	for (uint32_t i = 0; i < r->nnodes && !rc; i++)
		order_node(&o, x->id + x->first[i], x->first[i + 1] - x->first[i]);
	free(o.key);
	free(o.place);
	return rc;
}

void run_index_free(struct run_index *x)
{
	free(x->first);
	free(x->id);
	*x = (struct run_index){ 0 };
}
