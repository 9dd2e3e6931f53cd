/* SPDX-License-Identifier: Apache-2.0 */
/* campaign_sweep.c - the trials of one sweep: what its matrix says of each is a parameter, too. */
#include "bench/campaign/campaign.h"

#include "base/array.h"
#include "base/text/decimal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A combination with its batch. */
struct point {
	int64_t batch_id;
	const char *stack, *environment;
	const struct jsontree *parameters;
};

struct points {
	struct point *v; /* [n] by batch */
	uint32_t n, cap;
};

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for the trials of a sweep");
}

static const char *keep(struct campaign *c, const char *text)
{
	return pool_text(&c->pool, text ? text : "", text ? strlen(text) : 0);
}

/* ---- which sweep, of which indicator ---- */

static int find_sweep(struct campaign *c, struct database *s, const char *name, int64_t *id,
		      struct err *e)
{
	const struct field v = field_text(name), *row = NULL;
	int rc = database_first(s,
				"SELECT id, uid FROM sweeps WHERE uid = $1 OR identifier = $1 "
				"ORDER BY CASE WHEN uid = $1 THEN 0 ELSE 1 END, id DESC LIMIT 1",
				&v, 1, &row, e);

	if (rc <= 0 || !row)
		return rc < 0 ? rc
			      : err_set(e, -ENOENT,
					"no sweep '%.100s' is kept in %.300s; sonde bench sweep "
					"says the name of each",
					name, database_shown(s));
	*id = row[0].i;
	c->sweep = keep(c, row[1].s);
	return c->sweep ? 0 : no_memory(e);
}

/* That of most of its trials; one that says another name is no trial of it. */
static int find_indicator(struct campaign *c, struct database *s, int64_t sweep,
			  const char **indicator, struct err *e)
{
	const struct field v = field_int(sweep), *row = NULL;
	int rc = database_first(
		s,
		"SELECT i.name FROM sweep_points p JOIN trials t ON t.batch_id = p.batch_id JOIN "
		"indicators i ON i.id = t.indicator_id WHERE p.sweep_id = $1 GROUP BY i.name "
		"ORDER BY COUNT(*) DESC, i.name LIMIT 1",
		&v, 1, &row, e);

	if (rc <= 0 || !row)
		return rc < 0 ? rc
			      : err_set(e, -ENOENT, "no trial of sweep %s has said anything yet",
					c->sweep);
	*indicator = keep(c, row[0].s);
	return *indicator ? 0 : no_memory(e);
}

/* ---- its combinations ---- */

static const struct jsontree *read_parameters(struct campaign *c, const char *text)
{
	struct err ignored;

	return text ? jsontree_read(&c->pool, text, strlen(text), &ignored) : NULL;
}

static int add_point(struct points *x, struct campaign *c, const struct field *row)
{
	void *grown = array_room(x->v, x->n, &x->cap, sizeof *x->v);
	const struct point p = { row[0].i, keep(c, row[1].s), keep(c, row[2].s),
				 read_parameters(c, row[3].s) };

	if (!grown || !p.stack || !p.environment)
		return -ENOMEM;
	x->v = grown;
	x->v[x->n++] = p;
	return 0;
}

static int read_points(struct points *x, struct campaign *c, struct database *s, int64_t sweep,
		       struct err *e)
{
	const struct field v = field_int(sweep), *row;
	int rc = database_query(s,
				"SELECT batch_id, stack, environment, parameters FROM sweep_points "
				"WHERE sweep_id = $1 AND batch_id IS NOT NULL ORDER BY batch_id",
				&v, 1, e);

	while (!rc && (rc = database_next(s, &row, e)) > 0)
		rc = add_point(x, c, row) ? no_memory(e) : 0;
	return rc;
}

/* "host, plain: X=1 Y=a" */
static const char *where_of(struct campaign *c, const struct field *row)
{
	const struct jsontree *parameters = read_parameters(c, row[2].s);
	struct bytes b = { 0 };
	const char *text;

	bytes_printf(&b, "%s, %s", row[0].s ? row[0].s : "", row[1].s ? row[1].s : "");
	for (const struct jsontree *v = parameters ? parameters->first : NULL; v; v = v->next)
		bytes_printf(&b, "%s%s=%s", v == parameters->first ? ": " : " ", v->key,
			     v->type == JSONDOC_STRING ? v->text : "");
	text = b.failed ? NULL : pool_text(&c->pool, (const char *)b.data, b.len);
	bytes_free(&b);
	return text;
}

static int add_gap(struct campaign *c, const struct field *row)
{
	void *grown = array_room(c->gap, c->ngaps, &c->gap_cap, sizeof *c->gap);
	const struct campaign_gap gap = { where_of(c, row),
					  keep(c, row[3].s ? row[3].s : "not run yet") };

	if (!grown || !gap.where || !gap.reason)
		return -ENOMEM;
	c->gap = grown;
	c->gap[c->ngaps++] = gap;
	return 0;
}

static int read_gaps(struct campaign *c, struct database *s, int64_t sweep, struct err *e)
{
	const struct field v[] = { field_int(sweep), field_int(c->g.model.id) }, *row;
	int rc = database_query(
		s,
		"SELECT p.stack, p.environment, p.parameters, COALESCE(p.skipped, (SELECT "
		"MIN(t.reason) FROM trials t WHERE t.batch_id = p.batch_id)) FROM sweep_points p "
		"WHERE p.sweep_id = $1 AND NOT EXISTS (SELECT 1 FROM trials t WHERE t.batch_id = "
		"p.batch_id AND t.indicator_id = $2) ORDER BY p.combination",
		v, 2, e);

	while (!rc && (rc = database_next(s, &row, e)) > 0)
		rc = add_gap(c, row) ? no_memory(e) : 0;
	return rc;
}

/* ---- what the matrix says of trials ---- */

static int by_batch(const void *a, const void *b)
{
	const int64_t *id = a;
	const struct point *p = b;

	return (*id > p->batch_id) - (*id < p->batch_id);
}

static const struct point *point_of(const struct points *x, const struct campaign *c,
				    uint32_t trial)
{
	return x->n ? bsearch(&c->g.row[trial].batch_id, x->v, x->n, sizeof *x->v, by_batch) : NULL;
}

struct axis {
	enum { STACK, ENVIRONMENT, PARAMETER } kind;
	const char *name;
};

static const char *text_of(const struct point *p, const struct axis *a)
{
	switch (a->kind) {
	case STACK:
		return p->stack;
	case ENVIRONMENT:
		return p->environment;
	case PARAMETER:
		break;
	}
	return jsontree_text(p->parameters, a->name);
}

/* Did the script say the same of every trial of which it said anything? */
static bool says_all(const struct bench_parameter *p, const char *const *text, uint32_t n)
{
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		if (!text[i] || !p->text[i])
			continue;
		if (!decimal_are_same(p->text[i], text[i]))
			return false;
		any = true;
	}
	return any;
}

/* What a script said of itself by another name is no second parameter; of trials that said nothing,
 * it is known all the same. */
static int add_parameter(struct campaign *c, const char *name, const char **text, struct err *e)
{
	struct bytes b = { 0 };
	bool taken = false;

	for (uint32_t i = 0; i < c->g.nparameters; i++) {
		struct bench_parameter *p = &c->g.parameter[i];

		taken |= !strcmp(p->name, name);
		if (!says_all(p, text, c->g.ntrials))
			continue;
		for (uint32_t k = 0; k < c->g.ntrials; k++)
			if (!p->text[k])
				p->text[k] = text[k];
		free(text);
		return 0;
	}
	bytes_printf(&b, "%s%s", taken ? "sweep." : "", name);
	name = b.failed ? NULL : pool_text(&c->pool, (const char *)b.data, b.len);
	bytes_free(&b);
	if (name)
		return bench_group_add_parameter(&c->g, name, text, e);
	free(text);
	return no_memory(e);
}

/* One that is the same in all of the sweep tells nothing. */
static int add_axis(struct campaign *c, const struct points *x, struct axis a, struct err *e)
{
	const char **text, *first = text_of(&x->v[0], &a);
	bool differs = false;

	for (uint32_t i = 1; i < x->n && !differs; i++) {
		const char *other = text_of(&x->v[i], &a);

		differs = !first || !other || strcmp(first, other) != 0;
	}
	if (!differs)
		return 0;
	text = calloc(c->g.ntrials + 1u, sizeof *text);
	if (!text)
		return no_memory(e);
	for (uint32_t i = 0; i < c->g.ntrials; i++) {
		const struct point *p = point_of(x, c, i);

		text[i] = p ? text_of(p, &a) : NULL;
	}
	return add_parameter(c, a.name, text, e);
}

static int take_points(struct campaign *c, const struct points *x, struct err *e)
{
	const struct jsontree *parameters = x->v[0].parameters;
	int rc = add_axis(c, x, (struct axis){ STACK, "stack" }, e);

	if (!rc)
		rc = add_axis(c, x, (struct axis){ ENVIRONMENT, "environment" }, e);
	for (const struct jsontree *v = parameters ? parameters->first : NULL; v && !rc;
	     v = v->next)
		rc = v->key ? add_axis(c, x, (struct axis){ PARAMETER, v->key }, e) : 0;
	for (uint32_t i = 0; i < c->g.ntrials; i++)
		c->left_out[i] = !point_of(x, c, i);
	return rc;
}

int campaign_read_sweep(struct campaign *c, struct database *s, const char *name, struct err *e)
{
	struct points x = { 0 };
	const char *indicator;
	int64_t id = 0;
	int rc = find_sweep(c, s, name, &id, e);

	if (!rc)
		rc = find_indicator(c, s, id, &indicator, e);
	if (!rc)
		rc = campaign_read(c, s, indicator, e);
	if (!rc)
		rc = read_points(&x, c, s, id, e);
	if (!rc && x.n) /* there is one: a trial has said something */
		rc = take_points(c, &x, e);
	if (!rc)
		rc = read_gaps(c, s, id, e);
	free(x.v);
	return rc;
}
