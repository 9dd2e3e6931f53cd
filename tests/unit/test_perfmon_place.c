/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfmon/aside.h"

static void assert_place(const struct perfmon_names *n, const char *save_dir, const char *directory)
{
	struct perfmon_place p;
	struct err e = { "" };

	if (perfmon_place_find(&p, n, &e))
		fail_msg("%s", e.text);
	assert_string_equal(p.save_dir, save_dir);
	assert_string_equal(p.directory, directory);
}

static void it_is_here_unless_told(void **state)
{
	char here[PATH_MAX], below[PATH_MAX + 16];

	(void)state;
	assert_non_null(getcwd(here, sizeof here));
	snprintf(below, sizeof below, "%s/a/b", here);
	assert_place(&(struct perfmon_names){ 0 }, here, here);
	assert_place(&(struct perfmon_names){ .save_dir = "", .prefix = "" }, here, here);
	assert_place(&(struct perfmon_names){ .save_dir = "a/b" }, below, below);
	assert_place(&(struct perfmon_names){ .save_dir = "/x", .prefix = "4711" }, "/x",
		     "/x/4711");
}

static void home_and_variables_are_replaced(void **state)
{
	(void)state;
	setenv("HOME", "/their/house", 1);
	setenv("PLACE_1", "one", 1);
	unsetenv("PLACE_2");
	assert_place(&(struct perfmon_names){ .save_dir = "~" }, "/their/house", "/their/house");
	assert_place(&(struct perfmon_names){ .save_dir = "~/x" }, "/their/house/x",
		     "/their/house/x");
	assert_place(&(struct perfmon_names){ .save_dir = "/~/~x" }, "/~/~x", "/~/~x");
	assert_place(&(struct perfmon_names){ .save_dir = "$HOME/$PLACE_1-${PLACE_1}0" },
		     "/their/house/one-one0", "/their/house/one-one0");
	assert_place(&(struct perfmon_names){ .save_dir = "/$PLACE_2/${PLACE_2}/${PLACE_1/$" },
		     "/$PLACE_2/${PLACE_2}/${PLACE_1/$", "/$PLACE_2/${PLACE_2}/${PLACE_1/$");
}

static void a_benchmark_test_has_a_place_of_its_own(void **state)
{
	struct perfmon_names n = { .save_dir = "/x",
				   .system = "juwels",
				   .partition = "gpu",
				   .env = "gcc-9",
				   .name = "iotest" };
	struct perfmon_place p;

	(void)state;
	assert_place(&n, "/x", "/x/perfmetrics/juwels/gpu/gcc-9/iotest");
	n.prefix = "1";
	assert_place(&n, "/x", "/x/1/perfmetrics/juwels/gpu/gcc-9/iotest");
	assert_int_equal(perfmon_place_find(&p, &n, NULL), 0);
	assert_true(p.benchmark);
	assert_int_equal(perfmon_place_find(&p, &(struct perfmon_names){ 0 }, NULL), 0);
	assert_false(p.benchmark);
}

static void names_that_are_missing_or_none_are_refused(void **state)
{
	struct perfmon_names n = { .system = "a", .partition = "b", .env = "c" };
	struct perfmon_place p;
	struct err e = { "" };

	(void)state;
	assert_int_equal(perfmon_place_find(&p, &n, &e), -EINVAL);
	assert_non_null(strstr(e.text, "--name"));
	n.name = "..";
	assert_int_equal(perfmon_place_find(&p, &n, &e), -EINVAL);
	n.name = "a/b";
	assert_int_equal(perfmon_place_find(&p, &n, &e), -EINVAL);
}

static void a_name_that_is_too_long_is_refused(void **state)
{
	static char name[PATH_MAX + 10];
	struct perfmon_place p;
	struct err e = { "" };

	(void)state;
	memset(name, 'x', sizeof name - 1);
	assert_int_equal(perfmon_place_find(&p, &(struct perfmon_names){ .save_dir = name }, &e),
			 -ENAMETOOLONG);
	assert_int_equal(perfmon_place_find(&p, &(struct perfmon_names){ .prefix = name }, &e),
			 -ENAMETOOLONG);
}

static void directories_are_made_for_their_owner(void **state)
{
	struct perfmon_place p;
	struct err e = { "" };
	struct stat st;
	FILE *f;

	(void)state;
	assert_int_equal(
		perfmon_place_find(
			&p, &(struct perfmon_names){ .save_dir = "made", .prefix = "a/b" }, NULL),
		0);
	assert_int_equal(perfmon_place_make(&p, &e), 0);
	assert_int_equal(perfmon_place_make(&p, &e), 0);
	assert_int_equal(stat("made/a/b", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	f = fopen("made/file", "we");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(perfmon_place_find(
				 &p,
				 &(struct perfmon_names){ .save_dir = "made", .prefix = "file/b" },
				 NULL),
			 0);
	assert_int_equal(perfmon_place_make(&p, &e), -ENOTDIR);
	assert_non_null(strstr(e.text, "-d"));
}

/* Without the time, which changes. */
static void assert_logged(const char *path, const char *wanted)
{
	char line[4096] = "";
	FILE *f = fopen(path, "re");
	unsigned y, m, d, h, min, s;
	int n = 0;

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof line, f));
	fclose(f);
	assert_int_equal(sscanf(line, "%4u-%2u-%2u %2u:%2u:%2u%n", &y, &m, &d, &h, &min, &s, &n),
			 6);
	assert_int_equal(n, 19);
	assert_string_equal(line + n, wanted);
}

static void a_line_has_perfmons_form(void **state)
{
	struct logfile l;

	(void)state;
	assert_int_equal(logfile_open(&l, ".", "n1", false, NULL), 0);
	log_debug(&l, "not written");
	logfile_write(&l, LEVEL_WARNING, "begin", 42, "one\ntwo %s", "\033[1m");
	logfile_close(&l);
	assert_logged("ska_sdp_monitoring_metrics.log",
		      " | WARNING | n1 | sonde.perfmon:begin | 42 | one\\ntwo \\x1b[1m\n");
	assert_int_equal(logfile_open(&l, ".", "n1", true, NULL), 0);
	logfile_write(&l, LEVEL_DEBUG, "begin", 43, "all");
	logfile_close(&l);
	assert_logged("ska_sdp_monitoring_metrics_n1.log",
		      " | DEBUG | n1 | sonde.perfmon:begin | 43 | all\n");
	log_info(&l, "it is closed");
}

static void a_log_that_cannot_be_had_is_said(void **state)
{
	struct logfile l;
	struct err e = { "" };

	(void)state;
	assert_int_equal(logfile_open(&l, "not/there", "n1", false, &e), -ENOENT);
	assert_non_null(strstr(e.text, "not/there/ska_sdp_monitoring_metrics.log"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_here_unless_told),
		cmocka_unit_test(home_and_variables_are_replaced),
		cmocka_unit_test(a_benchmark_test_has_a_place_of_its_own),
		cmocka_unit_test(names_that_are_missing_or_none_are_refused),
		cmocka_unit_test(a_name_that_is_too_long_is_refused),
		cmocka_unit_test(directories_are_made_for_their_owner),
		cmocka_unit_test(a_line_has_perfmons_form),
		cmocka_unit_test(a_log_that_cannot_be_had_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
