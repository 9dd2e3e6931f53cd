/* SPDX-License-Identifier: Apache-2.0 */
/* Which pages that are there the samples of page faults stand for, of made address spaces. */
#include "base/random.h"
#include "unwind/touch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PAGE = 4096, PERIOD = 127, MOST = 20000 };
static const uint64_t base = UINT64_C(0x7f0000000000);

struct made {
	struct touch x[MOST];
	uint32_t n;
	uint64_t usual, blind;
	struct touch_places places;
};

static void put(struct made *m, uint64_t page, uint32_t node, uint32_t faults)
{
	assert_true(m->n < MOST);
	m->x[m->n++] = (struct touch){ .address = base + page * PAGE,
				       .node = node,
				       .faults = faults,
				       .pages = 1,
				       .here = true };
}

static int by_address(const void *a, const void *b)
{
	const struct touch *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void begin(struct made *m)
{
	qsort(m->x, m->n, sizeof *m->x, by_address);
	m->places = (struct touch_places){
		.x = m->x, .n = m->n, .page_bytes = PAGE, .usual = m->usual, .blind = m->blind
	};
	touch_place_begin(&m->places);
}

static void range(struct made *m, uint64_t from, uint64_t to, bool huge)
{
	touch_place(&m->places,
		    &(struct pagemap_range){ base + from * PAGE, base + to * PAGE, huge });
}

static double held(const struct made *m, uint32_t node)
{
	double sum = 0;

	for (uint32_t i = 0; i < m->n; i++)
		sum += m->x[i].node == node ? (double)m->x[i].held + m->x[i].huge : 0;
	return sum;
}

static struct made *make(uint64_t usual)
{
	struct made *m = calloc(1, sizeof *m);

	assert_non_null(m);
	m->usual = usual;
	return m;
}

/* Each array has all of its pages, but for what is between two samples. */
static void arrays_have_their_pages(void **state)
{
	static const uint64_t size[] = { 60000, 30000, 10000 };
	struct made *m = make(PERIOD);
	uint64_t from = 0, fault = 50;

	(void)state;
	for (uint32_t a = 0; a < 3; from += size[a++])
		for (; fault < from + size[a]; fault += PERIOD)
			put(m, fault, a + 1, PERIOD);
	begin(m);
	range(m, 0, from, false);
	touch_place_end(&m->places);
	for (uint32_t a = 0; a < 3; a++)
		assert_in_range(held(m, a + 1), size[a] - PERIOD, size[a] + PERIOD);
	assert_true(fabs(m->places.small - (double)from) < 1);
	free(m);
}

/* Two functions touch alternate pages, and one of them was sampled forty times as often. */
static void alternate_pages_go_by_what_samples_stand_for(void **state)
{
	enum { PAGES = 100000, OFTEN = 13, RARELY = 509 };
	struct made *m = make(RARELY);
	struct random random = { 5 };

	(void)state;
	for (uint64_t i = 0; i < PAGES / 2 / OFTEN; i++)
		put(m, random_u64(&random) % (PAGES / 2) * 2, 1, OFTEN);
	for (uint64_t i = 0; i < PAGES / 2 / RARELY; i++)
		put(m, random_u64(&random) % (PAGES / 2) * 2 + 1, 2, RARELY);
	begin(m);
	range(m, 0, PAGES, false);
	touch_place_end(&m->places);
	assert_in_range(held(m, 1), PAGES * 0.45, PAGES * 0.55);
	assert_in_range(held(m, 2), PAGES * 0.45, PAGES * 0.55);
	free(m);
}

/* What has grown since the last sample is of the one before it, as far as one may be missing. */
static void what_grows_beside_samples_is_theirs(void **state)
{
	enum { USUAL = 509 };
	struct made *m = make(USUAL);

	(void)state;
	for (uint64_t i = 0; i < 8; i++)
		put(m, 13 * i, 1, 13);
	begin(m);
	range(m, 0, 1500, false);
	range(m, 100000, 100050, false); /* another mapping */
	touch_place_end(&m->places);
	assert_in_range(held(m, 1), 1499, 1500);
	free(m);
}

/* Without events meanwhile it has grown by more than samples miss by chance. */
static void what_grows_in_a_blind_time_is_theirs(void **state)
{
	struct made *m = make(PERIOD);

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		put(m, 13000 + PERIOD * i, 1, PERIOD);
	for (m->blind = 0; m->blind <= 13000; m->blind += 13000) {
		begin(m);
		m->x[50].lost = 13000;
		range(m, 0, 13000 + PERIOD * 100, false);
		touch_place_end(&m->places);
		assert_in_range(held(m, 1), PERIOD * 100 + m->blind, PERIOD * 110 + m->blind);
	}
	free(m);
}

/* A sample in a process that has had much memory before does not stand for all of it. */
static void what_was_there_before_is_nobodys(void **state)
{
	struct made *m = make(PERIOD);

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		put(m, 10000 * i + 5000, 1, PERIOD);
	begin(m);
	range(m, 0, 1000000, false);
	touch_place_end(&m->places);
	assert_in_range(held(m, 1), 100 * PERIOD, 131 * PERIOD);
	free(m);
}

/* Of files, swapped out, and huge ones. */
static void each_kind_has_its_pages(void **state)
{
	struct made *m = make(PERIOD);

	(void)state;
	for (uint64_t i = 0; i < 30; i++)
		put(m, 100 * i, 1 + (uint32_t)(i % 3), PERIOD);
	for (uint32_t i = 0; i < m->n; i++) {
		m->x[i].of_file = m->x[i].node == 2;
		m->x[i].here = m->x[i].node != 3;
	}
	begin(m);
	range(m, 0, 2000, false);
	range(m, 2048, 2560, true);
	touch_place_end(&m->places);
	assert_in_range(held(m, 1), 2511, 2512);
	assert_int_equal(m->places.huge, 512);
	assert_int_equal(m->places.all, 2512);
	assert_int_equal(held(m, 2) + held(m, 3), 0);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_have_their_pages),
		cmocka_unit_test(alternate_pages_go_by_what_samples_stand_for),
		cmocka_unit_test(what_grows_beside_samples_is_theirs),
		cmocka_unit_test(what_grows_in_a_blind_time_is_theirs),
		cmocka_unit_test(what_was_there_before_is_nobodys),
		cmocka_unit_test(each_kind_has_its_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
