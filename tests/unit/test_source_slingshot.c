/* SPDX-License-Identifier: Apache-2.0 */
/* Slingshot adapters: numbers with the time they were taken at, sums over traffic classes. */
#include "unit/one_source.h"
#include "unit/tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct source source_slingshot;

static void open_fixture(struct one *x, const char *sys)
{
	char dir[512], proc[512];

	one_open(x, &source_slingshot, one_fixture(proc, "slingshot/proc"), one_fixture(dir, sys));
}

/* The last value in 60 samples; -1 when there was none. */
static int64_t last_value(struct one *x, const char *metric, const char *adapter)
{
	int64_t last = -1;

	for (int i = 0; i < 60; i++) {
		int64_t v;

		one_read(x);
		assert_int_equal(x->result, 0);
		v = node_value(&x->n, metric, adapter);
		if (v >= 0)
			last = v;
	}
	return last;
}

static void the_number_is_what_stands_before_its_time(void **unused)
{
	struct one x;

	(void)unused;
	open_fixture(&x, "slingshot/sys");
	assert_int_equal(x.result, 0);
	assert_int_equal(last_value(&x, "slingshot.received_bytes", "cxi0"), 987654321987);
	assert_int_equal(last_value(&x, "slingshot.transmitted_bytes", "cxi0"), 123456789123);
	assert_int_equal(last_value(&x, "slingshot.uncorrected_codewords", "cxi0"), 1);
	assert_int_equal(last_value(&x, "slingshot.host_non_posted_blocked_cycles", "cxi0"), 14);
	assert_int_equal(last_value(&x, "slingshot.speed_bytes_per_second", "cxi0"), 400000);
	assert_string_equal(one_label(&x, "cxi0", "speed"), "ck400G");
	assert_string_equal(one_label(&x, "cxi0", "scope"), "node");
	one_close(&x);
}

static void traffic_classes_are_added_up(void **unused)
{
	struct one x;

	(void)unused;
	open_fixture(&x, "slingshot/sys");
	assert_int_equal(last_value(&x, "slingshot.received_packets", "cxi0"), 8028);
	assert_int_equal(last_value(&x, "slingshot.transmitted_packets", "cxi0"), 16028);
	assert_int_equal(last_value(&x, "slingshot.transmit_paused_cycles", "cxi0"), 560);
	assert_int_equal(last_value(&x, "slingshot.messages_unexpected", "cxi0"), 6);
	one_close(&x);
}

static void what_is_missing_is_absent(void **unused)
{
	struct one x;

	(void)unused;
	open_fixture(&x, "slingshot/sys");
	assert_int_equal(last_value(&x, "slingshot.received_bytes", "cxi10"), -1);
	assert_int_equal(one_state(&x, "slingshot.received_bytes", "cxi10"), STATE_FAILED);
	assert_int_equal(last_value(&x, "slingshot.transmitted_bytes", "cxi10"), -1);
	assert_int_equal(one_state(&x, "slingshot.transmitted_bytes", "cxi10"), STATE_UNSUPPORTED);
	assert_int_equal(last_value(&x, "slingshot.corrected_codewords", "cxi10"), 32);
	/* Two of eight classes are no sum. */
	assert_int_equal(last_value(&x, "slingshot.receive_paused_cycles", "cxi10"), -1);
	assert_int_equal(last_value(&x, "slingshot.transmitted_bytes", "cxi2"), 5);
	one_close(&x);
	open_fixture(&x, "vm-small/sys");
	assert_int_equal(x.result, -ENODEV);
	one_close(&x);
}

#define CXI "class/cxi/cxi0/device/telemetry/"

/* A part that is missing makes no sum, which is said, and it counts again when the part is back. */
static void a_sum_recovers_when_its_parts_do(void **unused)
{
	static const char metric[] = "slingshot.translation_misses";
	struct one x;

	(void)unused;
	for (int i = 0; i < 4; i++) {
		char path[64];

		snprintf(path, sizeof path, CXI "atu_cache_miss_%d", i);
		tree_put("cxi", path, "%d@1.0\n", 10 + i);
	}
	tree_put("cxi", CXI "hni_sts_rx_ok_octets", "7@1.0\n");
	one_open(&x, &source_slingshot, "cxi", "cxi");
	assert_int_equal(x.result, 0);
	assert_int_equal(last_value(&x, metric, "cxi0"), 46);
	assert_int_equal(unlink("cxi/" CXI "atu_cache_miss_2"), 0);
	assert_int_equal(last_value(&x, metric, "cxi0"), -1);
	assert_int_equal(one_state(&x, metric, "cxi0"), STATE_FAILED);
	assert_int_equal(last_value(&x, "slingshot.received_bytes", "cxi0"), 7);
	tree_put("cxi", CXI "atu_cache_miss_2", "20@2.0\n");
	assert_int_equal(last_value(&x, metric, "cxi0"), 54);
	assert_int_equal(one_state(&x, metric, "cxi0"), STATE_PRESENT);
	/* A file of its own that goes away and stays away has failed, too. */
	assert_int_equal(unlink("cxi/" CXI "atu_cache_miss_0"), 0);
	assert_int_equal(last_value(&x, metric, "cxi0"), -1);
	assert_int_equal(one_state(&x, metric, "cxi0"), STATE_FAILED);
	tree_put("cxi", CXI "atu_cache_miss_0", "10@2.0\n");
	assert_int_equal(last_value(&x, metric, "cxi0"), 54);
	one_close(&x);
}

/* A sum of 8 files is the only thing beside traffic that is read in a sample. */
static void sums_are_read_one_at_a_time(void **unused)
{
	static const char *const sums[] = {
		"slingshot.received_packets",       "slingshot.transmitted_packets",
		"slingshot.receive_paused_cycles",  "slingshot.discards",
		"slingshot.transmit_paused_cycles", "slingshot.translation_misses",
	};
	struct one x;

	(void)unused;
	open_fixture(&x, "slingshot/sys");
	for (int k = 0; k < 60; k++) {
		int put = 0;

		one_read(&x);
		for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
			put += node_value(&x.n, sums[i], "cxi0") >= 0;
		assert_true(put <= 1);
	}
	one_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_is_what_stands_before_its_time),
		cmocka_unit_test(traffic_classes_are_added_up),
		cmocka_unit_test(what_is_missing_is_absent),
		cmocka_unit_test(a_sum_recovers_when_its_parts_do),
		cmocka_unit_test(sums_are_read_one_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
