/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of all sources is well formed; numbers and names of rates look as people expect. */
#include "core/expr/expr.h"
#include "source/source.h"
#include "unit/metric_fault.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define EACH_ROW(m)                                                                                \
	for (size_t m##_of = 0; m##_of < nsources; m##_of++)                                       \
		for (const struct metric *m = sources[m##_of]->metrics,                            \
					 *m##_end = m ? m + sources[m##_of]->nmetrics : NULL;      \
		     m < m##_end; m++)

static void every_row_is_well_formed(void **unused)
{
	(void)unused;
	EACH_ROW(m)
	{
		if (metric_fault(m))
			fail_msg("%s: %s", m->name, metric_fault(m));
	}
}

/* Public names: of rows, and of their rates. */
static void every_name_is_unique(void **unused)
{
	char name[128], other[128];

	(void)unused;
	EACH_ROW(a)
	{
		metric_rate_name(a, name, sizeof name);
		EACH_ROW(b)
		{
			metric_rate_name(b, other, sizeof other);
			if (a != b && (strcmp(a->name, b->name) == 0 ||
				       strcmp(name, b->name) == 0 || strcmp(name, other) == 0))
				fail_msg("%s is the name of two", name);
		}
	}
}

/* What a name says of its unit is so: the word of a rate replaces it. */
static void names_end_with_their_unit(void **unused)
{
	static const struct {
		enum unit unit;
		const char *end;
	} ends[] = {
		{ UNIT_SECONDS, "_seconds" },
		{ UNIT_ELAPSED_SECONDS, "_seconds" },
		{ UNIT_BYTES, "_bytes" },
		{ UNIT_RATIO, "_ratio" },
		{ UNIT_CORES, "_cores" },
		{ UNIT_JOULES, "_joules" },
		{ UNIT_BYTES_PER_SECOND, "_second" },
	};

	(void)unused;
	EACH_ROW(m)
	{
		for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
			size_t n = strlen(m->name), end = strlen(ends[i].end);
			bool says = n > end && strcmp(m->name + n - end, ends[i].end) == 0;

			if (m->unit == ends[i].unit && !says)
				fail_msg("%s does not end with %s", m->name, ends[i].end);
		}
	}
}

static void name_exists(void *formula_of, const char *function, const char *name)
{
	const struct metric *derived = formula_of;
	char public[128];

	EACH_ROW(m)
	{
		metric_rate_name(m, public, sizeof public);
		if (!function && strcmp(public, name) == 0)
			return;
	}
	fail_msg("%s: its formula asks for %s, which nothing gives", derived->name, name);
}

static void formulas_ask_for_what_there_is(void **unused)
{
	struct expr *x;
	struct err e;

	(void)unused;
	EACH_ROW(m)
	{
		if (!m->formula)
			continue;
		if (expr_parse(&x, m->formula, &e) != 0)
			fail_msg("%s: %s", m->name, e.text);
		expr_names(x, name_exists, (void *)(uintptr_t)m);
		expr_free(x);
	}
}

static const struct metric good = { "a.b_bytes", .label = "B", .help = "Bytes." };

static void faults_are_found(void **unused)
{
	static const struct metric bad[] = {
		{ NULL, .label = "B", .help = "Bytes." },
		{ "bytes", .label = "B", .help = "Bytes." },
		{ "a.", .label = "B", .help = "Bytes." },
		{ "a.B", .label = "B", .help = "Bytes." },
		{ "a.b-c", .label = "B", .help = "Bytes." },
		{ "1.b", .label = "B", .help = "Bytes." },
		{ "a.b", .help = "Bytes." },
		{ "a.b", .label = "B.", .help = "Bytes." },
		{ "a.b", .label = "B" },
		{ "a.b", .label = "B", .help = "Bytes" },
		{ "a.b", "A disk", .label = "B", .help = "Bytes." },
		{ "a.b", "", .label = "B", .help = "Bytes." },
		{ "a.b", .label = "B", .help = "Bytes.", .unit = UNIT_NUMBER_OF },
		{ "a.b", .label = "B", .help = "Bytes.", .kind = KIND_NUMBER_OF },
		{ "a.b", .label = "B", .help = "Bytes.", .formula = "a.c", .kind = KIND_COUNTER },
		{ "a.b", .label = "B", .help = "Bytes.", .formula = "a.c", .kind = KIND_GAUGE,
		  .mul = 2 },
		{ "a.b", .label = "B", .help = "Bytes.", .over_instances = COMBINE_SUM },
	};

	(void)unused;
	assert_null(metric_fault(&good));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (!metric_fault(&bad[i]))
			fail_msg("row %zu passed", i);
}

static void rates_have_names_and_units(void **unused)
{
	static const struct {
		struct metric m;
		const char *name;
		enum unit unit;
	} rows[] = {
		{ { "process.cpu_seconds", .unit = UNIT_SECONDS },
		  "process.cpu_cores",
		  UNIT_CORES },
		{ { "disk.read_bytes", .unit = UNIT_BYTES },
		  "disk.read_bytes_per_second",
		  UNIT_BYTES_PER_SECOND },
		{ { "job.processes_started", .unit = UNIT_COUNT },
		  "job.processes_started_per_second",
		  UNIT_PER_SECOND },
		{ { "disk.busy_seconds", .unit = UNIT_ELAPSED_SECONDS },
		  "disk.busy_ratio",
		  UNIT_RATIO },
		{ { "gpu.energy_joules", .unit = UNIT_JOULES }, "gpu.energy_watts", UNIT_WATTS },
		{ { "foreign.cpu", .unit = UNIT_SECONDS }, "foreign.cpu_cores", UNIT_CORES },
	};
	char name[64], small[8];

	(void)unused;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		metric_rate_name(&rows[i].m, name, sizeof name);
		assert_string_equal(name, rows[i].name);
		assert_int_equal(unit_rate(rows[i].m.unit), rows[i].unit);
	}
	metric_rate_name(
		&(struct metric){ "node.free_seconds", .unit = UNIT_SECONDS, .kind = KIND_GAUGE },
		name, sizeof name);
	assert_string_equal(name, "node.free_seconds");
	metric_rate_name(&rows[0].m, small, sizeof small);
	assert_string_equal(small, "process");
}

static void unit_names_are_read_back(void **unused)
{
	(void)unused;
	for (unsigned u = 0; u < UNIT_NUMBER_OF; u++)
		assert_int_equal(unit_parse(unit_name((enum unit)u)), u);
	assert_int_equal(unit_parse("furlongs"), UNIT_NUMBER_OF);
}

static void stored_values_are_scaled(void **unused)
{
	struct metric m = { .mul = 1, .div = 100 };
	double d = 2.5;
	int64_t bits;

	(void)unused;
	assert_true(metric_value(&m, 150) == 1.5);
	m = (struct metric){ .mul = 512 };
	assert_true(metric_value(&m, 3) == 1536);
	m = (struct metric){ 0 };
	assert_true(metric_value(&m, -7) == -7);
	m.storage = STORE_REAL;
	memcpy(&bits, &d, sizeof bits);
	assert_true(metric_value(&m, bits) == 2.5);
}

/* How people write them. */
static const struct {
	enum unit unit;
	double value;
	const char *text;
} written[] = {
	{ UNIT_BYTES, 0, "0 B" },
	{ UNIT_BYTES, 1023, "1023 B" },
	{ UNIT_BYTES, 1536, "1.5 KiB" },
	{ UNIT_BYTES, 3.1 * 1073741824, "3.1 GiB" },
	{ UNIT_BYTES, 1048575, "1.0 MiB" },
	{ UNIT_BYTES, -2048, "-2.0 KiB" },
	{ UNIT_BYTES_PER_SECOND, 0, "0 B/s" },
	{ UNIT_BYTES_PER_SECOND, 42e6, "42.0 MB/s" },
	{ UNIT_BYTES_PER_SECOND, 999.96, "1.0 kB/s" },
	{ UNIT_PER_SECOND, 0, "0/s" },
	{ UNIT_PER_SECOND, 0.25, "0.25/s" },
	{ UNIT_PER_SECOND, 850, "850/s" },
	{ UNIT_PER_SECOND, 12345, "12.3 k/s" },
	{ UNIT_PER_SECOND, 0.0042, "0.0042/s" },
	{ UNIT_PER_SECOND, 4.3e-05, "<0.001/s" },
	{ UNIT_CORES, 4.3e-05, "<0.001 cores" },
	{ UNIT_ONE, 4.3e-05, "<0.001" },
	{ UNIT_ONE, -4.3e-05, "0.00" },
	{ UNIT_ONE, 4173000, "4.2 M" },
	{ UNIT_CORES, 0.00096, "0.00096 cores" },
	{ UNIT_CORES, 0.006, "0.0060 cores" },
	{ UNIT_CORES, 0.0996, "0.10 cores" },
	{ UNIT_CORES, 3.1, "3.10 cores" },
	{ UNIT_CORES, 128, "128.0 cores" },
	{ UNIT_RATIO, 0, "0 %" },
	{ UNIT_RATIO, 0.0001, "<0.1 %" },
	{ UNIT_RATIO, 0.034, "3.4 %" },
	{ UNIT_RATIO, 0.12, "12 %" },
	{ UNIT_RATIO, 1, "100 %" },
	{ UNIT_SECONDS, 0, "0 s" },
	{ UNIT_SECONDS, 12e-9, "12 ns" },
	{ UNIT_SECONDS, 0.9999e-6, "1 us" },
	{ UNIT_SECONDS, 0.25, "250 ms" },
	{ UNIT_SECONDS, 0.9999, "1.00 s" },
	{ UNIT_SECONDS, 9.999, "10.0 s" },
	{ UNIT_SECONDS, 59.97, "1 min 00 s" },
	{ UNIT_SECONDS, 65, "1 min 05 s" },
	{ UNIT_SECONDS, 3599.7, "1 h 00 min" },
	{ UNIT_SECONDS, 3720, "1 h 02 min" },
	{ UNIT_SECONDS, 2 * 86400 + 3 * 3600, "2 d 03 h" },
	{ UNIT_ELAPSED_SECONDS, 65, "1 min 05 s" },
	{ UNIT_COUNT, 3, "3" },
	{ UNIT_COUNT, 2.5, "2.5" },
	{ UNIT_COUNT, 999999, "999999" },
	{ UNIT_COUNT, 12345678, "12.3 M" },
	{ UNIT_ONE, 0.5, "0.50" },
	{ UNIT_WATTS, 85.23, "85.2 W" },
	{ UNIT_JOULES, 1234, "1.2 kJ" },
	{ UNIT_HERTZ, 3.4e9, "3.4 GHz" },
	{ UNIT_CELSIUS, 45, "45.0 \302\260C" },
	{ UNIT_BYTES, NAN, "unknown" },
	{ UNIT_CORES, INFINITY, "unknown" },
};

static void numbers_look_as_people_expect(void **unused)
{
	char text[40];

	(void)unused;
	for (size_t i = 0; i < sizeof written / sizeof written[0]; i++)
		assert_string_equal(
			unit_format(written[i].unit, written[i].value, text, sizeof text),
			written[i].text);
}

/* In any unit, however large or small: no exponent, and no more digits than are read. */
static void numbers_have_few_digits_and_no_exponent(void **unused)
{
	char text[40];

	(void)unused;
	for (unsigned u = 0; u < UNIT_NUMBER_OF; u++)
		for (double v = 1.234567e-9; v < 1e17; v *= 3.7) {
			unsigned digits = 0;

			unit_format((enum unit)u, v, text, sizeof text);
			for (const char *c = text; *c; c++) {
				digits += *c >= '0' && *c <= '9';
				if (*c == 'e' && (c[1] == '+' || c[1] == '-'))
					fail_msg("%s of %g is %s", unit_name((enum unit)u), v,
						 text);
			}
			if (digits > 7 && v < 1e4)
				fail_msg("%s of %g is %s", unit_name((enum unit)u), v, text);
		}
}

static void errors_mean_states(void **unused)
{
	(void)unused;
	assert_int_equal(state_of(-ENOENT), STATE_UNSUPPORTED);
	assert_int_equal(state_of(-EOPNOTSUPP), STATE_UNSUPPORTED);
	assert_int_equal(state_of(-EACCES), STATE_FORBIDDEN);
	assert_int_equal(state_of(-EIO), STATE_FAILED);
	assert_string_equal(state_name(STATE_FORBIDDEN), "forbidden");
	assert_string_equal(state_name((enum state)77), "unknown");
	assert_string_equal(kind_name(KIND_GAUGE), "gauge");
	assert_string_equal(combine_name(COMBINE_MEAN), "mean");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_well_formed),
		cmocka_unit_test(every_name_is_unique),
		cmocka_unit_test(names_end_with_their_unit),
		cmocka_unit_test(formulas_ask_for_what_there_is),
		cmocka_unit_test(faults_are_found),
		cmocka_unit_test(rates_have_names_and_units),
		cmocka_unit_test(unit_names_are_read_back),
		cmocka_unit_test(stored_values_are_scaled),
		cmocka_unit_test(numbers_look_as_people_expect),
		cmocka_unit_test(numbers_have_few_digits_and_no_exponent),
		cmocka_unit_test(errors_mean_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
