/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that recordings are made of, each there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/idmap.h"
#include "base/pool.h"
#include "core/metric.h"
#include "recording/block.h"
#include "recording/format.h"
#include "recording/record.h"
#include "recording/rows.h"
#include "recording/varint.h"

static uint64_t chance(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static const int64_t hard[] = { 0, 1, -1, INT64_MAX, INT64_MIN, INT64_MIN + 1, 127, 128, -64, -65 };
enum { HARD = sizeof hard / sizeof hard[0] };

static void test_checksum_is_castagnoli(void **state)
{
	static const size_t sizes[] = { 3071, 3072, 3073, 3 * 3072, 10000 };
	uint8_t data[100], large[10000];
	uint32_t seed = 1;

	(void)state;
	assert_int_equal(crc32c(0, "123456789", 9), 0xE3069283);
	assert_int_equal(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xE3069283);
	memset(data, 0xff, 32); /* RFC 3720, B.4 */
	assert_int_equal(crc32c(0, data, 32), 0x62A8AB43);
	for (size_t n = 0; n < sizeof data; n++) {
		data[n] = (uint8_t)(n * 37);
		assert_int_equal(crc32c(0, data, n), crc32c_portable(0, data, n));
	}
	for (size_t i = 0; i < sizeof large; i++)
		large[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		uint32_t of_portable = crc32c_portable(77, large, sizes[i]);

		assert_int_equal(crc32c(77, large, sizes[i]), of_portable);
	}
}

static void test_varints(void **state)
{
	uint8_t data[VARINT_MAX];
	uint64_t v;

	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		for (uint64_t less = 0; less < 2; less++) {
			uint64_t given = (UINT64_C(1) << bit) - less;
			const uint8_t *end = varint_write(data, given);

			assert_int_equal(end - data, (70 - __builtin_clzll(given | 1)) / 7);
			assert_ptr_equal(varint_read(data, end, &v), end);
			assert_int_equal(v, given);
			assert_null(varint_read(data, end - 1, &v));
		}
	}
	memset(data, 0xff, sizeof data);
	assert_null(varint_read(data, data + sizeof data, &v)); /* more than 64 bits */
}

/* ---- records ---- */

static const struct metric two[2] = {
	{ .name = "disk.read_bytes",
	  .domain = "disk",
	  .label = "Read",
	  .help = "Bytes read.",
	  .mul = 512,
	  .div = 3,
	  .unit = UNIT_BYTES,
	  .over_instances = COMBINE_SUM,
	  .over_nodes = COMBINE_MAX },
	{ .name = "disk.heat",
	  .label = "Heat",
	  .help = "Heat.",
	  .formula = "a / b",
	  .unit = UNIT_CELSIUS,
	  .kind = KIND_GAUGE,
	  .storage = STORE_REAL,
	  .over_instances = COMBINE_MEAN },
};

static void metrics_equal(const struct metric *a, const struct metric *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->domain ? a->domain : "-", b->domain ? b->domain : "-");
	assert_string_equal(a->label, b->label);
	assert_string_equal(a->help, b->help);
	assert_string_equal(a->formula ? a->formula : "-", b->formula ? b->formula : "-");
	assert_int_equal(a->mul, b->mul);
	assert_int_equal(a->div, b->div);
	assert_int_equal(a->unit, b->unit);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->storage, b->storage);
	assert_int_equal(a->over_instances, b->over_instances);
	assert_int_equal(a->over_nodes, b->over_nodes);
}

static bool has_items(enum event_kind kind)
{
	return kind == EVENT_STACKS || kind == EVENT_SAMPLES;
}

/* Is there such a kind? */
static bool is_kind(int kind)
{
	return kind <= EVENT_POINTS || kind >= EVENT_MODULE;
}

static void events_equal(const struct event *a, const struct event *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->meta_type, b->meta_type);
	assert_int_equal(a->node, b->node);
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->parent, b->parent);
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->t0, b->t0);
	assert_int_equal(a->t1, b->t1);
	assert_memory_equal(&a->real, &b->real, sizeof a->real);
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->text, b->text);
	assert_string_equal(a->domain, b->domain);
	if (a->kind == EVENT_SERIES)
		assert_int_equal(b->mask, 2); /* the second is real */
	else
		assert_int_equal(a->value, b->value);
	for (uint32_t i = 0; a->kind == EVENT_FINAL && i < a->count; i++) {
		if (a->mask >> i & 1)
			assert_int_equal(a->values[i], b->values[i]);
	}
	for (uint32_t i = 0; a->kind == EVENT_SPANS && i < a->count; i++) {
		assert_int_equal(a->spans[i].begin_ns, b->spans[i].begin_ns);
		assert_int_equal(a->spans[i].end_ns, b->spans[i].end_ns);
		assert_int_equal(a->spans[i].word, b->spans[i].word);
	}
	for (uint32_t i = 0; a->kind == EVENT_POINTS && i < a->count; i++) {
		assert_int_equal(a->points[i].at_ns, b->points[i].at_ns);
		assert_memory_equal(&a->points[i].value, &b->points[i].value, sizeof(double));
	}
	for (uint32_t i = 0; has_items(a->kind) && i < a->count; i++) {
		assert_int_equal(a->items[i].task, b->items[i].task);
		assert_int_equal(a->items[i].node, b->items[i].node);
		assert_int_equal(a->items[i].weight, b->items[i].weight);
	}
	assert_int_equal(!b->items, !has_items(a->kind));
	for (uint32_t i = 0; a->kind == EVENT_CATALOGUE && i < a->count; i++)
		metrics_equal(&a->metric[i], &b->metric[i]);
}

/* An event with every field its kind may have, and the others too: the codec knows no kinds. */
static struct event full(enum event_kind kind, unsigned i)
{
	static const int64_t values[2] = { INT64_MIN, 5 };
	static const struct event_span spans[2] = { { INT64_MAX, INT64_MIN, 0 },
						    { 7, 1000, UINT32_MAX } };
	static const struct event_point points[2] = { { INT64_MIN, 0.1 }, { INT64_MAX, -1e300 } };
	static const struct event_item items[2] = { { UINT32_MAX, 0, UINT64_MAX },
						    { 0, UINT32_MAX, 0 } };

	return (struct event){ .kind = kind,
			       .state = (enum state)(i % STATE_NUMBER_OF),
			       .meta_type = (enum meta_type)(i % META_TYPE_NUMBER_OF),
			       .node = 1 + i % 3,
			       .id = i % 2 ? UINT32_MAX - 2 : 1,
			       .parent = i * 77,
			       .count = 2,
			       .flags = i % 4,
			       .t0 = hard[i % HARD],
			       .t1 = hard[(i + 1) % HARD],
			       .value = hard[(i + 2) % HARD],
			       .real = i % 5 ? -0.1 * i : (double)NAN,
			       .mask = kind == EVENT_FINAL ? i % 4 : 0,
			       .values = values,
			       .metric = kind == EVENT_SERIES || kind == EVENT_FINAL ||
							 kind == EVENT_CATALOGUE
						 ? two
						 : NULL,
			       .spans = kind == EVENT_SPANS ? spans : NULL,
			       .points = kind == EVENT_POINTS ? points : NULL,
			       .items = has_items(kind) ? items : NULL,
			       .name = i % 3 ? "name \xff\n" : "",
			       .text = i % 4 ? "some text" : "",
			       .domain = i % 2 ? "disk" : "" };
}

static void test_every_kind_of_event_comes_back(void **state)
{
	struct bytes out = { 0 };
	struct pool pool = { 0 };
	struct record r;
	struct scan in;

	(void)state;
	for (int kind = EVENT_NODE; kind < EVENT_KIND_NUMBER_OF; kind++) {
		for (unsigned i = 0; is_kind(kind) && i < 60; i++) {
			struct event e = full((enum event_kind)kind, i);

			record_put(&out, &e, 40);
		}
	}
	assert_false(out.failed);
	in = (struct scan){ .at = out.data, .end = out.data + out.len };
	for (int kind = EVENT_NODE; kind < EVENT_KIND_NUMBER_OF; kind++) {
		for (unsigned i = 0; is_kind(kind) && i < 60; i++) {
			struct event e = full((enum event_kind)kind, i);

			assert_int_equal(record_get(&in, &r, &pool), 1);
			events_equal(&e, &r.event);
			assert_int_equal(r.metric_id, e.metric ? 40 : 0);
		}
	}
	assert_int_equal(record_get(&in, &r, &pool), 0);
	bytes_free(&out);
	pool_free(&pool);
}

static void test_records_of_a_later_kind_type_or_state_are_skipped(void **state)
{
	static const uint8_t later[] = { 4, EVENT_KIND_NUMBER_OF + 9, 1, 2, 3 };
	static const uint8_t between[] = { 4, EVENT_MODULE - 1, 1, 2, 3 };
	static const uint8_t type[] = { 3, EVENT_META, 1 << 6, META_TYPE_NUMBER_OF };
	static const uint8_t state_of_series[] = { 3, EVENT_STATE, 1 << 5, STATE_NUMBER_OF };
	struct event mark = { .kind = EVENT_MARK, .node = 1, .t0 = 5, .name = "m" };
	struct bytes out = { 0 };
	struct record r;
	struct scan in;

	(void)state;
	bytes_put(&out, later, sizeof later);
	bytes_put(&out, between, sizeof between);
	bytes_put(&out, type, sizeof type);
	bytes_put(&out, state_of_series, sizeof state_of_series);
	record_put(&out, &mark, 0);
	bytes_put(&out, later, sizeof later);
	in = (struct scan){ .at = out.data, .end = out.data + out.len };
	assert_int_equal(record_get(&in, &r, NULL), 1);
	assert_int_equal(r.event.kind, EVENT_MARK);
	assert_ptr_equal(r.start, out.data + sizeof later + sizeof between + sizeof type +
					  sizeof state_of_series);
	assert_int_equal(record_get(&in, &r, NULL), 0);
	bytes_free(&out);
}

static void test_records_cut_anywhere_are_refused(void **state)
{
	struct bytes out = { 0 };
	struct pool pool = { 0 };
	struct event e = full(EVENT_CATALOGUE, 7);
	struct record r;

	(void)state;
	record_put(&out, &e, 1);
	for (size_t n = 1; n < out.len; n++) {
		uint8_t *copy =
			malloc(n); /* of its own, so that a sanitizer sees every step beyond */
		struct scan in = { .at = copy, .end = copy + n };

		memcpy(copy, out.data, n);
		assert_int_equal(record_get(&in, &r, &pool), -EBADMSG);
		free(copy);
	}
	bytes_free(&out);
	pool_free(&pool);
}

/* ---- rows ---- */

enum { ROWS = 400, SERIES = 177 };

/* The tokens of a row, into the state. */
static void row_read(struct scan *in, struct rows *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		uint64_t zigzag;
		int64_t value;
		bool present;

		if (!(rows_changed(r, i / 64 * 64) >> i % 64 & 1))
			continue;
		in->at = varint_read(in->at, in->end, &zigzag);
		assert_non_null(in->at);
		present = zigzag;
		value = (int64_t)((uint64_t)r->last[i] + (uint64_t)zigzag_decode(zigzag));
		if (!zigzag)
			in->at = row_token_other(in->at, in->end, &present, &value);
		assert_non_null(in->at);
		r->present[i] = present;
		r->last[i] = present ? value : r->last[i];
	}
}

static void test_rows_come_back(void **state)
{
	static int64_t value[ROWS][SERIES], utc[ROWS], mono[ROWS];
	static uint8_t present[ROWS][SERIES];
	struct bytes out = { 0 };
	struct rows w, r;
	uint64_t seed = 99;
	size_t room, before;
	struct scan in;

	(void)state;
	assert_int_equal(rows_init(&w, SERIES) | rows_init(&r, SERIES), 0);
	/* Slots were used again: places do not follow one another. */
	assert_true(rows_open(&w, 5, 40, 0, SERIES - 40) && rows_open(&w, 45, SERIES - 40, 0, 0) &&
		    rows_open(&r, 5, SERIES, 0, 0));
	for (int k = 0; k < ROWS; k++) {
		struct row_times now;

		mono[k] = hard[chance(&seed) % HARD];
		utc[k] = hard[chance(&seed) % HARD];
		for (int i = 0; i < SERIES; i++) {
			value[k][i] = chance(&seed) % 2 ? hard[chance(&seed) % HARD]
				      : k               ? value[k - 1][i]
							: 0;
			present[k][i] = chance(&seed) % 3 != 0;
		}
		now = row_times_at(&w.times, utc[k], mono[k]);
		room = 0;
		while (!rows_fit(&w, &now, value[k], present[k], room))
			room++;
		before = out.len;
		rows_put(&out, &w, &now, value[k], present[k]);
		assert_int_equal(out.len - before, room);
	}
	in = (struct scan){ .at = out.data, .end = out.data + out.len };
	for (int k = 0; k < ROWS; k++) {
		assert_true(rows_get(&in, &r));
		assert_int_equal(r.times.mono, mono[k]);
		assert_int_equal(row_times_utc(&r.times), utc[k]);
		row_read(&in, &r);
		for (int i = 0; i < SERIES; i++) {
			assert_int_equal(r.present[i], present[k][w.place[i]] == STATE_PRESENT);
			if (r.present[i])
				assert_int_equal(r.last[i], value[k][w.place[i]]);
		}
	}
	assert_ptr_equal(in.at, in.end);
	bytes_free(&out);
	rows_free(&w);
	rows_free(&r);
}

static void test_open_series_come_back(void **state)
{
	struct bytes out = { 0 };
	struct rows w, r;
	struct scan in;

	(void)state;
	assert_int_equal(rows_init(&w, 100) | rows_init(&r, 100), 0);
	assert_true(rows_open(&w, 1, 20, 0x3, 0));
	assert_true(rows_open(&w, 50, 64, UINT64_MAX, 0));
	assert_false(rows_open(&w, 60, 1, 0, 0));   /* ids grow */
	assert_false(rows_open(&w, 200, 64, 0, 0)); /* no room */
	rows_close(&w, 3, 5);
	rows_close(&w, 60, 2);
	assert_int_equal(w.n, 20 - 5 + 64 - 2);
	rows_list_put(&out, &w);
	in = (struct scan){ .at = out.data, .end = out.data + out.len };
	assert_true(rows_list_get(&in, &r));
	assert_int_equal(r.n, w.n);
	for (uint32_t i = 0; i < r.n; i++) {
		assert_int_equal(r.series[i], w.series[i]);
		assert_int_equal(r.real[i], w.real[i]);
		assert_int_equal(r.place[i], i);
	}
	bytes_free(&out);
	rows_free(&w);
	rows_free(&r);
}

/* ---- sections, blocks, maps ---- */

static const size_t as_texts = SIZE_MAX;

static void section_there_and_back(const uint8_t *raw, size_t n, size_t coded, struct compressor *c,
				   struct expander *x)
{
	struct bytes out = { 0 }, back = { 0 };
	struct scan in;

	if (coded == as_texts)
		section_put_texts(&out, c, raw, n);
	else
		section_put_frames(
			&out, c, raw,
			(struct section_frame[]){ { coded, false }, { n - coded, true } }, 2);
	assert_true(out.len <= n + 2 * VARINT_MAX);
	in = (struct scan){ .at = out.data, .end = out.data + out.len };
	assert_int_equal(section_get(&in, x, n, &back), 0);
	assert_ptr_equal(in.at, in.end);
	assert_int_equal(back.len, n);
	assert_memory_equal(back.data, raw, n);
	if (n) { /* larger than the reader allows */
		in.at = out.data;
		assert_int_equal(section_get(&in, x, n - 1, &back), -EBADMSG);
	}
	bytes_free(&out);
	bytes_free(&back);
}

static void section_in_all_ways(const uint8_t *raw, size_t n, struct compressor *c,
				struct expander *x)
{
	for (size_t part = 0; part <= 4; part++)
		section_there_and_back(raw, n, n * part / 4, c, x);
	section_there_and_back(raw, n, as_texts, c, x);
}

static void test_sections_come_back(void **state)
{
	enum { SIZE = 300000 };
	uint8_t *raw = calloc(1, SIZE);
	struct compressor c;
	struct expander x;
	uint64_t seed = 3;

	(void)state;
	assert_non_null(raw);
	assert_int_equal(compressor_init(&c) | expander_init(&x), 0);
	for (size_t n = 0; n < SIZE; n = n * 3 + 1) {
		section_in_all_ways(raw, n, &c, &x);
		for (size_t i = 0; i < n; i++)
			raw[i] = (uint8_t)(chance(&seed) >> 20);
		section_in_all_ways(raw, n, &c, &x);
		memset(raw, 0, n / 2);
		section_in_all_ways(raw, n, &c, &x);
		memset(raw, 0, n);
	}
	compressor_free(&c);
	expander_free(&x);
	free(raw);
}

static int file_of(const struct bytes *b)
{
	char name[] = "sonde_blocks_XXXXXX";
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(write(fd, b->data, b->len), b->len);
	return fd;
}

static void test_the_next_good_block_is_found(void **state)
{
	struct bytes out = { 0 };
	struct blocks s;
	struct block b;
	size_t starts[3];
	int fd;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		starts[i] = block_start(&out, BLOCK_EVENTS, i);
		bytes_printf(&out, "payload %u", i);
		block_finish(&out, starts[i]);
		bytes_puts(&out, i == 1 ? "SBLKrubbish that begins as blocks do SBLK" : "");
	}
	out.data[starts[0] + BLOCK_HEADER] ^= 1;
	fd = file_of(&out);
	assert_int_equal(blocks_init(&s, fd), 0);
	assert_int_equal(blocks_next(&s, &b), 1);
	assert_int_equal(b.sequence, 1);
	assert_int_equal(s.gap_at, 0);
	assert_int_equal(s.gap, starts[1]);
	assert_int_equal(blocks_next(&s, &b), 1);
	assert_int_equal(b.sequence, 2);
	assert_int_equal(s.gap, strlen("SBLKrubbish that begins as blocks do SBLK"));
	assert_memory_equal(b.payload, "payload 2", b.length);
	assert_int_equal(blocks_next(&s, &b), 0);
	assert_int_equal(s.gap, 0);
	blocks_free(&s);
	close(fd);
	bytes_free(&out);
}

/* A file that is nothing but beginnings must not take long. */
static void test_a_file_of_magics_is_given_up_on(void **state)
{
	struct bytes out = { 0 };
	struct blocks s;
	struct block b;
	int fd;

	(void)state;
	while (out.len < 4 << 20)
		bytes_u32(&out, BLOCK_MAGIC);
	fd = file_of(&out);
	assert_int_equal(blocks_init(&s, fd), 0);
	assert_int_equal(blocks_next(&s, &b), 0);
	assert_int_equal(s.gap, out.len);
	blocks_free(&s);
	close(fd);
	bytes_free(&out);
}

static void test_ids_are_found_again(void **state)
{
	struct idmap m = { 0 };

	(void)state;
	assert_int_equal(idmap_get(&m, 5), 0);
	for (uint32_t i = 1; i < 5000; i++)
		assert_int_equal(idmap_put(&m, i * 0x10001, i), 0);
	assert_int_equal(idmap_put(&m, 0x10001, 77), 0);
	for (uint32_t i = 2; i < 5000; i++)
		assert_int_equal(idmap_get(&m, i * 0x10001), i);
	assert_int_equal(idmap_get(&m, 0x10001), 77);
	assert_int_equal(idmap_get(&m, 3), 0);
	assert_int_equal(idmap_get(&m, 0), 0);
	idmap_free(&m);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_checksum_is_castagnoli),
	cmocka_unit_test(test_varints),
	cmocka_unit_test(test_every_kind_of_event_comes_back),
	cmocka_unit_test(test_records_of_a_later_kind_type_or_state_are_skipped),
	cmocka_unit_test(test_records_cut_anywhere_are_refused),
	cmocka_unit_test(test_rows_come_back),
	cmocka_unit_test(test_open_series_come_back),
	cmocka_unit_test(test_sections_come_back),
	cmocka_unit_test(test_the_next_good_block_is_found),
	cmocka_unit_test(test_a_file_of_magics_is_given_up_on),
	cmocka_unit_test(test_ids_are_found_again),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
