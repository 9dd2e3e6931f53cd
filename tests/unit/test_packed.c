/* SPDX-License-Identifier: Apache-2.0 */
#include "base/packed.h"
#include "base/text/textfile.h"
#include "report/assets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char asset_events[], asset_events_end[];

static int append(void *ctx, const char *path, const char *text, size_t len, struct err *e)
{
	(void)path;
	(void)e;
	bytes_put(ctx, text, len);
	return 0;
}

/* The files of the folder NAME with the ending .NAME, in the order of their names. */
static void read_folder(const char *name, struct bytes *out)
{
	const char *top = getenv("TOP");
	char path[4096], ending[32];
	struct textfiles files = { .what = name,
				   .ending = ending,
				   .most = ENTRIES_BYTES_MAX,
				   .take = append,
				   .ctx = out };
	struct err e = { "" };

	snprintf(path, sizeof path, "%s/%s", top ? top : ".", name);
	snprintf(ending, sizeof ending, ".%s", name);
	if (textfiles_read(&files, path, &e))
		fail_msg("%s", e.text);
}

static void all_files_are_in_the_program(void **state)
{
	const struct {
		const char *name, *packed, *end;
	} texts[] = {
		{ "rules", asset_rules, asset_rules_end },
		{ "classes", asset_classes, asset_classes_end },
		{ "events", asset_events, asset_events_end },
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct bytes files = { 0 }, own = { 0 };

		read_folder(texts[i].name, &files);
		packed_put(&own, texts[i].packed, texts[i].end);
		assert_false(own.failed);
		assert_int_equal(own.len, files.len);
		assert_int_equal(packed_length(texts[i].packed, texts[i].end), files.len);
		assert_memory_equal(own.data, files.data, files.len);
		assert_true((size_t)(texts[i].end - texts[i].packed) < files.len / 2);
		bytes_free(&files);
		bytes_free(&own);
	}
}

static void text_is_appended(void **state)
{
	struct bytes out = { 0 };

	(void)state;
	bytes_puts(&out, "before");
	packed_put(&out, asset_uplot_licence, asset_uplot_licence_end);
	assert_false(out.failed);
	assert_memory_equal(out.data, "before", strlen("before"));
	assert_int_equal(out.len, strlen("before") + packed_length(asset_uplot_licence,
								   asset_uplot_licence_end));
	bytes_free(&out);
}

static void what_is_not_whole_is_none(void **state)
{
	size_t n = (size_t)(asset_rules_end - asset_rules);
	const size_t lengths[] = { 0, 1, 8, n / 2, n - 1 };

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		struct bytes out = { 0 };

		packed_put(&out, asset_rules, asset_rules + lengths[i]);
		assert_true(out.failed);
		assert_int_equal(out.len, 0);
		bytes_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_files_are_in_the_program),
		cmocka_unit_test(text_is_appended),
		cmocka_unit_test(what_is_not_whole_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
