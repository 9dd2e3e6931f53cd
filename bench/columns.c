/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns FORMAT FILE ROWS: writes a table of six columns as a tidy export has them, and prints the
 * seconds that the sink took, the most memory that the process had, and the size of the file.
 *
 * A hundred series on four nodes: host, metric, device (absent for a third), time of the reading
 * with the jitter of a clock, a whole number that is seldom absent, and a value: some stay, some
 * are of few kinds, some wander.
 */
#include "base/clock.h"
#include "sink/sink.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { NODES = 4, SERIES = 25, COLUMNS = 6 };
enum { NODE = 0, METRIC, INSTANCE, TIME, COUNT, VALUE };

struct table {
	uint64_t seed;
	char node[NODES][16], metric[SERIES][32], instance[SERIES][16];
	int64_t time, wander[NODES][SERIES];
	uint32_t at_node, at_series;
	const char *text[INSTANCE + 1][FRAME_BATCH_ROWS];
	int64_t when[FRAME_BATCH_ROWS], count[FRAME_BATCH_ROWS];
	double value[FRAME_BATCH_ROWS];
	uint8_t present[FRAME_BATCH_ROWS], device[FRAME_BATCH_ROWS], counted[FRAME_BATCH_ROWS];
};

static const struct column columns[COLUMNS] = {
	[NODE] = { .name = "node", .type = COLUMN_TEXT },
	[METRIC] = { .name = "metric", .type = COLUMN_TEXT },
	[INSTANCE] = { .name = "instance", .type = COLUMN_TEXT },
	[TIME] = { .name = "time", .type = COLUMN_TIME },
	[COUNT] = { .name = "count", .type = COLUMN_INT },
	[VALUE] = { .name = "value", .type = COLUMN_REAL },
};

static uint64_t draw(struct table *t)
{
	t->seed ^= t->seed << 13;
	t->seed ^= t->seed >> 7;
	return t->seed ^= t->seed << 17;
}

static void make_names(struct table *t)
{
	memset(t->present, STATE_PRESENT, sizeof(t->present));
	for (uint32_t i = 0; i < NODES; i++)
		snprintf(t->node[i], sizeof(t->node[i]), "nid%05u", 1000 + i);
	for (uint32_t i = 0; i < SERIES; i++) {
		snprintf(t->metric[i], sizeof(t->metric[i]), "device.things_per_second_%u", i / 3);
		snprintf(t->instance[i], sizeof(t->instance[i]), "dev%u", i);
	}
}

static double draw_value(struct table *t)
{
	int64_t *w = &t->wander[t->at_node][t->at_series];

	switch (t->at_series % 4) {
	case 0:
		return 0;
	case 1:
		return (double)(draw(t) % 50);
	case 2:
		*w += (int64_t)(draw(t) % 201) - 100;
		return (double)*w / 1000;
	default:
		*w += (int64_t)(draw(t) % 1000000);
		return (double)*w * 1.0000001;
	}
}

static void next_series(struct table *t)
{
	if (++t->at_series < SERIES)
		return;
	t->at_series = 0;
	t->at_node = (t->at_node + 1) % NODES;
	t->time += t->at_node ? (int64_t)(draw(t) % 100000) : INT64_C(1000000000);
}

static void make_rows(struct table *t, uint32_t n)
{
	for (uint32_t row = 0; row < n; row++, next_series(t)) {
		t->text[NODE][row] = t->node[t->at_node];
		t->text[METRIC][row] = t->metric[t->at_series];
		t->text[INSTANCE][row] = t->instance[t->at_series];
		t->device[row] = t->at_series % 3 ? STATE_PRESENT : STATE_ABSENT;
		t->when[row] = t->time;
		t->count[row] = (int64_t)(draw(t) % 1000);
		t->counted[row] = draw(t) % 50 ? STATE_PRESENT : STATE_ABSENT;
		t->value[row] = draw_value(t);
	}
}

static double write_table(const struct sink *k, FILE *out, struct table *t, uint64_t rows)
{
	const struct cells cells[COLUMNS] = {
		[NODE] = { .s = t->text[NODE], .state = t->present },
		[METRIC] = { .s = t->text[METRIC], .state = t->present },
		[INSTANCE] = { .s = t->text[INSTANCE], .state = t->device },
		[TIME] = { .i = t->when, .state = t->present },
		[COUNT] = { .i = t->count, .state = t->counted },
		[VALUE] = { .d = t->value, .state = t->present },
	};
	const struct frame_schema schema = { .table = "series",
					     .ncolumns = COLUMNS,
					     .columns = columns };
	void *state = calloc(1, k->size);
	int64_t taken = 0, begin = clock_mono_ns();
	int rc = state ? k->begin(state, &schema, out, NULL) : -1;

	taken += clock_mono_ns() - begin;
	while (rows && !rc) {
		uint32_t n = rows < FRAME_BATCH_ROWS ? (uint32_t)rows : FRAME_BATCH_ROWS;
		const struct batch b = { .nrows = n, .columns = cells };

		make_rows(t, n);
		begin = clock_mono_ns();
		rc = k->batch(state, &b, NULL);
		taken += clock_mono_ns() - begin;
		rows -= n;
	}
	begin = clock_mono_ns();
	if (rc || k->end(state, NULL) || fclose(out))
		return -1;
	taken += clock_mono_ns() - begin;
	k->free(state);
	free(state);
	return (double)taken / NS_PER_S;
}

int main(int argc, char **argv)
{
	const struct sink *k = argc == 4 ? sink_find(argv[1]) : NULL;
	FILE *out = k ? fopen(argv[2], "w") : NULL;
	struct table *t = calloc(1, sizeof(*t));
	struct rusage used;
	struct stat st;
	double seconds;

	if (!out || !t) {
		fprintf(stderr, "usage: columns FORMAT FILE ROWS\n");
		return 2;
	}
	*t = (struct table){ .seed = 4711, .time = INT64_C(1790000000000000000) };
	make_names(t);
	seconds = write_table(k, out, t, strtoull(argv[3], NULL, 10));
	free(t);
	if (seconds < 0 || stat(argv[2], &st) || getrusage(RUSAGE_SELF, &used))
		return 2;
	printf("%.4f\t%.1f\t%lld\n", seconds, (double)used.ru_maxrss * 1024 / 1e6,
	       (long long)st.st_size);
	return 0;
}
