/* SPDX-License-Identifier: Apache-2.0 */
#include "import/place.h"

#include "recording/join.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The node of the instance that has this rank; 0: none has it. */
static uint32_t node_of_rank(const struct run *r, const char *rank)
{
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const char *label = run_label(r, i, "rank");

		if (label && !strcmp(label, rank))
			return r->instances[i].node;
	}
	return 0;
}

/* A recording that was imported has no clock of its own to compare with: the first one is meant. */
static uint32_t node_of_host(const struct run *r, const char *host)
{
	for (uint32_t i = 1; i < r->nnodes; i++)
		if (!strcmp(r->nodes[i].host, host))
			return i;
	return 0;
}

/* All nodes are of one host. */
static bool is_of_one_host(const struct run *r)
{
	for (uint32_t i = 2; i < r->nnodes; i++)
		if (strcmp(r->nodes[i].host, r->nodes[1].host) != 0)
			return false;
	return r->nnodes > 1;
}

static int choose_node(const struct place_options *x, const struct run *r, uint32_t *node,
		       struct err *e)
{
	if (x->node)
		*node = node_of_host(r, x->node);
	else
		*node = x->rank >= 0 ? node_of_rank(r, x->rank_text) : 0;
	if (!*node && !x->node && is_of_one_host(r))
		*node = 1;
	if (*node)
		return 0;
	if (x->node)
		return err_set(e, -ENOENT,
			       "%.200s has no node %.100s; `sonde show` lists its nodes", x->into,
			       x->node);
	return err_set(e, -EINVAL, "%.200s has several nodes; name the timeline's with --node",
		       x->into);
}

static bool align_on(const struct place_options *x, const struct run *r, uint32_t node,
		     int64_t *utc)
{
	bool found = false;
	int64_t at = 0;

	for (uint32_t i = 1; i < r->nmarks; i++)
		if (r->marks[i].node == node && !strcmp(r->marks[i].name, x->align) &&
		    (!found || r->marks[i].at_ns < at)) {
			found = true;
			at = r->marks[i].at_ns;
		}
	for (uint32_t i = 1; i < r->nspans && !found; i++)
		if (r->spans[i].node == node && !strcmp(r->spans[i].name, x->align)) {
			found = true;
			at = r->spans[i].begin_ns;
		}
	*utc = found ? run_utc_ns(r, node, at) : 0;
	return found;
}

static int take_node(struct place_options *x, const struct run *r, struct import_place *p,
		     struct err *e)
{
	const struct run_node *n;
	const char *slash;
	uint32_t node = 0;
	int rc = choose_node(x, r, &node, e);

	if (rc)
		return rc;
	n = &r->nodes[node];
	slash = strrchr(n->file, '/');
	snprintf(x->host, sizeof x->host, "%s", n->host);
	snprintf(x->of, sizeof x->of, "%s", slash ? slash + 1 : n->file);
	p->host = x->host;
	p->of = x->of;
	p->first_utc = run_utc_ns(r, node, n->first_ns);
	p->last_utc = run_utc_ns(r, node, n->last_ns);
	p->utc_of_mono = run_utc_ns(r, node, 0);
	if (x->align && !align_on(x, r, node, &p->align_utc))
		return err_set(e, -ENOENT,
			       "node %.100s of %.200s has no mark named %.100s; choose another one "
			       "for --align",
			       n->host, x->into, x->align);
	return 0;
}

int import_place_find(struct place_options *x, struct import_place *p, struct err *e)
{
	struct run *r = NULL;
	int rc;

	snprintf(x->rank_text, sizeof x->rank_text, "%" PRId64, x->rank);
	*p = (struct import_place){ .host = x->node,
				    .rank = x->rank >= 0 ? x->rank_text : NULL,
				    .into = x->into,
				    .align = x->align };
	if (!x->into)
		return 0;
	rc = run_open(&r, x->into, e);
	if (!rc)
		rc = take_node(x, r, p, e);
	run_close(r);
	return rc;
}
