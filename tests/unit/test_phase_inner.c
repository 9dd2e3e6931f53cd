/* SPDX-License-Identifier: Apache-2.0 */
/* The innermost phase at a time, compared with looking at all of them. */
#include "core/phase/phase_nest.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct phase *looked_for(const struct phases *p, uint32_t node, double at_s)
{
	const struct phase *found = NULL;

	for (uint32_t i = p->n; i-- > 0;) {
		const struct phase *x = &p->phase[i];

		if (x->node == node && x->begin_s <= at_s && (isnan(x->end_s) || at_s < x->end_s) &&
		    (!found || x->depth > found->depth))
			found = x;
	}
	return found;
}

static unsigned next(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16 & 0x7fff;
}

static void as_looked_for(void **state)
{
	enum { N = 400, NODES = 3 };
	struct phase all[N];
	struct phases p = { .phase = all, .n = N };
	struct run r = { .nnodes = NODES };
	struct phase_inner x;
	unsigned seed = 7, found = 0;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		double begin = i / 4; /* several begin at once */
		bool open = next(&seed) % 40 == 0;

		all[i] = (struct phase){ .node = next(&seed) % NODES,
					 .depth = next(&seed) % 5,
					 .begin_s = begin,
					 .end_s = open ? NAN : begin + next(&seed) % 30 };
	}
	assert_int_equal(phase_inner_make(&x, &p, &r), 0);
	for (uint32_t node = 0; node <= NODES; node++)
		for (double at = -1; at < 140; at += 0.5) {
			const struct phase *inner = phase_inner_at(&x, node, at);

			assert_ptr_equal(inner, looked_for(&p, node, at));
			found += inner != NULL;
		}
	assert_true(found > 500);
	phase_inner_free(&x);
}

/* A long one of node 1, and very many of another node after its begin. */
static void beyond_very_many(void **state)
{
	enum { N = 30000 };
	struct phase *all = calloc(N, sizeof *all);
	struct phases p = { .phase = all, .n = N };
	struct run r = { .nnodes = 3 };
	struct phase_inner x;

	(void)state;
	assert_non_null(all);
	for (uint32_t i = 0; i < N; i++)
		all[i] = (struct phase){ .node = i ? 2 : 1,
					 .begin_s = i,
					 .end_s = i ? i + 0.5 : NAN };
	assert_int_equal(phase_inner_make(&x, &p, &r), 0);
	assert_ptr_equal(phase_inner_at(&x, 1, N), &all[0]);
	assert_ptr_equal(phase_inner_at(&x, 2, 20000.25), &all[20000]);
	assert_null(phase_inner_at(&x, 2, 20000.75));
	phase_inner_free(&x);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_looked_for),
		cmocka_unit_test(beyond_very_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
