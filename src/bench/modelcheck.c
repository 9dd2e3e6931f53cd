/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/modelcheck.h"

#include "base/array.h"
#include "base/text/decimal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
