/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is reserved at once and cut: pieces that do not overlap and are zero, also when they
 * are cut again. */
#include "base/reserve.h"
#include "sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { WHOLE = 1 << 20, PIECE = 100000, PAGE = 4096 };

static int is_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return 0;
	return 1;
}

/* Each test in a process of its own: what is taken at once stays. */
static int in_child(int (*check)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		_exit(check());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

static int pieces(void)
{
	char *first, *second, *again, *large;

	reserve_at_once(WHOLE);
	first = reserve(PIECE);
	second = reserve(PIECE);
	if (!first || !second || second < first + PIECE || second > first + PIECE + PAGE * 16)
		return 1; /* they do not lie side by side */
	memset(first, 1, PIECE);
	memset(second, 2, PIECE);
	if (first[PIECE - 1] != 1 || second[0] != 2)
		return 2;
	reserve_free(second, PIECE);
	again = reserve(PIECE);
	if (again != second || !is_zero(again, PIECE))
		return 3; /* the last one is not cut again, or not empty */
	reserve_free(first, PIECE);
	if (!is_zero(first, PIECE))
		return 4; /* its memory was not given back */
	if (reserve(PIECE) == first)
		return 5; /* only the last one is cut again */
	large = reserve(WHOLE);
	if (!large || (large < first + WHOLE && large + WHOLE > first))
		return 6;
	memset(large, 3, WHOLE);
	reserve_free(large, WHOLE);
	return reserve(SIZE_MAX) || reserve(SIZE_MAX / 2) ? 7 : 0;
}

static void test_pieces_are_zero_and_apart(void **state)
{
	(void)state;
	assert_int_equal(in_child(pieces), 0);
}

#ifndef SANITIZED /* a sanitizer needs more address space than that for itself */
static int limited(void)
{
	struct rlimit l = { 200 << 20, 200 << 20 };
	char *first, *second;

	if (setrlimit(RLIMIT_AS, &l))
		return 1;
	reserve_at_once((size_t)150 << 20);
	first = reserve(100 << 20);
	if (!first)
		return 2; /* what was taken at once left no room for it */
	reserve_free(first, 100 << 20);
	second = reserve(100 << 20);
	return second ? 0 : 3;
}

/* An address space with a limit is not taken as a whole. */
static void test_a_limit_is_left_alone(void **state)
{
	(void)state;
	assert_int_equal(in_child(limited), 0);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces_are_zero_and_apart),
#ifndef SANITIZED
		cmocka_unit_test(test_a_limit_is_left_alone),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
