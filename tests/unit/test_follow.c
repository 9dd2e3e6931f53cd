/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that is followed while it grows: whenever it is looked at, its newest sample is what
 * was written last. */
#include <errno.h>

#include "recording/follow.h"
#include "recording/format.h"
#include "unit/recording_truth.h"

static const struct follow_series *series_of(const struct follow_node *n, uint32_t series)
{
	char name[32];

	snprintf(name, sizeof name, "t%u", series - (series - 1) % TRUTH_METRICS);
	for (uint32_t i = 0; i < n->nseries; i++) {
		const struct follow_instance *in = follow_instance(n, n->series[i].instance);

		assert_non_null(in);
		assert_string_equal(in->domain, "thing");
		if (!strcmp(in->name, name) &&
		    n->series[i].metric->storage ==
			    truth_metric[(series - 1) % TRUTH_METRICS].storage &&
		    !strcmp(n->series[i].metric->name,
			    truth_metric[(series - 1) % TRUTH_METRICS].name))
			return &n->series[i];
	}
	return NULL;
}

/* Every open series of the truth, in its last sample; and none that is over. */
static void check_newest(const struct truth *t, const struct follow_node *n)
{
	uint32_t open = 0, row = t->nrows - 1;

	assert_int_equal(n->mono_ns, t->mono[row]);
	assert_int_equal(n->utc_ns, t->utc[row]);
	for (int k = 0; k < TRUTH_LIVE; k++) {
		for (uint32_t i = 0; t->live[k] && i < TRUTH_METRICS; i++, open++) {
			uint32_t series = t->live[k] + i;
			const struct follow_series *s = series_of(n, series);

			assert_non_null(s);
			assert_int_equal(s->present, t->present[row][series]);
			if (!s->present)
				continue;
			assert_int_equal(s->value, t->value[row][series]);
			assert_int_equal(s->seen_ns, n->mono_ns);
		}
	}
	assert_int_equal(n->nseries, open);
}

static const struct follow_node *polled(struct follow *f)
{
	struct err e = { "" };

	if (follow_poll(f, &e))
		fail_msg("%s", e.text);
	assert_int_equal(follow_count(f), 1);
	return follow_node(f, 0);
}

static struct follow *followed(const char *path)
{
	struct follow *f;
	struct err e = { "" };

	if (follow_open(&f, path, &e))
		fail_msg("%s", e.text);
	return f;
}

/* Looked at after each sample, or after so many that slots were overwritten meanwhile. */
static void test_newest_is_what_was_written_last(void **state)
{
	static const struct {
		uint32_t chunk_rows, most;
	} how[] = { { 300, 1 }, { 7, 3 }, { 10, 12 }, { 3, 40 }, { 1, 5 } };

	(void)state;
	for (size_t i = 0; i < sizeof how / sizeof how[0]; i++) {
		struct truth *t = truth_new(
			i + 11, &(struct writer_options){ .chunk_rows = how[i].chunk_rows });
		struct follow *f = followed(t->dir);

		while (t->nrows < 500) {
			truth_samples(t, 1 + (uint32_t)truth_random(t) % how[i].most);
			check_newest(t, polled(f));
			assert_int_equal(follow_node(f, 0)->state, FOLLOW_OPEN);
		}
		truth_samples(t, 2);
		assert_int_equal(writer_close(t->w, NULL), 0);
		check_newest(t, polled(f));
		assert_int_equal(follow_node(f, 0)->state, FOLLOW_ENDED);
		assert_int_equal(follow_node(f, 0)->damages, 0);
		check_newest(t, polled(f));
		follow_close(f);
		f = followed(t->dir); /* one that comes when all is over */
		check_newest(t, polled(f));
		follow_close(f);
		truth_free(t);
	}
}

/* A value that is read rarely stays known, with the time when it was read. */
static void test_a_value_of_an_older_sample_says_its_age(void **state)
{
	struct truth *t = truth_new(5, &(struct writer_options){ .chunk_rows = 6 });
	struct follow *f = followed(t->dir);

	(void)state;
	for (int round = 0; round < 60; round++) {
		const struct follow_node *n;

		truth_samples(t, 1 + (uint32_t)round % 5);
		n = polled(f);
		for (int k = 0; k < TRUTH_LIVE; k++) {
			for (uint32_t i = 0; t->live[k] && i < TRUTH_METRICS; i++) {
				const struct follow_series *s = series_of(n, t->live[k] + i);
				uint32_t row = t->nrows;

				while (row && !t->present[row - 1][t->live[k] + i])
					row--;
				assert_non_null(s);
				assert_int_equal(s->seen_ns, row ? t->mono[row - 1] : 0);
				if (row)
					assert_int_equal(s->value,
							 t->value[row - 1][t->live[k] + i]);
			}
		}
	}
	writer_abandon(t->w);
	follow_close(f);
	truth_free(t);
}

/* What is read at a poll is what was added, whatever was there before. */
static void test_nothing_is_read_twice(void **state)
{
	struct truth *t = truth_new(3, &(struct writer_options){ .chunk_rows = 50 });
	struct follow *f = followed(t->dir);
	uint64_t before;
	FILE *io;

	(void)state;
	truth_samples(t, 1200);
	polled(f);
	truth_samples(t, 1);
	io = fopen("/proc/self/io", "re");
	if (!io || fscanf(io, "rchar: %lu", &before) != 1)
		skip();
	fclose(io);
	for (int i = 0; i < 10; i++)
		polled(f);
	io = fopen("/proc/self/io", "re");
	assert_non_null(io);
	{
		uint64_t after;

		assert_int_equal(fscanf(io, "rchar: %lu", &after), 1);
		assert_true(after - before < 10 * 2000);
	}
	fclose(io);
	writer_abandon(t->w);
	follow_close(f);
	truth_free(t);
}

static void test_another_recording_takes_the_place(void **state)
{
	struct truth *a = truth_new(1, &(struct writer_options){ .chunk_rows = 9 });
	struct truth *b = truth_new(2, &(struct writer_options){ .chunk_rows = 9 });
	struct follow *f = followed(a->dir);
	char from[128], to[128];

	(void)state;
	truth_samples(a, 30);
	check_newest(a, polled(f));
	truth_samples(b, 20);
	for (int i = 0; i < 2; i++) {
		snprintf(from, sizeof from, "%s/node-host.%s", b->dir, i ? "tail" : "sonde");
		snprintf(to, sizeof to, "%s/node-host.%s", a->dir, i ? "tail" : "sonde");
		assert_int_equal(rename(from, to), 0);
	}
	check_newest(b, polled(f));
	assert_int_equal(follow_node(f, 0)->replaced, 1);
	truth_samples(b, 3);
	check_newest(b, polled(f));
	snprintf(to, sizeof to, "%s/node-host.sonde", a->dir);
	assert_int_equal(unlink(to), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(follow_poll(f, NULL), 0);
	assert_int_equal(follow_count(f), 0);
	directory_remove(a->dir);
	assert_int_equal(follow_poll(f, NULL), -ENOENT);
	writer_abandon(a->w);
	writer_abandon(b->w);
	follow_close(f);
	truth_free(a);
	truth_free(b);
}

/* A block, or a sample of the tail, in which bits are flipped: the next generation is read again.
 */
static void test_damage_is_left_out_and_counted(void **state)
{
	struct truth *t = truth_new(8, &(struct writer_options){ .chunk_rows = 10 });
	struct follow *f = followed(t->dir);
	uint8_t byte;
	int fd;

	(void)state;
	truth_samples(t, 25);
	fd = openat(t->fd, "node-host.sonde", O_RDWR | O_CLOEXEC);
	for (off_t at = 1000; at < 1400; at += 100) {
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x55;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
	assert_int_equal(polled(f)->mono_ns, t->mono[24]);
	assert_true(polled(f)->damages > 0);
	fd = openat(t->fd, "node-host.tail", O_RDWR | O_CLOEXEC);
	truth_samples(t, 1);
	for (off_t at = TAIL_SLOTS_AT; at < TAIL_SLOTS_AT + 2 * TAIL_SLOT; at += 40) {
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x55;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
	assert_int_equal(polled(f)->mono_ns, t->mono[24]);
	truth_samples(t, 20);
	assert_int_equal(polled(f)->mono_ns, t->mono[t->nrows - 1]);
	writer_abandon(t->w);
	follow_close(f);
	truth_free(t);
}

static void test_a_directory_may_be_empty_at_first(void **state)
{
	struct truth *t = truth_new(8, NULL);
	char path[] = "follow_XXXXXX", file[128];
	struct follow *f;
	struct err e = { "" };

	(void)state;
	assert_non_null(mkdtemp(path));
	f = followed(path);
	assert_int_equal(follow_poll(f, NULL), 0);
	assert_int_equal(follow_count(f), 0);
	follow_close(f);
	rmdir(path);
	assert_int_equal(follow_open(&f, path, &e), -ENOENT);
	assert_non_null(strstr(e.text, path));
	truth_samples(t, 4);
	snprintf(file, sizeof file, "%s/node-host.sonde", t->dir);
	f = followed(file);
	check_newest(t, polled(f));
	assert_string_equal(follow_node(f, 0)->path, file);
	assert_string_equal(follow_node(f, 0)->host, "host");
	follow_close(f);
	writer_abandon(t->w);
	truth_free(t);
}

/* Things come and go by the thousand; what is remembered is what lives. */
static void test_what_ended_is_forgotten(void **state)
{
	struct truth *t = truth_new(8, &(struct writer_options){ .chunk_rows = 100 });
	struct follow *f = followed(t->dir);
	char text[5000];

	(void)state;
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t in, slot;

		sample_begin(&t->s, 1000 + i, 1000 + i);
		in = sample_instance(&t->s, "thing", "a", 0, 1000, 0);
		slot = sample_series(&t->s, truth_metric, TRUTH_METRICS, in);
		sample_name(&t->s, in, "b");
		sample_put(&t->s, slot, i);
		if (i % 100 == 0)
			sample_meta_text(&t->s, "key", text);
		assert_int_equal(writer_sample(t->w, &t->s, NULL), 0);
		if (i % 7 == 0) {
			const struct follow_node *n = polled(f);

			assert_int_equal(n->nseries, TRUTH_METRICS);
			assert_int_equal(n->series[0].value, i);
			assert_string_equal(follow_instance(n, n->series[0].instance)->name, "b");
			assert_int_equal(n->nmetas, 1);
			assert_int_equal(strlen(follow_meta(n, "key")->text), FOLLOW_TEXT_MAX);
			assert_null(follow_meta(n, "other"));
		}
		sample_series_end(&t->s, slot, TRUTH_METRICS);
		sample_end(&t->s, in, 1000 + i);
	}
	writer_abandon(t->w);
	follow_close(f);
	truth_free(t);
}

/* ---- what was ---- */

static const struct follow_series *was_series(const struct follow_node *n, uint32_t series)
{
	const struct metric *m = &truth_metric[(series - 1) % TRUTH_METRICS];
	char name[32];

	snprintf(name, sizeof name, "t%u", series - (series - 1) % TRUTH_METRICS);
	for (uint32_t i = 0; i < n->nseries; i++) {
		const struct follow_instance *in = follow_instance(n, n->series[i].instance);

		if (in && !strcmp(in->name, name) && !strcmp(n->series[i].metric->name, m->name))
			return &n->series[i];
	}
	return NULL;
}

static void check_row(const struct truth *t, const struct follow_node *n, uint32_t row)
{
	assert_int_equal(n->mono_ns, t->mono[row]);
	for (uint32_t series = 1; series < t->nseries; series++) {
		const struct follow_series *s = was_series(n, series);
		uint32_t before = row;

		if (!t->present[row][series]) {
			assert_true(!s || !s->present);
			continue;
		}
		assert_non_null(s);
		assert_true(s->present);
		assert_int_equal(s->value, t->value[row][series]);
		while (before && !t->present[before - 1][series])
			before--;
		assert_int_equal(s->before_ns, before ? t->mono[before - 1] : 0);
		if (before)
			assert_int_equal(s->before, t->value[before - 1][series]);
	}
}

/* Row after row, in leaps, and back. */
static void test_an_instant_is_as_it_was_written(void **state)
{
	static const uint32_t chunk_rows[] = { 300, 7, 1 };

	(void)state;
	for (size_t i = 0; i < sizeof chunk_rows / sizeof chunk_rows[0]; i++) {
		struct truth *t =
			truth_new(i + 5, &(struct writer_options){ .chunk_rows = chunk_rows[i] });
		struct follow *f = followed(t->dir);
		const struct follow_node *n;

		truth_samples(t, 100);
		assert_int_equal(writer_close(t->w, NULL), 0);
		n = polled(f);
		for (uint32_t k = 0; k < 3 * t->nrows; k++) {
			uint32_t row = k < t->nrows ? k : (uint32_t)truth_random(t) % t->nrows;
			int64_t passed = t->mono[row] - n->first_mono_ns;

			assert_int_equal(follow_at(f, n->first_utc_ns + passed, NULL), 0);
			check_row(t, n, row);
			assert_int_equal(n->damages, 0);
		}
		follow_close(f);
		truth_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_is_what_was_written_last),
		cmocka_unit_test(test_a_value_of_an_older_sample_says_its_age),
		cmocka_unit_test(test_nothing_is_read_twice),
		cmocka_unit_test(test_another_recording_takes_the_place),
		cmocka_unit_test(test_damage_is_left_out_and_counted),
		cmocka_unit_test(test_a_directory_may_be_empty_at_first),
		cmocka_unit_test(test_what_ended_is_forgotten),
		cmocka_unit_test(test_an_instant_is_as_it_was_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
