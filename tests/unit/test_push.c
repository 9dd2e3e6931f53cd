/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/text/jsondoc.h"
#include "push/http.h"
#include "push/journal.h"
#include "push/mlflow_points.h"
#include "push/remote_write.h"
#include "push/table.h"

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
		{ "http://h/%40x", "http://h/%40x", "http://h/%40x", "", "" },
	};
	static const char *const bad[] = { "",
					   "host",
					   "ftp://h",
					   "http://",
					   "http:///x",
					   "http://u:p@",
					   "http://u%4@h",
					   "http://u%00@h",
					   "http://a b",
					   "http://h/\n",
					   "http://h#x",
					   "http://h/@x",
					   "http://u:1/p@h",
					   "http://u:p?p@h",
					   "http://u:p@p/p@h" };
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
	assert_false(FIND("run.info.n"));
	assert_true(FIND("runs.info.id"));
	assert_string_equal(out, "first");
	assert_false(FIND("run.x"));
	assert_false(FIND("run.info.zz"));
	assert_false(FIND("b"));
	assert_false(json_read_text(document, sizeof document - 1, "runs.info.id", small, 4));
	for (size_t n = 0; n < 60; n++)
		assert_false(json_read_text(document, n, "runs.info.id", out, sizeof out));
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
					.header = "A: 1\nB: 2",
					.wanted = "x-",
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
	assert_string_equal(got.header, "A: 1\nB: 2");
	assert_string_equal(got.wanted, "x-");
	assert_null(got.user);
	assert_true(got.once && !got.insecure && got.timeout_s == 5 && got.body_length >> 40 == 1);
	for (uint32_t n = 0; n < length; n++)
		assert_false(wire_get_request(&got, b.data + WIRE_HEAD, n));
	bytes_free(&b);
}

static void test_answers_come_back_as_they_were(void **state)
{
	const struct http_answer a = { .status = 200,
				       .retry_after_s = 7,
				       .header = "x-a: b\n",
				       .text = "hello",
				       .length = 5 };
	struct bytes b = { 0 };
	struct http_answer got;
	uint32_t length;

	(void)state;
	wire_put_answer(&b, &a);
	bytes_u8(&b, 0);
	assert_true(wire_head(b.data, false, WIRE_ANSWER_MAX, &length));
	assert_true(wire_get_answer(&got, b.data + WIRE_HEAD, length));
	assert_true(got.status == 200 && got.retry_after_s == 7 && got.length == 5);
	assert_string_equal(got.header, "x-a: b\n");
	assert_string_equal(got.text, "hello");
	for (uint32_t n = 0; n < 16; n++)
		assert_false(wire_get_answer(&got, b.data + WIRE_HEAD, n));
	bytes_free(&b);
}

static const char *nothing_set(const char *name)
{
	(void)name;
	return NULL;
}

/* What Python's hmac makes of the strings that the service's description has. */
static void test_requests_to_tables_are_signed(void **state)
{
	struct table_place place;
	struct table t = { .place = &place, .account = "testaccount1" };
	struct bytes out = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(table_place_of_url(&place, "https://testaccount1.table.core.windows.net/T",
					    nothing_set, &e),
			 0);
	bytes_puts(&t.key, "key");
	assert_true(table_sign(&out, &t, "PUT", "application/json", "Sun, 11 Oct 2009 19:52:39 GMT",
			       "/T"));
	bytes_u8(&out, 0);
	assert_string_equal((char *)out.data, "tWAbPmfh7YBfk9IAnbf3J3U2aBKHfJuXgfD8f2OIck4=");
	bytes_reset(&out);
	place.lite = true;
	assert_true(table_sign(&out, &t, "PUT", "application/json", "Sun, 11 Oct 2009 19:52:39 GMT",
			       "/T"));
	bytes_u8(&out, 0);
	assert_string_equal((char *)out.data, "JiBeFL/jbfCA3kkXoLKUqaDS6HsKmB6Hbx4o/2SjPXg=");
	bytes_free(&out);
	bytes_free(&t.key);
}

/* As the format's description has it, by another hand: literals, and copies of all three kinds. */
static size_t expand(const uint8_t *in, size_t n, uint8_t *out, size_t size)
{
	struct scan s = { .at = in, .end = in + n };
	size_t want = (size_t)scan_varint(&s), at = 0;

	while (s.at < s.end && !s.bad) {
		uint8_t tag = scan_u8(&s);
		size_t length = (tag >> 2) + 1u, offset;

		if ((tag & 3) == 0) {
			if (length > 60) {
				unsigned more = (unsigned)length - 60;

				length = 1;
				for (unsigned i = 0; i < more; i++)
					length += (size_t)scan_u8(&s) << 8 * i;
			}
			assert_true(at + length <= size);
			memcpy(out + at, scan_take(&s, length), length);
		} else {
			assert_int_equal(tag & 3, 2);
			offset = scan_u8(&s);
			offset |= (size_t)scan_u8(&s) << 8;
			assert_true(offset && offset <= at && at + length <= size);
			for (size_t i = 0; i < length; i++)
				out[at + i] = out[at + i - offset];
		}
		at += length;
	}
	assert_false(s.bad);
	assert_int_equal(at, want);
	return at;
}

static void test_snappy_expands_to_the_same(void **state)
{
	enum { SIZE = 200000 };
	uint8_t *data = malloc(SIZE), *back = malloc(SIZE);
	static const size_t sizes[] = {
		0, 1, 3, 4, 59, 60, 61, 62, 300, 65535, 65536, 65537, SIZE
	};
	uint32_t seed = 1;

	(void)state;
	for (unsigned alphabet = 1; alphabet <= 256; alphabet *= 4)
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			struct bytes out = { 0 };

			for (size_t k = 0; k < sizes[i]; k++) {
				seed = seed * 1664525 + 1013904223;
				data[k] = (uint8_t)((seed >> 16) % alphabet);
			}
			snappy_put(&out, data, sizes[i]);
			assert_false(out.failed);
			assert_true(out.len <= sizes[i] + 16 + sizes[i] / 1000);
			assert_true(alphabet > 1 || out.len <= 16 + sizes[i] / 16);
			assert_int_equal(expand(out.data, out.len, back, SIZE), sizes[i]);
			assert_memory_equal(data, back, sizes[i]);
			bytes_free(&out);
		}
	free(data);
	free(back);
}

/* ---- machines ---- */

static const char *tag_of(const struct batch_tag *tags, uint32_t n, const char *key)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(tags[i].key, key))
			return tags[i].value;
	return NULL;
}

static void test_machines_are_tags(void **state)
{
	char much[TAG_VALUE_SIZE];
	struct run_node nodes[] = { { 0 }, { .host = "a" }, { .host = "b" }, { .host = "c" } };
	struct run_meta metas[] = {
		{ 0 },
		{ 1, META_TEXT, "host.cpu_model", "Old CPU", { 0 } },
		{ 2, META_TEXT, "host.cpu_model", "New", { 0 } },
		{ 3, META_TEXT, "host.cpu_model", "New", { 0 } },
		{ 1, META_INT, "host.cores_count", NULL, { 64 } },
		{ 1, META_INT, "host.cpus_count", NULL, { 128 } },
		{ 2, META_INT, "host.cores_count", NULL, { 6 } },
		{ 3, META_INT, "host.cores_count", NULL, { 64 } },
		{ 1, META_TEXT, "host.gpu0.model", "GPU", { 0 } },
		{ 2, META_TEXT, "host.gpu0.model", much, { 0 } },
		{ 3, META_TEXT, "host.gpu0.model", "GPU 2", { 0 } },
	};
	const struct run run = { .nodes = nodes,
				 .nnodes = 4,
				 .metas = metas,
				 .nmetas = sizeof metas / sizeof metas[0] };
	struct batch_tag *tags = test_calloc(1 + PLATFORM_TAGS, sizeof *tags);
	uint32_t n = 1;

	(void)state;
	memset(much, 'x', sizeof much - 1);
	much[sizeof much - 1] = 0;
	assert_int_equal(mlflow_platform_tags(&run, tags, &n), 0);
	assert_int_equal(n, 6);
	assert_string_equal(tag_of(tags, n, "sonde.platform.cpu_model"), "Old CPU; New");
	assert_string_equal(tag_of(tags, n, "sonde.platform.cores_count"), "64; 6");
	assert_string_equal(tag_of(tags, n, "sonde.platform.cpus_count"), "128");
	assert_string_equal(tag_of(tags, n, "sonde.platform.gpu_model"), "GPU; GPU 2");
	assert_string_equal(tag_of(tags, n, "sonde.platform"), "Old CPU | New");
	assert_null(tag_of(tags, n, "sonde.platform.memory_bytes"));
	assert_string_equal(tags[0].key, "");
	test_free(tags);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses_lose_their_passwords),
		cmocka_unit_test(test_pauses_double_and_heed_the_server),
		cmocka_unit_test(test_json_texts_are_found),
		cmocka_unit_test(test_journal_keeps_whole_lines),
		cmocka_unit_test(test_batches_stay_within_limits),
		cmocka_unit_test(test_snappy_expands_to_the_same),
		cmocka_unit_test(test_messages_come_back_as_they_were),
		cmocka_unit_test(test_answers_come_back_as_they_were),
		cmocka_unit_test(test_requests_to_tables_are_signed),
		cmocka_unit_test(test_machines_are_tags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
