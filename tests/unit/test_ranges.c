/* SPDX-License-Identifier: Apache-2.0 */
/* A summary's figures are the same whether the ranges of chunks gave them or the rows. */
#include "base/clock.h"
#include "base/hash.h"
#include "recording/block.h"
#include "recording/format.h"
#include "recording/join.h"
#include "recording/writer.h"
#include "unit/same_verdicts.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS_MOST = 400, NAMES = 4 };

/* Those that ranges can tell, as they are, and those that need rows. */
static const struct metric metrics[] = {
	{ "node.swap_used_bytes", .label = "S", .help = "S.", .unit = UNIT_BYTES, .mul = 1 << 20,
	  .kind = KIND_GAUGE },
	{ "node.load", .label = "L", .help = "L.", .div = 100, .kind = KIND_GAUGE },
	{ "node.done_count", .label = "D", .help = "D.", .unit = UNIT_COUNT, .kind = KIND_TOTAL },
	{ "node.pressure_io_some_ratio", .label = "P", .help = "P.", .kind = KIND_GAUGE,
	  .storage = STORE_REAL },
	{ "job.cpu_seconds", .label = "W", .help = "W.", .unit = UNIT_SECONDS, .div = 100,
	  .kind = KIND_COUNTER },
	{ "node.room_bytes", .label = "R", .help = "R.", .unit = UNIT_BYTES, .mul = 1 << 10,
	  .kind = KIND_GAUGE },
	{ "node.taken_bytes", .label = "T", .help = "T.", .unit = UNIT_BYTES, .mul = 1 << 10,
	  .kind = KIND_GAUGE },
	{ "node.double_load", .label = "L", .help = "L.", .kind = KIND_GAUGE,
	  .formula = "2 * node.load" },
	{ "node.left_bytes", .label = "F", .help = "F.", .unit = UNIT_BYTES, .kind = KIND_GAUGE,
	  .formula = "node.room_bytes - node.taken_bytes" },
	{ "disk.queue_count", .domain = "disk", .label = "Q", .help = "Q.", .unit = UNIT_COUNT,
	  .kind = KIND_GAUGE, .over_instances = COMBINE_SUM },
	{ "disk.mode", .domain = "disk", .label = "M", .help = "M.", .kind = KIND_STATE },
};
enum { ROOM = 5, TAKEN, NODE_METRICS, FORMULA = 7, FORMULAS = 2, DISK_FIRST = 9 };
enum { DISK_METRICS = 2, DISKS = 2 };
enum { SERIES = NODE_METRICS + DISKS * DISK_METRICS };

struct maker {
	uint64_t seed;
	struct sample s;
	struct writer *w;
	uint32_t slot[SERIES];
	int64_t value[SERIES], mono_ns;
	char dir[64];
	int fd;
	bool grows, apart; /* the room; and it is not read with what is taken of it */
};

static uint64_t pick(struct maker *m, uint64_t below)
{
	m->seed ^= m->seed << 13;
	m->seed ^= m->seed >> 7;
	m->seed ^= m->seed << 17;
	return (m->seed >> 11) % below;
}

static void open_series(struct maker *m)
{
	sample_catalogue(&m->s, &metrics[FORMULA], FORMULAS);
	for (uint32_t i = 0; i < NODE_METRICS; i++)
		m->slot[i] = sample_series(&m->s, &metrics[i], 1, 0);
	for (uint32_t d = 0; d < DISKS; d++) {
		uint32_t disk = sample_instance(&m->s, "disk", d ? "sdb" : "sda", 0, 0, 0);
		uint32_t slot = sample_series(&m->s, &metrics[DISK_FIRST], DISK_METRICS, disk);

		for (uint32_t i = 0; i < DISK_METRICS; i++)
			m->slot[NODE_METRICS + d * DISK_METRICS + i] = slot + i;
	}
}

/* Unlike series: ones that rest, ones that are away for a while, ones that come late. */
static void put_row(struct maker *m, unsigned row)
{
	bool put = false;

	m->mono_ns += 1 + (int64_t)pick(m, 3 * NS_PER_S);
	sample_begin(&m->s, INT64_C(1700000000) * NS_PER_S + m->mono_ns, m->mono_ns);
	for (uint32_t i = 0; i < SERIES; i++) {
		double real;

		if (pick(m, 4) == 0 && (i != ROOM || m->grows))
			m->value[i] += (int64_t)pick(m, 1000) - (i == 4 ? 0 : 500);
		real = (double)m->value[i] / 7;
		if (i != TAKEN || m->apart)
			put = (row / 20 + i) % 5 && (pick(m, 9) || i % 2 == 0);
		if (!put)
			continue;
		if (i == 3)
			memcpy(&m->s.value[m->slot[i]], &real, sizeof real);
		sample_put(&m->s, m->slot[i], i == 3 ? m->s.value[m->slot[i]] : m->value[i]);
	}
	assert_int_equal(writer_sample(m->w, &m->s, NULL), 0);
}

static void write_node(struct maker *m, const char *host, bool closed)
{
	const struct writer_options o = { .chunk_rows = (uint32_t)(1 + pick(m, 60)) };
	unsigned rows = (unsigned)(1 + pick(m, ROWS_MOST));

	assert_int_equal(sample_init(&m->s, 64, 64), 0);
	assert_int_equal(writer_open(&m->w, m->fd, host, &o, NULL), 0);
	memset(m->value, 0, sizeof m->value);
	m->mono_ns = (int64_t)pick(m, 1000000);
	open_series(m);
	for (unsigned row = 0; row < rows; row++)
		put_row(m, row);
	if (closed)
		assert_int_equal(writer_close(m->w, NULL), 0);
	else
		writer_abandon(m->w);
	sample_free(&m->s);
}

static void make(struct maker *m, uint64_t seed)
{
	*m = (struct maker){ .seed = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) };
	m->grows = seed % 3 == 2;
	m->apart = seed % 4 == 3;
	snprintf(m->dir, sizeof m->dir, "ranges.XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	m->fd = open(m->dir, O_RDONLY | O_DIRECTORY);
	assert_true(m->fd >= 0);
	write_node(m, "a", true);
	write_node(m, "b", seed % 2);
}

static void unmake(struct maker *m)
{
	static const char *const names[NAMES] = { "node-a.sonde", "node-a.tail", "node-b.sonde",
						  "node-b.tail" };

	for (int i = 0; i < NAMES; i++)
		unlinkat(m->fd, names[i], 0);
	close(m->fd);
	rmdir(m->dir);
}

/* ---- the same from rows, without any of the code that is tested ---- */

struct truth {
	uint64_t n;
	double min, max, first, last, weighted, weight;
	double standing; /* in the node's last row; NAN: none */
};

static void settle(struct truth *t, uint32_t nseries, const struct run *r, uint32_t node,
		   double seconds)
{
	for (uint32_t s = 1; s < nseries; s++) {
		if (r->series[s].node != node || isnan(t[s].standing))
			continue;
		t[s].weighted += t[s].standing * seconds;
		t[s].weight += seconds;
		t[s].standing = NAN;
	}
}

static void take(struct truth *t, double v)
{
	t->min = t->n ? fmin(t->min, v) : v;
	t->max = t->n ? fmax(t->max, v) : v;
	t->first = t->n ? t->first : v;
	t->last = t->standing = v;
	t->n++;
}

static void read_truth(struct run *r, struct truth *t)
{
	int64_t before[4] = { 0 };
	struct chunk c;

	for (uint32_t s = 0; s < r->nseries; s++)
		t[s] = (struct truth){ .standing = NAN };
	r->rewind(r);
	while (r->next_chunk(r, NULL, &c, NULL) > 0) {
		for (uint32_t row = 0; row < c.nrows; row++) {
			settle(t, r->nseries, r, c.node,
			       (double)(c.mono_ns[row] - before[c.node]) / 1e9);
			before[c.node] = c.mono_ns[row];
			for (uint32_t i = 0; i < c.ncolumns; i++) {
				uint32_t s = c.column[i].series;

				if (c.column[i].present[row])
					take(&t[s],
					     metric_value(&r->metrics[r->series[s].metric].row,
							  c.column[i].value[row]));
			}
		}
	}
}

static bool near(double a, double b, double scale)
{
	return fabs(a - b) <= 1e-9 * (fabs(scale) + 1);
}

static const struct summary_metric *find(const struct summary *s, const char *name, uint32_t node)
{
	for (uint32_t i = 0; i < s->nmetrics; i++)
		if (s->metrics[i].node == node && !strcmp(s->metrics[i].name, name))
			return &s->metrics[i];
	return NULL;
}

static void check_series(const struct summary *s, const struct run *r, uint32_t series,
			 const struct truth *t)
{
	const struct run_series *row = &r->series[series];
	const struct metric *m = &r->metrics[row->metric].row;
	const struct summary_metric *found;
	const struct stats *st;
	char name[64];

	snprintf(name, sizeof name, row->instance ? "%s[%s]" : "%s", m->name,
		 r->instances[row->instance].name);
	found = find(s, name, row->node);
	if (m->kind == KIND_COUNTER || m->over_instances != COMBINE_NONE)
		return; /* a rate, or combined */
	assert_int_equal(found != NULL, t->n > 0);
	if (!found)
		return;
	st = &found->stats;
	assert_int_equal(st->n, t->n);
	assert_true(st->min == t->min && st->max == t->max);
	assert_true(st->first == t->first && st->last == t->last);
	assert_true(near(st->weight, t->weight, t->weight));
	assert_true(
		near(st->weighted_sum, t->weighted, fmax(fabs(t->min), fabs(t->max)) * t->weight));
}

static void check_formula(const struct summary *s, uint32_t node)
{
	const struct summary_metric *load = find(s, "node.load", node),
				    *twice = find(s, "node.double_load", node);

	assert_int_equal(load != NULL, twice != NULL);
	if (!load)
		return;
	assert_int_equal(load->stats.n, twice->stats.n);
	assert_true(twice->stats.max == 2 * load->stats.max);
	assert_true(near(stats_mean(&twice->stats), 2 * stats_mean(&load->stats), load->stats.max));
}

/* A column's values in base units, by the name of its metric; NULL: the chunk has none. */
static const struct chunk_column *column_of(const struct run *r, const struct chunk *c,
					    const char *metric)
{
	for (uint32_t i = 0; i < c->ncolumns; i++)
		if (!strcmp(r->metrics[r->series[c->column[i].series].metric].row.name, metric))
			return &c->column[i];
	return NULL;
}

static void check_difference(const struct summary *s, struct run *r, uint32_t node)
{
	const struct summary_metric *left = find(s, "node.left_bytes", node);
	struct truth t = { .standing = NAN };
	int64_t before = 0;
	struct chunk c;

	r->rewind(r);
	while (r->next_chunk(r, NULL, &c, NULL) > 0) {
		const struct chunk_column *room = column_of(r, &c, "node.room_bytes"),
					  *taken = column_of(r, &c, "node.taken_bytes");

		for (uint32_t row = 0; row < c.nrows && c.node == node; row++) {
			double seconds = (double)(c.mono_ns[row] - before) / 1e9;

			before = c.mono_ns[row];
			if (!isnan(t.standing)) {
				t.weighted += t.standing * seconds;
				t.weight += seconds;
				t.standing = NAN;
			}
			if (room && taken && room->present[row] && taken->present[row])
				take(&t, (double)((room->value[row] - taken->value[row]) * 1024));
		}
	}
	assert_int_equal(left != NULL, t.n > 0);
	if (!left)
		return;
	assert_int_equal(left->stats.n, t.n);
	assert_true(left->stats.min == t.min && left->stats.max == t.max);
	assert_true(left->stats.first == t.first && left->stats.last == t.last);
	assert_true(near(left->stats.weight, t.weight, t.weight));
	assert_true(near(left->stats.weighted_sum, t.weighted,
			 fmax(fabs(t.min), fabs(t.max)) * t.weight));
}

/* What the footer of a chunk says of a column, computed from its rows. */
static struct truth column_truth(const struct chunk *c, const struct chunk_column *column,
				 const struct metric *m)
{
	struct truth t = { .standing = NAN };

	for (uint32_t row = 0; row < c->nrows; row++) {
		double v = metric_value(m, column->value[row]), seconds;

		if (!column->present[row])
			continue;
		take(&t, v);
		seconds = row + 1 < c->nrows ? (double)(c->mono_ns[row + 1] - c->mono_ns[row]) / 1e9
					     : 0;
		t.weighted += v * seconds;
		t.weight += seconds;
	}
	return t;
}

static void check_range(const struct range *g, const struct truth *t, const struct metric *m)
{
	double unit = m->storage == STORE_REAL ? 1 : metric_value(m, 1); /* of what is stored */

	assert_int_equal(g->count, t->n);
	if (!t->n)
		return;
	assert_true(metric_value(m, g->min) == t->min && metric_value(m, g->max) == t->max);
	assert_true(metric_value(m, g->first) == t->first && metric_value(m, g->last) == t->last);
	assert_true(near(g->weight, t->weight, t->weight));
	assert_true(near(g->weighted_sum * unit, t->weighted,
			 fmax(fabs(t->min), fabs(t->max)) * t->weight));
}

/* Returns how many chunks have values of a real-valued series. */
static uint32_t check_footers(struct run *r)
{
	const struct range *range;
	uint32_t nranges, real = 0;
	struct chunk c;

	r->rewind(r);
	while (r->next_ranges(r, &range, &nranges, NULL) > 0) {
		assert_int_equal(r->values(r, NULL, &c, NULL), 1);
		for (uint32_t i = 0; i < nranges; i++) {
			const struct metric *m = &r->metrics[r->series[range[i].series].metric].row;
			struct truth t = { 0 };

			for (uint32_t k = 0; k < c.ncolumns; k++)
				if (c.column[k].series == range[i].series)
					t = column_truth(&c, &c.column[k], m);
			check_range(&range[i], &t, m);
			real += m->storage == STORE_REAL && t.n;
		}
	}
	return real;
}

static void test_the_ranges_of_a_chunk_are_those_of_its_values(void **state)
{
	uint32_t real = 0;
	struct maker m;

	(void)state;
	for (uint64_t seed = 300; seed < 320; seed++) {
		struct run *r;

		make(&m, seed);
		assert_int_equal(run_open(&r, m.dir, NULL), 0);
		real += check_footers(r);
		run_close(r);
		unmake(&m);
	}
	assert_true(real > 100); /* of 40 recordings: they have several */
}

/* It reads from the start each time, and what is damaged is said once. */
static void check_again(struct run *r, const struct summary *s)
{
	const struct summary_wish all = { .all = true, .builtin = kept_rules() };
	struct summary again;

	assert_int_equal(summary_make_as(&again, r, &all, NULL), 0);
	assert_int_equal(again.ndamages, s->ndamages);
	assert_int_equal(again.nmetrics, s->nmetrics);
	assert_true(s->nmetrics == 0 || again.metrics[0].stats.n == s->metrics[0].stats.n);
	summary_free(&again);
}

static void check(const char *dir, uint64_t seed)
{
	const struct summary_wish all = { .all = true, .builtin = kept_rules() };
	struct truth *t;
	struct summary s;
	struct run *r;

	assert_int_equal(run_open(&r, dir, NULL), 0);
	t = calloc(r->nseries, sizeof *t);
	read_truth(r, t);
	assert_int_equal(summary_make_as(&s, r, &all, NULL), 0);
	for (uint32_t i = 1; i < r->nseries; i++)
		check_series(&s, r, i, &t[i]);
	for (uint32_t i = 1; i < r->nnodes; i++) {
		check_formula(&s, i);
		check_difference(&s, r, i);
	}
	assert_same_when_judged(&s, r);
	if (seed % 5 == 0)
		check_again(r, &s);
	summary_free(&s);
	run_close(r);
	free(t);
}

static void test_ranges_and_rows_tell_the_same(void **state)
{
	struct maker m;

	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		make(&m, seed);
		check(m.dir, seed);
		unmake(&m);
	}
}

static void flip(struct maker *m, const char *name)
{
	int fd = openat(m->fd, name, O_RDWR);
	struct stat st;
	uint8_t byte;
	off_t at;

	assert_true(fd >= 0 && !fstat(fd, &st));
	at = (off_t)pick(m, (uint64_t)st.st_size);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= (uint8_t)(1 << pick(m, 8));
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static void test_what_is_damaged_is_in_neither(void **state)
{
	struct maker m;
	uint32_t damaged = 0;

	(void)state;
	for (uint64_t seed = 100; seed < 160; seed++) {
		struct run *r;

		make(&m, seed);
		for (uint64_t i = pick(&m, 4) + 1; i; i--)
			flip(&m, "node-a.sonde");
		if (!run_open(&r, m.dir, NULL)) {
			damaged += r->ndamages > 0;
			run_close(r);
			check(m.dir, seed);
		}
		unmake(&m);
	}
	assert_true(damaged > 50);
}

/* Its largest chunk loses the last byte of its values and gets a checksum that is right, as no
 * recorder writes it. Returns the new length. */
static size_t spoil_chunk(uint8_t *data, size_t n)
{
	uint8_t *found = NULL;
	uint32_t length = 0, sum;
	struct block b;

	for (size_t at = 0; at < n && block_parse(&b, data + at, n - at);
	     at += BLOCK_HEADER + b.length) {
		if (b.type != BLOCK_CHUNK || b.length <= length)
			continue;
		found = data + at;
		length = b.length;
	}
	assert_non_null(found);
	memmove(found + BLOCK_HEADER + length - 1, found + BLOCK_HEADER + length,
		(size_t)(data + n - (found + BLOCK_HEADER + length)));
	length--;
	memcpy(found + 16, &length, sizeof length);
	sum = crc32c(0, found + 8, BLOCK_HEADER - 8 + length);
	memcpy(found + 4, &sum, sizeof sum);
	return n - 1;
}

static void spoil_file(struct maker *m, const char *name)
{
	enum { SIZE_MOST = 1 << 20 };
	uint8_t *data = malloc(SIZE_MOST);
	int fd = openat(m->fd, name, O_RDWR);
	ssize_t n = pread(fd, data, SIZE_MOST, 0);
	size_t spoilt;

	assert_true(n > 0 && n < SIZE_MOST);
	spoilt = spoil_chunk(data, (size_t)n);
	assert_int_equal(pwrite(fd, data, spoilt, 0), (ssize_t)spoilt);
	assert_int_equal(ftruncate(fd, (off_t)spoilt), 0);
	close(fd);
	free(data);
}

static void test_ranges_of_malformed_values_are_void(void **state)
{
	struct maker m;

	(void)state;
	for (uint64_t seed = 200; seed < 220; seed++) {
		make(&m, seed);
		spoil_file(&m, "node-a.sonde");
		check(m.dir, seed);
		unmake(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_ranges_of_a_chunk_are_those_of_its_values),
		cmocka_unit_test(test_ranges_and_rows_tell_the_same),
		cmocka_unit_test(test_what_is_damaged_is_in_neither),
		cmocka_unit_test(test_ranges_of_malformed_values_are_void),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
