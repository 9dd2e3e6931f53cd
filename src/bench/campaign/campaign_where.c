/* SPDX-License-Identifier: Apache-2.0 */
/* campaign_where.c - conditions on trials: a name, a relation, a value. */
#include "bench/campaign/campaign.h"
#include "core/expr/expr.h"
#include "core/glob.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
static double number_of(const char *text)
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
static bool copy(char *out, size_t size, const char *text, size_t n)
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
	if (i == n || !copy(x->name, sizeof x->name, text, (size_t)(at - text)))
		return err_set(e, -EINVAL,
			       "'%.200s' is not a condition; give a name, = != < <= > or >=, and a "
			       "value: matrix_size=512, peak_memory_bytes<4G",
			       text);
	at += strlen(relations[i].sign);
	if (!copy(x->value, sizeof x->value, at, strlen(at)))
		return err_set(e, -EINVAL,
			       "'%.200s': the value is missing, or longer than %zu bytes", text,
			       sizeof x->value - 1);
	x->relation = relations[i].relation;
	x->number = number_of(x->value);
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
	*number = *text ? number_of(*text) : f ? f->value[trial] : (double)NAN;
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
