/* SPDX-License-Identifier: Apache-2.0 */
/* Energy: counters that advance and go round under the source, what may not be read, what counts.
 */
#include "base/clock.h"
#include "unit/node.h"
#include "unit/tree.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include <cmocka.h>

extern const struct source source_energy;

enum { SYS_MAX = 32 };
static const int64_t RAPL_RANGE = INT64_C(65532610987);

/* A machine of its own, of which only the energy is looked at. */
struct scene {
	char sys[SYS_MAX];
	struct node n; /* of it, env and sample */
	void *state;
	int result;
	struct err why;
	int64_t now_ns;
};

static void begin(struct scene *x)
{
	*x = (struct scene){ .sys = "sys.XXXXXX" };
	assert_non_null(mkdtemp(x->sys));
	assert_int_equal(chmod(x->sys, 0755), 0);
}

static void open_energy(struct scene *x, int64_t interval_ns)
{
	x->n.env.interval_ns = interval_ns;
	assert_int_equal(sample_init(&x->n.sample, 4096, 4096), 0);
	if (!x->n.env.sys.fd)
		assert_int_equal(root_open(&x->n.env.sys, x->sys), 0);
	x->state = calloc(1, source_energy.size);
	sample_begin(&x->n.sample, 0, 0);
	x->result = source_energy.open(x->state, &x->n.env, &x->n.sample, &x->why);
}

static void read_after_ns(struct scene *x, int64_t ns)
{
	x->now_ns += ns;
	sample_begin(&x->n.sample, x->now_ns, x->now_ns);
	assert_int_equal(source_energy.read(x->state, &x->n.sample), 0);
}

static void read_after(struct scene *x, int64_t seconds)
{
	read_after_ns(x, seconds * NS_PER_S);
}

static void end(struct scene *x)
{
	if (x->result == 0)
		source_energy.close(x->state);
	free(x->state);
	sample_free(&x->n.sample);
	root_close(&x->n.env.sys);
}

static int64_t joules(const struct scene *x, const char *zone)
{
	return node_value(&x->n, "energy.consumed_joules", zone);
}

static const struct event *born(const struct scene *x, const char *zone)
{
	for (uint32_t i = 0; i < x->n.sample.nevents; i++) {
		const struct event *e = &x->n.sample.event[i];

		if (e->kind == EVENT_INSTANCE && strcmp(e->name, zone) == 0)
			return e;
	}
	return NULL;
}

static uint32_t count_kind(const struct scene *x, enum event_kind kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n.sample.nevents; i++)
		n += x->n.sample.event[i].kind == kind;
	return n;
}

/* The reason for which a zone has no values; NULL when there is none. */
static const struct event *refusal(const struct scene *x, const char *zone)
{
	uint32_t slot = node_slot(&x->n, "energy.consumed_joules", zone);

	for (uint32_t i = 0; i < x->n.sample.nevents; i++) {
		const struct event *e = &x->n.sample.event[i];

		if (e->kind == EVENT_STATE && slot && e->id == x->n.sample.slot[slot].series)
			return e;
	}
	return NULL;
}

static const struct event *last_refusal(const struct scene *x, const char *zone)
{
	uint32_t slot = node_slot(&x->n, "energy.consumed_joules", zone);
	const struct event *last = NULL;

	for (uint32_t i = 0; slot && i < x->n.sample.nevents; i++) {
		const struct event *e = &x->n.sample.event[i];

		if (e->kind == EVENT_STATE && e->id == x->n.sample.slot[slot].series)
			last = e;
	}
	assert_non_null(last);
	return last;
}

static void put_zone(const struct scene *x, const char *zone, const char *name, int64_t uj)
{
	char path[128];

	snprintf(path, sizeof path, "class/powercap/%s/name", zone);
	tree_put(x->sys, path, "%s\n", name);
	snprintf(path, sizeof path, "class/powercap/%s/max_energy_range_uj", zone);
	tree_put(x->sys, path, "%" PRId64 "\n", RAPL_RANGE);
	snprintf(path, sizeof path, "class/powercap/%s/energy_uj", zone);
	tree_put(x->sys, path, "%" PRId64 "\n", uj);
}

static const struct rapl_zone {
	const char *dir, *name, *full;
	int64_t watts;
	bool aside;
} rapl[] = {
	{ "intel-rapl:0", "package-0", "package-0", 350, false },
	{ "intel-rapl:0:0", "dram", "package-0/dram", 40, false },
	{ "intel-rapl:0:1", "core", "package-0/core", 200, true },
	{ "intel-rapl:1", "package-1", "package-1", 117, false },
	{ "intel-rapl:1:0", "dram", "package-1/dram", 33, false },
	{ "intel-rapl:2", "psys", "psys", 700, true },
};
enum { NRAPL = sizeof rapl / sizeof rapl[0] };

static void put_rapl(const struct scene *x, const uint64_t *used_uj)
{
	for (int i = 0; i < NRAPL; i++)
		put_zone(x, rapl[i].dir, rapl[i].name,
			 (int64_t)(used_uj[i] % (uint64_t)RAPL_RANGE));
}

/* Hours at a sample of 30 s: every counter goes round many times, each joule is counted once. */
static void counters_that_go_round_are_followed(void **unused)
{
	uint64_t used[NRAPL] = { 1, 2, 3, 65532610986, 5, 6 }, at_start[NRAPL];
	struct scene x;

	(void)unused;
	begin(&x);
	put_rapl(&x, used);
	put_zone(&x, "intel-rapl-mmio:0", "package-0", 1);
	put_zone(&x, "dtpm:0", "package-9", 1);
	memcpy(at_start, used, sizeof used);
	open_energy(&x, 30 * NS_PER_S);
	assert_int_equal(x.result, 0);
	assert_int_equal(count_kind(&x, EVENT_INSTANCE), NRAPL);
	for (int t = 0; t < 500; t++) {
		read_after(&x, 30);
		for (int i = 0; i < NRAPL; i++) {
			assert_int_equal(joules(&x, rapl[i].full), used[i]);
			used[i] += (uint64_t)rapl[i].watts * 30 * 1000000 + (uint64_t)(t * i);
		}
		put_rapl(&x, used);
	}
	for (int i = 0; i < NRAPL; i++) {
		assert_true(used[i] - at_start[i] > 7 * (uint64_t)RAPL_RANGE);
		assert_int_equal(born(&x, rapl[i].full)->flags, rapl[i].aside ? INSTANCE_ASIDE : 0);
	}
	assert_int_equal(born(&x, "package-0/dram")->parent, born(&x, "package-0")->id);
	assert_int_equal(born(&x, "psys")->parent, 0);
	assert_int_equal(count_kind(&x, EVENT_MARK), 0);
	end(&x);
}

static void what_a_long_pause_hides_is_said(void **unused)
{
	struct scene x;
	uint32_t before;

	(void)unused;
	begin(&x);
	put_zone(&x, "intel-rapl:0", "package-0", 1000);
	open_energy(&x, NS_PER_S);
	read_after(&x, 1);
	put_zone(&x, "intel-rapl:0", "package-0", 100001000);
	before = x.n.sample.slot[node_slot(&x.n, "energy.consumed_joules", "package-0")].series;
	read_after(&x, 3600);
	assert_int_equal(joules(&x, "package-0"), 100001000);
	assert_int_not_equal(
		x.n.sample.slot[node_slot(&x.n, "energy.consumed_joules", "package-0")].series,
		before);
	assert_int_equal(count_kind(&x, EVENT_MARK), 1);
	put_zone(&x, "intel-rapl:0", "package-0", 100002000);
	read_after(&x, 1);
	assert_int_equal(joules(&x, "package-0"), 100002000);
	assert_int_equal(count_kind(&x, EVENT_MARK), 1);
	end(&x);
}

/* Whatever a broken counter does, the recording does not fill with it. */
static void a_counter_that_jumps_is_given_up(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	put_zone(&x, "intel-rapl:0", "package-0", 1000);
	open_energy(&x, NS_PER_S);
	for (int i = 0; i < 100; i++) {
		put_zone(&x, "intel-rapl:0", "package-0", i % 2 ? 5 : RAPL_RANGE / 2);
		read_after(&x, 1);
	}
	assert_true(count_kind(&x, EVENT_MARK) <= 16);
	assert_int_equal(refusal(&x, "package-0")->state, STATE_FAILED);
	assert_int_equal(joules(&x, "package-0"), -1);
	end(&x);
}

static void an_interval_that_hides_rounds_is_refused(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	put_zone(&x, "intel-rapl:0", "package-0", 1000);
	put_zone(&x, "intel-rapl:1", "package-1", 1000);
	tree_put(x.sys, "class/powercap/intel-rapl:1/constraint_0_max_power_uw", "5000000\n");
	open_energy(&x, 3600 * NS_PER_S);
	read_after(&x, 3600);
	assert_int_equal(refusal(&x, "package-0")->state, STATE_FAILED);
	assert_non_null(strstr(refusal(&x, "package-0")->text, "at least every 64 s"));
	assert_int_equal(joules(&x, "package-0"), -1);
	/* This one is allowed 5 W, and needs hours. */
	assert_null(refusal(&x, "package-1"));
	assert_int_equal(joules(&x, "package-1"), 1000);
	end(&x);
}

/* As nobody, when these tests are run by root, who may read everything. */
static void open_as_user(struct scene *x)
{
	assert_int_equal(root_open(&x->n.env.sys, x->sys), 0);
	if (geteuid() == 0)
		assert_int_equal(seteuid(65534), 0);
	open_energy(x, NS_PER_S);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
}

static void forbid(const struct scene *x, const char *path)
{
	char full[256];

	snprintf(full, sizeof full, "%s/%s", x->sys, path);
	assert_int_equal(chmod(full, 0), 0);
}

static void what_may_not_be_read_is_forbidden(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	put_zone(&x, "intel-rapl:0", "package-0", 1000);
	forbid(&x, "class/powercap/intel-rapl:0/energy_uj");
	open_as_user(&x);
	assert_int_equal(x.result, -EACCES);
	assert_int_equal(state_of(x.result), STATE_FORBIDDEN);
	assert_non_null(strstr(source_energy.fix_admin, "chmod a+r"));
	end(&x);
}

static void forbidden_zones_stand_beside_readable_ones(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	put_zone(&x, "intel-rapl:0", "package-0", 1000);
	put_zone(&x, "intel-rapl:1", "psys", 1000);
	forbid(&x, "class/powercap/intel-rapl:0/energy_uj");
	open_as_user(&x);
	assert_int_equal(x.result, 0);
	read_after(&x, 1);
	assert_int_equal(refusal(&x, "package-0")->state, STATE_FORBIDDEN);
	assert_int_equal(joules(&x, "package-0"), -1);
	assert_int_equal(joules(&x, "psys"), 1000);
	end(&x);
}

/* The counter of the whole node is what counts; RAPL, which is a part of it, is beside it, and
 * counts where the node's is not there. */
static void what_holds_the_whole_node_counts(void **unused)
{
	struct scene x;

	(void)unused;
	for (int forbidden = 0; forbidden < 2; forbidden++) {
		begin(&x);
		put_zone(&x, "intel-rapl:0", "package-0", 1000);
		tree_put(x.sys, "cray/pm_counters/energy", "123 J 1763643933123456 us\n");
		tree_put(x.sys, "cray/pm_counters/cpu_energy", "23 J\n");
		if (forbidden)
			forbid(&x, "cray/pm_counters/energy");
		open_as_user(&x);
		assert_int_equal(x.result, 0);
		read_after(&x, 1);
		assert_int_equal(born(&x, "node")->flags, 0);
		assert_int_equal(born(&x, "package-0")->flags, forbidden ? 0 : INSTANCE_ASIDE);
		assert_int_equal(born(&x, "cpu")->flags, INSTANCE_ASIDE);
		assert_int_equal(joules(&x, "node"), forbidden ? -1 : 123000000);
		end(&x);
	}
}

static void cray_counters_that_stand_still_are_not_read_twice(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	tree_put(x.sys, "cray/pm_counters/energy", "123 J\n");
	tree_put(x.sys, "cray/pm_counters/accel0_energy", "12 kJ\n");
	tree_put(x.sys, "cray/pm_counters/power", "300 W\n");
	tree_put(x.sys, "cray/pm_counters/freshness", "7\n");
	open_energy(&x, NS_PER_S);
	read_after(&x, 1);
	assert_int_equal(joules(&x, "node"), 123000000);
	assert_int_equal(joules(&x, "accel0"), -1); /* not in joules */
	assert_null(born(&x, "power"));
	read_after(&x, 1);
	assert_int_equal(joules(&x, "node"), -1);
	tree_put(x.sys, "cray/pm_counters/freshness", "8\n");
	tree_put(x.sys, "cray/pm_counters/energy", "124 J\n");
	read_after(&x, 1);
	assert_int_equal(joules(&x, "node"), 124000000);
	/* The controller was started again. */
	tree_put(x.sys, "cray/pm_counters/freshness", "1\n");
	tree_put(x.sys, "cray/pm_counters/energy", "3 J\n");
	read_after(&x, 1);
	assert_int_equal(count_kind(&x, EVENT_MARK), 1);
	assert_int_equal(joules(&x, "node"), 3000000);
	/* It has stopped, which is said after a while. */
	for (int i = 1; i <= 12; i++) {
		read_after(&x, 1);
		assert_int_equal(joules(&x, "node"), -1);
		assert_int_equal(refusal(&x, "node") != NULL, i >= 10);
	}
	/* What does not tell of freshness is read as it is. */
	tree_put(x.sys, "cray/pm_counters/freshness", "soon\n");
	tree_put(x.sys, "cray/pm_counters/energy", "5 J\n");
	read_after(&x, 1);
	assert_int_equal(joules(&x, "node"), 5000000);
	end(&x);
}

/* No package uses 0 W; graphics that are off do. */
static void a_counter_that_stands_still_is_not_0(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	put_zone(&x, "intel-rapl:0", "package-0", 1000);
	put_zone(&x, "intel-rapl:0:0", "uncore", 0);
	open_energy(&x, NS_PER_S);
	read_after(&x, 1);
	assert_int_equal(joules(&x, "package-0"), 1000);
	for (int i = 1; i <= 12; i++) {
		read_after(&x, 1);
		assert_int_equal(joules(&x, "package-0"), -1);
		assert_int_equal(joules(&x, "package-0/uncore"), 0);
		assert_int_equal(refusal(&x, "package-0") != NULL, i >= 10);
	}
	assert_int_equal(refusal(&x, "package-0")->state, STATE_FAILED);
	put_zone(&x, "intel-rapl:0", "package-0", 3000);
	sample_clear_events(&x.n.sample);
	read_after(&x, 1);
	assert_int_equal(x.n.sample.event[0].kind, EVENT_STATE);
	assert_int_equal(x.n.sample.event[0].state, STATE_PRESENT);
	assert_int_equal(x.n.sample.nevents, 1);
	end(&x);
}

/* Not in each sample, until it goes on. */
static void a_counter_that_has_failed_is_read_once_a_second(void **unused)
{
	const int64_t tenth_ns = NS_PER_S / 10;
	struct scene x;
	int samples = 0;

	(void)unused;
	begin(&x);
	put_zone(&x, "intel-rapl:0", "package-0", 1000);
	open_energy(&x, tenth_ns);
	for (int i = 0; i < 120; i++)
		read_after_ns(&x, tenth_ns);
	assert_int_equal(refusal(&x, "package-0")->state, STATE_FAILED);
	while (joules(&x, "package-0") < 0 && samples < 20) {
		put_zone(&x, "intel-rapl:0", "package-0", 3000 + samples++);
		read_after_ns(&x, tenth_ns);
	}
	assert_in_range(samples, 2, 10);
	put_zone(&x, "intel-rapl:0", "package-0", 4000);
	read_after_ns(&x, tenth_ns);
	assert_int_equal(joules(&x, "package-0"), 4000);
	end(&x);
}

static void garbage_has_failed(void **unused)
{
	static const char *const texts[] = {
		"",      "\n",     "-5\n",  "12x\n", "99999999999999999999\n", "65532610988\n",
		"x12\n", "0x10\n", "1.5\n", " \n",   "N/A (no PMA)\n"
	};
	struct scene x;

	(void)unused;
	begin(&x);
	put_zone(&x, "intel-rapl:0", "package-0", 1000);
	open_energy(&x, NS_PER_S);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		tree_put(x.sys, "class/powercap/intel-rapl:0/energy_uj", "%s", texts[i]);
		read_after(&x, 1);
		assert_int_equal(joules(&x, "package-0"), -1);
		assert_int_equal(last_refusal(&x, "package-0")->state, STATE_FAILED);
	}
	put_zone(&x, "intel-rapl:0", "package-0", 2000);
	read_after(&x, 1);
	assert_int_equal(joules(&x, "package-0"), 2000);
	assert_int_equal(last_refusal(&x, "package-0")->state, STATE_PRESENT);
	/* What has no newline is whole: the kernel gives the whole number or an error. */
	tree_put(x.sys, "class/powercap/intel-rapl:0/energy_uj", "2001");
	read_after(&x, 1);
	assert_int_equal(joules(&x, "package-0"), 2001);
	end(&x);
}

static void nothing_here_is_unsupported(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	tree_put(x.sys, "class/powercap/dtpm:0/energy_uj", "1\n");
	tree_put(x.sys, "class/hwmon/hwmon0/name", "nvme\n");
	tree_put(x.sys, "class/hwmon/hwmon0/power1_input", "1\n");
	open_energy(&x, NS_PER_S);
	assert_int_equal(state_of(x.result), STATE_UNSUPPORTED);
	end(&x);
}

/* The PMU of this fixture is the kernel's software one, whose event 0 counts ns on a CPU. */
static void perf_gives_what_powercap_forbids(void **unused)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof attr };
	long fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	const char *pmu = "bus/event_source/devices/power";
	char path[128];
	struct scene x;
	int64_t first;

	(void)unused;
	if (fd < 0)
		skip(); /* perf events of a whole CPU are not permitted here */
	close((int)fd);
	begin(&x);
	snprintf(path, sizeof path, "%s/type", pmu);
	tree_put(x.sys, path, "1\n");
	snprintf(path, sizeof path, "%s/cpumask", pmu);
	tree_put(x.sys, path, "0\n");
	snprintf(path, sizeof path, "%s/events/energy-pkg", pmu);
	tree_put(x.sys, path, "event=0x00\n");
	snprintf(path, sizeof path, "%s/events/energy-pkg.scale", pmu);
	tree_put(x.sys, path, "1e-9\n");
	tree_put(x.sys, "devices/system/cpu/cpu0/topology/physical_package_id", "3\n");
	put_zone(&x, "intel-rapl:0", "package-3", 1000);
	/* One that root cannot read either. */
	snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:0/energy_uj", x.sys);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("energy_uj", path), 0);
	open_energy(&x, NS_PER_S);
	assert_int_equal(x.result, 0);
	read_after(&x, 1);
	first = joules(&x, "package-3");
	assert_true(first >= 0);
	usleep(2000);
	read_after(&x, 1);
	assert_true(joules(&x, "package-3") >= first + 2000);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_that_go_round_are_followed),
		cmocka_unit_test(what_a_long_pause_hides_is_said),
		cmocka_unit_test(a_counter_that_jumps_is_given_up),
		cmocka_unit_test(an_interval_that_hides_rounds_is_refused),
		cmocka_unit_test(what_may_not_be_read_is_forbidden),
		cmocka_unit_test(forbidden_zones_stand_beside_readable_ones),
		cmocka_unit_test(what_holds_the_whole_node_counts),
		cmocka_unit_test(cray_counters_that_stand_still_are_not_read_twice),
		cmocka_unit_test(a_counter_that_stands_still_is_not_0),
		cmocka_unit_test(a_counter_that_has_failed_is_read_once_a_second),
		cmocka_unit_test(garbage_has_failed),
		cmocka_unit_test(nothing_here_is_unsupported),
		cmocka_unit_test(perf_gives_what_powercap_forbids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
