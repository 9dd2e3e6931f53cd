/* SPDX-License-Identifier: Apache-2.0 */
/* Any document has results of Amun, a report, or neither with a sentence; each result has a number
 * of its own kind, and something to show for itself or nothing. */
#include "bench/amun/amun_layout.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct amun_layout *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct amun_inspection *x = &l->inspection[i];

		if (x->id && !*x->id)
			abort();
		for (uint32_t k = 0; k < x->n; k++)
			if (x->told[k].number < 1 ||
			    (x->told[k].result && x->told[k].result->type != JSONDOC_OBJECT))
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pool pool = { 0 };
	struct amun_layout l = { 0 };
	struct err e = { "" };
	const struct jsontree *document = jsontree_read(&pool, data, size, &e);

	if (document && amun_layout_read(&l, document, &e)) {
		if (!*e.text || l.monkey)
			abort();
	} else if (document) {
		look(&l);
	}
	amun_layout_free(&l);
	pool_free(&pool);
	return 0;
}
