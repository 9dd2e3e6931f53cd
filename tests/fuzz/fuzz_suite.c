/* SPDX-License-Identifier: Apache-2.0 */
/* Any document is of a suite, or of another kind with a sentence; a trial has a result that is an
 * object of JSON, or a reason or exit code that it failed by. The first byte chooses the suite. */
#include "bench/suite/suite.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_object(const char *text)
{
	struct pool pool = { 0 };
	struct err e = { "" };
	const struct jsontree *v = jsontree_read(&pool, text, strlen(text), &e);

	if (!v || v->type != JSONDOC_OBJECT)
		abort();
	pool_free(&pool);
}

static void look(const struct suite_results *r)
{
	if (r->n > SUITE_BENCHMARKS)
		abort();
	for (uint32_t i = 0; i < r->n; i++) {
		const struct suite_benchmark *b = &r->benchmark[i];

		if (!b->name || !b->parameters || b->n > SUITE_REPEATS || b->start_ns < 0)
			abort();
		look_at_object(b->parameters);
		for (uint32_t k = 0; k < b->n; k++)
			if (b->trial[k].result)
				look_at_object(b->trial[k].result);
			else if (!b->trial[k].failed)
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pool pool = { 0 };
	struct suite_results r = { 0 };
	struct suite_source s = { 0 };
	struct err e = { "" };
	int rc;

	if (!size)
		return 0;
	s.document = jsontree_read(&pool, data + 1, size - 1, &e);
	s.benchmarks = s.document;
	if (s.document) {
		rc = suite_read(&r, &suites[*data % nsuites], &s, &e);
		if (rc && !*e.text)
			abort();
		if (!rc)
			look(&r);
	}
	suite_results_free(&r);
	pool_free(&pool);
	return 0;
}
