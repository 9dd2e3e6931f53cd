/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to the sources while they run: devices come and go, files are cut, vanish, grow. */
#include "source/device.h"
#include "unit/node.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* So much that what is read rarely is due, too. */
static void later(struct node *n)
{
	node_read_at(n, n->sample.mono_ns + INT64_C(10000000000));
}

static const char *const files[] = {
	"stat",         "meminfo",         "loadavg",     "diskstats",   "net/dev",
	"pressure/cpu", "pressure/memory", "pressure/io", "pressure/irq"
};
enum { NFILES = sizeof files / sizeof files[0] };

/* A /proc of our own in the working directory, so that files can change under the sources. */
struct scene {
	struct node node;
	char dir[64], sys[512];
};

static void write_file(const struct scene *x, const char *name, const char *text, size_t n)
{
	char path[512];
	int fd;

	snprintf(path, sizeof path, "%s/%s", x->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), n);
	close(fd);
}

static size_t fixture_file(const char *fixture, const char *name, char *text, size_t size)
{
	const char *top = getenv("TOP");
	struct root root;
	char path[512];
	ssize_t n;

	snprintf(path, sizeof path, "%s/tests/fixtures/%s/proc", top ? top : ".", fixture);
	assert_int_equal(root_open(&root, path), 0);
	n = root_read(&root, name, text, size);
	root_close(&root);
	return n < 0 ? 0 : (size_t)n;
}

/* Every file as in the fixture; those it does not have stay as they are. */
static void set_up(struct scene *x, const char *fixture)
{
	static char text[1 << 18];

	for (size_t i = 0; i < NFILES; i++) {
		size_t n = fixture_file(fixture, files[i], text, sizeof text);

		if (n)
			write_file(x, files[i], text, n);
	}
}

static void begin(struct scene *x, const char *fixture)
{
	const char *top = getenv("TOP");
	char path[128];

	*x = (struct scene){ .dir = "proc.XXXXXX" };
	assert_non_null(mkdtemp(x->dir));
	snprintf(path, sizeof path, "%s/net", x->dir);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/pressure", x->dir);
	mkdir(path, 0700);
	snprintf(x->sys, sizeof x->sys, "%s/tests/fixtures/%s/sys", top ? top : ".", fixture);
	set_up(x, fixture);
	node_open(&x->node, x->dir, x->sys);
	later(&x->node);
}

static void end(struct scene *x)
{
	char path[128];

	node_close(&x->node);
	for (size_t i = 0; i < NFILES; i++) {
		snprintf(path, sizeof path, "%s/%s", x->dir, files[i]);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/net", x->dir);
	rmdir(path);
	snprintf(path, sizeof path, "%s/pressure", x->dir);
	rmdir(path);
	assert_int_equal(rmdir(x->dir), 0);
}

static uint32_t count_events(const struct node *n, enum event_kind kind, const char *instance)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n->sample.nevents; i++) {
		const struct event *e = &n->sample.event[i];

		count += e->kind == kind && strcmp(node_instance_name(n, e->id), instance) == 0;
	}
	return count;
}

static bool is_aside(const struct node *n, const char *instance)
{
	for (uint32_t i = 0; i < n->sample.nevents; i++)
		if (n->sample.event[i].kind == EVENT_INSTANCE &&
		    strcmp(n->sample.event[i].name, instance) == 0)
			return n->sample.event[i].flags & INSTANCE_ASIDE;
	fail_msg("%s was never born", instance);
	return false;
}

/* cpu2, sdb and eth0 go, cpu4, sdc and eth2 come. */
static void devices_end_and_are_born(void **unused)
{
	static const char *const gone[] = { "cpu2", "sdb", "eth0" };
	static const char *const come[] = { "cpu4", "sdc", "eth2" };
	static const char *const stay[] = { "cpu3", "sda", "eth1" };
	struct scene x;

	(void)unused;
	begin(&x, "hotplug/before");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(count_events(&x.node, EVENT_INSTANCE, gone[i]), 1);
		assert_int_equal(count_events(&x.node, EVENT_END, gone[i]), 0);
		assert_int_equal(count_events(&x.node, EVENT_INSTANCE, come[i]), 0);
	}
	set_up(&x, "hotplug/after");
	later(&x.node);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(count_events(&x.node, EVENT_END, gone[i]), 1);
		assert_int_equal(count_events(&x.node, EVENT_INSTANCE, come[i]), 1);
		assert_int_equal(count_events(&x.node, EVENT_INSTANCE, stay[i]), 1);
		assert_int_equal(count_events(&x.node, EVENT_END, stay[i]), 0);
	}
	assert_int_equal(node_value(&x.node, "cpu.user_seconds", "cpu3"), 13000);
	assert_int_equal(node_value(&x.node, "cpu.user_seconds", "cpu4"), 14000);
	assert_int_equal(node_value(&x.node, "node.cores_online_count", "-"), 4);
	assert_int_equal(node_slot(&x.node, "disk.reads", "sdb"), 0);
	assert_int_equal(node_value(&x.node, "disk.reads", "sdc"), 300);
	assert_int_equal(node_value(&x.node, "network.received_bytes", "eth1"), 250);
	assert_int_equal(node_value(&x.node, "network.received_bytes", "eth2"), 300);
	/* What came back is a new one. */
	set_up(&x, "hotplug/before");
	later(&x.node);
	for (int i = 0; i < 3; i++)
		assert_int_equal(count_events(&x.node, EVENT_INSTANCE, gone[i]), 2);
	end(&x);
}

/* A loop device is not told of before it is used; then it is, aside. */
static void quiet_devices_are_told_of_when_they_act(void **unused)
{
	static const char used[] = "7 0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
				   "7 1 loop1 5 0 40 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
				   "254 0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";
	struct scene x;

	(void)unused;
	begin(&x, "vm-small");
	assert_int_equal(count_events(&x.node, EVENT_INSTANCE, "loop1"), 0);
	write_file(&x, "diskstats", used, sizeof used - 1);
	later(&x.node);
	assert_int_equal(count_events(&x.node, EVENT_INSTANCE, "loop0"), 0);
	assert_int_equal(count_events(&x.node, EVENT_INSTANCE, "loop1"), 1);
	assert_true(is_aside(&x.node, "loop1"));
	assert_false(is_aside(&x.node, "vda"));
	assert_int_equal(node_value(&x.node, "disk.read_bytes", "loop1"), 40);
	assert_int_equal(count_events(&x.node, EVENT_INSTANCE, "vda"), 1);
	end(&x);
}

struct known {
	const struct metric *metric;
	char instance[32];
	int64_t value;
};

static size_t remember(const struct node *n, struct known *known, size_t max)
{
	size_t count = 0;

	for (uint32_t i = 1; i < n->sample.nslots; i++) {
		const struct slot *s = &n->sample.slot[i];

		if (!s->series || n->sample.state[i] != STATE_PRESENT)
			continue;
		assert_true(count < max);
		known[count] = (struct known){ .metric = s->metric, .value = n->sample.value[i] };
		snprintf(known[count].instance, sizeof known->instance, "%s",
			 node_instance_name(n, s->instance));
		count++;
	}
	return count;
}

static bool is_known(const struct known *what, const struct known *known, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (known[i].metric == what->metric &&
		    strcmp(known[i].instance, what->instance) == 0)
			return known[i].value == what->value;
	return false;
}

/* Cut anywhere, a file gives fewer values, and never another one. */
static void cut_files_give_no_wrong_value(void **fixture)
{
	static struct known whole[4096], now[4096];
	static char text[1 << 18];
	struct scene x;
	size_t nwhole;

	begin(&x, *fixture);
	nwhole = remember(&x.node, whole, 4096);
	for (size_t f = 0; f < NFILES; f++) {
		size_t n = fixture_file(*fixture, files[f], text, sizeof text);

		for (size_t cut = 0; cut < n; cut++) {
			size_t nnow;

			write_file(&x, files[f], text, cut);
			later(&x.node);
			nnow = remember(&x.node, now, 4096);
			assert_true(nnow <= nwhole);
			for (size_t i = 0; i < nnow; i++)
				if (!is_known(&now[i], whole, nwhole))
					fail_msg("%s cut at %zu: %s of %s is %" PRId64, files[f],
						 cut, now[i].metric->name, now[i].instance,
						 now[i].value);
		}
		write_file(&x, files[f], text, n);
		later(&x.node);
		assert_int_equal(remember(&x.node, now, 4096), nwhole);
	}
	end(&x);
}

/* A list that was cut inside a line says nothing of the devices behind the cut, but that. */
static void a_cut_list_ends_nothing(void **unused)
{
	static const struct {
		const char *metric, *device;
	} lost[] = {
		{ "disk.reads", "sdb" },
		{ "network.received_bytes", "eth1" },
		{ "cpu.user_seconds", "cpu3" },
	};
	static char text[4096];
	struct scene x;
	size_t n;

	(void)unused;
	begin(&x, "hotplug/before");
	n = fixture_file("hotplug/before", "diskstats", text, sizeof text);
	write_file(&x, "diskstats", text, n - 5);
	n = fixture_file("hotplug/before", "net/dev", text, sizeof text);
	write_file(&x, "net/dev", text, n - 5);
	n = fixture_file("hotplug/before", "stat", text, sizeof text);
	write_file(&x, "stat", text, n / 4);
	later(&x.node);
	assert_int_equal(node_value(&x.node, "disk.reads", "sdb"), -1);
	assert_int_equal(count_events(&x.node, EVENT_END, "sdb"), 0);
	assert_int_equal(count_events(&x.node, EVENT_END, "eth1"), 0);
	assert_int_equal(count_events(&x.node, EVENT_END, "cpu3"), 0);
	for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
		assert_int_equal(node_state(&x.node, lost[i].metric, lost[i].device), STATE_FAILED);
	set_up(&x, "hotplug/before");
	later(&x.node);
	for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
		assert_int_equal(node_state(&x.node, lost[i].metric, lost[i].device),
				 STATE_PRESENT);
		assert_true(node_value(&x.node, lost[i].metric, lost[i].device) >= 0);
	}
	end(&x);
}

static void empty_files_fail_and_come_back(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x, "smt-128");
	for (size_t f = 0; f < NFILES; f++)
		write_file(&x, files[f], "", 0);
	later(&x.node);
	for (size_t i = 0; i < nsources; i++)
		if (x.node.state[i] && strcmp(sources[i]->name, "disk") != 0)
			assert_true(x.node.result[i] < 0);
	for (uint32_t i = 1; i < x.node.sample.nslots; i++)
		assert_int_equal(x.node.sample.state[i], STATE_ABSENT);
	set_up(&x, "smt-128");
	later(&x.node);
	for (size_t i = 0; i < nsources; i++)
		if (x.node.state[i])
			assert_int_equal(x.node.result[i], 0);
	assert_int_equal(node_value(&x.node, "node.procs_running", "-"), 121);
	end(&x);
}

/* A file may outgrow its buffer: what fits is right, the rest is absent. */
static void a_file_may_outgrow_its_buffer(void **unused)
{
	static char text[1 << 20];
	struct scene x;
	size_t n = 0;

	(void)unused;
	begin(&x, "vm-small");
	for (int i = 0; i < 10000; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
				      " 8 %d sd%d %d 2 3 4 5 6 7 8 9 10 11\n", i, i, i);
	write_file(&x, "diskstats", text, n);
	later(&x.node);
	assert_int_equal(node_value(&x.node, "disk.reads", "sd7"), 7);
	assert_int_equal(node_value(&x.node, "disk.reads", "sd9999"), -1);
	end(&x);
}

/* However many interfaces there are, the job and its processes keep their place. */
static void devices_leave_room_for_the_job(void **unused)
{
	static const struct metric rows[EVENT_SET_MAX];
	struct device v = { 0 };
	struct sample s;

	(void)unused;
	assert_int_equal(sample_init(&s, 3 * DEVICES_LEAVE, 65536), 0);
	for (uint32_t i = 0; i < 3 * DEVICES_LEAVE / 10; i++) {
		v = (struct device){ .name = "eth", .len = 3 };
		device_announce(&v, &s, rows, 10);
		assert_true(v.slot || i > DEVICES_LEAVE / 10);
	}
	assert_int_equal(v.slot, 0);
	assert_true(s.refused >= DEVICES_LEAVE / 10);
	for (uint32_t i = 0; i < DEVICES_LEAVE / EVENT_SET_MAX; i++)
		assert_int_not_equal(sample_series(&s, rows, EVENT_SET_MAX, 0), 0);
	sample_free(&s);
}

/* Nothing is allocated by reading: the same files read again leave no event and take no slot. */
static void reading_again_makes_no_event(void **fixture)
{
	struct scene x;
	uint32_t slots, events;

	begin(&x, *fixture);
	slots = x.node.sample.nslots;
	events = x.node.sample.nevents;
	for (int i = 0; i < 10; i++)
		later(&x.node);
	assert_int_equal(x.node.sample.nslots, slots);
	assert_int_equal(x.node.sample.nevents, events);
	end(&x);
}

#define ON(test, fixture)                                                                          \
	{                                                                                          \
#test " " fixture, test, NULL, NULL, (char[])                                      \
		{                                                                                  \
			fixture                                                                    \
		}                                                                                  \
	}

static uint32_t count_present(const struct node *n)
{
	uint32_t count = 0;

	for (uint32_t i = 1; i < n->sample.nslots; i++)
		count += n->sample.state[i] == STATE_PRESENT;
	return count;
}

/* Text that is what it was is not parsed again, and says the same. */
static void what_did_not_change_stands(void **state)
{
	struct scene x;
	uint32_t all;

	(void)state;
	begin(&x, "vm-small");
	all = count_present(&x.node);
	assert_true(all > 100);
	later(&x.node);
	assert_int_equal(count_present(&x.node), all);
	sample_begin(&x.node.sample, 3000,
		     x.node.sample.mono_ns + 1); /* a sample without the node */
	assert_int_equal(count_present(&x.node), 0);
	later(&x.node);
	assert_int_equal(count_present(&x.node), all);
	write_file(&x, "loadavg", "7.00 0.58 0.59 1/123 4567\n", 26);
	later(&x.node);
	assert_int_equal(count_present(&x.node), all);
	assert_int_equal(node_value(&x.node, "node.load_1min", "-"), 700);
	write_file(&x, "loadavg", "", 0);
	later(&x.node);
	assert_int_equal(node_value(&x.node, "node.load_1min", "-"), -1);
	write_file(&x, "loadavg", "7.00 0.58 0.59 1/123 4567\n", 26);
	later(&x.node);
	assert_int_equal(node_value(&x.node, "node.load_1min", "-"), 700);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_did_not_change_stands),
		cmocka_unit_test(devices_end_and_are_born),
		cmocka_unit_test(quiet_devices_are_told_of_when_they_act),
		ON(cut_files_give_no_wrong_value, "vm-small"),
		ON(cut_files_give_no_wrong_value, "bonded"),
		ON(cut_files_give_no_wrong_value, "hotplug/before"),
		cmocka_unit_test(a_cut_list_ends_nothing),
		cmocka_unit_test(empty_files_fail_and_come_back),
		cmocka_unit_test(a_file_may_outgrow_its_buffer),
		cmocka_unit_test(devices_leave_room_for_the_job),
		ON(reading_again_makes_no_event, "vm-small"),
		ON(reading_again_makes_no_event, "stacked"),
		ON(reading_again_makes_no_event, "bonded"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
