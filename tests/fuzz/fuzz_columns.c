/* SPDX-License-Identifier: Apache-2.0 */
/* A table whose shape and cells are the input goes through every sink that stores columns. */
#include "sink/sink.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 5, ROWS = 64, TEXT = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct table {
	struct column columns[COLUMNS];
	struct cells cells[COLUMNS];
	int64_t value[COLUMNS][ROWS];
	const char *text[COLUMNS][ROWS];
	char place[COLUMNS][ROWS][TEXT + 1];
	uint8_t state[COLUMNS][ROWS];
	char name[COLUMNS][TEXT + 1];
};

struct input {
	const uint8_t *at;
	size_t left;
};

static void take(struct input *in, void *out, size_t n)
{
	size_t there = n < in->left ? n : in->left;

	memset(out, 0, n);
	memcpy(out, in->at, there);
	in->at += there;
	in->left -= there;
}

static uint8_t take_byte(struct input *in)
{
	uint8_t v;

	take(in, &v, 1);
	return v;
}

static void take_schema(struct input *in, struct table *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		take(in, t->name[i], take_byte(in) % (TEXT + 1));
		t->columns[i] = (struct column){ .name = t->name[i],
						 .type = (enum column_type)(take_byte(in) % 4),
						 .unit = "bytes" };
		t->cells[i].state = t->state[i];
		if (t->columns[i].type == COLUMN_TEXT)
			t->cells[i].s = t->text[i];
		else
			t->cells[i].i = t->value[i];
	}
}

static void take_rows(struct input *in, struct table *t, uint32_t ncolumns, uint32_t n)
{
	for (uint32_t row = 0; row < n; row++)
		for (uint32_t i = 0; i < ncolumns; i++) {
			uint8_t shape = take_byte(in);

			t->state[i][row] = shape & 1 ? STATE_PRESENT : STATE_ABSENT;
			memset(t->place[i][row], 0, TEXT + 1);
			if (t->columns[i].type == COLUMN_TEXT)
				take(in, t->place[i][row], shape >> 1 & 15);
			else
				take(in, &t->value[i][row], shape >> 1 & 7);
			t->text[i][row] = t->place[i][row];
		}
}

static void through(const struct sink *k, struct table *t, struct input in, FILE *out)
{
	uint32_t ncolumns = 1 + take_byte(&in) % COLUMNS, batches = 0;
	struct frame_schema schema = { .table = "t", .ncolumns = ncolumns, .columns = t->columns };
	void *state = calloc(1, k->size);
	struct err e;
	int rc;

	if (!state)
		abort();
	take_schema(&in, t, ncolumns);
	rc = k->begin(state, &schema, out, &e);
	for (; in.left && batches < 8 && !rc; batches++) {
		struct batch b = { .nrows = 1 + take_byte(&in) % ROWS, .columns = t->cells };

		take_rows(&in, t, ncolumns, b.nrows);
		/* many rows, so that pages and runs are full */
		for (int again = in.left % 7 ? 1 : 40; again && !rc; again--)
			rc = k->batch(state, &b, &e);
	}
	if (rc || k->end(state, &e))
		abort();
	k->free(state);
	free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = { "parquet", "feather", "orc", "pickle" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct table *t = calloc(1, sizeof(*t));
		FILE *out = fopen("/dev/null", "w");

		if (!t || !out)
			abort();
		through(sink_find(formats[i]), t, (struct input){ data, size }, out);
		fclose(out);
		free(t);
	}
	return 0;
}
