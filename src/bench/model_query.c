/* SPDX-License-Identifier: Apache-2.0 */
/* model_query.c - named queries of a model's text: which columns, of which trials, in which order.
 */
#include "bench/campaign/campaign.h"
#include "bench/model_parse.h"

#include "base/array.h"
#include "base/text/number.h"

#include <errno.h>
#include <string.h>

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for models");
}

int model_query_begin(struct model_reading *r, struct err *e)
{
	struct model *m = r->model;
	void *grown;

	if (r->nwords != 2 || !contract_is_name(r->word[1]))
		return model_wrong(
			r, e, "a query has one name, of letters, digits, _ . and -: query NAME",
			NULL);
	if (model_find_query(m, r->word[1]))
		return model_wrong(r, e, "a query that exists already:", r->word[1]);
	grown = array_room(m->query, m->nqueries, &m->query_cap, sizeof *m->query);
	if (!grown)
		return no_memory(e);
	m->query = grown;
	m->query[m->nqueries] =
		(struct model_query){ .name = pool_text(&m->pool, r->word[1], strlen(r->word[1])) };
	if (!m->query[m->nqueries].name)
		return no_memory(e);
	m->nqueries++;
	r->in_query = true;
	return 0;
}

/* What every trial has beside its columns. Facts of environments have a . in their names. */
static bool is_of_trials(const char *name)
{
	static const char *const names[] = { "component", "version", "host", "batch" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(names[i], name))
			return true;
	return bench_is_figure(name) || strchr(name, '.');
}

/* May a query ask for that? at: where it stands in the line. */
static int check_name(const struct model_reading *r, const char *name, char *at, struct err *e)
{
	const struct model_column *c = model_find(r->model, name);

	if (strchr(name, '*'))
		return model_wrong(r, e, "a query names each column by itself, not", at);
	if (c && c->is_result && c->type == MODEL_JSON)
		return model_wrong(r, e, "of results a query takes no lists and objects:", at);
	if (c && (!strcmp(c->name, name) || strchr(c->name, '*')))
		return 0;
	if (is_of_trials(name))
		return 0;
	return model_wrong(r, e,
			   "this is not a declared parameter or result, a figure of trials or a "
			   "fact of their environment:",
			   at);
}

static int keep(struct model_reading *r, const char **out, const char *text, struct err *e)
{
	*out = pool_text(&r->model->pool, text, strlen(text));
	return *out ? 0 : no_memory(e);
}

static int show(struct model_reading *r, struct model_query *q, struct err *e)
{
	int rc = 0;

	if (r->nwords < 2)
		return model_wrong(r, e, "show takes names of columns: show NAME...", NULL);
	for (uint32_t i = 1; i < r->nwords && !rc; i++) {
		if (q->nshow == QUERY_SHOWN)
			return model_wrong(
				r, e, "a query shows 48 columns at most; too many:", r->word[i]);
		rc = check_name(r, r->word[i], r->word[i], e);
		if (!rc)
			rc = keep(r, &q->show[q->nshow], r->word[i], e);
		q->nshow += !rc;
	}
	return rc;
}

/* A condition may hold blanks, which are in the line what they were. */
static int where(struct model_reading *r, struct model_query *q, struct err *e)
{
	struct campaign_condition x;
	struct err why = { "" };
	int rc;

	if (r->nwords < 2)
		return model_wrong(r, e, "where takes a condition: where NAME>=VALUE", NULL);
	model_rest(r, 1);
	if (q->nconditions == QUERY_CONDITIONS)
		return model_wrong(r, e,
				   "a query has 16 conditions at most; too many:", r->word[1]);
	if (campaign_condition_parse(&x, r->word[1], &why))
		return model_wrong_at(r, e, r->word[1], why.text);
	rc = check_name(r, x.name, r->word[1], e);
	if (!rc)
		rc = keep(r, &q->condition[q->nconditions], r->word[1], e);
	q->nconditions += !rc;
	return rc;
}

static int order(struct model_reading *r, struct model_query *q, struct err *e)
{
	bool descending = r->nwords == 3 && !strcmp(r->word[2], "desc");
	int rc;

	if (r->nwords < 2 || r->nwords > 3)
		return model_wrong(r, e, "an order is one column: order NAME [asc|desc]", NULL);
	if (r->nwords == 3 && !descending && strcmp(r->word[2], "asc") != 0)
		return model_wrong(r, e, "behind the column stands asc or desc, not", r->word[2]);
	if (q->norders == QUERY_ORDERS)
		return model_wrong(r, e, "a query has 4 orders at most; too many:", r->word[1]);
	rc = check_name(r, r->word[1], r->word[1], e);
	if (!rc)
		rc = keep(r, &q->order[q->norders], r->word[1], e);
	q->descending[q->norders] = descending;
	q->norders += !rc;
	return rc;
}

static int limit(struct model_reading *r, struct model_query *q, struct err *e)
{
	const char *at = r->nwords == 2 ? r->word[1] : "";
	uint64_t n;

	if (!number_u64(&at, &n) || *at || !n || n > QUERY_LIMIT)
		return model_wrong(r, e, "a limit is a whole number from 1 to 1000000: limit N",
				   r->nwords > 1 ? r->word[1] : NULL);
	if (q->limit)
		return model_wrong(r, e, "a second limit:", r->word[1]);
	q->limit = (uint32_t)n;
	return 0;
}

int model_query_line(struct model_reading *r, struct err *e)
{
	static const struct {
		const char *word;
		int (*take)(struct model_reading *r, struct model_query *q, struct err *e);
	} lines[] = {
		{ "show", show }, { "where", where }, { "order", order }, { "limit", limit }
	};

	if (!r->in_query)
		return model_wrong(r, e, "a query begins with query NAME, not with", r->word[0]);
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		if (!strcmp(lines[i].word, r->word[0]))
			return lines[i].take(r, &r->model->query[r->model->nqueries - 1], e);
	return 0;
}
