/* SPDX-License-Identifier: Apache-2.0 */
#include "core/expr/expr.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct expr_value lookup(void *ctx, const char *function, const char *name)
{
	size_t *asked = ctx;

	(*asked)++;
	return (struct expr_value){ !function && strlen(name) < 3, (double)(unsigned char)name[0] };
}

static void visit(void *ctx, const char *function, const char *name)
{
	size_t *seen = ctx;

	(void)function;
	*seen += *name != '\0';
}

/* Whatever parses can be evaluated, asks for the names it shows, and gives a finite value or none.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	size_t asked = 0, seen = 0;
	struct expr *x = NULL;
	struct expr_value v;
	struct err e;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!expr_parse(&x, text, &e)) {
		expr_names(x, visit, &seen);
		v = expr_eval(x, lookup, &asked);
		if (seen != asked || (v.known && !isfinite(v.v)))
			abort();
	}
	expr_free(x);
	free(text);
	return 0;
}
