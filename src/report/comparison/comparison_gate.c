/* SPDX-License-Identifier: Apache-2.0 */
/* comparison_gate.c - conditions and floors, as they are typed, and whether runs meet them. */
#include "base/text/args.h"
#include "core/statistics/stats.h"
#include "report/comparison/comparison.h"
#include "report/judging/variables.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Differences below these are no more than what a clock or a page makes. */
static double floor_of_unit(enum unit unit)
{
	switch (unit) {
	case UNIT_SECONDS:
		return 0.01;
	case UNIT_BYTES:
		return 1 << 20;
	case UNIT_JOULES:
		return 1;
	default:
		return 0;
	}
}

double comparison_floor_of(const struct comparison *x, const char *name, enum unit unit)
{
	for (uint32_t i = x->nfloors; i-- > 0;)
		if (!strcmp(x->floor[i].name, name))
			return x->floor[i].v;
	return floor_of_unit(unit);
}

static struct expr_value no_name(void *ctx, const char *function, const char *name)
{
	(void)ctx, (void)function, (void)name;
	return (struct expr_value){ .known = false };
}

bool comparison_number(const char *text, double *v, bool *relative)
{
	struct expr *x = NULL;
	struct expr_value value;
	size_t n = strlen(text);

	if (!n || text[strspn(text, "0123456789.eE+kMGi% ")])
		return false;
	for (size_t i = 1; i < n; i++) /* one number, no sum */
		if (text[i] == '+' && !strchr("eE", text[i - 1]))
			return false;
	if (expr_parse(&x, text, NULL))
		return false;
	value = expr_eval(x, no_name, NULL);
	expr_free(x);
	*v = value.v;
	*relative = text[n - 1] == '%';
	return value.known && value.v >= 0;
}

/* Without blanks around it. */
static const char *keep(struct comparison *x, const char *text, size_t n)
{
	const char *kept;

	for (; n && *text == ' '; n--)
		text++;
	while (n && text[n - 1] == ' ')
		n--;
	kept = pool_text(&x->pool, text, n);
	x->failed |= !kept;
	return kept ? kept : "";
}

/* The first name that nobody knows. */
struct name_check {
	const char *function, *name;
	bool unknown, any;
};

static void check_name(void *ctx, const char *function, const char *name)
{
	struct name_check *c = ctx;

	c->any = true;
	if (c->unknown ||
	    (function ? variable_function_find(function) != NULL : variable_find(name) != NULL))
		return;
	*c = (struct name_check){ function, name, true, true };
}

static const char *nearest(const char *word)
{
	const char *best = NULL;
	unsigned least = 0;

	for (size_t i = 0; i < nvariables; i++) {
		unsigned distance = args_distance(word, variables[i].name);

		if (best && distance >= least)
			continue;
		best = variables[i].name;
		least = distance;
	}
	return best && args_near(word, least) ? best : NULL;
}

static int check_names(const struct comparison_condition *c, struct err *e)
{
	struct name_check check = { 0 };
	const char *near;

	expr_names(c->expression, check_name, &check);
	if (!check.any)
		return err_set(e, -EINVAL, "'%.200s' names no figure; as in wall_seconds>+5%%",
			       c->text);
	if (!check.unknown)
		return 0;
	if (check.function)
		return err_set(e, -EINVAL,
			       "'%.200s': there is no function '%.60s'; mean, max, min, last, "
			       "total and time are known",
			       c->text, check.function);
	near = nearest(check.name);
	return err_set(e, -EINVAL,
		       "'%.200s': there is no figure '%.60s'%s%s; a metric is asked for as "
		       "mean(%.60s)",
		       c->text, check.name, near ? "; the nearest is " : "", near ? near : "",
		       check.name);
}

/* The text is QUANTITY > +NUMBER or QUANTITY < -NUMBER. */
static int parse_condition(struct comparison *x, struct comparison_condition *c, struct err *e)
{
	const char *sign = strpbrk(c->text, "<>"), *number;
	struct err why = { "" };

	if (!sign)
		return err_set(
			e, -EINVAL,
			"'%.200s' is not a condition; one is a figure, > or <, and by how much: "
			"wall_seconds>+5%%",
			c->text);
	c->more = *sign == '>';
	c->quantity = keep(x, c->text, (size_t)(sign - c->text));
	number = sign + 1 + strspn(sign + 1, " ");
	if (*number == (c->more ? '-' : '+'))
		return err_set(e, -EINVAL,
			       "'%.200s': what fails is %s than A, so write %c%c and a number",
			       c->text, c->more ? "more" : "less", *sign, c->more ? '+' : '-');
	if (*number != '+' && *number != '-')
		return err_set(e, -EINVAL,
			       "'%.200s' has no sign; to fail if it is %s than A by that, write "
			       "%.80s%c%c%.80s",
			       c->text, c->more ? "more" : "less", c->quantity, *sign,
			       c->more ? '+' : '-', number);
	number++;
	if (!comparison_number(number, &c->threshold, &c->relative))
		return err_set(e, -EINVAL,
			       "'%.200s': '%.80s' is not a threshold; give a share of A, 5%%, or a "
			       "number in the figure's unit with k, M, G, Ki, Mi or Gi, 1Gi",
			       c->text, number);
	if (expr_parse(&c->expression, c->quantity, &why))
		return err_set(e, -EINVAL, "'%.150s': %.200s", c->text, why.text);
	return x->any_name ? 0 : check_names(c, e);
}

int comparison_add_condition(struct comparison *x, const char *text, struct err *e)
{
	struct comparison_condition *c = &x->condition[x->nconditions];
	int rc;

	if (x->nconditions == COMPARISON_CONDITIONS_MAX)
		return err_set(e, -EINVAL, "more than %d conditions", COMPARISON_CONDITIONS_MAX);
	*c = (struct comparison_condition){ .text = keep(x, text, strlen(text)) };
	rc = parse_condition(x, c, e);
	if (rc) {
		expr_free(c->expression);
		return rc;
	}
	c->figure.name = c->quantity;
	c->figure.less_is_better = c->more;
	c->figure.more_is_better = !c->more && x->any_name;
	c->figure.leads = true;
	x->nconditions++;
	return x->failed ? err_set(e, -ENOMEM, "out of memory for the conditions") : 0;
}

int comparison_add_floor(struct comparison *x, const char *text, struct err *e)
{
	struct comparison_floor *f = &x->floor[x->nfloors];
	const char *sign = strchr(text, '=');
	bool relative = false;

	if (x->nfloors == COMPARISON_CONDITIONS_MAX)
		return err_set(e, -EINVAL, "more than %d floors", COMPARISON_CONDITIONS_MAX);
	if (!sign || sign == text || !comparison_number(sign + 1, &f->v, &relative) || relative)
		return err_set(e, -EINVAL,
			       "'%.200s' is not a floor; give a figure and a number in its unit: "
			       "peak_memory_bytes=10Mi",
			       text);
	f->name = keep(x, text, (size_t)(sign - text));
	x->nfloors++;
	return x->failed ? err_set(e, -ENOMEM, "out of memory for the floors") : 0;
}

void comparison_settle_times(const struct comparison *x, struct comparison_condition *c)
{
	bool known[GROUP_NUMBER_OF] = { false }, memory = !strncmp(c->quantity, "memory(", 7);
	double *value = c->figure.value;

	if (strncmp(c->quantity, "time(", 5) != 0 && !memory)
		return;
	for (uint32_t i = 0; i < x->nruns; i++)
		known[x->run[i].group] |= isfinite(value[i]);
	for (uint32_t i = 0; i < x->nruns; i++)
		if (known[x->run[i].group] && !isfinite(value[i]) &&
		    (memory ? x->run[i].touched : x->run[i].stacks))
			value[i] = 0;
}

/* ---- judging ---- */

/* More than the threshold must be shown, and so must that it is not more. */
static enum verdict_of_gate gate_of(const struct comparison_condition *c, double level)
{
	const struct compared *r = &c->figure.result;
	enum finding_of_two bad = c->more ? COMPARE_MORE : COMPARE_LESS;

	if (r->finding == COMPARE_UNKNOWN || isnan(r->low))
		return GATE_INCONCLUSIVE;
	if (c->more ? r->high <= r->margin : r->low >= -r->margin)
		return GATE_PASSED;
	return compare_finding(r, c->p, level) == bad ? GATE_FAILED : GATE_INCONCLUSIVE;
}

static void drop_unknown_conditions(struct comparison *x)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < x->nconditions; i++) {
		struct comparison_condition *c = &x->condition[i];

		if (c->if_known && !c->figure.unlike && !c->figure.result.na &&
		    !c->figure.result.nb) {
			expr_free(c->expression);
			free(c->figure.value);
		} else {
			x->condition[kept++] = *c;
		}
	}
	x->nconditions = kept;
}

void comparison_judge_gate(struct comparison *x)
{
	double p[COMPARISON_CONDITIONS_MAX];

	drop_unknown_conditions(x);
	for (uint32_t i = 0; i < x->nconditions; i++)
		p[i] = x->condition[i].figure.result.p;
	x->failed |= holm(p, x->nconditions) != 0;
	x->verdict = x->nconditions ? GATE_PASSED : GATE_INCONCLUSIVE;
	for (uint32_t i = 0; i < x->nconditions; i++) {
		struct comparison_condition *c = &x->condition[i];

		c->p = p[i];
		c->verdict = gate_of(c, x->level);
		if (c->verdict == GATE_FAILED ||
		    (c->verdict == GATE_INCONCLUSIVE && x->verdict == GATE_PASSED))
			x->verdict = c->verdict;
	}
}
