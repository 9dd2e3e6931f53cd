/* SPDX-License-Identifier: Apache-2.0 */
/* Records of code come out of their block as they went in; damaged ones are refused. */
#include "recording/codeblock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recording/record.h"

enum { ROOM = 1 << 20, FRAMES = 3000, MANY = 20000 };

struct fixture {
	struct codeblock c;
	struct compressor z;
	struct expander x;
	struct bytes out, got;
};

static int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	*state = f;
	return !f || codeblock_init(&f->c, ROOM) || compressor_init(&f->z) || expander_init(&f->x);
}

static int end(void **state)
{
	struct fixture *f = *state;

	codeblock_free(&f->c);
	compressor_free(&f->z);
	expander_free(&f->x);
	bytes_free(&f->out);
	bytes_free(&f->got);
	free(f);
	return 0;
}

static void put(struct fixture *f, const struct event *e)
{
	struct event with_node = *e;
	size_t start = f->c.records.len;

	with_node.node = e->node ? e->node : 1;
	record_put(&f->c.records, &with_node, 0);
	assert_false(f->c.records.failed);
	assert_true(codeblock_takes(f->c.records.data + start, f->c.records.len - start));
}

static void put_frames(struct fixture *f, uint32_t n)
{
	static const char *const names[] = { "main", "", "f<\xff>", "a function of a long name" };

	for (uint32_t i = 0; i < n; i++)
		put(f, &(struct event){ .kind = EVENT_FRAME,
					.id = i + 1,
					.parent = i % 3,
					.count = i % 50,
					.mask = i % 7 ? 0 : i,
					.value = (int64_t)(i * UINT64_C(0x9e3779b97f4a7c15)),
					.flags = i % 11 == 0,
					.name = names[i % 4],
					.text = i % 5 ? "src/file.c" : "" });
}

static void put_all(struct fixture *f)
{
	struct event_item items[4] = {
		{ 0, 7, 0 }, { 1, UINT32_MAX, 0 }, { UINT32_MAX, 0, 0 }, { 5, 5, UINT64_MAX }
	};

	put(f, &(struct event){ .kind = EVENT_MODULE, .id = 1, .name = "/bin/a", .text = "00ff" });
	put(f, &(struct event){ .kind = EVENT_MODULE, .id = UINT32_MAX, .node = 9, .name = "" });
	put_frames(f, FRAMES);
	put(f, &(struct event){ .kind = EVENT_STACKS, .id = 1, .count = 4, .items = items });
	put(f, &(struct event){ .kind = EVENT_STACKS, .id = 5, .items = items });
	put(f, &(struct event){ .kind = EVENT_SAMPLES,
				.parent = 3,
				.count = 3,
				.items = items,
				.name = "main",
				.value = INT64_MIN,
				.t0 = INT64_MAX,
				.t1 = -5 });
	put(f, &(struct event){ .kind = EVENT_SAMPLES, .count = 1, .items = items + 3, .t1 = 7 });
}

static int get(struct fixture *f, size_t n)
{
	struct block b = { .payload = f->out.data, .length = (uint32_t)n };
	uint64_t generation;
	int rc = codeblock_get(&b, &f->x, &generation, ROOM, &f->got);

	assert_true(rc || generation == 42);
	return rc;
}

static void comes_back(void **state)
{
	struct fixture *f = *state;

	put_all(f);
	codeblock_put(&f->out, &f->z, &f->c, 42);
	assert_int_equal(get(f, f->out.len), 0);
	assert_int_equal(f->got.len, f->c.records.len);
	assert_memory_equal(f->got.data, f->c.records.data, f->got.len);

	/* And again, with nothing left of what was before. */
	bytes_reset(&f->c.records);
	bytes_reset(&f->out);
	put_frames(f, 2);
	codeblock_put(&f->out, &f->z, &f->c, 42);
	assert_int_equal(get(f, f->out.len), 0);
	assert_memory_equal(f->got.data, f->c.records.data, f->c.records.len);
}

/* More different texts than are remembered. */
static void many_texts_come_back(void **state)
{
	struct fixture *f = *state;
	char name[16];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "f%d", i < MANY - 10 ? i : i % 5);
		put(f, &(struct event){ .kind = EVENT_FRAME, .id = 1, .name = name });
	}
	codeblock_put(&f->out, &f->z, &f->c, 42);
	assert_int_equal(get(f, f->out.len), 0);
	assert_int_equal(f->got.len, f->c.records.len);
	assert_memory_equal(f->got.data, f->c.records.data, f->got.len);
}

/* Each text once, and smaller than a section of the records as they are. */
static void is_small(void **state)
{
	struct fixture *f = *state;
	struct bytes plain = { 0 };

	put_frames(f, FRAMES);
	codeblock_put(&f->out, &f->z, &f->c, 42);
	section_put(&plain, &f->z, f->c.records.data, f->c.records.len);
	assert_true(f->c.texts.len < 60);
	assert_true(f->out.len < plain.len);
	bytes_free(&plain);
}

static void others_are_not_taken(void **state)
{
	struct bytes b = { 0 };

	(void)state;
	record_put(&b, &(struct event){ .kind = EVENT_META, .node = 1, .name = "a" }, 0);
	assert_false(codeblock_takes(b.data, b.len));
	bytes_reset(&b);
	record_put(&b, &(struct event){ .kind = EVENT_FRAME, .node = 1, .domain = "d" }, 0);
	assert_false(codeblock_takes(b.data, b.len));
	bytes_reset(&b);
	bytes_put(&b, "\6\31\200\200\200\20\1", 7); /* a field of a later Sonde */
	assert_false(codeblock_takes(b.data, b.len));
	assert_false(codeblock_takes(b.data, 1));
	bytes_free(&b);
}

static void damaged_ones_are_refused(void **state)
{
	struct fixture *f = *state;
	int refused = 0;

	put_frames(f, 20); /* too little to be compressed: the columns lie bare */
	put(f, &(struct event){ .kind = EVENT_MODULE, .id = 1, .name = "/bin/a" });
	codeblock_put(&f->out, &f->z, &f->c, 42);
	for (size_t n = 1; n < f->out.len; n++)
		assert_int_equal(get(f, n), -EBADMSG);
	for (size_t i = 1; i < f->out.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			f->out.data[i] ^= (uint8_t)(1 << bit);
			refused += get(f, f->out.len) != 0;
			f->out.data[i] ^= (uint8_t)(1 << bit);
		}
	assert_true(refused > 100);
}

/* A column of one byte a record, and a text that all of them have. */
static void what_grows_too_large_is_refused(void **state)
{
	struct fixture *f = *state;
	static char text[4096];

	memset(text, 'x', sizeof text - 1);
	for (int i = 0; i < 250; i++)
		put(f, &(struct event){ .kind = EVENT_FRAME, .id = 1, .name = text });
	codeblock_put(&f->out, &f->z, &f->c, 42);
	assert_int_equal(get(f, f->out.len), 0);
	{
		struct block b = { .payload = f->out.data, .length = (uint32_t)f->out.len };
		uint64_t generation;

		assert_int_equal(codeblock_get(&b, &f->x, &generation, ROOM / 2, &f->got),
				 -EBADMSG);
		assert_true(f->got.cap <= 2 * ROOM);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(comes_back),
		TEST(many_texts_come_back),
		TEST(is_small),
		TEST(others_are_not_taken),
		TEST(damaged_ones_are_refused),
		TEST(what_grows_too_large_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
