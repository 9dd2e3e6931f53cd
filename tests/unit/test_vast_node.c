/* SPDX-License-Identifier: Apache-2.0 */
/* A node of 4,096 cores, 3,000 disks with two partitions each and 2,000 interfaces: nothing is left
 * out, and each value is that of its line. The machine is `vast` of tests/nodes/broken.py. */
#include "sampler/fixes.h"
#include "unit/node.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { CORES = 4096, DISKS = 9000, INTERFACES = 2002 };

static void machine(struct node *n, uint32_t slots)
{
	const char *build = getenv("BUILD");
	char proc[512], sys[512];

	snprintf(proc, sizeof proc, "%s/nodes/vast/proc", build ? build : "build");
	snprintf(sys, sizeof sys, "%s/nodes/vast/sys", build ? build : "build");
	node_open_with(n, proc, sys, slots);
	node_read(n);
}

static uint32_t instance(const struct node *n, const char *domain, const char *name)
{
	for (uint32_t i = 0; i < n->sample.nevents; i++) {
		const struct event *e = &n->sample.event[i];

		if (e->kind == EVENT_INSTANCE && strcmp(e->domain, domain) == 0 &&
		    strcmp(e->name, name) == 0)
			return e->id;
	}
	fail_msg("%s %s was never born", domain, name);
	return 0;
}

static int64_t value(const struct node *n, const char *metric, uint32_t of)
{
	for (uint32_t i = 1; i < n->sample.nslots; i++)
		if (n->sample.slot[i].series && n->sample.slot[i].instance == of &&
		    strcmp(n->sample.slot[i].metric->name, metric) == 0)
			return n->sample.state[i] == STATE_PRESENT ? n->sample.value[i] : -1;
	return -1;
}

/* The number that follows key and skip other numbers in a file of the tree. */
static int64_t in_file(const struct node *n, const char *path, const char *key, int skip)
{
	static char text[4 << 20];
	const char *p;

	assert_true(root_read(&n->env.proc, path, text, sizeof text) > 0);
	p = strstr(text, key);
	assert_non_null(p);
	p += strlen(key);
	for (int i = 0; i < skip; i++)
		p = strchr(p + 1, ' ');
	return strtoll(p, NULL, 10);
}

static uint32_t born(const struct node *n, const char *domain)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n->sample.nevents; i++)
		count += n->sample.event[i].kind == EVENT_INSTANCE &&
			 strcmp(n->sample.event[i].domain, domain) == 0;
	return count;
}

static void nothing_is_left_out(void **unused)
{
	struct node n;

	(void)unused;
	machine(&n, NODE_SLOTS);
	assert_int_equal(n.sample.refused, 0);
	assert_int_equal(born(&n, "cpu"), CORES);
	assert_int_equal(born(&n, "disk"), DISKS);
	assert_int_equal(born(&n, "network"), INTERFACES);
	assert_int_equal(value(&n, "node.cores_online_count", 0), CORES);
	node_close(&n);
}

/* What a recording's sample has no room for is named. */
static void what_does_not_fit_is_said(void **unused)
{
	static const char *const wanted[] = {
		"source.cpu failed: cpu2231 and 1864 more of domain cpu left out, also of what",
		"source.disk failed: sda and 8999 more of domain disk left out",
		"source.network failed: lo and 2001 more of domain network left out",
	};
	struct bytes b = { 0 };
	struct node n;

	(void)unused;
	machine(&n, 32768);
	assert_int_equal(value(&n, "node.cores_online_count", 0), CORES);
	n.sample.nevents = 0;
	left_out_say(&n.sample);
	for (uint32_t i = 0; i < n.sample.nevents; i++)
		bytes_printf(&b, "%s %s\n", n.sample.event[i].name, n.sample.event[i].text);
	bytes_u8(&b, '\0');
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		if (!strstr((char *)b.data, wanted[i]))
			fail_msg("not '%s' in:\n%s", wanted[i], (char *)b.data);
	bytes_free(&b);
	node_close(&n);
}

static void the_last_of_each_is_right(void **unused)
{
	struct node n;
	uint32_t cpu, disk, eth;

	(void)unused;
	machine(&n, NODE_SLOTS);
	cpu = instance(&n, "cpu", "cpu4095");
	disk = instance(&n, "disk", "sddkj2");
	eth = instance(&n, "network", "eth0");
	assert_int_equal(value(&n, "cpu.user_seconds", cpu), in_file(&n, "stat", "\ncpu4095 ", 0));
	assert_int_equal(value(&n, "cpu.guest_nice_seconds", cpu),
			 in_file(&n, "stat", "\ncpu4095 ", 9));
	assert_int_equal(value(&n, "disk.reads", disk), in_file(&n, "diskstats", " sddkj2 ", 0));
	assert_int_equal(value(&n, "disk.flushing_seconds", disk),
			 in_file(&n, "diskstats", " sddkj2 ", 16));
	assert_int_equal(value(&n, "network.received_bytes", eth),
			 in_file(&n, "net/dev", "  eth0: ", 0));
	assert_int_equal(value(&n, "node.context_switches", 0), in_file(&n, "stat", "\nctxt ", 0));
	assert_int_equal(value(&n, "node.procs_blocked", 0),
			 in_file(&n, "stat", "\nprocs_blocked ", 0));
	node_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left_out),
		cmocka_unit_test(what_does_not_fit_is_said),
		cmocka_unit_test(the_last_of_each_is_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
