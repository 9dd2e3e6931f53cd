/* SPDX-License-Identifier: Apache-2.0 */
/* What devices add up to, however their source reads them: in turn, several at a time, from
 * different samples on, until they end. */
#include "core/frame/derive.h"
#include "unit/frame_text.h"

#include <math.h>
#include <stdio.h>

enum { DEVICES_MAX = 16, ROWS = 200 };

static const struct metric bytes_metric = { "port.bytes", "port", .unit = UNIT_BYTES,
					    .kind = KIND_COUNTER, .over_instances = COMBINE_SUM };
static const struct metric queue_metric = { "port.queue", "port", .unit = UNIT_COUNT,
					    .kind = KIND_GAUGE, .over_instances = COMBINE_SUM };

/* How a run's devices behave. */
struct scene {
	uint32_t devices, at_once; /* so many are read in a row, in turn */
	uint32_t rows_per_chunk;
	uint32_t born[DEVICES_MAX], ends[DEVICES_MAX]; /* rows; ends 0: never */
};

static bool lives(const struct scene *c, uint32_t device, uint32_t row)
{
	return row >= c->born[device] && (!c->ends[device] || row < c->ends[device]);
}

static int64_t rate_of(uint32_t device)
{
	return INT64_C(100000000) + 7919 * device;
}

static struct synth *play(const struct scene *c)
{
	struct synth *s = synth_new(c->rows_per_chunk);
	uint32_t b = synth_metric(s, bytes_metric), q = synth_metric(s, queue_metric), next = 0;
	static char name[DEVICES_MAX][8];

	for (uint32_t i = 0; i < c->devices; i++) {
		uint32_t id;

		snprintf(name[i], sizeof name[i], "p%u", i);
		id = synth_instance(s, "port", name[i]);
		s->instances[id].birth_ns = c->born[i] * INT64_C(1000000000);
		if (c->ends[i])
			s->instances[id].end_ns = c->ends[i] * INT64_C(1000000000);
		synth_series(s, 1, b, id);
		synth_series(s, 1, q, id);
	}
	for (uint32_t row = 0; row < ROWS; row++) {
		synth_row(s, 1, row);
		for (uint32_t k = 0, tried = 0; k < c->at_once && tried < c->devices; tried++) {
			uint32_t i = next++ % c->devices;

			if (!lives(c, i, row))
				continue;
			synth_put(s, 1 + 2 * i, rate_of(i) * row + (INT64_C(1) << 40));
			synth_put(s, 2 + 2 * i, 3 + i);
			k++;
		}
	}
	return s;
}

/* What the combined metric is in each row; NAN where it is missing. */
static void combined(struct synth *s, const char *metric, double out[ROWS])
{
	struct selection sel = { .combine = true, .metrics = metric };
	struct err e = { "" };
	struct instant at;
	struct derive d;
	int rc;

	for (int r = 0; r < ROWS; r++)
		out[r] = NAN;
	assert_int_equal(derive_open(&d, &s->run, &sel, &e), 0);
	while ((rc = derive_next(&d, &at, &e)) > 0)
		for (uint32_t i = 0; i < at.n; i++)
			out[(int)round(at.seconds)] = at.value[i];
	assert_int_equal(rc, 0);
	derive_close(&d);
}

static double truth(const struct scene *c, uint32_t row, bool rate)
{
	double sum = 0;

	for (uint32_t i = 0; i < c->devices; i++)
		if (lives(c, i, row))
			sum += rate ? (double)rate_of(i) : 3 + i;
	return sum;
}

/* No row may tell another sum than the true one. Returns how many tell none. */
static uint32_t untold(const struct scene *c, const double got[ROWS], bool rate, uint32_t from,
		       uint32_t to)
{
	uint32_t none = 0;

	for (uint32_t r = from; r < to; r++) {
		double want = truth(c, r, rate);

		if (isnan(got[r]))
			none++;
		else if (fabs(got[r] - want) > 1e-9 * want)
			fail_msg("%u devices, %u at once, chunks of %u: row %u has %.0f, not %.0f",
				 c->devices, c->at_once, c->rows_per_chunk, r, got[r], want);
	}
	return none;
}

static void sums_are_true_however_devices_are_read(void **state)
{
	static const uint32_t chunks[] = { 1, 3, 16, 70, ROWS };
	double got[ROWS];

	(void)state;
	for (uint32_t n = 1; n <= DEVICES_MAX; n++)
		for (uint32_t k = 1; k <= n; k++)
			for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
				struct scene c = { n, k, chunks[i], { 0 }, { 0 } };
				struct synth *s = play(&c);
				uint32_t turn = (n + k - 1) / k; /* rows until all were read */

				combined(s, "port.bytes_per_second", got);
				assert_int_equal(untold(&c, got, true, 2 * turn + 1, ROWS), 0);
				if (c.rows_per_chunk > 2 * turn) /* it is known who is to come */
					untold(&c, got, true, 0, 2 * turn + 1);
				combined(s, "port.queue", got);
				assert_int_equal(untold(&c, got, false, turn, ROWS), 0);
				if (c.rows_per_chunk > turn)
					untold(&c, got, false, 0, turn);
				synth_free(s);
			}
}

/* The rows around it may tell nothing; no row tells something else, and the rest goes on. */
static void a_device_may_come_and_go(void **state)
{
	double got[ROWS];

	(void)state;
	for (uint32_t k = 1; k <= 4; k++) {
		struct scene c = { 4, k, 64, { 0, 50, 0, 0 }, { 0, 0, 120, 0 } };
		struct synth *s = play(&c);

		combined(s, "port.bytes_per_second", got);
		for (uint32_t r = 0; r < ROWS;
		     r++) /* until it was read twice, its rate is not known */
			if (r > 50 - 8 && r < 50 + 9)
				got[r] = NAN;
		assert_int_equal(untold(&c, got, true, 60, 119), 0);
		assert_int_equal(untold(&c, got, true, 130, ROWS), 0);
		untold(&c, got, true, 0, ROWS);
		synth_free(s);
	}
}

/* A port whose file cannot be read any more while it is still there. */
static void a_sum_without_a_part_is_not_known(void **state)
{
	struct scene c = { 3, 3, 64, { 0 }, { 0 } };
	struct synth *s = play(&c);
	double got[ROWS];

	(void)state;
	for (uint32_t r = 100; r < ROWS; r++)
		s->row[r].present[3] = 0; /* p1's bytes */
	combined(s, "port.bytes_per_second", got);
	assert_int_equal(untold(&c, got, true, 1, 100), 0);
	assert_int_equal(untold(&c, got, true, 120, ROWS), 80);
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_true_however_devices_are_read),
		cmocka_unit_test(a_device_may_come_and_go),
		cmocka_unit_test(a_sum_without_a_part_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
