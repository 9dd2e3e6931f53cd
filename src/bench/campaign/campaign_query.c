/* SPDX-License-Identifier: Apache-2.0 */
/* campaign_query.c - the trials that a named query asks for, in its order. */
#include "bench/campaign/campaign.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct key {
	const char *text;
	double number;
	bool known;
};

struct line {
	uint32_t trial;
	struct key key[QUERY_ORDERS];
	const struct model_query *query;
};

/* Numbers before texts; texts by the byte, whatever a database takes for the order of letters. */
static int compare_keys(const struct key *a, const struct key *b)
{
	bool number = !isnan(a->number);

	if (number != !isnan(b->number))
		return number ? -1 : 1;
	return number ? (a->number > b->number) - (a->number < b->number)
		      : strcmp(a->text, b->text);
}

static int compare(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	for (uint32_t i = 0; i < a->query->norders; i++) {
		const struct key *x = &a->key[i], *y = &b->key[i];
		int order = x->known && y->known ? compare_keys(x, y) : 0;

		if (x->known != y->known)
			return x->known ? -1 : 1;
		if (order)
			return a->query->descending[i] ? -order : order;
	}
	return (a->trial > b->trial) - (a->trial < b->trial);
}

static struct line line_of(const struct campaign *c, const struct model_query *q, uint32_t trial)
{
	struct line line = { .trial = trial, .query = q };

	for (uint32_t i = 0; i < q->norders; i++)
		line.key[i].known = campaign_value(c, q->order[i], trial, &line.key[i].text,
						   &line.key[i].number);
	return line;
}

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for the trials of an indicator");
}

int campaign_ask(struct campaign_answer *a, struct campaign *c, const struct model_query *q,
		 struct err *e)
{
	struct line *line = calloc(c->g.ntrials + 1u, sizeof *line);
	int rc = 0;

	*a = (struct campaign_answer){ 0 };
	if (!line)
		return no_memory(e);
	for (uint32_t i = 0; i < q->nconditions && !rc; i++)
		rc = campaign_where(c, q->condition[i], e);
	for (uint32_t i = 0; i < c->g.ntrials && !rc; i++) {
		if (c->left_out[i])
			continue;
		if (c->g.row[i].reason)
			a->nfailed++;
		else
			line[a->nfound++] = line_of(c, q, i);
	}
	a->trial = rc ? NULL : calloc(a->nfound + 1u, sizeof *a->trial);
	if (rc || !a->trial) {
		free(line);
		return rc ? rc : no_memory(e);
	}
	if (a->nfound)
		qsort(line, a->nfound, sizeof *line, compare);
	a->n = q->limit && q->limit < a->nfound ? q->limit : a->nfound;
	for (uint32_t i = 0; i < a->n; i++)
		a->trial[i] = line[i].trial;
	free(line);
	return 0;
}

void campaign_answer_free(struct campaign_answer *a)
{
	free(a->trial);
	*a = (struct campaign_answer){ 0 };
}
