/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink_text.h - a small table of every type, hostile text and absent cells, put through a sink.
 */
#ifndef SONDE_TESTS_SINK_TEXT_H
#define SONDE_TESTS_SINK_TEXT_H

#include "sink/sink.h"
#include "unit/synthetic_run.h"

#include <errno.h>
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SINK_ROWS = 5, SINK_COLUMNS = 4 };

static const struct column sink_columns[SINK_COLUMNS] = {
	{ "name", COLUMN_TEXT, "", "Who.", NULL },
	{ "a,\"b\"", COLUMN_INT, "count", "How many.", NULL },
	{ "v", COLUMN_REAL, "bytes/s", "How much.", NULL },
	{ "at", COLUMN_TIME, "", NULL, NULL },
};

/* What the sink writes, to be freed; the table comes in two batches. */
static inline char *sink_text(const struct sink *k)
{
	static const char *text[SINK_ROWS] = { "plain", "=1+1", "a\"b,\r\nc",
					       "\x1b[31m\xff<script>", "" };
	static int64_t whole[SINK_ROWS] = { 0, INT64_MAX, INT64_MIN, 5, -1 };
	static double real[SINK_ROWS] = { 0.1, 1.0 / 3, DBL_MAX, -2.5e-300, 100000 };
	static int64_t time[SINK_ROWS] = { 0, 1700000000123000000, 1700000000123456789,
					   1700000000000000000, -1 };
	static uint8_t present[SINK_ROWS] = { 1, 1, 1, 1, 1 }, some[SINK_ROWS] = { 1, 1, 1, 0, 1 };
	const struct cells cells[SINK_COLUMNS] = { { .s = text, .state = present },
						   { .i = whole, .state = some },
						   { .d = real, .state = some },
						   { .i = time, .state = some } };
	const struct batch b = { SINK_ROWS, cells };
	const struct frame_schema schema = { .table = "series",
					     .ncolumns = SINK_COLUMNS,
					     .columns = sink_columns };
	void *state = calloc(1, k->size);
	struct err e;
	size_t n;
	char *out;
	FILE *f = open_memstream(&out, &n);

	assert_int_equal(k->begin(state, &schema, f, &e), 0);
	assert_int_equal(k->batch(state, &b, &e), 0);
	assert_int_equal(k->end(state, &e), 0);
	k->free(state);
	free(state);
	fclose(f);
	return out;
}

/* A disk that is full is an error with its reason, wherever it is noticed. */
static inline void check_full_disk(const struct sink *k, uint32_t rows)
{
	struct synth *s = synth_new(300);
	uint32_t x = synth_series(s, 1,
				  synth_metric(s, (struct metric){ "a.b", .kind = KIND_GAUGE }), 0);
	struct selection sel = { 0 };
	struct err e = { "" };
	struct frame *f;
	FILE *out = fopen("/dev/full", "w");

	assert_non_null(out);
	for (uint32_t i = 0; i < rows; i++) {
		synth_row(s, 1, i);
		synth_put(s, x, i);
	}
	assert_int_equal(frame_open(&f, &s->run, &sel, &e), 0);
	assert_int_equal(sink_run(k, f, out, &e), -ENOSPC);
	assert_string_equal(e.text, "No space left on device");
	fclose(out);
	frame_close(f);
	synth_free(s);
}

#endif
