/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr_code.h - a parsed expression: postfix operations, so that evaluation is a loop over a small
 * stack.
 *
 * Made by expr_parse.c, run by expr.c; private to them. The parser has proved that the operations
 * never need more than EXPR_STACK_MAX values and leave exactly one.
 */
#ifndef SONDE_CORE_EXPR_EXPR_CODE_H
#define SONDE_CORE_EXPR_EXPR_CODE_H

#include "core/expr/expr.h"

enum { EXPR_LENGTH_MAX = 4096, EXPR_NESTING_MAX = 128 };

enum op_code {
	OP_NUMBER = 0,
	OP_NAME,
	OP_NEGATE,
	OP_NOT,
	OP_KNOWN,
	OP_ABS,
	OP_ADD,
	OP_SUBTRACT,
	OP_MULTIPLY,
	OP_DIVIDE,
	OP_LESS,
	OP_LESS_EQUAL,
	OP_GREATER,
	OP_GREATER_EQUAL,
	OP_EQUAL,
	OP_NOT_EQUAL,
	OP_MIN,
	OP_MAX,
	OP_AND,
	OP_OR,
	OP_IF,
	OP_NUMBER_OF
};

struct op {
	enum op_code code;
	double number;
	const char *function, *name; /* OP_NAME; in expr.names */
};

struct expr {
	struct op *op;
	size_t nops;
	char *names;
};

/* How many values an operation takes from the stack; each leaves one. */
static inline unsigned op_arity(enum op_code code)
{
	if (code <= OP_NAME)
		return 0;
	if (code <= OP_ABS)
		return 1;
	return code == OP_IF ? 3 : 2;
}

#endif
