/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA_VISIBLE_DEVICES names GPUs as CUDA reads it; an environment is searched by whole names. */
#include "source/gpu/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { N = 5 };

/* Which of: GPU 0, GPU 1, its two MIG devices, GPU 2. */
static const char *named_by(const char *value)
{
	static char names[N + 1];
	struct cuda_device d[N] = {
		{ .gpu = 0, .uuid = "GPU-aaaa1111" },
		{ .gpu = 1, .uuid = "GPU-aaaa2222" },
		{ .gpu = 1, .is_mig = true, .uuid = "MIG-bbbb1111" },
		{ .gpu = 1, .is_mig = true, .uuid = "MIG-bbbb2222" },
		{ .gpu = 2, .uuid = "GPU-cccc1111", .named = true },
	};
	size_t n = cuda_visible(value, d, N), sum = 0;

	for (int i = 0; i < N; i++) {
		names[i] = d[i].named ? "01ab2"[i] : '-';
		sum += d[i].named;
	}
	assert_int_equal(n, sum);
	return names;
}

static void names_are_numbers_and_uuids(void **unused)
{
	static const struct {
		const char *value, *named;
	} cases[] = {
		{ "0", "0----" },
		{ "2,0", "0---2" },
		{ " 1 , 2 ", "-1--2" },
		{ "", "-----" },
		{ "-1", "-----" },
		{ "0,-1,2", "0----" }, /* what names nothing ends the list */
		{ "0,7,2", "0----" },
		{ "0x1", "-----" },
		{ "1a", "-----" },
		{ "99999999999999999999", "-----" },
		{ "4294967296", "-----" },
		{ "0,0", "0----" },
		{ "GPU-aaaa1111", "0----" },
		{ "GPU-c", "----2" },    /* a beginning will do */
		{ "GPU-aaaa", "-----" }, /* unless there are two of them */
		{ "GPU-", "-----" },
		{ "GPU-aaaa11112", "-----" },
		{ "MIG-bbbb2,GPU-c", "---b2" },
		{ "MIG-bbbb2222", "---b-" },
		{ "gpu-aaaa1111", "-----" },
		{ "0,,2", "0----" },
		{ "NoDevFiles", "-----" },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (strcmp(named_by(cases[i].value), cases[i].named) != 0)
			fail_msg("'%s' names %s", cases[i].value, named_by(cases[i].value));
}

static void an_environment_is_searched_by_whole_names(void **unused)
{
	static const char text[] = "XNAME=1\0NAME2=2\0NAME\0NAME=right\0NAME=later";

	(void)unused;
	assert_string_equal(environ_find(text, sizeof text, "NAME"), "right");
	assert_string_equal(environ_find(text, sizeof text, "XNAME"), "1");
	assert_null(environ_find(text, sizeof text, "AME"));
	assert_null(environ_find(text, 0, "NAME"));
	/* What was cut is not taken for the whole. */
	assert_null(environ_find("NAME=righ", 9, "NAME"));
	assert_string_equal(environ_find("NAME=\0", 6, "NAME"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_numbers_and_uuids),
		cmocka_unit_test(an_environment_is_searched_by_whole_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
