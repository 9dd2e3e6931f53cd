/* SPDX-License-Identifier: Apache-2.0 */
/* Columns that grow together come back one by one, whatever their lengths. */
#include "base/files.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { COLUMNS = 7, MOST = 4 * SPOOL_BLOCK + 5 };

/* Of column i: none, one, a block less one, a block, a block and one, ... */
static const uint64_t lengths[COLUMNS] = {
	0, 1, SPOOL_BLOCK - 1, SPOOL_BLOCK, SPOOL_BLOCK + 1, 3 * SPOOL_BLOCK, MOST
};

static void read_all(const struct spool *s)
{
	for (uint32_t c = 0; c < COLUMNS; c++) {
		struct spool_cursor x;
		double v;

		assert_int_equal(spool_count(s, c + 1), lengths[c]);
		spool_read(s, c + 1, &x);
		for (uint64_t i = 0; i < lengths[c]; i++) {
			assert_int_equal(spool_next(&x, &v), 1);
			if (i % 5 == 4)
				assert_true(isnan(v));
			else
				assert_true(v == (double)(c * 10000 + i));
		}
		assert_int_equal(spool_next(&x, &v), 0);
		assert_int_equal(spool_next(&x, &v), 0);
	}
}

static void test_columns(void **state)
{
	struct spool s;

	(void)state;
	assert_int_equal(spool_open(&s, "."), 0);
	for (uint32_t c = 0; c < COLUMNS; c++)
		assert_int_equal(spool_column(&s), c + 1);
	for (uint64_t i = 0; i < MOST; i++)
		for (uint32_t c = 0; c < COLUMNS; c++)
			if (i < lengths[c])
				assert_int_equal(spool_put(&s, c + 1,
							   i % 5 == 4 ? (double)NAN
								      : (double)(c * 10000 + i)),
						 0);
	read_all(&s);
	read_all(&s);
	spool_close(&s);
	spool_close(&s);
}

static void test_no_directory(void **state)
{
	struct spool s;

	(void)state;
	assert_true(spool_open(&s, "not-there") < 0);
	spool_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_no_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
