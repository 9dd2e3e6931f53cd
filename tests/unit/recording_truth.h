/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_truth.h - a recording made from chance in a directory of its own, and what it must say.
 *
 * truth_check compares a run with what was put in. Series are found by what they are about, never
 * by id, so that it also judges recordings of which parts are lost: nothing that is read may
 * differ.
 */
#ifndef SONDE_TESTS_RECORDING_TRUTH_H
#define SONDE_TESTS_RECORDING_TRUTH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/join.h"
#include "recording/writer.h"

enum { TRUTH_METRICS = 3, TRUTH_SERIES = 600, TRUTH_ROWS = 3000, TRUTH_LIVE = 8 };

static const struct metric truth_metric[TRUTH_METRICS] = {
	{ .name = "thing.read_bytes",
	  .domain = "thing",
	  .label = "Read",
	  .help = "A.",
	  .unit = UNIT_BYTES },
	{ .name = "thing.size_bytes",
	  .domain = "thing",
	  .label = "Size",
	  .help = "B.",
	  .unit = UNIT_BYTES,
	  .kind = KIND_GAUGE },
	{ .name = "thing.heat",
	  .domain = "thing",
	  .label = "Heat",
	  .help = "C.",
	  .kind = KIND_GAUGE,
	  .storage = STORE_REAL },
};

struct truth {
	char dir[64];
	int fd;
	struct sample s;
	struct writer *w;
	uint64_t seed;
	uint32_t live[TRUTH_LIVE], slot[TRUTH_LIVE]; /* first series of a thing, its first slot */
	uint32_t nrows, nseries;
	int64_t utc[TRUTH_ROWS], mono[TRUTH_ROWS];
	int64_t value[TRUTH_ROWS][TRUTH_SERIES];
	uint8_t present[TRUTH_ROWS][TRUTH_SERIES];
	uint64_t nvalues;
};

static inline uint64_t truth_random(struct truth *t)
{
	t->seed ^= t->seed << 13;
	t->seed ^= t->seed >> 7;
	t->seed ^= t->seed << 17;
	return t->seed;
}

static inline struct truth *truth_new(uint64_t seed, const struct writer_options *o)
{
	struct truth *t = calloc(1, sizeof *t);
	struct err e = { "" };

	assert_non_null(t);
	t->seed = seed;
	snprintf(t->dir, sizeof t->dir, "sonde_test_XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	t->fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(t->fd >= 0);
	assert_int_equal(sample_init(&t->s, 4096, 4096), 0);
	if (writer_open(&t->w, t->fd, "host", o, &e))
		fail_msg("%s", e.text);
	return t;
}

static inline void directory_remove(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

static inline void truth_free(struct truth *t)
{
	sample_free(&t->s);
	close(t->fd);
	directory_remove(t->dir);
	free(t);
}

/* Values that have hurt codecs, and ordinary ones. */
static inline int64_t truth_value(struct truth *t, uint32_t series, uint32_t i)
{
	uint64_t r = truth_random(t);
	int64_t before = t->nrows ? t->value[t->nrows - 1][series] : 0;
	static const int64_t hard[] = {
		0, -1, 1, INT64_MAX, INT64_MIN, INT64_MIN + 1, INT64_MAX - 1
	};
	static const double reals[] = { 0.0, -0.0, 1.5, -3.25e300, 1e-300, 0.1 };
	double real;
	int64_t bits;

	if (i == 2) {
		real = r % 8 < 6 ? reals[r % 6] : r % 8 == 6 ? (double)NAN : (double)INFINITY;
		memcpy(&bits, &real, sizeof bits);
		return r % 5 ? bits : before;
	}
	if (r % 11 == 0)
		return hard[r / 11 % (sizeof hard / sizeof hard[0])];
	if (r % 3 == 0)
		return before;
	return (int64_t)((uint64_t)before + (r >> 8) % 5000);
}

static inline void truth_born(struct truth *t, int k)
{
	char name[32], text[64];
	uint32_t instance;

	snprintf(name, sizeof name, "t%u", t->s.next_series);
	instance = sample_instance(&t->s, "thing", name, 0, t->s.mono_ns, 0);
	snprintf(text, sizeof text, "label of %s", name);
	sample_label(&t->s, instance, "what", text);
	t->live[k] = t->s.next_series;
	t->slot[k] = sample_series(&t->s, truth_metric, TRUTH_METRICS, instance);
	assert_true(t->slot[k] && t->s.next_series < TRUTH_SERIES);
	t->nseries = t->s.next_series;
}

static inline void truth_dies(struct truth *t, int k)
{
	uint32_t instance = t->s.slot[t->slot[k]].instance;
	int64_t final[TRUTH_METRICS] = { t->live[k], INT64_MIN, 3 };

	sample_final(&t->s, instance, truth_metric, TRUTH_METRICS, final, 3);
	sample_series_end(&t->s, t->slot[k], TRUTH_METRICS);
	sample_end(&t->s, instance, t->s.mono_ns);
	t->live[k] = 0;
}

/* One more sample, with births, deaths, and values that come and go. */
static inline int truth_sample(struct truth *t, struct err *e)
{
	uint32_t row = t->nrows;
	int64_t jitter = (int64_t)(truth_random(t) % 100000);

	assert_true(row < TRUTH_ROWS);
	t->mono[row] = 77000000000 + row * INT64_C(1000000000) + jitter;
	t->utc[row] = 1700000000000000000 + row * INT64_C(1000000000) + jitter +
		      (int64_t)(truth_random(t) % 200);
	sample_begin(&t->s, t->utc[row], t->mono[row]);
	for (int k = 0; k < TRUTH_LIVE; k++) {
		uint64_t r = truth_random(t) % 64;

		if (t->live[k] && r == 0)
			truth_dies(t, k);
		else if (!t->live[k] && (r < 8 || k == 0) &&
			 t->s.next_series + TRUTH_METRICS < TRUTH_SERIES)
			truth_born(t, k);
		for (uint32_t i = 0; t->live[k] && i < TRUTH_METRICS; i++) {
			uint32_t series = t->live[k] + i;
			int64_t v = truth_value(t, series, i);

			if (truth_random(t) % 9 == 0) {
				t->value[row][series] = row ? t->value[row - 1][series] : 0;
				continue;
			}
			t->value[row][series] = v;
			t->present[row][series] = 1;
			t->nvalues++;
			sample_put(&t->s, t->slot[k] + i, v);
		}
	}
	t->nrows++;
	return writer_sample(t->w, &t->s, e);
}

static inline void truth_samples(struct truth *t, uint32_t n)
{
	struct err e = { "" };

	while (n--) {
		if (truth_sample(t, &e))
			fail_msg("%s", e.text);
	}
}

/* The series of the truth that a run's series is; 0 when it is none. */
static inline uint32_t truth_series(const struct run *r, uint32_t id)
{
	const struct run_series *s = &r->series[id];
	const char *name = r->instances[s->instance].name;

	for (uint32_t i = 0; i < TRUTH_METRICS; i++) {
		if (*name == 't' && !strcmp(r->metrics[s->metric].row.name, truth_metric[i].name))
			return (uint32_t)strtoul(name + 1, NULL, 10) + i;
	}
	return 0;
}

static inline uint32_t truth_row(const struct truth *t, int64_t mono)
{
	for (uint32_t row = 0; row < t->nrows; row++) {
		if (t->mono[row] == mono)
			return row;
	}
	fail_msg("a row at %lld was never made", (long long)mono);
	return 0;
}

static inline uint64_t truth_check_chunk(const struct truth *t, const struct run *r,
					 const struct chunk *c)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < c->nrows; k++) {
		uint32_t row = truth_row(t, c->mono_ns[k]);

		assert_int_equal(c->utc_ns[k], t->utc[row]);
		for (uint32_t i = 0; i < c->ncolumns; i++) {
			uint32_t series = truth_series(r, c->column[i].series);

			assert_true(series && series < t->nseries);
			if (!c->column[i].present[k])
				continue;
			assert_true(t->present[row][series]);
			assert_int_equal(c->column[i].value[k], t->value[row][series]);
			n++;
		}
	}
	return n;
}

/* Labels and finals that are there are right. */
static inline void truth_check_instances(const struct run *r)
{
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		const char *label = run_label(r, i, "what");
		double first;

		assert_string_equal(in->domain, "thing");
		if (label)
			assert_string_equal(label + strlen("label of "), in->name);
		if (run_final_value(r, i, truth_metric[0].name, &first))
			assert_true(first == strtod(in->name + 1, NULL));
	}
}

/* Read everything; what is read must be true. Returns how many values there are. */
static inline uint64_t truth_check(const struct truth *t, struct run *r)
{
	struct err e = { "" };
	struct chunk c;
	uint64_t n = 0;
	int rc;

	while ((rc = r->next_chunk(r, NULL, &c, &e)) > 0)
		n += truth_check_chunk(t, r, &c);
	assert_int_equal(rc, 0);
	truth_check_instances(r);
	return n;
}

/* Open the directory and check it. */
static inline uint64_t truth_read(const struct truth *t, struct run **r)
{
	struct err e = { "" };

	if (run_open(r, t->dir, &e))
		fail_msg("%s", e.text);
	return truth_check(t, *r);
}

#endif
