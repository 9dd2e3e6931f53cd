/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/campaign/campaign.h"

#include "base/array.h"

#include <errno.h>
#include <inttypes.h>
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
