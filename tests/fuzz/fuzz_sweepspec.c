/* SPDX-License-Identifier: Apache-2.0 */
/* Any answer of sonde-yaml is a document or refused, and any document a specification with
 * combinations, or refused with a sentence. */
#include "base/text/jsontree.h"
#include "bench/sweep/sweepspace.h"
#include "bench/sweep/sweepspec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each word as the last combination has it. */
static void try_words(const struct sweep_spec *spec, const struct sweep_space *space)
{
	uint32_t at[SWEEP_AXES];

	sweepspace_at(space, space->combinations - 1, at);
	for (uint32_t i = 0; i < spec->arguments.n; i++) {
		struct bytes b = { 0 };

		sweepspace_word(&b, spec, at, spec->arguments.word[i]);
		if (!b.failed && (!b.len || b.data[b.len - 1]))
			abort();
		bytes_free(&b);
	}
}

static void try_document(struct jsontree *document, struct pool *pool)
{
	struct sweep_space space;
	struct sweep_spec spec;
	struct err e = { "" };
	uint32_t *order;

	struct sweep_faults faults = { 0 };

	if (sweepspec_read(&spec, document, &(struct spec_reading){ pool, "fuzz", &e, &faults })) {
		if (!*e.text || !faults.n)
			abort();
		return;
	}
	if (!sweepspace_init(&space, &spec) && space.combinations <= 10000) {
		order = calloc(space.combinations, sizeof *order);
		if (order && sweepspace_choose(&space, &spec, order) > space.combinations)
			abort();
		free(order);
		try_words(&spec, &space);
	}
	sweepspace_free(&space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1); /* its own, so that a read past the end is seen */
	struct pool pool = { 0 };
	struct jsontree *document;
	struct err e = { "" };

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	/* As the helper answers, or as JSON. */
	document = size && *copy == '{' ? jsontree_read(&pool, copy, size, &e)
					: yamltree_take(&pool, "fuzz", copy, size, &e);
	if (document)
		try_document(document, &pool);
	else if (!*e.text)
		abort();
	pool_free(&pool);
	free(copy);
	return 0;
}
