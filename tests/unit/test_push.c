/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/json_read.h"
#include "push/http.h"
#include "push/journal.h"
#include "push/mlflow_batch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_addresses_lose_their_passwords(void **state)
{
	static const struct {
		const char *text, *url, *shown, *user, *password;
	} good[] = {
		{ "http://host", "http://host", "http://host", "", "" },
		{ "HTTPS://h:8443/a/b//", "HTTPS://h:8443/a/b", "HTTPS://h:8443/a/b", "", "" },
		{ "http://u:p@h:1/x?key=s", "http://h:1/x?key=s", "http://h:1/x", "u", "p" },
		{ "http://u%40d:a:b%2F@h/", "http://h", "http://h", "u@d", "a:b/" },
		{ "http://u:p@q@[::1]:5", "http://[::1]:5", "http://[::1]:5", "u", "p@q" },
		{ "http://h/@x", "http://h/@x", "http://h/@x", "", "" },
	};
	static const char *const bad[] = {
		"",           "host",        "ftp://h",      "http://",
		"http:///x",  "http://u:p@", "http://u%4@h", "http://u%00@h",
		"http://a b", "http://h/\n", "http://h#x"
	};
	struct address a;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		assert_int_equal(address_parse(&a, good[i].text, "IT", &e), 0);
		assert_string_equal(a.url, good[i].url);
		assert_string_equal(a.shown, good[i].shown);
		assert_string_equal(a.user, good[i].user);
		assert_string_equal(a.password, good[i].password);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_not_equal(address_parse(&a, bad[i], "IT", &e), 0);
		assert_int_equal(strncmp(e.text, "IT ", 3), 0);
	}
}

static void test_pauses_double_and_heed_the_server(void **state)
{
	int64_t before = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		int64_t least = http_pause_ns(i, 0, 0), most = http_pause_ns(i, 0, UINT32_MAX);

		assert_true(least >= before && least >= NS_PER_S / 4);
		assert_true(most <= 2 * least && most <= 30 * NS_PER_S);
		before = least;
	}
	assert_int_equal(http_pause_ns(0, 77, 0), 77 * NS_PER_S);
	assert_true(http_is_passing(0) && http_is_passing(429) && http_is_passing(503));
	assert_false(http_is_passing(200) || http_is_passing(404) || http_is_passing(401));
}

static void test_json_texts_are_found(void **state)
{
	static const char document[] =
		" {\"a\":[1,{\"b\":\"no\"}], \"run\" : {\"x\":null,\"info\":{\"id\":\"\\u00e4\\n\\ud83d\\ude00\","
		"\"n\":-1.5e3}}, \"runs\":[{\"info\":{\"id\":\"first\"}},{}] }";
	char out[32], small[4];

	(void)state;
#define FIND(path) json_read_text(document, sizeof document - 1, path, out, sizeof out)
	assert_true(FIND("run.info.id"));
	assert_string_equal(out, "ä\n😀");
	assert_true(FIND("run.info.n"));
	assert_string_equal(out, "-1.5e3");
	assert_true(FIND("runs.info.id"));
	assert_string_equal(out, "first");
	assert_false(FIND("run.x"));
	assert_false(FIND("run.info.zz"));
	assert_false(FIND("b"));
	assert_false(json_read_text(document, sizeof document - 1, "run.info.n", small, 4));
	for (size_t n = 0; n < 60; n++)
		assert_false(json_read_text(document, n, "runs.info.id", out, sizeof out));
	assert_false(json_read_text("{\"a\":\"\\u0000\"}", 14, "a", out, sizeof out));
	assert_false(json_read_text("{\"a\":\"\\ud800\"}", 14, "a", out, sizeof out));
	assert_false(json_read_text("{\"a\":\"\xff\"}", 9, "a", out, sizeof out));
}

static void test_journal_keeps_whole_lines(void **state)
{
	char directory[] = "journal.XXXXXX", text[32];
	struct journal j, other;
	struct err e;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(journal_open(&j, directory, "test", "http://h/a x", &e), 0);
	assert_int_equal(journal_open(&other, directory, "test", "http://h/a x", &e), -11);
	journal_close(&other);
	assert_int_equal(journal_open(&other, directory, "test", "http://h/b x", &e), 0);
	journal_close(&other);
	assert_int_equal(journal_add_number(&j, "batches", 7, &e), 0);
	assert_int_equal(journal_add(&j, "file", "a b", &e), 0);
	assert_int_equal(journal_add_number(&j, "batches", 8, &e), 0);
	journal_close(&j);
	fd = open(j.path, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "batches 9", 9), 9); /* killed */
	close(fd);
	assert_int_equal(journal_open(&j, directory, "test", "http://h/a x", &e), 0);
	assert_int_equal(journal_number(&j, "batches"), 8);
	assert_true(journal_has(&j, "file", "a b") && !journal_has(&j, "file", "a"));
	assert_false(journal_find(&j, "run", text, sizeof text));
	assert_int_equal(journal_add_number(&j, "batches", 10, &e), 0);
	journal_close(&j);
	assert_int_equal(journal_open(&j, directory, "test", "http://h/a x", &e), 0);
	assert_int_equal(journal_number(&j, "batches"), 10);
	journal_close(&j);
	assert_int_equal(journal_open(&j, "nowhere", "test", "x", &e), -2);
	assert_non_null(strstr(e.text, "--state"));
	journal_close(&j);
}

static void test_batches_stay_within_limits(void **state)
{
	static struct batch_tag tags[150];
	struct mlflow_batch b = { .run_id = "r", .tags = tags, .ntags = 150 };
	struct point p = { "key", 1, 2, 3 };
	uint32_t n = 0;

	(void)state;
	for (int i = 0; i < 150; i++) {
		tags[i].key[0] = 'k';
		tags[i].value[0] = '"';
	}
	for (; !mlflow_batch_full(&b); n++)
		mlflow_batch_point(&b, &p);
	assert_int_equal(n, BATCH_ITEMS - BATCH_TAGS);
	assert_true(mlflow_batch_close(&b));
	mlflow_batch_reset(&b);
	for (n = 0; !mlflow_batch_full(&b); n++)
		mlflow_batch_point(&b, &p);
	assert_int_equal(n, BATCH_ITEMS - 50);
	mlflow_batch_reset(&b);
	assert_false(mlflow_batch_close(&b));
	bytes_free(&b.body);
}

static void test_messages_come_back_as_they_were(void **state)
{
	const struct http_request q = { .method = "PUT",
					.url = "http://h",
					.token = "",
					.once = true,
					.timeout_s = 5,
					.body_length = UINT64_C(1) << 40 };
	struct bytes b = { 0 };
	struct http_request got;
	uint32_t length;

	(void)state;
	wire_put_request(&b, &q);
	assert_true(wire_head(b.data, true, WIRE_MESSAGE_MAX, &length));
	assert_false(wire_head(b.data, false, WIRE_MESSAGE_MAX, &length));
	assert_true(wire_get_request(&got, b.data + WIRE_HEAD, length));
	assert_string_equal(got.url, "http://h");
	assert_string_equal(got.token, "");
	assert_null(got.user);
	assert_true(got.once && !got.insecure && got.timeout_s == 5 && got.body_length >> 40 == 1);
	for (uint32_t n = 0; n < length; n++)
		assert_false(wire_get_request(&got, b.data + WIRE_HEAD, n));
	bytes_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses_lose_their_passwords),
		cmocka_unit_test(test_pauses_double_and_heed_the_server),
		cmocka_unit_test(test_json_texts_are_found),
		cmocka_unit_test(test_journal_keeps_whole_lines),
		cmocka_unit_test(test_batches_stay_within_limits),
		cmocka_unit_test(test_messages_come_back_as_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
