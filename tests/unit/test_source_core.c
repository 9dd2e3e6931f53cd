/* SPDX-License-Identifier: Apache-2.0 */
/* Cores of a large machine: labels, frequencies, throttling, NUMA nodes; and cores that come and
 * go. */
#include "base/clock.h"
#include "unit/node.h"
#include "unit/sanitized.h"
#include "unit/tree.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct source source_cpu, source_numa, source_thermal;

enum { CORES = 64, CPUS = 2 * CORES, NUMA = 8, PER_NODE = CORES / NUMA };

struct scene {
	char top[32], proc[48], sys[48];
	struct node n; /* of it, env and sample */
	const struct source *source;
	void *state;
	int result;
	int64_t now_ns;
};

static void begin(struct scene *x)
{
	*x = (struct scene){ .top = "node.XXXXXX" };
	assert_non_null(mkdtemp(x->top));
	snprintf(x->proc, sizeof x->proc, "%s/proc", x->top);
	snprintf(x->sys, sizeof x->sys, "%s/sys", x->top);
	tree_put(x->sys, "kernel/notes", "\n");
}

static void open_source(struct scene *x, const struct source *source)
{
	struct err e;

	x->source = source;
	assert_int_equal(sample_init(&x->n.sample, NODE_SLOTS, NODE_SLOTS), 0);
	assert_int_equal(root_open(&x->n.env.proc, x->proc), 0);
	assert_int_equal(root_open(&x->n.env.sys, x->sys), 0);
	x->n.env.interval_ns = NS_PER_S;
	x->state = calloc(1, source->size);
	sample_begin(&x->n.sample, 0, 0);
	x->result = source->open(x->state, &x->n.env, &x->n.sample, &e);
}

static void read_after(struct scene *x, int64_t seconds)
{
	x->now_ns += seconds * NS_PER_S;
	sample_begin(&x->n.sample, x->now_ns, x->now_ns);
	x->result = x->source->read(x->state, &x->n.sample);
}

static void end(struct scene *x)
{
	x->source->close(x->state);
	free(x->state);
	sample_free(&x->n.sample);
	root_close(&x->n.env.proc);
	root_close(&x->n.env.sys);
}

/* What was said last of the series. */
static enum state said(const struct scene *x, const char *metric, const char *instance)
{
	uint32_t slot = node_slot(&x->n, metric, instance);
	enum state state = STATE_ABSENT; /* nothing was */

	assert_int_not_equal(slot, 0);
	for (uint32_t i = 0; i < x->n.sample.nevents; i++) {
		const struct event *e = &x->n.sample.event[i];

		if (e->kind == EVENT_STATE && e->id == x->n.sample.slot[slot].series)
			state = e->state;
	}
	return state;
}
#define SAID(x, metric, instance, state) assert_int_equal(said(x, metric, instance), state)

static const struct event *find_event(const struct scene *x, enum event_kind kind,
				      const char *instance, const char *key)
{
	for (uint32_t i = 0; i < x->n.sample.nevents; i++) {
		const struct event *e = &x->n.sample.event[i];

		if (e->kind == kind && strcmp(e->name, key ? key : instance) == 0 &&
		    strcmp(node_instance_name(&x->n, e->id), instance) == 0)
			return e;
	}
	fail_msg("nothing of %s", instance);
	return NULL;
}

static const char *label_of(const struct scene *x, const char *instance, const char *key)
{
	return find_event(x, EVENT_LABEL, instance, key)->text;
}

static bool is_aside(const struct scene *x, const char *instance)
{
	return find_event(x, EVENT_INSTANCE, instance, NULL)->flags & INSTANCE_ASIDE;
}

static void open_thermal(struct scene *x)
{
	tree_put(x->proc, "stat", "cpu 1\n");
	open_source(x, &source_thermal);
	assert_int_equal(x->result, 0);
}

static void put_stat(const struct scene *x, int ncpus, int missing)
{
	char text[8192] = "cpu  1 2 3 4 5 6 7 8 9 10\n";
	size_t n = strlen(text);

	for (int i = 0; i < ncpus; i++)
		if (i != missing)
			n += (size_t)snprintf(text + n, sizeof text - n,
					      "cpu%d 1 1 1 1 1 1 1 1 1 1\n", i);
	snprintf(text + n, sizeof text - n, "ctxt 7\nprocesses 9\n");
	tree_put(x->proc, "stat", "%s", text);
}

/* As long as that of a real core, so that it goes by in pieces. */
static void put_cpuinfo(const struct scene *x, int mhz)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/cpuinfo", x->proc);
	f = fopen(path, "w");
	assert_non_null(f);
	for (int i = 0; i < CPUS; i++)
		fprintf(f, "processor\t: %d\ncpu MHz\t\t: %d.%03d\nflags\t\t: %0*d\n\n", i, mhz + i,
			i, 1100 + i % 17, 7);
	fclose(f);
}

static void put_number(const struct scene *x, int cpu, const char *file, int value)
{
	char path[128];

	snprintf(path, sizeof path, "devices/system/cpu/cpu%d/%s", cpu, file);
	tree_put(x->sys, path, "%d\n", value);
}

/* Two packages, four NUMA nodes in each; the second threads are cpu64 .. cpu127. */
static void put_large(const struct scene *x)
{
	char path[128];

	put_stat(x, CPUS, -1);
	put_cpuinfo(x, 1000);
	for (int i = 0; i < CPUS; i++) {
		int core = i % CORES;

		put_number(x, i, "topology/physical_package_id", core / (CORES / 2));
		put_number(x, i, "topology/core_id", core % (CORES / 2));
		put_number(x, i, "cpufreq/scaling_cur_freq", 1);
		put_number(x, i, "thermal_throttle/core_throttle_count", i);
		snprintf(path, sizeof path,
			 "devices/system/cpu/cpu%d/topology/thread_siblings_list", i);
		tree_put(x->sys, path, "%d,%d\n", core, core + CORES);
	}
	tree_put(x->sys, "devices/system/node/online", "0-%d\n", NUMA - 1);
	for (int i = 0; i < NUMA; i++) {
		snprintf(path, sizeof path, "devices/system/node/node%d/cpulist", i);
		tree_put(x->sys, path, "%d-%d,%d-%d\n", i * PER_NODE, (i + 1) * PER_NODE - 1,
			 CORES + i * PER_NODE, CORES + (i + 1) * PER_NODE - 1);
		snprintf(path, sizeof path, "devices/system/node/node%d/meminfo", i);
		tree_put(x->sys, path, "Node %d MemTotal: 1000 kB\nNode %d MemUsed: %d kB\n", i, i,
			 10 * i);
		snprintf(path, sizeof path, "devices/system/node/node%d/numastat", i);
		tree_put(x->sys, path, "numa_hit %d\nnuma_miss 2\nother_node 3\n", 100 + i);
	}
}

static bool is_labelled(const struct node *n, const char *instance, const char *key,
			const char *value)
{
	for (uint32_t i = 0; i < n->sample.nevents; i++) {
		const struct event *e = &n->sample.event[i];

		if (e->kind == EVENT_LABEL && strcmp(e->name, key) == 0 &&
		    strcmp(node_instance_name(n, e->id), instance) == 0)
			return strcmp(e->text, value) == 0;
	}
	return false;
}

static int count_present(const struct node *n, const char *metric)
{
	int present = 0;

	for (uint32_t i = 1; i < n->sample.nslots; i++)
		present += n->sample.slot[i].series && n->sample.state[i] == STATE_PRESENT &&
			   strcmp(n->sample.slot[i].metric->name, metric) == 0;
	return present;
}

static void a_large_machine_is_labelled_and_read_at_once(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	put_large(&x);
	open_source(&x, &source_cpu);
	read_after(&x, 1);
	assert_true(is_labelled(&x.n, "cpu127", "package", "1"));
	assert_true(is_labelled(&x.n, "cpu127", "core", "31"));
	assert_true(is_labelled(&x.n, "cpu127", "thread", "1"));
	assert_true(is_labelled(&x.n, "cpu127", "numa", "7"));
	assert_true(is_labelled(&x.n, "cpu8", "numa", "1"));
	assert_true(is_labelled(&x.n, "cpu8", "thread", "0"));
	for (int i = 0; i < CPUS; i++) {
		char name[16];

		snprintf(name, sizeof name, "cpu%d", i);
		assert_int_equal(node_value(&x.n, "cpu.frequency_hertz", name),
				 (1000 + i) * 1000 + i);
		assert_int_equal(node_value(&x.n, "cpu.throttles", name), i < CORES ? i : -1);
	}
	end(&x);
}

/* A job that begins waits for no file of a core, unless what is counted of a core depends on it. */
static void where_cores_are_is_told_behind_the_first_sample(void **unused)
{
	for (int throttles = 0; throttles < 2; throttles++) {
		struct scene x;

		(void)unused;
		begin(&x);
		put_large(&x);
		for (int i = 0; i < CPUS && !throttles; i++) {
			char path[128];

			snprintf(path, sizeof path,
				 "%s/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count",
				 x.sys, i);
			assert_int_equal(unlink(path), 0);
		}
		x.n.env.rest_follows = true;
		open_source(&x, &source_cpu);
		read_after(&x, 1);
		assert_int_equal(is_labelled(&x.n, "cpu127", "package", "1"), throttles);
		assert_int_equal(count_present(&x.n, "cpu.frequency_hertz"), throttles ? CPUS : 0);
		assert_int_equal(node_value(&x.n, "cpu.user_seconds", "cpu127"), 1);
		source_cpu.rest(x.state, &x.n.sample);
		assert_true(is_labelled(&x.n, "cpu127", "package", "1"));
		assert_true(is_labelled(&x.n, "cpu8", "numa", "1"));
		assert_int_equal(count_present(&x.n, "cpu.frequency_hertz"), CPUS);
		assert_int_equal(count_present(&x.n, "cpu.throttles"), throttles ? CORES : 0);
		end(&x);
	}
}

/* 256 readings are not made in each sample, but all in the same one, and every 10 s. */
static void many_cores_are_asked_rarely_and_together(void **unused)
{
	int times = 0;
	struct scene x;

	(void)unused;
	begin(&x);
	put_large(&x);
	open_source(&x, &source_cpu);
	for (int i = 0; i < 40; i++) {
		int frequencies;

		put_cpuinfo(&x, 2000 + i);
		read_after(&x, 1);
		frequencies = count_present(&x.n, "cpu.frequency_hertz");
		assert_true(frequencies == 0 || frequencies == CPUS);
		assert_int_equal(count_present(&x.n, "cpu.throttles"), frequencies / 2);
		assert_int_equal(count_present(&x.n, "cpu.user_seconds"), CPUS);
		times += frequencies > 0;
		if (frequencies)
			assert_int_equal(node_value(&x.n, "cpu.frequency_hertz", "cpu9"),
					 (2000 + i + 9) * 1000 + 9);
	}
	assert_in_range(times, 4, 5);
	end(&x);
}

static void cores_come_and_go_with_what_is_told_of_them(void **unused)
{
	uint32_t slots;
	struct scene x;

	(void)unused;
	begin(&x);
	put_large(&x);
	open_source(&x, &source_cpu);
	read_after(&x, 1);
	slots = x.n.sample.nslots;
	for (int i = 0; i < 20; i++) {
		put_stat(&x, CPUS, 5);
		read_after(&x, 10);
		assert_int_equal(node_slot(&x.n, "cpu.frequency_hertz", "cpu5"), 0);
		assert_int_equal(node_value(&x.n, "cpu.throttles", "cpu6"), 6);
		put_stat(&x, CPUS, -1);
		read_after(&x, 10);
		assert_int_equal(node_value(&x.n, "cpu.throttles", "cpu5"), 5);
		assert_int_equal(node_value(&x.n, "cpu.frequency_hertz", "cpu5"), 1005005);
	}
	assert_int_equal(x.n.sample.nslots, slots);
	end(&x);
}

/* A machine that tells nothing of its cores says so once. */
static void one_core_says_what_none_can_tell(void **unused)
{
	uint32_t refused = 0;
	struct scene x;

	(void)unused;
	begin(&x);
	put_stat(&x, 16, -1);
	open_source(&x, &source_cpu);
	read_after(&x, 1);
	for (uint32_t i = 0; i < x.n.sample.nevents; i++)
		refused += x.n.sample.event[i].kind == EVENT_STATE;
	assert_int_equal(refused, 4 + 3 + 11); /* and three lines, and the soft interrupts */
	assert_int_not_equal(node_slot(&x.n, "cpu.frequency_hertz", "cpu0"), 0);
	assert_int_equal(node_slot(&x.n, "cpu.frequency_hertz", "cpu1"), 0);
	end(&x);
}

static void interrupts_of_each_core_are_told(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	put_large(&x);
	tree_put(x.proc, "interrupts", "      CPU0  CPU1\n  9:  5  6 x\nLOC: 100 200 y\nERR: 3\n");
	open_source(&x, &source_cpu);
	read_after(&x, 1);
	assert_int_equal(node_value(&x.n, "cpu.interrupts", "cpu0"), 105);
	assert_int_equal(node_value(&x.n, "cpu.interrupts", "cpu1"), 206);
	assert_int_equal(node_value(&x.n, "cpu.interrupts", "cpu2"), -1);
	assert_int_equal(node_state(&x.n, "cpu.interrupts", "cpu2"), STATE_FAILED);
	read_after(&x, 1);
	assert_int_equal(node_value(&x.n, "cpu.interrupts", "cpu0"), -1); /* read every 10 s */
	tree_put(x.proc, "interrupts", "      CPU0  CPU1\n  9:  5");
	read_after(&x, 600); /* whatever it took */
	assert_int_equal(node_state(&x.n, "cpu.interrupts", "cpu0"), STATE_FAILED);
	end(&x);
}

static void cut_cpuinfo_gives_no_wrong_frequency(void **unused)
{
	char path[128];
	struct scene x;

	(void)unused;
	begin(&x);
	put_large(&x);
	open_source(&x, &source_cpu);
	snprintf(path, sizeof path, "%s/cpuinfo", x.proc);
	for (int cut = 20000; cut > 0; cut -= 61 * sanitized_stride(7)) {
		assert_int_equal(truncate(path, cut), 0);
		read_after(&x, 10);
		for (int i = 0; i < CPUS; i++) {
			char name[16];
			int64_t v;

			snprintf(name, sizeof name, "cpu%d", i);
			v = node_value(&x.n, "cpu.frequency_hertz", name);
			assert_true(v == -1 || v == (1000 + i) * 1000 + i);
		}
	}
	end(&x);
}

static void numa_nodes_are_read_in_their_time(void **unused)
{
	int times = 0;
	struct scene x;

	(void)unused;
	begin(&x);
	put_large(&x);
	open_source(&x, &source_numa);
	assert_int_equal(x.result, 0);
	for (int i = 0; i < 24; i++) {
		int present;

		read_after(&x, 1);
		present = count_present(&x.n, "numa.memory_used_bytes");
		assert_true(present == 0 || present == NUMA);
		times += present > 0;
	}
	assert_in_range(times, 3, 4); /* 8 nodes: every 8 s */
	read_after(&x, 8);
	assert_int_equal(node_value(&x.n, "numa.memory_used_bytes", "node7"), 70);
	assert_int_equal(node_value(&x.n, "numa.allocations_hit", "node7"), 107);
	assert_int_equal(node_value(&x.n, "numa.allocations_local", "node7"), -1);
	end(&x);
}

static void garbage_of_a_numa_node_is_absent(void **unused)
{
	static const char *const texts[] = {
		"",
		"Node",
		"Node 0",
		"Node 0 MemUsed",
		"Node 0 MemUsed:",
		"Node 0 MemUsed: \n",
		"Node 0 MemUsed: -5 kB\n",
		"Node 0 MemUsed: 5x\n",
		"Node 0 MemUsed: 99999999999999999999 kB\n",
		"Node 0 MemUsedMore: 5 kB\n",
		"Node 0 MemUsed: 12", /* cut: the rest may be missing */
	};
	struct scene x;

	(void)unused;
	begin(&x);
	put_large(&x);
	open_source(&x, &source_numa);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		tree_put(x.sys, "devices/system/node/node0/meminfo", "%s", texts[i]);
		read_after(&x, 10);
		assert_true(x.result < 0);
		assert_int_equal(node_value(&x.n, "numa.memory_used_bytes", "node0"), -1);
		assert_int_equal(node_value(&x.n, "numa.memory_used_bytes", "node1"), 10);
		assert_int_equal(node_state(&x.n, "numa.memory_used_bytes", "node0"), STATE_FAILED);
	}
	tree_put(x.sys, "devices/system/node/node0/meminfo", "Node 0 MemUsed: 5 kB\n");
	read_after(&x, 10);
	assert_int_equal(node_state(&x.n, "numa.memory_used_bytes", "node0"), STATE_PRESENT);
	assert_int_equal(node_state(&x.n, "numa.memory_free_bytes", "node0"), STATE_UNSUPPORTED);
	end(&x);
}

static void a_sensor_may_fail_and_come_back(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	put_stat(&x, 1, -1);
	tree_put(x.sys, "class/hwmon/hwmon0/device/name", "coretemp\n"); /* Linux 2.6.32 */
	tree_put(x.sys, "class/hwmon/hwmon0/device/temp1_input", "41000\n");
	tree_put(x.sys, "class/hwmon/hwmon1/name", "drivetemp\n");
	tree_put(x.sys, "class/hwmon/hwmon1/temp1_input", "30000\n");
	open_source(&x, &source_thermal);
	assert_int_equal(x.result, 0);
	read_after(&x, 1);
	assert_int_equal(count_present(&x.n, "sensor.temperature_celsius"), 1);
	assert_int_equal(node_value(&x.n, "sensor.temperature_celsius", "coretemp.0"), 41000);
	tree_put(x.sys, "class/hwmon/hwmon0/device/temp1_input", "-274000\n");
	read_after(&x, 1);
	assert_int_equal(count_present(&x.n, "sensor.temperature_celsius"), 0);
	SAID(&x, "sensor.temperature_celsius", "coretemp.0", STATE_FAILED);
	tree_put(x.sys, "class/hwmon/hwmon0/device/temp1_input", "42000\n");
	read_after(&x, 1);
	assert_int_equal(node_value(&x.n, "sensor.temperature_celsius", "coretemp.0"), 42000);
	SAID(&x, "sensor.temperature_celsius", "coretemp.0", STATE_PRESENT);
	tree_put(x.sys, "class/hwmon/hwmon0/device/temp1_input", "hot\n");
	read_after(&x, 1);
	SAID(&x, "sensor.temperature_celsius", "coretemp.0", STATE_FAILED);
	end(&x);
}

static void sensors_of_equal_labels_are_told_apart(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	tree_put(x.sys, "class/hwmon/hwmon0/name", "coretemp\n");
	for (int i = 2; i < 4; i++) {
		char path[64];

		snprintf(path, sizeof path, "class/hwmon/hwmon0/temp%d_label", i);
		tree_put(x.sys, path, "Core 0\n");
		snprintf(path, sizeof path, "class/hwmon/hwmon0/temp%d_input", i);
		tree_put(x.sys, path, "%d\n", 1000 * i);
	}
	open_thermal(&x);
	read_after(&x, 1);
	assert_int_equal(node_value(&x.n, "sensor.temperature_celsius", "coretemp.0 Core 0 temp2"),
			 2000);
	assert_int_equal(node_value(&x.n, "sensor.temperature_celsius", "coretemp.0 Core 0 temp3"),
			 3000);
	end(&x);
}

/* A Threadripper: two dies of package 1 at nodes 2 and 3; Tctl is 27 degrees above the truth. */
static void chips_of_amd_are_of_their_nodes_package(void **unused)
{
	static const char *const labels[] = { "Tctl", "Tdie", "Tccd1" };
	struct scene x;

	(void)unused;
	begin(&x);
	tree_put(x.sys, "class/hwmon/hwmon0/name", "k10temp\n");
	tree_put(x.sys, "class/hwmon/hwmon0/device/numa_node", "2\n");
	for (int i = 0; i < 3; i++) {
		char path[64];

		snprintf(path, sizeof path, "class/hwmon/hwmon0/temp%d_label", i + 1);
		tree_put(x.sys, path, "%s\n", labels[i]);
		snprintf(path, sizeof path, "class/hwmon/hwmon0/temp%d_input", i + 1);
		tree_put(x.sys, path, "%d\n", i ? 50000 + i : 77000);
	}
	tree_put(x.sys, "devices/system/node/node2/cpulist", "4-5\n");
	put_number(&x, 4, "topology/physical_package_id", 1);
	put_number(&x, 5, "topology/physical_package_id", 1);
	open_thermal(&x);
	read_after(&x, 1);
	assert_string_equal(label_of(&x, "k10temp.0 Tdie", "package"), "1");
	assert_true(is_aside(&x, "k10temp.0 Tctl"));
	assert_false(is_aside(&x, "k10temp.0 Tdie") || is_aside(&x, "k10temp.0 Tccd1"));
	end(&x);
}

static void what_a_core_cannot_tell_has_failed(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	put_stat(&x, 2, -1);
	tree_put(x.proc, "cpuinfo", "processor\t: 0\ncpu MHz\t\t: 1000.000\n");
	for (int i = 0; i < 2; i++)
		put_number(&x, i, "cpufreq/scaling_cur_freq", 1);
	put_number(&x, 0, "thermal_throttle/core_throttle_count", 5);
	tree_put(x.sys, "devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", " \n");
	open_source(&x, &source_cpu);
	assert_int_equal(x.result, 0);
	read_after(&x, 1);
	assert_int_equal(node_value(&x.n, "cpu.frequency_hertz", "cpu0"), 1000000);
	SAID(&x, "cpu.frequency_hertz", "cpu1", STATE_FAILED);
	assert_int_equal(node_value(&x.n, "cpu.throttles", "cpu0"), 5);
	SAID(&x, "cpu.throttles", "cpu1", STATE_FAILED);
	put_number(&x, 1, "thermal_throttle/core_throttle_count", 6);
	read_after(&x, 10);
	assert_int_equal(node_value(&x.n, "cpu.throttles", "cpu1"), 6);
	SAID(&x, "cpu.throttles", "cpu1", STATE_PRESENT);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_machine_is_labelled_and_read_at_once),
		cmocka_unit_test(where_cores_are_is_told_behind_the_first_sample),
		cmocka_unit_test(many_cores_are_asked_rarely_and_together),
		cmocka_unit_test(cores_come_and_go_with_what_is_told_of_them),
		cmocka_unit_test(one_core_says_what_none_can_tell),
		cmocka_unit_test(interrupts_of_each_core_are_told),
		cmocka_unit_test(cut_cpuinfo_gives_no_wrong_frequency),
		cmocka_unit_test(numa_nodes_are_read_in_their_time),
		cmocka_unit_test(garbage_of_a_numa_node_is_absent),
		cmocka_unit_test(a_sensor_may_fail_and_come_back),
		cmocka_unit_test(sensors_of_equal_labels_are_told_apart),
		cmocka_unit_test(chips_of_amd_are_of_their_nodes_package),
		cmocka_unit_test(what_a_core_cannot_tell_has_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
