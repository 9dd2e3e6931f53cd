/* SPDX-License-Identifier: Apache-2.0 */
/* expr_eval.c - the values of expressions, and what they ask for. */
#include "core/expr/expr_code.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* What overflowed or has no value is absent, so that no infinity or NaN but that of absence
 * spreads.
 */
static double value_of(double v)
{
	return isfinite(v) ? v : NAN;
}

static double truth(bool t)
{
	return t ? 1 : 0;
}

static double unary(enum op_code code, double a)
{
	switch (code) {
	case OP_KNOWN:
		return truth(!isnan(a));
	case OP_NEGATE:
		return -a;
	case OP_NOT:
		return isnan(a) ? a : truth(a == 0);
	default:
		return fabs(a);
	}
}

/* Decided by one side where it can be. */
static double logical(enum op_code code, double a, double b)
{
	if (code == OP_AND && (a == 0 || b == 0))
		return 0;
	if (code == OP_OR && ((!isnan(a) && a != 0) || (!isnan(b) && b != 0)))
		return 1;
	return isnan(a) || isnan(b) ? NAN : truth(code == OP_AND);
}

static double compare(enum op_code code, double a, double b)
{
	switch (code) {
	case OP_LESS:
		return truth(a < b);
	case OP_LESS_EQUAL:
		return truth(a <= b);
	case OP_GREATER:
		return truth(a > b);
	case OP_GREATER_EQUAL:
		return truth(a >= b);
	case OP_EQUAL:
		return truth(a == b);
	case OP_NOT_EQUAL:
		return truth(a != b);
	case OP_MIN:
		return a < b ? a : b;
	default:
		return a > b ? a : b;
	}
}

static double binary(enum op_code code, double a, double b)
{
	if (code == OP_AND || code == OP_OR)
		return logical(code, a, b);
	return isnan(a) || isnan(b) ? NAN : compare(code, a, b);
}

/* The operands are columns that lie behind each other; the first becomes the result. */
static void apply(enum op_code code, double *a, size_t n)
{
	const double *b = a + n, *c = b + n;

	for (size_t i = 0; i < n; i++)
		switch (code) {
		case OP_ADD:
			a[i] = value_of(a[i] + b[i]);
			break;
		case OP_SUBTRACT:
			a[i] = value_of(a[i] - b[i]);
			break;
		case OP_MULTIPLY:
			a[i] = value_of(a[i] * b[i]);
			break;
		case OP_DIVIDE: /* by zero it is no finite number */
			a[i] = value_of(a[i] / b[i]);
			break;
		case OP_IF:
			a[i] = isnan(a[i]) ? a[i] : a[i] != 0 ? b[i] : c[i];
			break;
		default:
			a[i] = op_arity(code) == 1 ? unary(code, a[i]) : binary(code, a[i], b[i]);
		}
}

void expr_eval_column(const struct expr *x, expr_look_up_column *look_up, void *ctx, size_t n,
		      double *stack)
{
	double *top = stack;

	for (size_t i = 0; i < x->nops; i++) {
		const struct op *op = &x->op[i];

		if (op->code == OP_NUMBER) {
			for (size_t k = 0; k < n; k++)
				top[k] = op->number;
		} else if (op->code == OP_NAME) {
			look_up(ctx, op->function, op->name, top);
		} else {
			top -= n * op_arity(op->code);
			apply(op->code, top, n);
		}
		top += n;
	}
}

struct single {
	expr_lookup *look_up;
	void *ctx;
};

static void look_up_single(void *ctx, const char *function, const char *name, double *out)
{
	const struct single *s = ctx;
	struct expr_value v = s->look_up(s->ctx, function, name);

	*out = v.known ? value_of(v.v) : NAN;
}

struct expr_value expr_eval(const struct expr *x, expr_lookup *lookup, void *ctx)
{
	double stack[EXPR_STACK_MAX];
	struct single s = { lookup, ctx };

	expr_eval_column(x, look_up_single, &s, 1, stack);
	return (struct expr_value){ !isnan(stack[0]), isnan(stack[0]) ? 0 : stack[0] };
}

bool expr_may_be_known(const struct expr *x, expr_lookup *may, void *ctx)
{
	bool stack[EXPR_STACK_MAX] = { false }, *top = stack;

	for (size_t i = 0; i < x->nops; i++) {
		const struct op *op = &x->op[i];
		unsigned arity = op_arity(op->code);

		top -= arity;
		if (op->code == OP_NAME)
			*top = may(ctx, op->function, op->name).known;
		else if (op->code == OP_NUMBER || op->code == OP_KNOWN)
			*top = true;
		else if (op->code == OP_AND || op->code == OP_OR)
			*top = top[0] || top[1];
		else if (arity > 1)
			*top = top[0] && (top[1] || (op->code == OP_IF && top[2]));
		top++;
	}
	return stack[0];
}

bool expr_is_difference(const struct expr *x)
{
	const struct op *op = x->op;

	return x->nops == 3 && op[0].code == OP_NAME && op[1].code == OP_NAME &&
	       op[2].code == OP_SUBTRACT && !op[0].function && !op[1].function;
}

void expr_names(const struct expr *x,
		void (*visit)(void *ctx, const char *function, const char *name), void *ctx)
{
	for (size_t i = 0; i < x->nops; i++)
		if (x->op[i].code == OP_NAME)
			visit(ctx, x->op[i].function, x->op[i].name);
}
