/* SPDX-License-Identifier: Apache-2.0 */
#include "core/expr_code.h"

#include <math.h>
#include <stdlib.h>

static const struct expr_value absent = { false, 0 };

void expr_free(struct expr *x)
{
	if (!x)
		return;
	free(x->op);
	free(x->names);
	free(x);
}

/* What overflowed or has no value is absent, so that no infinity or NaN spreads. */
static struct expr_value value_of(double v)
{
	return isfinite(v) ? (struct expr_value){ true, v } : absent;
}

static struct expr_value truth(bool t)
{
	return (struct expr_value){ true, t ? 1 : 0 };
}

static bool is_true(struct expr_value a)
{
	return a.known && a.v != 0;
}

static bool is_false(struct expr_value a)
{
	return a.known && a.v == 0;
}

static struct expr_value unary(enum op_code code, struct expr_value a)
{
	if (code == OP_KNOWN)
		return truth(a.known);
	if (!a.known)
		return absent;
	switch (code) {
	case OP_NEGATE:
		return value_of(-a.v);
	case OP_NOT:
		return truth(a.v == 0);
	case OP_ABS:
		return value_of(fabs(a.v));
	default:
		return absent;
	}
}

static struct expr_value logical(enum op_code code, struct expr_value a, struct expr_value b)
{
	if (code == OP_AND && (is_false(a) || is_false(b)))
		return truth(false);
	if (code == OP_OR && (is_true(a) || is_true(b)))
		return truth(true);
	return a.known && b.known ? truth(code == OP_AND) : absent;
}

static struct expr_value arithmetic(enum op_code code, double a, double b)
{
	switch (code) {
	case OP_ADD:
		return value_of(a + b);
	case OP_SUBTRACT:
		return value_of(a - b);
	case OP_MULTIPLY:
		return value_of(a * b);
	case OP_DIVIDE:
		return b == 0 ? absent : value_of(a / b);
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
		return value_of(a < b ? a : b);
	case OP_MAX:
		return value_of(a > b ? a : b);
	default:
		return absent;
	}
}

static struct expr_value apply(enum op_code code, const struct expr_value *a)
{
	switch (op_arity(code)) {
	case 1:
		return unary(code, a[0]);
	case 2:
		if (code == OP_AND || code == OP_OR)
			return logical(code, a[0], a[1]);
		return a[0].known && a[1].known ? arithmetic(code, a[0].v, a[1].v) : absent;
	default:
		return a[0].known ? (a[0].v != 0 ? a[1] : a[2]) : absent;
	}
}

struct expr_value expr_eval(const struct expr *x, expr_lookup *lookup, void *ctx)
{
	struct expr_value stack[EXPR_STACK_MAX] = { { false, 0 } }, v;
	unsigned n = 0;

	for (size_t i = 0; i < x->nops; i++) {
		const struct op *op = &x->op[i];

		if (op->code == OP_NUMBER) {
			stack[n++] = (struct expr_value){ true, op->number };
		} else if (op->code == OP_NAME) {
			v = lookup(ctx, op->function, op->name);
			stack[n++] = v.known ? value_of(v.v) : absent;
		} else {
			n -= op_arity(op->code);
			stack[n] = apply(op->code, &stack[n]);
			n++;
		}
	}
	return stack[0];
}

void expr_names(const struct expr *x,
		void (*visit)(void *ctx, const char *function, const char *name), void *ctx)
{
	for (size_t i = 0; i < x->nops; i++)
		if (x->op[i].code == OP_NAME)
			visit(ctx, x->op[i].function, x->op[i].name);
}
