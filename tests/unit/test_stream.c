/* SPDX-License-Identifier: Apache-2.0 */
/* What goes to a helper comes out as it was; what no writer makes is refused. */
#include "sink/foreign.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 3, COLUMNS = 4 };

static const struct column columns[COLUMNS] = { { "name", COLUMN_TEXT, "", "Who.", NULL },
						{ "n", COLUMN_INT, "count", "", "counter" },
						{ "v", COLUMN_REAL, "bytes", "How much.", "gauge" },
						{ "at\xff", COLUMN_TIME, "", "", NULL } };
static const char *const clean_names[COLUMNS] = { "name", "n", "v", "at\xef\xbf\xbd" };
static const struct column metrics[] = { { "a.b", COLUMN_REAL, "bytes", "What.", "total" } };
static const struct frame_schema schema = { .table = "series",
					    .ncolumns = COLUMNS,
					    .columns = columns,
					    .nmetrics = 1,
					    .metrics = metrics };
static const char *text[ROWS] = { "plain", "", "plain" };
static const char *later[ROWS] = { "new", "plain", "bad\xff" };
static int64_t whole[ROWS] = { INT64_MIN, 0, INT64_MAX };
static double real[ROWS] = { -0.0, 1e308, 5e-324 };
static uint8_t all[ROWS] = { 1, 1, 1 }, some[ROWS] = { 1, 0, 1 };

static struct batch batch_of(struct cells *c, const char **names)
{
	c[0] = (struct cells){ .s = names, .state = all };
	c[1] = (struct cells){ .i = whole, .state = some };
	c[2] = (struct cells){ .d = real, .state = all };
	c[3] = (struct cells){ .i = whole, .state = some };
	return (struct batch){ ROWS, c };
}

static int give(struct stream_reader *r, const struct stream_writer *w)
{
	struct err e = { "" };
	int rc = stream_get(r, (enum stream_kind)w->block.data[0], w->block.data + STREAM_HEAD,
			    w->block.len - STREAM_HEAD, &e);

	assert_int_equal(w->block.data[4] | w->block.data[5] << 8, w->block.len - STREAM_HEAD);
	assert_int_equal(e.text[0] != '\0', rc != 0);
	return rc;
}

static void check_schema(const struct frame_schema *s)
{
	assert_string_equal(s->table, "series");
	assert_int_equal(s->ncolumns, COLUMNS);
	for (int i = 0; i < COLUMNS; i++) {
		assert_string_equal(s->columns[i].name, clean_names[i]);
		assert_string_equal(s->columns[i].unit, columns[i].unit);
		assert_string_equal(s->columns[i].help, columns[i].help);
		assert_int_equal(s->columns[i].type, columns[i].type);
		if (columns[i].kind)
			assert_string_equal(s->columns[i].kind, columns[i].kind);
		else
			assert_null(s->columns[i].kind);
	}
	assert_int_equal(s->nmetrics, 1);
	assert_string_equal(s->metrics[0].kind, "total");
}

static void check_batch(const struct batch *b, const char *const *names)
{
	assert_int_equal(b->nrows, ROWS);
	for (int i = 0; i < ROWS; i++) {
		assert_string_equal(b->columns[0].s[i], names[i]);
		assert_int_equal(b->columns[1].state[i] == STATE_PRESENT, some[i]);
		assert_memory_equal(&b->columns[2].d[i], &real[i], sizeof(double));
		if (some[i])
			assert_int_equal(b->columns[3].i[i], whole[i]);
	}
}

static void test_round_trip(void **state)
{
	static const char *const clean[ROWS] = { "new", "plain", "bad\xef\xbf\xbd" };
	struct stream_writer *w = calloc(1, sizeof(*w));
	struct stream_reader r = { 0 };
	struct cells cells[COLUMNS];
	struct batch b = batch_of(cells, text);
	const char *plain;

	(void)state;
	assert_int_equal(stream_put_schema(w, &schema, NULL), 0);
	assert_int_equal(give(&r, w), 0);
	check_schema(&r.schema);
	assert_int_equal(stream_put_batch(w, &b, NULL), 0);
	assert_int_equal(give(&r, w), 0);
	check_batch(&r.batch, text);
	plain = r.batch.columns[0].s[0];
	assert_ptr_equal(r.batch.columns[0].s[2], plain);
	assert_int_equal(stream_number(plain), 1);
	assert_int_equal(stream_number(r.batch.columns[0].s[1]), 2);
	/* Texts are sent once, and stay where they are. */
	b = batch_of(cells, later);
	assert_int_equal(stream_put_batch(w, &b, NULL), 0);
	assert_null(memmem(w->block.data, w->block.len, "plain", 5));
	assert_int_equal(give(&r, w), 0);
	check_batch(&r.batch, clean);
	assert_ptr_equal(r.batch.columns[0].s[1], plain);
	assert_int_equal(stream_put_end(w, NULL), 0);
	assert_int_equal(give(&r, w), 0);
	stream_writer_free(w);
	stream_reader_free(&r);
	free(w);
}

/* A batch that is cut anywhere, or has more than it should, is refused. */
static void test_cut_and_lengthened(void **state)
{
	struct stream_writer *w = calloc(1, sizeof(*w));
	struct cells cells[COLUMNS];
	struct batch b = batch_of(cells, text);

	(void)state;
	for (int second = 0; second < 2; second++) {
		size_t whole_length = SIZE_MAX;

		for (size_t n = 0; n < whole_length; n++) {
			struct stream_reader r = { 0 };
			uint8_t *copy;

			dictionary_free(&w->texts);
			w->known = 0;
			assert_int_equal(stream_put_schema(w, &schema, NULL), 0);
			if (second) {
				assert_int_equal(give(&r, w), 0);
				assert_int_equal(stream_put_batch(w, &b, NULL), 0);
			}
			whole_length = w->block.len - STREAM_HEAD;
			copy = malloc(n + 1); /* so that a sanitizer sees what is read behind it */
			memcpy(copy, w->block.data + STREAM_HEAD, n);
			assert_int_equal(
				stream_get(&r, (enum stream_kind)w->block.data[0], copy, n, NULL),
				-EPROTO);
			free(copy);
			stream_reader_free(&r);
		}
	}
	stream_writer_free(w);
	free(w);
}

static void test_order_and_kinds(void **state)
{
	struct stream_writer *w = calloc(1, sizeof(*w));
	struct stream_reader r = { 0 };
	struct cells cells[COLUMNS];
	struct batch b = batch_of(cells, text);

	(void)state;
	assert_int_equal(stream_put_end(w, NULL), 0);
	assert_int_equal(give(&r, w), -EPROTO);
	assert_int_equal(stream_put_schema(w, &schema, NULL), 0);
	assert_int_equal(give(&r, w), 0);
	assert_int_equal(give(&r, w), -EPROTO);
	assert_int_equal(stream_put_batch(w, &b, NULL), 0);
	w->block.data[w->block.len - 1 - (size_t)ROWS * (9 + 8 + 9 + 1)] =
		0xff; /* a text's number */
	assert_int_equal(give(&r, w), -EPROTO);
	assert_int_equal(stream_get(&r, (enum stream_kind)9, NULL, 0, NULL), -EPROTO);
	stream_writer_free(w);
	stream_reader_free(&r);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_cut_and_lengthened),
		cmocka_unit_test(test_order_and_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
