/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_of FORMAT FILE ROWS SEED - a table of six columns through a sink into a file.
 *
 * Seed 0: what a cluster gives, for measuring: 100 nodes, 60 metrics, a sample a second, a walk of
 * 3 decimals. Else random cells: absent ones, extremes, texts of every kind; the same in every
 * format.
 */
#include "sink/sink.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 6, NODES = 100, METRICS = 60, TEXTS = 12, BATCH = FRAME_BATCH_ROWS };

static const struct column columns[COLUMNS] = {
	{ "node", COLUMN_TEXT, "", "Host name.", NULL },
	{ "metric", COLUMN_TEXT, "", "Name.", NULL },
	{ "instance", COLUMN_TEXT, "", "Device.", NULL },
	{ "time", COLUMN_TIME, "", "When.", NULL },
	{ "seconds", COLUMN_REAL, "seconds", "Since the run began.", NULL },
	{ "value/of [it]", COLUMN_REAL, "bytes", "\"What\" it was.", "gauge" },
};

/* What readers have stumbled over: nothing, no ASCII, quotes, words for nothing. */
static const char *const texts[TEXTS] = { "",
					  "a",
					  "nan",
					  "NaN",
					  "NULL",
					  "0",
					  "\t x ",
					  "quo\"te'",
					  "back\\slash",
					  "\u00e9\u4e2d\U0001f600",
					  "a rather long text that is longer than the others",
					  "-1" };
static const double reals[] = { 0,       1.0 / 3,   -1,   DBL_MAX, -DBL_MAX,
				DBL_MIN, 0x1p-1074, 1e17, 0.1,     9007199254740993.0 };
static const int64_t times[] = { 0, 1, -1, 1700000000123456789, INT64_MAX, INT64_MIN + 1 };

struct table {
	const char *text[3][BATCH];
	int64_t time[BATCH];
	double real[2][BATCH];
	uint8_t state[COLUMNS][BATCH];
	char node[NODES][16], metric[METRICS][32];
	double walk;
	uint64_t random;
};

static uint64_t draw(struct table *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random >> 16;
}

static void put_plain(struct table *t, uint32_t i, uint64_t row)
{
	uint64_t second = row / (NODES * METRICS);

	t->walk += (double)(draw(t) % 2001) / 1000 - 1;
	t->text[0][i] = t->node[row / METRICS % NODES];
	t->text[1][i] = t->metric[row % METRICS];
	t->text[2][i] = row % METRICS < 10 ? "sda" : NULL;
	t->time[i] = INT64_C(1700000000000000000) + (int64_t)second * 1000000000;
	t->real[0][i] = (double)second;
	t->real[1][i] = (double)(int64_t)(t->walk * 1000) / 1000;
	for (int c = 0; c < COLUMNS; c++)
		t->state[c][i] = STATE_PRESENT;
	t->state[2][i] = t->text[2][i] ? STATE_PRESENT : STATE_ABSENT;
}

static void put_random(struct table *t, uint32_t i)
{
	for (int c = 0; c < 3; c++)
		t->text[c][i] = texts[draw(t) % TEXTS];
	t->time[i] = draw(t) % 2 ? times[draw(t) % (sizeof(times) / sizeof(times[0]))]
				 : (int64_t)draw(t);
	for (int c = 0; c < 2; c++)
		t->real[c][i] = draw(t) % 2 ? reals[draw(t) % (sizeof(reals) / sizeof(reals[0]))]
					    : (double)draw(t) / 1000;
	for (int c = 0; c < COLUMNS; c++)
		t->state[c][i] = draw(t) % 5 ? STATE_PRESENT : STATE_ABSENT;
}

static int write_table(const struct sink *k, void *state, struct table *t, uint64_t rows, FILE *out)
{
	const struct frame_schema schema = { .table = "series",
					     .ncolumns = COLUMNS,
					     .columns = columns };
	const struct cells cells[COLUMNS] = {
		{ .s = t->text[0], .state = t->state[0] },
		{ .s = t->text[1], .state = t->state[1] },
		{ .s = t->text[2], .state = t->state[2] },
		{ .i = t->time, .state = t->state[3] },
		{ .d = t->real[0], .state = t->state[4] },
		{ .d = t->real[1], .state = t->state[5] },
	};
	bool plain = !t->random;
	struct err e = { "" };
	int rc;

	t->random |= UINT64_C(0x9e3779b97f4a7c15);
	rc = k->begin(state, &schema, out, &e);
	for (uint64_t row = 0; row < rows && !rc;) {
		uint32_t n = rows - row < BATCH ? (uint32_t)(rows - row) : BATCH;

		for (uint32_t i = 0; i < n; i++)
			plain ? put_plain(t, i, row + i) : put_random(t, i);
		rc = k->batch(state, &(struct batch){ n, cells }, &e);
		row += n;
	}
	if (!rc)
		rc = k->end(state, &e);
	if (rc)
		fprintf(stderr, "table_of: %s\n", e.text);
	return rc;
}

int main(int argc, char **argv)
{
	const struct sink *k = argc == 5 ? sink_find(argv[1]) : NULL;
	struct table *t = calloc(1, sizeof(*t));
	void *state = k ? calloc(1, k->size) : NULL;
	FILE *out = k ? fopen(argv[2], "w+") : NULL;
	int rc;

	if (!t || !state || !out) {
		fprintf(stderr, "usage: table_of FORMAT FILE ROWS SEED\n");
		return 2;
	}
	for (int i = 0; i < NODES; i++)
		snprintf(t->node[i], sizeof(t->node[i]), "node%03d", i);
	for (int i = 0; i < METRICS; i++)
		snprintf(t->metric[i], sizeof(t->metric[i]), "scope%d.metric_%02d_bytes", i / 10,
			 i);
	t->random = strtoull(argv[4], NULL, 10) * 0x100000001b3;
	rc = write_table(k, state, t, strtoull(argv[3], NULL, 10), out);
	k->free(state);
	free(state);
	free(t);
	return fclose(out) || rc ? 1 : 0;
}
