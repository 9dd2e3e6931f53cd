/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are a result or break the contract with a sentence; a result is the same when it is
 * written again, and fits the columns that are derived from it. */
#include "bench/model.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void columns_fit(const struct contract *c)
{
	struct model m;
	struct err e;

	if (model_init(&m, c->name))
		abort();
	for (uint32_t i = 0; i < c->nvalues; i++) {
		const struct model_column column = { .name = c->value[i].v->key,
						     .is_result = c->value[i].is_result,
						     .type = model_type_of(&c->value[i]) };

		if (model_add(&m, &column))
			abort();
	}
	if (model_check(&m, c, &e))
		abort();
	model_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1); /* its own, so that a read past the end is seen */
	struct contract c, again;
	struct bytes b = { 0 };
	struct json j = { .out = &b };
	struct err e = { "" };

	if (!text)
		return 0;
	memcpy(text, data, size);
	if (contract_read(&c, text, size, &e)) {
		if (!*e.text)
			abort();
	} else {
		jsontree_write(&j, c.said);
		if (contract_read(&again, b.data, b.len, &e) || again.nvalues != c.nvalues ||
		    strcmp(again.name, c.name) != 0)
			abort();
		contract_free(&again);
		columns_fit(&c);
	}
	contract_free(&c);
	bytes_free(&b);
	free(text);
	return 0;
}
