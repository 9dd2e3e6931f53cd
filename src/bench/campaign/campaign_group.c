/* SPDX-License-Identifier: Apache-2.0 */
/* campaign_group.c - trials that are alike: in what they were asked, in machine, in software. */
#include "base/array.h"
#include "base/text/decimal.h"
#include "bench/campaign/campaign.h"
#include "core/glob.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEPARATOR = '\x1f', SHA256_DIGITS = 64, SHORT = 12 };

/* What makes two machines different ones; what else is said of them may change with each boot. A
 * trial beside others had a part of the machine only. */
static const char machine_facts[] =
	"host.architecture,host.cpu_model,host.cpus_count,host.cores_count,host.sockets_count,"
	"host.gpus_count,host.gpu*.model,hwinfo.cpu_info.arch,hwinfo.cpu_info.brand_raw,"
	"hwinfo.cpu_info.count,runtime_environment.hardware.*,trial.jobs";
/* Not where an interpreter is: virtual environments with the same packages are the same. */
static const char software_facts[] =
	"runtime.version,runtime.libc,runtime_environment.*,package.*,stack.module_*,stack.image,"
	"script.git_commit,script.git_diff";
/* What was chosen for a trial, whatever its script says of it. */
static const char chosen_facts[] = "env.*,script.arguments";

/* The first nown are of trials themselves, the others of their environments, which many share. */
struct names {
	const char **name;
	bool *differs; /* between trials */
	bool *said;    /* by another one, too: nothing that a label needs */
	uint32_t n, nown, cap;
	uint32_t *alike; /* of each environment the first that is alike in these */
};

static int add_name(struct names *x, const char *name)
{
	void *grown;

	for (uint32_t i = 0; i < x->n; i++)
		if (!strcmp(x->name[i], name))
			return 0;
	grown = array_room(x->name, x->n, &x->cap, sizeof *x->name);
	if (!grown)
		return -ENOMEM;
	x->name = grown;
	x->name[x->n++] = name;
	return 0;
}

static bool is_of(const char *fact, unsigned by)
{
	if (glob_match(machine_facts, fact))
		return by & CAMPAIGN_HARDWARE;
	if (glob_match(chosen_facts, fact))
		return by & CAMPAIGN_PARAMETERS ||
		       (by & CAMPAIGN_WORKLOAD && model_is_workload(NULL, fact));
	return (by & CAMPAIGN_SOFTWARE) && glob_match(software_facts, fact);
}

static int choose_names(struct names *x, const struct campaign *c, unsigned by)
{
	int rc = 0;

	for (uint32_t i = 0; i < c->g.nparameters && !rc; i++)
		if ((by & CAMPAIGN_PARAMETERS) ||
		    ((by & CAMPAIGN_WORKLOAD) &&
		     model_is_workload(&c->g.model, c->g.parameter[i].name)))
			rc = add_name(x, c->g.parameter[i].name);
	if ((by & (CAMPAIGN_PARAMETERS | CAMPAIGN_SOFTWARE)) && !rc)
		rc = add_name(x, "component"); /* what is measured at all */
	if ((by & CAMPAIGN_SOFTWARE) && !rc)
		rc = add_name(x, "version");
	x->nown = x->n;
	for (uint32_t i = 0; i < c->nenvironments; i++)
		for (uint32_t k = 0; k < c->environment[i].n && !rc; k++)
			if (is_of(c->environment[i].fact[k].name, by))
				rc = add_name(x, c->environment[i].fact[k].name);
	x->differs = calloc(x->n + 1u, sizeof *x->differs);
	x->said = calloc(x->n + 1u, sizeof *x->said);
	x->alike = calloc(c->nenvironments + 1u, sizeof *x->alike);
	return rc || !x->differs || !x->said || !x->alike ? -ENOMEM : 0;
}

static bool equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool are_alike(const struct names *x, const struct bench_environment *a,
		      const struct bench_environment *b)
{
	for (uint32_t i = x->nown; i < x->n; i++)
		if (!equal(bench_environment_text(a, x->name[i]),
			   bench_environment_text(b, x->name[i])))
			return false;
	return true;
}

static void compare_environments(struct names *x, const struct campaign *c)
{
	for (uint32_t i = 0; i < c->nenvironments; i++) {
		uint32_t k = 0;

		while (k < i &&
		       (x->alike[k] != k || !are_alike(x, &c->environment[k], &c->environment[i])))
			k++;
		x->alike[i] = k;
	}
}

/* ---- keys ---- */

struct keyed {
	const char *key;
	uint32_t trial, first; /* first: trial of its group */
};

static const char *key_of(struct campaign_groups *out, const struct campaign *c,
			  const struct names *x, uint32_t trial)
{
	const struct bench_environment *e = campaign_environment(c, trial);
	struct bytes b = { 0 };
	const char *key;

	for (uint32_t i = 0; i < x->nown; i++) {
		const char *text = campaign_text(c, trial, x->name[i]);

		bytes_u8(&b, text ? '=' : '-'); /* nothing said is not an empty text */
		bytes_puts(&b, text ? text : "");
		bytes_u8(&b, SEPARATOR);
	}
	if (e)
		bytes_printf(&b, "%u", x->alike[e - c->environment]);
	key = b.failed ? NULL : pool_text(&out->pool, b.len ? (const char *)b.data : "", b.len);
	bytes_free(&b);
	return key;
}

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->trial > y->trial) - (x->trial < y->trial);
}

static int by_first(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->trial > y->trial) - (x->trial < y->trial);
}

/* ---- labels ---- */

static void find_differences(struct names *x, const struct campaign *c, const struct keyed *k,
			     uint32_t n)
{
	const struct bench_environment *a = n ? campaign_environment(c, k[0].trial) : NULL, *e = a;

	for (uint32_t t = 1; t < n; t++) {
		const struct bench_environment *b = campaign_environment(c, k[t].trial);

		for (uint32_t i = 0; i < x->nown; i++)
			x->differs[i] |= !equal(campaign_text(c, k[0].trial, x->name[i]),
						campaign_text(c, k[t].trial, x->name[i]));
		for (uint32_t i = x->nown; i < x->n && b != e; i++)
			x->differs[i] |= !equal(bench_environment_text(a, x->name[i]),
						bench_environment_text(b, x->name[i]));
		e = b;
	}
}

static bool is_same_value(const char *a, const char *b)
{
	return a && b ? decimal_are_same(a, b) : a == b;
}

/* Has each trial the same by both names? */
static bool says_the_same(const struct campaign *c, const struct keyed *k, uint32_t n,
			  const char *a, const char *b)
{
	for (uint32_t t = 0; t < n; t++)
		if (!is_same_value(campaign_text(c, k[t].trial, a),
				   campaign_text(c, k[t].trial, b)))
			return false;
	return true;
}

/* Variables and arguments are mostly what the script reports as its parameters. */
static void find_said(struct names *x, const struct campaign *c, const struct keyed *k, uint32_t n)
{
	for (uint32_t i = x->nown; i < x->n; i++)
		for (uint32_t m = 0; m < i && x->differs[i] && !x->said[i]; m++)
			x->said[i] = x->differs[m] && !x->said[m] &&
				     glob_match(chosen_facts, x->name[i]) &&
				     (m < x->nown || glob_match(chosen_facts, x->name[m])) &&
				     says_the_same(c, k, n, x->name[i], x->name[m]);
}

/* A digest is told by how it begins. */
static size_t shown(const char *name, const char *text)
{
	size_t n = strlen(text);
	bool digest =
		!strcmp(name, "version") ? n == SHA256_DIGITS : !strcmp(name, "script.git_commit");

	return digest && n > SHORT && strspn(text, "0123456789abcdef") == n ? SHORT : n;
}

static const char *label_of(struct campaign_groups *out, const struct campaign *c,
			    const struct names *x, uint32_t trial)
{
	struct bytes b = { 0 };
	const char *label;

	for (uint32_t i = 0; i < x->n; i++) {
		const char *text = campaign_text(c, trial, x->name[i]);

		if (x->differs[i] && !x->said[i])
			bytes_printf(&b, "%s%s%s%.*s", b.len ? " " : "", x->name[i],
				     text ? "=" : " not known",
				     text ? (int)shown(x->name[i], text) : 0, text ? text : "");
	}
	label = b.failed ? NULL : pool_text(&out->pool, b.len ? (const char *)b.data : "", b.len);
	bytes_free(&b);
	return label;
}

/* ---- groups ---- */

static int make_groups(struct campaign_groups *out, const struct campaign *c, struct names *x,
		       struct keyed *k, uint32_t n)
{
	if (n)
		qsort(k, n, sizeof *k, by_key);
	for (uint32_t i = 0; i < n; i++)
		k[i].first = i && !strcmp(k[i].key, k[i - 1].key) ? k[i - 1].first : k[i].trial;
	if (n)
		qsort(k, n, sizeof *k, by_first);
	find_differences(x, c, k, n);
	find_said(x, c, k, n);
	for (uint32_t i = 0; i < n; i++) {
		struct campaign_group *g;

		if (!i || k[i].first != k[i - 1].first)
			out->group[out->n++] =
				(struct campaign_group){ .label = label_of(out, c, x, k[i].trial),
							 .trial = out->trial + i };
		g = &out->group[out->n - 1];
		out->trial[i] = k[i].trial;
		g->n++;
		if (!g->label)
			return -ENOMEM;
	}
	return 0;
}

int campaign_group(struct campaign_groups *out, const struct campaign *c, unsigned by,
		   struct err *e)
{
	struct keyed *k = calloc(c->g.ntrials + 1u, sizeof *k);
	struct names x = { 0 };
	uint32_t n = 0;
	int rc;

	*out = (struct campaign_groups){ 0 };
	out->group = calloc(c->g.ntrials + 1u, sizeof *out->group);
	out->trial = calloc(c->g.ntrials + 1u, sizeof *out->trial);
	rc = k && out->group && out->trial ? choose_names(&x, c, by) : -ENOMEM;
	if (!rc)
		compare_environments(&x, c);
	for (uint32_t i = 0; i < c->g.ntrials && !rc; i++) {
		if (c->left_out[i] || !campaign_said(c, i))
			continue;
		k[n] = (struct keyed){ .key = key_of(out, c, &x, i), .trial = i };
		rc = k[n++].key ? 0 : -ENOMEM;
	}
	if (!rc)
		rc = make_groups(out, c, &x, k, n);
	free(x.alike);
	free(x.name);
	free(x.differs);
	free(x.said);
	free(k);
	return rc ? err_set(e, rc, "out of memory for groups of trials") : 0;
}

void campaign_groups_free(struct campaign_groups *g)
{
	free(g->group);
	free(g->trial);
	pool_free(&g->pool);
	*g = (struct campaign_groups){ 0 };
}

/* The trials of one sweep: what its matrix says of each is a parameter, too. */

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
