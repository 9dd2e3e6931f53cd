/* SPDX-License-Identifier: Apache-2.0 */
/* rules_metrics.c - which metrics rules look at. */
#include "report/judging/rule.h"
#include "report/judging/rules.h"
#include "report/judging/variables.h"

#include <string.h>

static void add_name(struct bytes *names, const char *name)
{
	bytes_printf(names, "%s%s", names->len ? "," : "", name);
}

/* A name without a function is a figure of the summary; growth is told by footers, and
 * what was printed, which code ran and what was waited for are no metrics. */
static void add(void *ctx, const char *function, const char *name)
{
	const struct variable_function *f = function ? variable_function_find(function) : NULL;

	if (function && strcmp(function, "grown") != 0 && strcmp(function, "error") != 0 &&
	    strncmp(function, "share", 5) != 0 && !(f && f->knows))
		add_name(ctx, name);
}

static void add_expr(struct bytes *names, const struct rule_expr *x)
{
	if (x->x)
		expr_names(x->x, add, names);
}

static void add_sentence(struct bytes *names, const struct sentence *s)
{
	for (size_t i = 0; i < s->nparts; i++)
		if (s->part[i].x)
			expr_names(s->part[i].x, add, names);
}

void rules_metrics(const struct rules *rules, struct bytes *names, struct bytes *told)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *r = &rules->rule[i];

		for (size_t k = 0; k < r->nneeds; k++)
			add_expr(names, &r->needs[k]);
		add_expr(names, &r->enough);
		add_expr(names, &r->when);
		add_expr(names, &r->threshold);
		add_expr(names, &r->from);
		add_expr(names, &r->to);
		add_sentence(names, &r->say);
		add_expr(names, &r->request);
		add_expr(names, &r->cost);
		add_sentence(names, &r->cannot);
		if (r->proof && r->where)
			add_name(names, r->proof);
		if (r->proof && r->during)
			add_name(told, r->proof);
	}
}
