/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/model.h"

#include "base/array.h"
#include "base/text/decimal.h"
#include "core/glob.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const type_names[] = {
	[MODEL_INT] = "int",   [MODEL_REAL] = "real", [MODEL_TEXT] = "text",
	[MODEL_BOOL] = "bool", [MODEL_ANY] = "any",   [MODEL_JSON] = "json",
};
_Static_assert(sizeof type_names / sizeof type_names[0] == MODEL_TYPES, "a name for each type");

const char *model_type_name(enum model_type t)
{
	return type_names[t];
}

/* PiConv2D is trials_pi_conv2d: no table of Sonde's own begins so. */
static const char *table_of(struct pool *pool, const char *name)
{
	struct bytes b = { 0 };
	const char *kept;

	bytes_puts(&b, "trials_");
	for (const char *p = name; *p; p++) {
		bool upper = isupper((unsigned char)*p),
		     before = p > name && islower((unsigned char)p[-1]);

		if (upper && before)
			bytes_u8(&b, '_');
		bytes_u8(&b,
			 isalnum((unsigned char)*p) ? (uint8_t)tolower((unsigned char)*p) : '_');
	}
	b.len = b.len > MODEL_TABLE ? MODEL_TABLE : b.len;
	kept = b.failed ? NULL : pool_text(pool, (const char *)b.data, b.len);
	bytes_free(&b);
	return kept;
}

int model_init(struct model *m, const char *name)
{
	*m = (struct model){ .worst = NAN, .best = NAN, .version = 1 };
	m->name = pool_text(&m->pool, name, strlen(name));
	m->table = table_of(&m->pool, name);
	return m->name && m->table ? 0 : -ENOMEM;
}

void model_free(struct model *m)
{
	free(m->column);
	free(m->query);
	modelcheck_free(m);
	pool_free(&m->pool);
	*m = (struct model){ 0 };
}

static const char *keep(struct model *m, const char *text)
{
	return text ? pool_text(&m->pool, text, strlen(text)) : NULL;
}

int model_add(struct model *m, const struct model_column *c)
{
	void *grown = array_room(m->column, m->ncolumns, &m->cap, sizeof *m->column);
	struct model_column *new;

	if (!grown)
		return -ENOMEM;
	m->column = grown;
	new = &m->column[m->ncolumns];
	*new = *c;
	new->name = keep(m, c->name);
	new->unit = keep(m, c->unit);
	if (!new->name || (c->unit && !new->unit))
		return -ENOMEM;
	m->ncolumns++;
	return 0;
}

void models_free(struct models *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		model_free(&m->model[i]);
	free(m->model);
	*m = (struct models){ 0 };
}

const struct model *models_find(const struct models *m, const char *name)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (!strcmp(m->model[i].name, name))
			return &m->model[i];
	return NULL;
}

const struct model_column *model_find(const struct model *m, const char *name)
{
	for (uint32_t i = 0; i < m->ncolumns; i++)
		if (!strcasecmp(m->column[i].name, name))
			return &m->column[i];
	for (uint32_t i = 0; i < m->ncolumns && m->declared; i++)
		if (strchr(m->column[i].name, '*') && glob_match(m->column[i].name, name))
			return &m->column[i];
	return NULL;
}

const struct model_query *model_find_query(const struct model *m, const char *name)
{
	for (uint32_t i = 0; i < m->nqueries; i++)
		if (!strcmp(m->query[i].name, name))
			return &m->query[i];
	return NULL;
}

/* ---- values ---- */

bool model_fits(enum model_type type, const struct jsontree *v)
{
	if (v->type == JSONDOC_NULL)
		return true;
	switch (type) {
	case MODEL_INT:
		return v->type == JSONDOC_NUMBER && v->whole;
	case MODEL_REAL:
		return v->type == JSONDOC_NUMBER;
	case MODEL_TEXT:
		return v->type == JSONDOC_STRING;
	case MODEL_BOOL:
		return v->type == JSONDOC_TRUE || v->type == JSONDOC_FALSE;
	case MODEL_ANY:
		return v->type != JSONDOC_OBJECT && v->type != JSONDOC_ARRAY;
	case MODEL_JSON:
	case MODEL_TYPES:
		break;
	}
	return true;
}

/* Results that happen to be whole are measured numbers all the same. */
enum model_type model_type_of(const struct contract_value *v)
{
	switch (v->v->type) {
	case JSONDOC_NUMBER:
		return v->v->whole && !v->is_result ? MODEL_INT : MODEL_REAL;
	case JSONDOC_STRING:
		return MODEL_TEXT;
	case JSONDOC_TRUE:
	case JSONDOC_FALSE:
		return MODEL_BOOL;
	default:
		return MODEL_JSON;
	}
}

static const struct jsontree *value_of(const struct contract *c, const char *name)
{
	for (uint32_t i = 0; i < c->nvalues; i++)
		if (!strcasecmp(c->value[i].v->key, name))
			return c->value[i].v;
	return NULL;
}

static int check_value(const struct model *m, const struct contract_value *v, struct err *e)
{
	const struct model_column *column = model_find(m, v->v->key);
	const char *part = v->is_result ? "@result" : "@parameters";

	if (!column && !m->declared)
		return 0; /* it brings a column */
	if (!column)
		return err_set(
			e, -EBADMSG,
			"line %llu: %s.%.63s is none of the columns that are declared of %s; "
			"declare it, too, with --model FILE",
			(unsigned long long)v->v->line, part, v->v->key, m->name);
	if (column->is_result != v->is_result)
		return err_set(e, -EBADMSG, "line %llu: %s.%.63s is declared as a %s of %s",
			       (unsigned long long)v->v->line, part, v->v->key,
			       column->is_result ? "result" : "parameter", m->name);
	if (!model_fits(column->type, v->v))
		return err_set(e, -EBADMSG,
			       "line %llu: %s.%.63s: %s, and as a column of %s it is %s",
			       (unsigned long long)v->v->line, part, v->v->key, jsontree_kind(v->v),
			       m->name, type_names[column->type]);
	return 0;
}

int model_check(const struct model *m, const struct contract *c, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < c->nvalues && !rc; i++)
		rc = check_value(m, &c->value[i], e);
	for (uint32_t i = 0; i < m->ncolumns && !rc; i++) {
		const struct model_column *column = &m->column[i];
		const struct jsontree *v = value_of(c, column->name);

		if (column->required && (!v || v->type == JSONDOC_NULL))
			rc = err_set(e, -EBADMSG, "%s.%.63s is missing, and %s requires it",
				     column->is_result ? "@result" : "@parameters", column->name,
				     m->name);
	}
	return rc;
}

double model_score(const struct model *m, const struct contract *c)
{
	const struct jsontree *v = m->score ? value_of(c, m->score) : NULL;
	double score;

	if (!v || v->type != JSONDOC_NUMBER || m->best == m->worst)
		return NAN;
	score = 2 * (v->number - m->worst) / (m->best - m->worst) - 1;
	return fmin(1, fmax(-1, score));
}

/* ---- roles ---- */

static const char *const role_names[MODEL_ROLES] = { NULL, "workload", "choice" };

const char *model_role_name(enum model_role r)
{
	return role_names[r];
}

enum model_role model_role_of(const char *name)
{
	for (int i = MODEL_WORKLOAD; name && i < MODEL_ROLES; i++)
		if (!strcmp(name, role_names[i]))
			return (enum model_role)i;
	return MODEL_NO_ROLE;
}

/* Sizes of blocks, tiles and batches are how something is done. */
static const char workload_guess[] =
	"size,*matrix_size,*problem_size,*input_size,*data_size,*image_size,*array_size,*vector_size,"
	"n,m,k,rows,cols,columns,reps,repeats,repetitions,*iterations,iters,*_iters,loops,steps,"
	"*_steps,epochs,samples,*num_samples,length,*_length,width,height,depth,channels,"
	"input_*,dataset*,data,input,seed,*_count,num_elements,elements";
static const char choice_guess[] = "*thread*,*process*,*worker*,*core*,*rank*,*cpu*,*gpu*";

bool model_is_workload(const struct model *m, const char *name)
{
	const struct model_column *c = m ? model_find(m, name) : NULL;
	char lower[128];
	size_t n = 0;

	if (c && c->role)
		return c->role == MODEL_WORKLOAD;
	if (!strncmp(name, "env.", 4))
		name += 4;
	for (; name[n] && n < sizeof lower - 1; n++)
		lower[n] = name[n] >= 'A' && name[n] <= 'Z' ? (char)(name[n] - 'A' + 'a') : name[n];
	lower[n] = '\0';
	return glob_match(workload_guess, lower) && !glob_match(choice_guess, lower);
}

static const double usual_tolerance = 0.01;
#define BLANKS " \t\r"
#define WITHIN "within"

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for models");
}

/* The last word of text[0..n); n: there is none. */
static size_t last_word(const char *text, size_t *n)
{
	size_t from;

	while (*n && strchr(BLANKS, text[*n - 1]))
		(*n)--;
	from = *n;
	while (from && !strchr(BLANKS, text[from - 1]))
		from--;
	return from;
}

/* Takes "within 1%" from the end of text[0..*n). False: the number is none, at *at. */
static bool take_tolerance(const char *text, size_t *n, double *tolerance, size_t *at)
{
	size_t end = *n, number = last_word(text, &end), word_end = number;
	size_t word = last_word(text, &word_end);
	char *rest;

	*tolerance = usual_tolerance;
	*n = end;
	if (word_end - word != strlen(WITHIN) || strncmp(text + word, WITHIN, strlen(WITHIN)) != 0)
		return true;
	*at = number;
	*n = word;
	*tolerance = decimal_parse(text + number, &rest);
	if (rest == text + number)
		return false;
	if (*rest == '%') {
		*tolerance /= 100;
		rest++;
	}
	return rest == text + end && *tolerance >= 0 && *tolerance < 1;
}

static int parse(struct model *m, struct model_check *x, size_t *at, struct err *e)
{
	size_t name = strcspn(x->text, BLANKS "~"), tilde, n = strlen(x->text);
	const char *formula;
	int rc;

	tilde = name + strspn(x->text + name, BLANKS);
	if (!name || x->text[tilde] != '~')
		return err_set(e, -EINVAL,
			       "a check is a column and its formula: check NAME ~ FORMULA");
	if (!take_tolerance(x->text, &n, &x->tolerance, at))
		return err_set(e, -EINVAL, "within takes a share of less than 1, such as 1%%");
	*at = tilde + 1 + strspn(x->text + tilde + 1, BLANKS);
	x->name = pool_text(&m->pool, x->text, name);
	formula = n > *at ? pool_text(&m->pool, x->text + *at, n - *at) : "";
	if (!x->name || !formula)
		return no_memory(e);
	tilde = 0;
	rc = expr_parse_at(&x->computed, formula, &tilde, e);
	*at += tilde;
	return rc;
}

int modelcheck_add(struct model *m, const char *text, size_t *at, struct err *e)
{
	void *grown = array_room(m->check, m->nchecks, &m->check_cap, sizeof *m->check);
	struct model_check x = { .text = pool_text(&m->pool, text, strlen(text)) };
	int rc;

	*at = 0;
	if (!grown || !x.text)
		return no_memory(e);
	m->check = grown;
	rc = parse(m, &x, at, e);
	if (rc)
		expr_free(x.computed);
	else
		m->check[m->nchecks++] = x;
	return rc;
}

int modelcheck_add_all(struct model *m, const char *texts, struct err *e)
{
	int rc = 0;

	for (const char *at = texts; at && *at && !rc;) {
		size_t n = strcspn(at, "\n"), fault;
		const char *one = pool_text(&m->pool, at, n);

		rc = one ? modelcheck_add(m, one, &fault, e) : no_memory(e);
		at += n + (at[n] == '\n');
	}
	return rc == -EINVAL ? -EBADMSG : rc;
}

void modelcheck_texts(const struct model *m, struct bytes *out)
{
	for (uint32_t i = 0; i < m->nchecks; i++)
		bytes_printf(out, "%s%s", i ? "\n" : "", m->check[i].text);
}

bool modelcheck_are_same(const struct model *a, const struct model *b)
{
	for (uint32_t i = 0; i < a->nchecks && i < b->nchecks; i++)
		if (strcmp(a->check[i].text, b->check[i].text) != 0)
			return false;
	return a->nchecks == b->nchecks;
}

void modelcheck_free(struct model *m)
{
	for (uint32_t i = 0; i < m->nchecks; i++)
		expr_free(m->check[i].computed);
	free(m->check);
	m->check = NULL;
	m->nchecks = m->check_cap = 0;
}

bool modelcheck_fails(const struct model_check *x, double reported, double computed)
{
	return fabs(reported - computed) > x->tolerance * fabs(computed);
}
