/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a process, as the kernel prints them and as a process has them. */
#include "source/procfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int64_t value(const struct limits *l, const char *name)
{
	for (size_t i = 0; i < LIMIT_ROWS; i++)
		if (!strcmp(limit_label(&limit_rows[i]) + strlen("limit."), name))
			return l->value[i];
	fail_msg("no row %s", name);
	return 0;
}

static void soft_limits_are_found_by_name(void **state)
{
	struct limits l;

	(void)state;
	limits_parse(
		"Limit                     Soft Limit           Hard Limit           Units     \n"
		"Max address space         307200000            unlimited            bytes     \n"
		"Max open files            40                   1048576              files     \n"
		"Max cpu time              unlimited            unlimited            seconds   \n"
		"Max stack size            99999999999999999999 unlimited            bytes\n",
		&l);
	assert_int_equal(value(&l, "address_space_bytes"), 307200000);
	assert_int_equal(value(&l, "open_files_count"), 40);
	assert_int_equal(value(&l, "cpu_seconds"), LIMIT_NONE);
	assert_int_equal(value(&l, "stack_bytes"), LIMIT_UNKNOWN);
	assert_int_equal(value(&l, "file_bytes"), LIMIT_UNKNOWN);
}

static void the_kernel_prints_what_a_process_has(void **state)
{
	struct rlimit all[RLIM_NLIMITS];
	struct limits has, read;
	struct root proc;

	(void)state;
	for (__rlimit_resource_t i = 0; i < RLIM_NLIMITS; i++)
		getrlimit(i, &all[i]);
	limits_take(all, &has);
	assert_int_equal(root_open(&proc, "/proc"), 0);
	assert_int_equal(limits_read(&proc, getpid(), &read), 0);
	root_close(&proc);
	assert_memory_equal(&has, &read, sizeof has);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(soft_limits_are_found_by_name),
		cmocka_unit_test(the_kernel_prints_what_a_process_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
