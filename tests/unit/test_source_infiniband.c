/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of adapters: what is in words and what is not, full counters, which files are read when,
 * ports that come and go. */
#include "unit/one_source.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct source source_infiniband;

enum { ROUND = 40 }; /* samples in which everything of a few ports is read */

struct seen {
	int64_t value[4096]; /* by slot; -1: never */
};

static void open_fixture(struct one *x, const char *name)
{
	char proc[512], sys[512], path[128];

	snprintf(path, sizeof path, "%s/proc", name);
	one_fixture(proc, path);
	snprintf(path, sizeof path, "%s/sys", name);
	one_open(x, &source_infiniband, proc, one_fixture(sys, path));
}

/* Read for a round; what was last put into each slot. */
static void read_round(struct one *x, struct seen *seen)
{
	for (size_t i = 0; i < 4096; i++)
		seen->value[i] = -1;
	for (int k = 0; k < ROUND; k++) {
		one_read(x);
		assert_int_equal(x->result, 0);
		for (uint32_t i = 1; i < x->n.sample.nslots; i++)
			if (x->n.sample.state[i] == STATE_PRESENT)
				seen->value[i] = x->n.sample.value[i];
	}
}

static double value(const struct one *x, const struct seen *seen, const char *metric,
		    const char *port)
{
	uint32_t slot = node_slot(&x->n, metric, port);

	assert_int_not_equal(slot, 0);
	if (seen->value[slot] < 0)
		return -1;
	return metric_value(x->n.sample.slot[slot].metric, seen->value[slot]);
}

#define IS(metric, port, number)                                                                   \
	assert_true(value(&x, &seen, "infiniband." metric, port) == (double)(number))

static void data_are_words_and_packets_are_not(void **unused)
{
	struct seen seen;
	struct one x;

	(void)unused;
	open_fixture(&x, "infiniband");
	assert_int_equal(x.result, 0);
	read_round(&x, &seen);
	IS("received_bytes", "mlx5_0/1", 4 * 5000000000);
	IS("transmitted_bytes", "mlx5_0/1", 4 * 6000000001);
	IS("received_packets", "mlx5_0/1", 123456789);
	IS("transmitted_packets", "mlx5_0/1", 123456780);
	IS("received_unicast", "mlx5_0/1", 1000);
	IS("transmitted_multicast", "mlx5_0/1", 1003);
	IS("symbol_errors", "mlx5_0/1", 3);
	IS("link_downs", "mlx5_0/1", 2);
	IS("transmit_wait_ticks", "mlx5_0/1", 987654321012);
	one_close(&x);
}

static void every_port_tells_its_link(void **unused)
{
	struct seen seen;
	struct one x;

	(void)unused;
	open_fixture(&x, "infiniband");
	read_round(&x, &seen);
	IS("link_state", "mlx5_0/1", 4);
	IS("physical_state", "mlx5_0/1", 5);
	IS("speed_bytes_per_second", "mlx5_0/1", 12.5e9);
	IS("link_state", "mlx5_0/2", 1);
	IS("physical_state", "mlx5_0/2", 2);
	IS("speed_bytes_per_second", "mlx5_0/2", -1); /* it has a rate, and is down */
	IS("received_bytes", "mlx5_0/2", 0);
	assert_string_equal(one_label(&x, "mlx5_0/1", "network"), "InfiniBand");
	assert_string_equal(one_label(&x, "mlx5_0/1", "scope"), "node");
	one_close(&x);
}

static void networks_are_told_apart(void **unused)
{
	struct seen seen;
	struct one x;

	(void)unused;
	open_fixture(&x, "omni-path");
	read_round(&x, &seen);
	assert_string_equal(one_label(&x, "hfi1_0/1", "network"), "Omni-Path");
	IS("received_bytes", "hfi1_0/1", 4 * 77777777777);
	IS("received_packets", "hfi1_0/1", 66666666);
	assert_int_equal(one_state(&x, "infiniband.out_of_buffer", "hfi1_0/1"), STATE_UNSUPPORTED);
	IS("out_of_buffer", "hfi1_0/1", -1);
	one_close(&x);
	open_fixture(&x, "roce");
	read_round(&x, &seen);
	assert_string_equal(one_label(&x, "mlx5_bond_0/1", "network"), "RoCE");
	IS("transmitted_bytes", "mlx5_bond_0/1", 4 * 300000);
	IS("out_of_buffer", "mlx5_bond_0/1", 7);
	IS("congestion_marks", "mlx5_bond_0/1", 501);
	IS("responder_errors", "mlx5_bond_0/1", 6);
	/* This one counts bytes, and only in its own way. */
	IS("adapter_received_bytes", "efa_0/1", 123456);
	IS("adapter_transmitted_packets", "efa_0/1", 222);
	assert_int_equal(one_state(&x, "infiniband.received_bytes", "efa_0/1"), STATE_UNSUPPORTED);
	one_close(&x);
}

static void a_full_counter_has_failed(void **unused)
{
	struct seen seen;
	struct one x;

	(void)unused;
	open_fixture(&x, "infiniband-32bit");
	read_round(&x, &seen);
	IS("received_bytes", "mlx4_0/1", 4.0 * 4294967294);
	IS("transmitted_bytes", "mlx4_0/1", -1);
	assert_int_equal(one_state(&x, "infiniband.transmitted_bytes", "mlx4_0/1"), STATE_FAILED);
	assert_int_equal(one_state(&x, "infiniband.received_bytes", "mlx4_0/1"), STATE_PRESENT);
	assert_int_equal(one_state(&x, "infiniband.link_downs", "mlx4_0/1"), STATE_FAILED);
	assert_int_equal(one_state(&x, "infiniband.symbol_errors", "mlx4_0/1"), STATE_FAILED);
	assert_int_equal(one_state(&x, "infiniband.integrity_errors", "mlx4_0/1"), STATE_FAILED);
	IS("receive_errors", "mlx4_0/1", 254);
	one_close(&x);
}

static void counters_of_64_bits_are_preferred(void **unused)
{
	struct seen seen;
	struct one x;

	(void)unused;
	open_fixture(&x, "infiniband-32bit");
	read_round(&x, &seen);
	IS("received_bytes", "mlx4_1/1", 4.0 * 4294967295); /* on its way, not full */
	IS("transmitted_bytes", "mlx4_1/1", 4.0 * 12884901888);
	IS("received_packets", "mlx4_1/1", 34359738368);
	IS("received_multicast", "mlx4_1/1", 3);
	one_close(&x);
}

static void what_is_no_number_has_failed(void **unused)
{
	static const char *const bad[] = { "received_bytes",        "transmitted_bytes",
					   "received_packets",      "transmitted_packets",
					   "symbol_errors",         "link_state",
					   "speed_bytes_per_second" };
	struct seen seen;
	struct one x;

	(void)unused;
	open_fixture(&x, "infiniband-broken");
	assert_int_equal(x.result, 0);
	read_round(&x, &seen);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char metric[64];

		snprintf(metric, sizeof metric, "infiniband.%s", bad[i]);
		assert_true(value(&x, &seen, metric, "mlx5_0/1") == -1);
		assert_int_equal(one_state(&x, metric, "mlx5_0/1"), STATE_FAILED);
	}
	IS("link_downs", "mlx5_0/1", 7);
	IS("link_state", "mlx5_1/1", 4);
	assert_int_equal(one_state(&x, "infiniband.received_bytes", "mlx5_1/1"), STATE_UNSUPPORTED);
	one_close(&x);
}

static void a_node_without_adapters_says_so(void **unused)
{
	struct one x;

	(void)unused;
	open_fixture(&x, "vm-small");
	assert_int_equal(x.result, -ENODEV);
	one_close(&x);
}

/* A tree of our own, below the working directory. */
static void write_file(const char *path, const char *text)
{
	char dir[256];
	int fd;

	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		snprintf(dir, sizeof dir, "%.*s", (int)(p - path), path);
		mkdir(dir, 0700);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void write_port(const char *adapter, const char *name, int64_t value)
{
	char path[256], text[32];

	snprintf(path, sizeof path, "sys/class/infiniband/%s/ports/1/%s", adapter, name);
	snprintf(text, sizeof text, "%" PRId64 "\n", value);
	write_file(path, text);
}

static void make_port(const char *adapter)
{
	static const char *const names[] = { "port_rcv_data",       "port_xmit_data",
					     "port_rcv_packets",    "port_xmit_packets",
					     "unicast_rcv_packets", "symbol_error",
					     "link_downed",         "port_xmit_wait" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[64];

		snprintf(path, sizeof path, "counters/%s", names[i]);
		write_port(adapter, path, (int64_t)i);
	}
	write_port(adapter, "state", 4);
}

static int unlink_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static void remove_tree(const char *path)
{
	nftw(path, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A driver that has both: what is beside the old name says that it is not counted there. */
static void packets_of_each_kind_are_preferred_in_64_bits(void **unused)
{
	struct seen seen;
	struct one x;

	(void)unused;
	make_port("mlx4_0");
	write_file("sys/class/infiniband/mlx4_0/ports/1/counters/unicast_rcv_packets",
		   "N/A (no PMA)\n");
	write_port("mlx4_0", "counters_ext/port_unicast_rcv_packets", 35184372000000);
	one_open(&x, &source_infiniband, ".", "sys");
	read_round(&x, &seen);
	IS("received_unicast", "mlx4_0/1", 35184372000000);
	one_close(&x);
	remove_tree("sys");
}

static void the_speed_of_a_link_that_is_down_is_none(void **unused)
{
	struct seen seen;
	struct one x;

	(void)unused;
	make_port("mlx5_0");
	write_file("sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
	write_file("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
	one_open(&x, &source_infiniband, ".", "sys");
	read_round(&x, &seen);
	IS("speed_bytes_per_second", "mlx5_0/1", -1);
	assert_int_equal(one_state(&x, "infiniband.speed_bytes_per_second", "mlx5_0/1"),
			 STATE_UNSUPPORTED);
	write_file("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	read_round(&x, &seen);
	IS("speed_bytes_per_second", "mlx5_0/1", 50e9);
	assert_int_equal(one_state(&x, "infiniband.speed_bytes_per_second", "mlx5_0/1"),
			 STATE_PRESENT);
	one_close(&x);
	remove_tree("sys");
}

static void what_a_writer_adds_is_counted(void **unused)
{
	int64_t words = 1000, packets = 10, last = 0;
	struct one x;

	(void)unused;
	make_port("mlx5_0");
	one_open(&x, &source_infiniband, ".", "sys");
	for (int i = 0; i < 50; i++) {
		int64_t added = (INT64_C(1000003) * i * i) % 3000017 + 1, now;

		words += added;
		packets += 2 * i + 1;
		write_port("mlx5_0", "counters/port_rcv_data", words);
		write_port("mlx5_0", "counters/port_rcv_packets", packets);
		one_read(&x);
		now = node_value(&x.n, "infiniband.received_bytes", "mlx5_0/1");
		if (i)
			assert_int_equal(now - last, added);
		last = now;
		assert_int_equal(node_value(&x.n, "infiniband.received_packets", "mlx5_0/1"),
				 packets);
	}
	one_close(&x);
	remove_tree("sys");
}

static void a_counter_that_was_reset_counts_again(void **unused)
{
	struct one x;

	(void)unused;
	make_port("mthca0");
	unlink("sys/class/infiniband/mthca0/ports/1/counters/unicast_rcv_packets");
	write_port("mthca0", "counters/port_rcv_data", UINT32_MAX);
	one_open(&x, &source_infiniband, ".", "sys");
	one_read(&x);
	assert_int_equal(node_value(&x.n, "infiniband.received_bytes", "mthca0/1"), -1);
	assert_int_equal(one_state(&x, "infiniband.received_bytes", "mthca0/1"), STATE_FAILED);
	write_port("mthca0", "counters/port_rcv_data", 5);
	one_read(&x);
	assert_int_equal(node_value(&x.n, "infiniband.received_bytes", "mthca0/1"), 5);
	assert_int_equal(one_state(&x, "infiniband.received_bytes", "mthca0/1"), STATE_PRESENT);
	one_close(&x);
	remove_tree("sys");
}

static void ports_end_and_are_born(void **unused)
{
	struct one x;

	(void)unused;
	make_port("mlx5_0");
	make_port("mlx5_1");
	one_open(&x, &source_infiniband, ".", "sys");
	one_read(&x);
	remove_tree("sys/class/infiniband/mlx5_0");
	make_port("mlx5_2");
	for (int i = 0; i < 12; i++) {
		one_read(&x);
		assert_int_equal(x.result, 0);
	}
	assert_int_equal(one_events(&x, EVENT_END, "mlx5_0/1"), 1);
	assert_int_equal(one_events(&x, EVENT_END, "mlx5_1/1"), 0);
	assert_int_equal(one_events(&x, EVENT_INSTANCE, "mlx5_2/1"), 1);
	assert_int_equal(node_value(&x.n, "infiniband.transmitted_bytes", "mlx5_2/1"), 1);
	remove_tree("sys");
	for (int i = 0; i < 12; i++)
		one_read(&x);
	assert_int_equal(one_events(&x, EVENT_END, "mlx5_1/1"), 1);
	one_close(&x);
}

/* Files that vanish and come back within a listing: no error is told, no port is born. */
static void a_port_that_was_replaced_goes_on(void **unused)
{
	struct one x;

	(void)unused;
	make_port("mlx5_0");
	one_open(&x, &source_infiniband, ".", "sys");
	one_read(&x);
	remove_tree("sys/class/infiniband/mlx5_0");
	for (int i = 0; i < 4; i++)
		one_read(&x);
	make_port("mlx5_0");
	write_port("mlx5_0", "counters/port_rcv_data", 77);
	for (int i = 0; i < 12; i++)
		one_read(&x);
	assert_int_equal(one_events(&x, EVENT_INSTANCE, "mlx5_0/1"), 1);
	assert_int_equal(one_events(&x, EVENT_END, "mlx5_0/1"), 0);
	assert_int_equal(one_state(&x, "infiniband.symbol_errors", "mlx5_0/1"), STATE_PRESENT);
	assert_int_equal(node_value(&x.n, "infiniband.received_bytes", "mlx5_0/1"), 77);
	one_close(&x);
	remove_tree("sys");
}

static const char *port_name(int i)
{
	static char name[8];

	snprintf(name, sizeof name, "mlx%d/1", i);
	return name;
}

static void make_ports(int n)
{
	char adapter[8];

	for (int i = 0; i < n; i++) {
		snprintf(adapter, sizeof adapter, "mlx%d", i);
		make_port(adapter);
	}
}

/* Of n ports, those whose traffic was read in this sample. */
static int read_now(const struct one *x, int n)
{
	int now = 0;

	for (int i = 0; i < n; i++)
		now += node_value(&x->n, "infiniband.received_bytes", port_name(i)) >= 0;
	return now;
}

/* Traffic of all in one sample, so that it can be added up; four other files in each, in turn. */
static void many_ports_are_read_together(void **unused)
{
	enum { PORTS = 9, TRAFFIC = 4, OTHERS = 4 };
	int errors[PORTS] = { 0 };
	struct one x;

	(void)unused;
	make_ports(PORTS);
	one_open(&x, &source_infiniband, ".", "sys");
	for (int k = 0; k < 45; k++) {
		uint32_t put = 0;

		one_read(&x);
		for (uint32_t i = 1; i < x.n.sample.nslots; i++)
			put += x.n.sample.state[i] == STATE_PRESENT;
		assert_int_equal(put, PORTS * TRAFFIC + OTHERS);
		assert_int_equal(read_now(&x, PORTS), PORTS);
		for (int i = 0; i < PORTS; i++)
			errors[i] +=
				node_value(&x.n, "infiniband.symbol_errors", port_name(i)) >= 0;
	}
	for (int i = 0; i < PORTS; i++)
		assert_int_equal(errors[i], 4);
	one_close(&x);
	remove_tree("sys");
}

/* At 100 Hz the 64 files of 16 ports would cost 6 % of a core and more. */
static void many_ports_are_not_read_in_every_sample(void **unused)
{
	enum { PORTS = 16, STEP_NS = 10000000 };
	int rounds = 0;
	struct one x;

	(void)unused;
	make_ports(PORTS);
	one_open(&x, &source_infiniband, ".", "sys");
	for (int k = 0; k < 640; k++) {
		int now;

		one_step(&x, STEP_NS);
		now = read_now(&x, PORTS);
		assert_true(now == 0 || now == PORTS);
		rounds += now > 0;
	}
	assert_in_range(rounds, 10, 12);
	one_close(&x);
	remove_tree("sys");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_are_words_and_packets_are_not),
		cmocka_unit_test(every_port_tells_its_link),
		cmocka_unit_test(networks_are_told_apart),
		cmocka_unit_test(a_full_counter_has_failed),
		cmocka_unit_test(counters_of_64_bits_are_preferred),
		cmocka_unit_test(packets_of_each_kind_are_preferred_in_64_bits),
		cmocka_unit_test(the_speed_of_a_link_that_is_down_is_none),
		cmocka_unit_test(what_is_no_number_has_failed),
		cmocka_unit_test(a_node_without_adapters_says_so),
		cmocka_unit_test(what_a_writer_adds_is_counted),
		cmocka_unit_test(a_counter_that_was_reset_counts_again),
		cmocka_unit_test(ports_end_and_are_born),
		cmocka_unit_test(a_port_that_was_replaced_goes_on),
		cmocka_unit_test(many_ports_are_read_together),
		cmocka_unit_test(many_ports_are_not_read_in_every_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
