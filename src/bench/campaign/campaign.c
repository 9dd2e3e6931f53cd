/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/campaign/campaign.h"

#include "base/array.h"
#include "core/expr/expr.h"
#include "core/glob.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for the trials of an indicator");
}

/* ---- environments ---- */

static struct bench_environment *newest(struct campaign *c, int64_t id)
{
	struct bench_environment *last =
		c->nenvironments ? &c->environment[c->nenvironments - 1] : NULL;
	void *grown;

	if (last && last->id == id)
		return last;
	grown = array_room(c->environment, c->nenvironments, &c->environment_cap,
			   sizeof *c->environment);
	if (!grown)
		return NULL;
	c->environment = grown;
	c->environment[c->nenvironments] = (struct bench_environment){ .id = id };
	return &c->environment[c->nenvironments++];
}

static int add_fact(struct campaign *c, int64_t id, const char *name, const char *text)
{
	struct bench_environment *x = newest(c, id);
	void *grown = x ? array_room(x->fact, x->n, &x->cap, sizeof *x->fact) : NULL;
	struct bench_fact new = { pool_text(&c->pool, name, strlen(name)),
				  pool_text(&c->pool, text, strlen(text)) };

	if (!grown || !new.name || !new.text)
		return -ENOMEM;
	x->fact = grown;
	x->fact[x->n++] = new;
	return 0;
}

/* By the byte, whatever a database takes for the order of letters. */
static int by_name(const void *a, const void *b)
{
	const struct bench_fact *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int read_environments(struct campaign *c, struct database *s, struct err *e)
{
	const struct field v = field_int(c->g.model.id), *row;
	int rc = database_query(s,
				"SELECT environment_id, name, text FROM environment_facts WHERE "
				"environment_id IN (SELECT environment_id FROM trials WHERE "
				"indicator_id = $1) ORDER BY environment_id, name",
				&v, 1, e);

	while (!rc && (rc = database_next(s, &row, e)) > 0) {
		rc = 0;
		if (row[1].s && row[2].s && add_fact(c, row[0].i, row[1].s, row[2].s))
			rc = no_memory(e);
	}
	for (uint32_t i = 0; i < c->nenvironments; i++)
		qsort(c->environment[i].fact, c->environment[i].n, sizeof *c->environment[i].fact,
		      by_name);
	return rc;
}

int campaign_read(struct campaign *c, struct database *s, const char *indicator, struct err *e)
{
	int rc = bench_group_read_indicator(&c->g, s, indicator, e);

	if (!rc)
		rc = read_environments(c, s, e);
	c->left_out = calloc(c->g.ntrials + 1u, sizeof *c->left_out);
	return rc ? rc : c->left_out ? 0 : no_memory(e);
}

void campaign_free(struct campaign *c)
{
	for (uint32_t i = 0; i < c->nenvironments; i++)
		free(c->environment[i].fact);
	free(c->environment);
	free(c->left_out);
	free(c->gap);
	bench_group_free(&c->g);
	pool_free(&c->pool);
	*c = (struct campaign){ 0 };
}

static int by_id(const void *a, const void *b)
{
	const int64_t *id = a;
	const struct bench_environment *x = b;

	return (*id > x->id) - (*id < x->id);
}

const struct bench_environment *campaign_environment(const struct campaign *c, uint32_t trial)
{
	return c->nenvironments ? bsearch(&c->g.row[trial].environment_id, c->environment,
					  c->nenvironments, sizeof *c->environment, by_id)
				: NULL;
}

/* ---- what a trial says ---- */

const char *bench_environment_text(const struct bench_environment *x, const char *name)
{
	const struct bench_fact wanted = { .name = name }, *fact;

	fact = x && x->n ? bsearch(&wanted, x->fact, x->n, sizeof *x->fact, by_name) : NULL;
	return fact ? fact->text : NULL;
}

const char *campaign_text(const struct campaign *c, uint32_t trial, const char *name)
{
	const struct bench_row *r = &c->g.row[trial];

	for (uint32_t i = 0; i < c->g.nparameters; i++)
		if (!strcmp(c->g.parameter[i].name, name))
			return c->g.parameter[i].text[trial];
	if (!strcmp(name, "component"))
		return r->component;
	if (!strcmp(name, "version"))
		return r->version;
	if (!strcmp(name, "host"))
		return r->host;
	for (uint32_t i = c->g.nparameters; i < c->g.ntexts; i++)
		if (!strcmp(c->g.parameter[i].name, name))
			return c->g.parameter[i].text[trial];
	return bench_environment_text(campaign_environment(c, trial), name);
}

bool campaign_said(const struct campaign *c, uint32_t trial)
{
	for (uint32_t i = 0; i < c->g.nparameters; i++)
		if (c->g.parameter[i].text[trial])
			return true;
	return !c->g.row[trial].reason;
}

const struct bench_figure *campaign_figure(const struct campaign *c, const char *name)
{
	for (uint32_t i = 0; i < c->g.nfigures; i++)
		if (!strcmp(c->g.figure[i].name, name))
			return &c->g.figure[i];
	return NULL;
}

/* What the model's score is of, else what the scripts score, else a result of which is known what
 * is better, else how long it took. */
static const struct bench_figure *main_figure(const struct campaign *c)
{
	const char *const names[] = { c->g.model.score ? c->g.model.score : "score", "score" };
	const struct bench_figure *f = NULL;

	for (size_t i = 0; i < 2 && !f; i++)
		f = campaign_figure(c, names[i]);
	for (uint32_t i = 0; i < c->g.nfigures && !f; i++)
		if (c->g.figure[i].is_own && c->g.figure[i].sense != BENCH_NEITHER)
			f = &c->g.figure[i];
	return f ? f : campaign_figure(c, "duration_seconds");
}

int campaign_choose(const struct campaign *c, const char *name, const struct bench_figure **f,
		    struct err *e)
{
	char known[200] = "";
	size_t n = 0;

	*f = name ? campaign_figure(c, name) : main_figure(c);
	if (*f)
		return 0;
	if (!c->g.nfigures)
		return err_set(e, -ENOENT, "no trial of %.100s ended well: there is no figure yet",
			       c->g.indicator);
	for (uint32_t i = 0; i < c->g.nfigures && n < sizeof known; i++)
		n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "",
				      c->g.figure[i].name);
	return err_set(e, -ENOENT, "%.60s has no figure '%.80s'; it has %.250s", c->g.indicator,
		       name ? name : "duration_seconds", known);
}

/* Conditions on trials: a name, a relation, a value. */

static const struct {
	const char *sign;
	enum campaign_relation relation;
} relations[] = {
	{ "!=", CAMPAIGN_IS_NOT }, { "<=", CAMPAIGN_AT_MOST }, { ">=", CAMPAIGN_AT_LEAST },
	{ "==", CAMPAIGN_IS },     { "=", CAMPAIGN_IS },       { "<", CAMPAIGN_LESS },
	{ ">", CAMPAIGN_MORE },
};

static struct expr_value no_name(void *ctx, const char *function, const char *name)
{
	(void)ctx;
	(void)function;
	(void)name;
	return (struct expr_value){ 0 };
}

/* "4G", "-1.5"; NAN: it is none. */
static double condition_number(const char *text)
{
	struct expr *x = NULL;
	struct expr_value v;

	if (!*text || text[strspn(text, "0123456789.eE+-kMGi% ")] || expr_parse(&x, text, NULL))
		return NAN;
	v = expr_eval(x, no_name, NULL);
	expr_free(x);
	return v.known ? v.v : (double)NAN;
}

/* Without blanks around it. False: it is too long, or nothing. */
static bool copy_trimmed(char *out, size_t size, const char *text, size_t n)
{
	for (; n && *text == ' '; n--)
		text++;
	while (n && text[n - 1] == ' ')
		n--;
	if (!n || n >= size)
		return false;
	memcpy(out, text, n);
	out[n] = '\0';
	return true;
}

int campaign_condition_parse(struct campaign_condition *x, const char *text, struct err *e)
{
	const char *at = text + strcspn(text, "!=<>");
	size_t i = 0, n = sizeof relations / sizeof relations[0];

	while (i < n && strncmp(at, relations[i].sign, strlen(relations[i].sign)) != 0)
		i++;
	if (i == n || !copy_trimmed(x->name, sizeof x->name, text, (size_t)(at - text)))
		return err_set(e, -EINVAL,
			       "'%.200s' is not a condition; give a name, = != < <= > or >=, and a "
			       "value: matrix_size=512, peak_memory_bytes<4G",
			       text);
	at += strlen(relations[i].sign);
	if (!copy_trimmed(x->value, sizeof x->value, at, strlen(at)))
		return err_set(e, -EINVAL,
			       "'%.200s': the value is missing, or longer than %zu bytes", text,
			       sizeof x->value - 1);
	x->relation = relations[i].relation;
	x->number = condition_number(x->value);
	if (x->relation > CAMPAIGN_IS_NOT && isnan(x->number))
		return err_set(
			e, -EINVAL,
			"'%.200s': '%.80s' is not a number; one may end with k, M, G, Ki, Mi or "
			"Gi",
			text, x->value);
	return 0;
}

bool campaign_value(const struct campaign *c, const char *name, uint32_t trial, const char **text,
		    double *number)
{
	const struct bench_figure *f = campaign_figure(c, name);

	*text = campaign_text(c, trial, name);
	*number = *text ? condition_number(*text) : f ? f->value[trial] : (double)NAN;
	if (!*text && !strcmp(name, "batch"))
		*number = (double)c->g.row[trial].batch_id;
	return *text || !isnan(*number);
}

/* Is what a trial says by that name a number, and no text that may look like one? "1.10" of a
 * package is not "1.1", of a parameter it is. */
static bool is_number(const struct campaign *c, const char *name, const char *text)
{
	const struct model_column *m = text ? model_find(&c->g.model, name) : NULL;

	return !text || (m && (m->type == MODEL_INT || m->type == MODEL_REAL));
}

int campaign_holds(const struct campaign *c, const struct campaign_condition *x, uint32_t trial)
{
	const char *text;
	double v;
	bool same;

	if (!campaign_value(c, x->name, trial, &text, &v))
		return -1;
	same = (is_number(c, x->name, text) && v == x->number) ||
	       (text && (!strcmp(text, x->value) || glob_match(x->value, text)));
	switch (x->relation) {
	case CAMPAIGN_IS:
		return same;
	case CAMPAIGN_IS_NOT:
		return !same;
	case CAMPAIGN_LESS:
		return isnan(v) ? -1 : v < x->number;
	case CAMPAIGN_AT_MOST:
		return isnan(v) ? -1 : v <= x->number;
	case CAMPAIGN_MORE:
		return isnan(v) ? -1 : v > x->number;
	case CAMPAIGN_AT_LEAST:
		return isnan(v) ? -1 : v >= x->number;
	}
	return -1;
}

int campaign_where(struct campaign *c, const char *condition, struct err *e)
{
	struct campaign_condition x;
	uint32_t known = 0;
	int rc = campaign_condition_parse(&x, condition, e);

	for (uint32_t i = 0; i < c->g.ntrials && !rc; i++) {
		int holds = campaign_holds(c, &x, i);

		known += holds >= 0;
		c->left_out[i] |= holds != 1;
	}
	if (rc || known)
		return rc;
	return err_set(e, -ENOENT,
		       "no trial of %.100s says anything of '%.80s'; sonde bench show bench:N/1 "
		       "has the names of parameters, figures and facts",
		       c->g.indicator, x.name);
}

/* The trials that a named query asks for, in its order. */

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
