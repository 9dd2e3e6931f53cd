/* SPDX-License-Identifier: Apache-2.0 */
/* What the formats that store columns are made of: dictionaries, pages, packed numbers. */
#include "sink/columnar/column.h"
#include "sink/columnar/parquet.h"
#include "unit/sink_text.h"

static uint32_t code_of(struct dictionary *d, const char *text)
{
	uint32_t code;

	assert_int_equal(dictionary_text(d, text, &code), 0);
	return code;
}

static void test_texts_are_in_once_and_in_utf8(void **state)
{
	struct dictionary d = { 0 };
	uint32_t n;

	(void)state;
	assert_int_equal(code_of(&d, "a"), 0);
	assert_int_equal(code_of(&d, ""), 1);
	assert_int_equal(code_of(&d, "\xff"), 2);
	assert_int_equal(code_of(&d, "\xfe"), 2);
	assert_int_equal(code_of(&d, "\xef\xbf\xbd"), 2);
	assert_int_equal(code_of(&d, "a"), 0);
	assert_memory_equal(dictionary_get(&d, 2, &n), "\xef\xbf\xbd", 3);
	assert_int_equal(n, 3);
	assert_int_equal(d.n, 3);
	dictionary_empty(&d);
	assert_int_equal(code_of(&d, "\xff"), 0);
	dictionary_free(&d);
}

static void test_many_texts_and_numbers(void **state)
{
	struct dictionary texts = { 0 }, numbers = { 0 };
	char text[32];
	uint32_t code;

	(void)state;
	for (int again = 0; again < 2; again++)
		for (uint32_t i = 0; i < 100000; i++) {
			snprintf(text, sizeof(text), "sh#%u", i);
			assert_int_equal(code_of(&texts, text), i);
			assert_int_equal(dictionary_number(&numbers, (uint64_t)i << 32, &code), 0);
			assert_int_equal(code, i);
		}
	assert_int_equal(dictionary_size(&numbers), 800000);
	dictionary_free(&texts);
	dictionary_free(&numbers);
}

/* The same place may hold another text in the next batch. */
static void test_a_text_is_read_in_each_batch(void **state)
{
	static const struct column about = { .name = "name", .type = COLUMN_TEXT };
	const struct frame_schema schema = { .table = "t", .ncolumns = 1, .columns = &about };
	char text[8] = "one";
	const char *cells_text[2] = { text, text };
	uint8_t present[2] = { STATE_PRESENT, STATE_PRESENT };
	const struct cells cells = { .s = cells_text, .state = present };
	const struct batch b = { 2, &cells };
	struct columns c;
	uint32_t row = 0;

	(void)state;
	assert_int_equal(columns_open(&c, &schema, NULL), 0);
	assert_int_equal(columns_take(&c, &b, &row, NULL), 0);
	assert_int_equal(row, 2);
	snprintf(text, sizeof(text), "two");
	row = 0;
	present[1] = STATE_FAILED;
	assert_int_equal(columns_take(&c, &b, &row, NULL), 0);
	assert_int_equal(c.nrows, 4);
	assert_int_equal(c.column->code[1], 0);
	assert_int_equal(c.column->code[2], 1);
	assert_int_equal(c.column->nulls, 1);
	assert_int_equal(*c.column->valid, 7);
	columns_close(&c);
}

/* A page is smaller where there are many columns, and never larger than said. */
static void test_pages_are_bounded(void **state)
{
	static struct column about[20000];
	struct frame_schema schema = { .table = "t", .columns = about };
	const uint32_t ncolumns[] = { 1, 16, 17, 1000, 20000 };
	struct columns c;

	(void)state;
	for (size_t i = 0; i < sizeof(about) / sizeof(about[0]); i++)
		about[i] = (struct column){ .name = "x", .type = COLUMN_REAL };
	for (size_t i = 0; i < sizeof(ncolumns) / sizeof(ncolumns[0]); i++) {
		schema.ncolumns = ncolumns[i];
		assert_int_equal(columns_open(&c, &schema, NULL), 0);
		assert_true(c.room <= COLUMN_PAGE_ROWS && c.room >= 64 && c.room % 8 == 0);
		assert_true(c.room == COLUMN_PAGE_ROWS || c.room * ncolumns[i] <= 20000 * 256);
		columns_close(&c);
	}
}

/* An instant of so many rows is a batch of its own, which points at what the frame has. */
enum { DEVICES = 150, FEW = 20, INSTANTS = 500 };

static bool is_there(uint32_t device, uint32_t instant)
{
	if (instant % 5 == 0)
		return device < FEW;
	return instant % 7 || (device * 31 + instant) % 11 > 2;
}

static int64_t value_of(uint32_t device, uint32_t instant)
{
	return (int64_t)device * 1000 + instant;
}

static struct synth *large_instants(void)
{
	struct synth *s = synth_new(100);
	uint32_t m = synth_metric(s, (struct metric){ "disk.queue_count", "disk",
						      .unit = UNIT_COUNT, .kind = KIND_GAUGE });
	static char name[DEVICES][8];

	for (uint32_t i = 0; i < DEVICES; i++) {
		snprintf(name[i], sizeof name[i], "sd%u", i);
		synth_series(s, 1, m, synth_instance(s, "disk", name[i]));
	}
	for (uint32_t at = 0; at < INSTANTS; at++) {
		synth_row(s, 1, at);
		for (uint32_t i = 0; i < DEVICES; i++)
			if (is_there(i, at))
				synth_put(s, i + 1, value_of(i, at));
	}
	return s;
}

struct seen {
	struct columns c;
	uint8_t rows[INSTANTS][DEVICES];
};

static void assert_text(const struct seen *x, uint32_t column, uint32_t row, const char *wanted)
{
	const struct column_page *p = &x->c.column[column];
	uint32_t n;
	const char *text = dictionary_get(&p->texts, p->code[row], &n);

	assert_int_equal(n, strlen(wanted));
	assert_memory_equal(text, wanted, n);
}

static int check_page(void *state, struct err *e)
{
	enum { NODE, METRIC, INSTANCE, TIME, SECONDS, VALUE, UNIT, KIND, COLUMNS };
	struct seen *x = state;
	const struct column_page *p = x->c.column;

	(void)e;
	assert_int_equal(x->c.schema->ncolumns, COLUMNS);
	for (uint32_t row = 0; row < x->c.nrows; row++) {
		uint32_t at = (uint32_t)p[SECONDS].d[row];
		uint32_t device = (uint32_t)p[VALUE].d[row] / 1000;
		char name[16];

		assert_in_range(at, 0, INSTANTS - 1);
		assert_in_range(device, 0, DEVICES - 1);
		assert_true(p[VALUE].d[row] == (double)value_of(device, at));
		assert_int_equal(p[TIME].i[row], SYNTH_T0 + at * INT64_C(1000000000));
		snprintf(name, sizeof name, "sd%u", device);
		assert_text(x, NODE, row, "alpha");
		assert_text(x, METRIC, row, "disk.queue_count");
		assert_text(x, INSTANCE, row, name);
		assert_text(x, UNIT, row, "count");
		assert_text(x, KIND, row, "gauge");
		x->rows[at][device]++;
	}
	for (uint32_t i = 0; i < COLUMNS; i++)
		assert_int_equal(p[i].nulls, 0);
	columns_next_page(&x->c);
	return 0;
}

static void test_large_instants_arrive_whole(void **state)
{
	struct synth *s = large_instants();
	struct seen *x = calloc(1, sizeof *x);
	const struct selection sel = { 0 };
	struct err e = { "" };
	struct frame *f;
	struct batch b;

	(void)state;
	assert_int_equal(frame_open(&f, &s->run, &sel, &e), 0);
	assert_int_equal(columns_open(&x->c, frame_schema(f), &e), 0);
	while (frame_next(f, &b, &e) > 0)
		assert_int_equal(columns_batch(&x->c, &b, check_page, x, &e), 0);
	check_page(x, &e);
	for (uint32_t at = 0; at < INSTANTS; at++)
		for (uint32_t i = 0; i < DEVICES; i++)
			assert_int_equal(x->rows[at][i], is_there(i, at));
	columns_close(&x->c);
	frame_close(f);
	free(x);
	synth_free(s);
}

static void check_hybrid(const uint32_t *v, uint32_t n, const char *wanted, size_t size)
{
	struct bytes b = { 0 };

	hybrid_put(&b, v, n, 3);
	assert_int_equal(b.len, size);
	assert_memory_equal(b.data, wanted, size);
	bytes_free(&b);
}

static void test_runs_and_packed_numbers(void **state)
{
	/* The example of Parquet's specification. */
	static const uint32_t packed[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	uint32_t run[40] = { 1, 1 };
	struct bytes b = { 0 };

	(void)state;
	check_hybrid(packed, 8, "\x03\x88\xc6\xfa", 4);
	for (int i = 2; i < 40; i++)
		run[i] = 5;
	/* Eight packed, then 32 of 5. */
	check_hybrid(run, 40, "\x03\x49\xdb\xb6\x40\x05", 6);
	hybrid_bits(&b, (const uint8_t *)"\x05", 3, 1);
	hybrid_bits(&b, (const uint8_t *)"\x07", 3, 0);
	hybrid_bits(&b, (const uint8_t *)"\x00", 3, 3);
	assert_int_equal(b.len, 6);
	assert_memory_equal(b.data, "\x03\x05\x06\x01\x06\x00", 6);
	bytes_free(&b);
	assert_int_equal(hybrid_width(0), 1);
	assert_int_equal(hybrid_width(1), 1);
	assert_int_equal(hybrid_width(255), 8);
	assert_int_equal(hybrid_width(256), 9);
}

/* Bytes of a pickle of so many rows: a text of three or none, and a whole number up to most. */
static long pickle_size(uint32_t rows, int64_t most)
{
	static const struct column about[] = { { .name = "metric", .type = COLUMN_TEXT },
					       { .name = "count", .type = COLUMN_INT } };
	static const char *const texts[] = { "node.cpu_seconds", "job.cpu_seconds", "x" };
	const struct frame_schema schema = { .table = "t", .ncolumns = 2, .columns = about };
	static const char *text[FRAME_BATCH_ROWS];
	static int64_t whole[FRAME_BATCH_ROWS];
	static uint8_t present[FRAME_BATCH_ROWS], some[FRAME_BATCH_ROWS];
	const struct cells cells[] = { { .s = text, .state = some },
				       { .i = whole, .state = present } };
	const struct sink *k = sink_find("pickle");
	void *state = calloc(1, k->size);
	FILE *f = tmpfile();
	long size;

	for (uint32_t i = 0; i < FRAME_BATCH_ROWS; i++) {
		text[i] = texts[i % 3];
		whole[i] = i % 2 ? most : -1 - most;
		some[i] = i % 5 ? STATE_PRESENT : STATE_ABSENT;
		present[i] = STATE_PRESENT;
	}
	assert_int_equal(k->begin(state, &schema, f, NULL), 0);
	for (; rows; rows -= FRAME_BATCH_ROWS) {
		const struct batch b = { FRAME_BATCH_ROWS, cells };

		assert_int_equal(k->batch(state, &b, NULL), 0);
	}
	assert_int_equal(k->end(state, NULL), 0);
	size = ftell(f);
	k->free(state);
	free(state);
	fclose(f);
	return size;
}

/* As many as their page needs; pandas takes 2 bytes for a text and 8 for a number. */
static void test_a_pickle_has_few_bytes_for_texts_and_small_numbers(void **state)
{
	enum { ROWS = 20 * FRAME_BATCH_ROWS, REST = 4000 };
	const struct {
		int64_t most;
		long bytes;
	} wide[] = { { INT8_MAX, 1 },      { INT8_MAX + 1, 2 }, { INT16_MAX, 2 },
		     { INT16_MAX + 1, 4 }, { INT32_MAX, 4 },    { INT64_C(1) << 31, 8 },
		     { INT64_MAX, 8 } };

	(void)state;
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		long size = pickle_size(ROWS, wide[i].most), least = ROWS * (1 + wide[i].bytes);

		assert_in_range(size, least, least + REST);
	}
}

static void test_full_disk(void **state)
{
	static const char *const formats[] = { "parquet", "feather", "orc", "pickle" };

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		check_full_disk(sink_find(formats[i]), 1);
		check_full_disk(sink_find(formats[i]), 20000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_are_in_once_and_in_utf8),
		cmocka_unit_test(test_many_texts_and_numbers),
		cmocka_unit_test(test_a_text_is_read_in_each_batch),
		cmocka_unit_test(test_pages_are_bounded),
		cmocka_unit_test(test_large_instants_arrive_whole),
		cmocka_unit_test(test_runs_and_packed_numbers),
		cmocka_unit_test(test_a_pickle_has_few_bytes_for_texts_and_small_numbers),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
