/* SPDX-License-Identifier: Apache-2.0 */
/* model_parse.c - declared models: a line for each indicator, for each of its columns, checks and
 * what its queries ask. */
#include "base/array.h"
#include "base/text/decimal.h"
#include "base/text/escape.h"
#include "base/text/number.h"
#include "bench/campaign/campaign.h"
#include "bench/group.h"
#include "bench/model.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A text of models while it is read. */

enum { MODEL_WORDS = 64, MODEL_LINE = 512 };

struct model_reading {
	const char *name; /* of the text */
	unsigned line;
	char text[MODEL_LINE]; /* the line, with a NUL behind each word */
	char *word[MODEL_WORDS];
	uint32_t nwords;
	struct models *models;
	struct model *model; /* the one that is being declared; its last query is, too */
	bool in_query;
};

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for models");
}

/* -EINVAL with "name:line:column: what 'word'"; the column is that of word, which is in the line,
 * or that of its first word when word is NULL. */
static int model_wrong(const struct model_reading *r, struct err *e, const char *what,
		       const char *word)
{
	const char *at = word ? word : r->nwords ? r->word[0] : r->text;

	return err_set(e, -EINVAL, "%.200s:%u:%zu: %s%s%.80s%s", r->name, r->line,
		       (size_t)(at - r->text) + 1, what, word ? " '" : "", word ? word : "",
		       word ? "'" : "");
}

/* query NAME */
static int model_query_begin(struct model_reading *r, struct err *e)
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

/* The words from this one on are again the text that they were in the line. Returns it. */
static char *model_rest(struct model_reading *r, uint32_t word)
{
	for (char *c = r->word[word]; c < r->word[r->nwords - 1]; c++)
		if (!*c)
			*c = ' ';
	return r->word[word];
}

/* The same with why, of a place in its line. */
static int model_wrong_at(const struct model_reading *r, struct err *e, const char *at,
			  const char *why)
{
	return err_set(e, -EINVAL, "%.200s:%u:%zu: %s", r->name, r->line,
		       (size_t)(at - r->text) + 1, why);
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

/* show NAME..., where CONDITION, order NAME [asc|desc], limit N */
static int model_query_line(struct model_reading *r, struct err *e)
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

/* The words up to a #. */
static int split(struct model_reading *r, const char *line, size_t n, struct err *e)
{
	char *at = r->text;

	r->nwords = 0;
	if (n >= sizeof r->text)
		return model_wrong(r, e, "a line is too long", NULL);
	memcpy(r->text, line, n);
	r->text[n] = '\0';
	if (!escape_is_utf8(r->text) || strlen(r->text) != n)
		return model_wrong(r, e, "this is not text", NULL);
	while (*(at += strspn(at, " \t\r")) && *at != '#') {
		if (r->nwords == MODEL_WORDS)
			return model_wrong(r, e, "unexpected:", at);
		r->word[r->nwords++] = at;
		at += strcspn(at, " \t\r");
		if (*at)
			*at++ = '\0';
	}
	return 0;
}

static int begin(struct model_reading *r, struct err *e)
{
	struct models *m = r->models;
	struct model *slot = NULL;
	void *grown;

	if (r->nwords != 2 || !contract_is_name(r->word[1]))
		return model_wrong(r, e, "an indicator has one name, of letters, digits, _ . and -",
				   NULL);
	for (uint32_t i = 0; i < m->n; i++)
		if (!strcmp(m->model[i].name, r->word[1]))
			slot = &m->model[i];
	if (slot) {
		model_free(slot);
	} else {
		grown = array_room(m->model, m->n, &m->cap, sizeof *m->model);
		if (!grown)
			return err_set(e, -ENOMEM, "out of memory for models");
		m->model = grown;
		slot = &m->model[m->n++];
	}
	r->model = slot;
	r->in_query = false;
	if (model_init(slot, r->word[1]))
		return err_set(e, -ENOMEM, "out of memory for models");
	slot->declared = true;
	return 0;
}

static bool type_by_name(const char *name, enum model_type *type)
{
	for (enum model_type t = MODEL_INT; t < MODEL_TYPES; t++)
		if (!strcmp(model_type_name(t), name)) {
			*type = t;
			return true;
		}
	return false;
}

/* parameter NAME TYPE [index] [required] [unit=UNIT] [role=workload|choice] */
static int column(struct model_reading *r, bool is_result, struct err *e)
{
	struct model_column c = { .is_result = is_result, .since = 1 };

	if (r->nwords < 3)
		return model_wrong(r, e, "a column has a name and a type: parameter NAME TYPE",
				   NULL);
	c.name = r->word[1];
	if (strlen(c.name) > CONTRACT_KEY)
		return model_wrong(r, e, "too long a name:", c.name);
	if (model_find(r->model, c.name))
		return model_wrong(r, e, "a column that exists already:", c.name);
	if (!type_by_name(r->word[2], &c.type))
		return model_wrong(r, e, "a type is int, real, text, bool, any or json, and not",
				   r->word[2]);
	for (uint32_t i = 3; i < r->nwords; i++) {
		if (!strcmp(r->word[i], "index"))
			c.indexed = true;
		else if (!strcmp(r->word[i], "required"))
			c.required = true;
		else if (!strncmp(r->word[i], "unit=", 5) && r->word[i][5])
			c.unit = r->word[i] + 5;
		else if (!is_result && !strncmp(r->word[i], "role=", 5) &&
			 model_role_of(r->word[i] + 5))
			c.role = model_role_of(r->word[i] + 5);
		else
			return model_wrong(
				r, e,
				"behind the type stand index, required, unit=UNIT or, of a "
				"parameter, role=workload or role=choice, not",
				r->word[i]);
	}
	if (c.required && strchr(c.name, '*'))
		return model_wrong(r, e,
				   "a name with * matches several and cannot be required:", c.name);
	return model_add(r->model, &c) ? err_set(e, -ENOMEM, "out of memory for models") : 0;
}

/* table NAME: another than follows from the indicator's. */
static int table(struct model_reading *r, struct err *e)
{
	const char *name = r->nwords == 2 ? r->word[1] : "";

	for (const char *p = name; *p; p++)
		if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '_')
			name = "";
	if (!islower((unsigned char)*name) || strlen(name) > MODEL_TABLE)
		return model_wrong(r, e, "a table has one name, of small letters, digits and _",
				   NULL);
	r->model->table = pool_text(&r->model->pool, name, strlen(name));
	return r->model->table ? 0 : err_set(e, -ENOMEM, "out of memory for models");
}

/* score COLUMN WORST BEST */
static int score(struct model_reading *r, struct err *e)
{
	const struct model_column *c = r->nwords == 4 ? model_find(r->model, r->word[1]) : NULL;
	char *end[2];

	if (!c || (c->type != MODEL_INT && c->type != MODEL_REAL))
		return model_wrong(
			r, e,
			"a score is a column of numbers, declared above, with its worst and its "
			"best value: score COLUMN WORST BEST",
			NULL);
	r->model->worst = decimal_parse(r->word[2], &end[0]);
	r->model->best = decimal_parse(r->word[3], &end[1]);
	if (*end[0] || *end[1] || !isfinite(r->model->worst) || !isfinite(r->model->best) ||
	    r->model->worst == r->model->best)
		return model_wrong(r, e, "the worst and the best value are two numbers that differ",
				   NULL);
	r->model->score = c->name;
	return 0;
}

struct name_search {
	const struct model *m;
	char unknown[CONTRACT_KEY + 1];
};

static bool is_number_of(const struct model *m, const char *name)
{
	const struct model_column *c = model_find(m, name);

	return c ? c->type <= MODEL_REAL || c->type == MODEL_ANY : bench_is_figure(name);
}

static void search_name(void *ctx, const char *function, const char *name)
{
	struct name_search *x = ctx;

	if (!*x->unknown && (function || !is_number_of(x->m, name)))
		snprintf(x->unknown, sizeof x->unknown, "%s", function ? function : name);
}

/* check NAME ~ FORMULA [within SHARE] */
static int check(struct model_reading *r, struct err *e)
{
	struct name_search x = { .m = r->model };
	struct err why = { "" };
	const struct model_check *new;
	size_t at = 0;
	char *text;
	int rc;

	if (r->nwords < 2)
		return model_wrong(
			r, e, "a check is a column and its formula: check NAME ~ FORMULA", NULL);
	text = model_rest(r, 1);
	rc = modelcheck_add(r->model, text, &at, &why);
	if (rc == -EINVAL)
		return model_wrong_at(r, e, text + at, why.text);
	if (rc)
		return err_set(e, rc, "%s", why.text);
	new = &r->model->check[r->model->nchecks - 1];
	search_name(&x, NULL, new->name);
	expr_names(new->computed, search_name, &x);
	if (*x.unknown)
		err_set(&why, -EINVAL,
			"a check is of columns of numbers, declared above, and figures of trials, "
			"not of '%s'",
			x.unknown);
	return *x.unknown ? model_wrong_at(r, e, text, why.text) : 0;
}

static int statement(struct model_reading *r, struct err *e)
{
	const char *what = r->word[0];

	if (!strcmp(what, "indicator"))
		return begin(r, e);
	if (!r->model)
		return model_wrong(r, e, "a model begins with indicator NAME, not with", what);
	if (!strcmp(what, "query"))
		return model_query_begin(r, e);
	if (!strcmp(what, "show") || !strcmp(what, "where") || !strcmp(what, "order") ||
	    !strcmp(what, "limit"))
		return model_query_line(r, e);
	if (!strcmp(what, "parameter") || !strcmp(what, "result"))
		return column(r, what[0] == 'r', e);
	if (!strcmp(what, "score"))
		return score(r, e);
	if (!strcmp(what, "table"))
		return table(r, e);
	if (!strcmp(what, "check"))
		return check(r, e);
	return model_wrong(
		r, e,
		"a line begins with indicator, table, parameter, result, score, check or query (show, "
		"where, order, limit), not with",
		what);
}

int models_parse(struct models *m, const char *name, const char *text, size_t n, struct err *e)
{
	struct model_reading r = { .name = name, .models = m };
	int rc = 0;

	for (size_t at = 0; at < n && !rc;) {
		const char *end = memchr(text + at, '\n', n - at);
		size_t length = end ? (size_t)(end - text) - at : n - at;

		r.line++;
		rc = split(&r, text + at, length, e);
		if (!rc && r.nwords)
			rc = statement(&r, e);
		at += length + 1;
	}
	return rc;
}
