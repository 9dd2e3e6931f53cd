/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups of version 1, 2 and both, as batch systems, systemd and containers make them. */
#include "base/clock.h"
#include "unit/node.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct source source_cgroup;

/* The source of control groups alone, on a fixture or on a copy of one. */
struct scene {
	struct node n; /* for node_value and the like */
	void *state;
	int result;
	struct err why;
	pid_t roots[2];
	int64_t now_ns;
};

static void open_at(struct scene *x, const char *dir, pid_t root)
{
	char proc[512], sys[512];

	*x = (struct scene){ .roots = { root }, .now_ns = NS_PER_S };
	snprintf(proc, sizeof proc, "%s/proc", dir);
	snprintf(sys, sizeof sys, "%s/sys", dir);
	assert_int_equal(root_open(&x->n.env.proc, proc), 0);
	if (root_open(&x->n.env.sys, sys))
		assert_int_equal(root_open(&x->n.env.sys, proc), 0);
	assert_int_equal(sample_init(&x->n.sample, 16384, 4096), 0);
	x->n.env.interval_ns = NS_PER_S;
	x->n.env.roots = x->roots;
	x->n.env.nroots = root != 0;
	sample_begin(&x->n.sample, x->now_ns, x->now_ns);
	x->state = calloc(1, source_cgroup.size);
	x->result = source_cgroup.open(x->state, &x->n.env, &x->n.sample, &x->why);
}

static const char *fixture(const char *name)
{
	static char path[512];
	const char *top = getenv("TOP");

	snprintf(path, sizeof path, "%s/tests/fixtures/%s", top ? top : ".", name);
	return path;
}

static int read_after(struct scene *x, int64_t ns)
{
	x->now_ns += ns;
	sample_begin(&x->n.sample, x->now_ns, x->now_ns);
	return source_cgroup.read(x->state, &x->n.sample);
}

static void begin(struct scene *x, const char *name, pid_t root)
{
	open_at(x, fixture(name), root);
	assert_int_equal(x->result, 0);
	assert_int_equal(read_after(x, 1000), 0);
}

static void end(struct scene *x)
{
	if (x->result == 0)
		source_cgroup.close(x->state);
	free(x->state);
	sample_free(&x->n.sample);
	root_close(&x->n.env.proc);
	root_close(&x->n.env.sys);
}

static const struct event *meta(const struct scene *x, const char *key)
{
	const struct event *found = NULL;

	for (uint32_t i = 0; i < x->n.sample.nevents; i++)
		if (x->n.sample.event[i].kind == EVENT_META &&
		    strcmp(x->n.sample.event[i].name, key) == 0)
			found = &x->n.sample.event[i];
	return found;
}

static const char *meta_text(const struct scene *x, const char *key)
{
	const struct event *e = meta(x, key);

	return e ? e->text : "(none)";
}

static const char *label(const struct scene *x, const char *instance, const char *key)
{
	for (uint32_t i = 0; i < x->n.sample.nevents; i++) {
		const struct event *e = &x->n.sample.event[i];

		if (e->kind == EVENT_LABEL && strcmp(e->name, key) == 0 &&
		    strcmp(node_instance_name(&x->n, e->id), instance) == 0)
			return e->text;
	}
	return "(none)";
}

static const char *refusal(const struct scene *x, const char *metric, const char *instance)
{
	uint32_t slot = node_slot(&x->n, metric, instance);
	const char *found = "(none)";

	assert_int_not_equal(slot, 0);
	for (uint32_t i = 0; i < x->n.sample.nevents; i++) {
		const struct event *e = &x->n.sample.event[i];

		if (e->kind == EVENT_STATE && e->id == x->n.sample.slot[slot].series)
			found = e->state == STATE_PRESENT ? "(none)" : e->text;
	}
	return found;
}

static bool is_aside(const struct scene *x, const char *instance)
{
	for (uint32_t i = 0; i < x->n.sample.nevents; i++)
		if (x->n.sample.event[i].kind == EVENT_INSTANCE &&
		    strcmp(x->n.sample.event[i].name, instance) == 0)
			return x->n.sample.event[i].flags & INSTANCE_ASIDE;
	fail_msg("%s was never born", instance);
	return false;
}

#define VALUE(x, metric, instance, want)                                                           \
	assert_int_equal(node_value(&(x)->n, "cgroup." metric, instance), want)

static void version_1_of_slurm(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x, "cgroup-v1", 4100);
	assert_string_equal(meta_text(&x, "cgroup.version"), "1");
	assert_string_equal(meta_text(&x, "cgroup.level"), "task");
	VALUE(&x, "cpu_seconds", "task", 123456789012);
	VALUE(&x, "cpu_user_seconds", "task", 111110000000);
	VALUE(&x, "throttled_periods", "task", 30);
	VALUE(&x, "throttled_seconds", "task", 2500000000);
	VALUE(&x, "memory_bytes", "task", 2147483648);
	VALUE(&x, "memory_peak_bytes", "task", 2684354560);
	VALUE(&x, "memory_limit_events", "task", 5);
	/* of all below, not of the group alone */
	VALUE(&x, "memory_anonymous_bytes", "task", 1900000000);
	VALUE(&x, "swap_bytes", "task", 12288);
	/* 2^63 less a page is no limit; the least on the way up is the step's */
	VALUE(&x, "memory_limit_bytes", "task", 4294967296);
	assert_string_equal(label(&x, "task", "memory_limit_of"), "/slurm/uid_1000/job_42/step_0");
	VALUE(&x, "cpu_limit_cores", "task", 4000000);
	assert_string_equal(label(&x, "task", "cpu_limit_of"), "/slurm/uid_1000/job_42");
	/* another controller has it in the daemon's group */
	VALUE(&x, "tasks_count", "task", -1);
	assert_non_null(strstr(refusal(&x, "cgroup.tasks_count", "task"),
			       "/system.slice/slurmd.service is shared"));
	/* the whole machine's */
	VALUE(&x, "storage_read_bytes", "task", -1);
	assert_non_null(strstr(refusal(&x, "cgroup.storage_read_bytes", "task"), "whole machine"));
	/* Linux 3.10 */
	assert_string_equal(refusal(&x, "cgroup.memory_oom_kills", "task"),
			    "memory.oom_control does not report it");
	end(&x);
}

static void the_batch_job_is_above_and_aside(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x, "cgroup-v1", 4100);
	assert_false(is_aside(&x, "task"));
	assert_true(is_aside(&x, "job"));
	assert_string_equal(label(&x, "job", "path"), "/slurm/uid_1000/job_42");
	VALUE(&x, "cpu_seconds", "job", 987654321012);
	VALUE(&x, "memory_peak_bytes", "job", 3221225472);
	assert_int_equal(node_slot(&x.n, "cgroup.memory_bytes", "step"), 0);
	end(&x);
	begin(&x, "cgroup-v2", 7100);
	assert_string_equal(label(&x, "job", "path"),
			    "/system.slice/slurmstepd.scope/s5K1KKYAYG5D00");
	VALUE(&x, "memory_bytes", "job", 7000000000);
	end(&x);
}

static void version_2_of_slurm_with_a_sluid(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x, "cgroup-v2", 7100);
	assert_string_equal(meta_text(&x, "cgroup.version"), "2");
	assert_string_equal(meta_text(&x, "cgroup.level"), "task");
	VALUE(&x, "cpu_seconds", "task", 400000000000);
	VALUE(&x, "cpu_system_seconds", "task", 100000000000);
	VALUE(&x, "throttled_seconds", "task", 12500000000);
	VALUE(&x, "memory_peak_bytes", "task", 3221225472);
	VALUE(&x, "memory_limit_bytes", "task", 8589934592);
	assert_string_equal(label(&x, "task", "memory_limit_of"),
			    "/system.slice/slurmstepd.scope/s5K1KKYAYG5D00");
	VALUE(&x, "swap_limit_bytes", "task", 0);
	VALUE(&x, "cpu_limit_cores", "task", 2000000);
	VALUE(&x, "memory_kernel_bytes", "task", 25165824);
	VALUE(&x, "memory_kernel_stack_bytes", "task", 1048576);
	VALUE(&x, "memory_shared_bytes", "task", 33554432);
	VALUE(&x, "memory_oom_kills", "task", 1);
	VALUE(&x, "memory_limit_events", "task", 17);
	VALUE(&x, "pressure_cpu_some_seconds", "task", 3000001);
	VALUE(&x, "pressure_io_full_seconds", "task", 60006);
	VALUE(&x, "storage_written_bytes", "task", -1);
	assert_non_null(strstr(refusal(&x, "cgroup.storage_written_bytes", "task"), "io.stat"));
	assert_string_equal(refusal(&x, "cgroup.tasks_limit_count", "task"), "no limit is set");
	end(&x);
}

static void version_1_and_2_together(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x, "cgroup-hybrid", 0);
	assert_string_equal(meta_text(&x, "cgroup.version"), "hybrid");
	assert_string_equal(meta_text(&x, "cgroup.level"), "slice");
	/* cpuacct has it with the whole machine, version 2 in a group of its own */
	VALUE(&x, "cpu_seconds", "slice", 5000000000);
	VALUE(&x, "memory_bytes", "slice", 104857600);
	VALUE(&x, "memory_shared_bytes", "slice", 409600);
	VALUE(&x, "memory_oom_kills", "slice", 3);
	VALUE(&x, "tasks_limit_count", "slice", 10813);
	/* a limit above a group that is not hierarchical holds nothing */
	VALUE(&x, "memory_limit_bytes", "slice", -1);
	assert_string_equal(label(&x, "slice", "io_path"), "/user.slice");
	end(&x);
}

static void stacked_devices_are_not_counted_twice(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x, "cgroup-hybrid", 0);
	VALUE(&x, "storage_written_bytes", "slice", 16384);
	VALUE(&x, "storage_writes", "slice", 4);
	assert_true(is_aside(&x, "dm-1"));
	assert_int_equal(node_value(&x.n, "cgroup_disk.written_bytes", "dm-1"), 8192);
	assert_int_equal(node_value(&x.n, "cgroup_disk.reads", "sda"), 1);
	end(&x);
	begin(&x, "cgroup-namespace", 0);
	/* 8:0 shares its line with a device that has no figures; 7:0 is a loop, 253:0 is stacked */
	VALUE(&x, "storage_read_bytes", "slice", 1000 + 300);
	VALUE(&x, "storage_writes", "slice", 20 + 6);
	assert_int_equal(node_value(&x.n, "cgroup_disk.written_bytes", "sda"), 2000);
	assert_int_equal(node_value(&x.n, "cgroup_disk.written_bytes", "nvme0n1"), 400);
	assert_true(is_aside(&x, "loop0") && is_aside(&x, "dm-0"));
	assert_string_equal(label(&x, "sda", "class"), "disk");
	assert_string_equal(label(&x, "dm-0", "class"), "stacked");
	assert_int_equal(node_slot(&x.n, "cgroup_disk.reads", "11:0"), 0);
	end(&x);
}

static void a_namespace_begins_at_its_own_root(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x, "cgroup-namespace", 0);
	assert_string_equal(meta_text(&x, "cgroup.path"), "/");
	VALUE(&x, "memory_bytes", "slice", 500000000);
	VALUE(&x, "memory_limit_bytes", "slice", 2147483648);
	VALUE(&x, "cpu_limit_cores", "slice", 1500000);
	VALUE(&x, "tasks_limit_count", "slice", 100);
	/* Linux 5.10 */
	VALUE(&x, "memory_peak_bytes", "slice", -1);
	assert_non_null(strstr(refusal(&x, "cgroup.memory_peak_bytes", "slice"), "memory.peak"));
	assert_string_equal(refusal(&x, "cgroup.memory_kernel_bytes", "slice"),
			    "memory.stat does not report it");
	end(&x);
	/* outside of the namespace, seen through another mount, which is not below /sys */
	begin(&x, "cgroup-namespace", 77);
	VALUE(&x, "memory_bytes", "slice", 7777);
	VALUE(&x, "memory_limit_bytes", "slice", 1000000);
	end(&x);
}

static void a_container_mounts_its_own_group(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x, "cgroup-container", 0);
	VALUE(&x, "memory_bytes", "slice", 1048576);
	VALUE(&x, "memory_limit_bytes", "slice", 536870912);
	VALUE(&x, "cpu_seconds", "slice", 123);
	VALUE(&x, "cpu_limit_cores", "slice", 500000);
	/* pid 0 in cgroup.procs */
	assert_string_equal(meta_text(&x, "cgroup.owner"), "shared");
	assert_non_null(strstr(meta_text(&x, "cgroup.note"), "pid namespace"));
	end(&x);
}

static void it_is_the_targets_and_not_the_recorders(void **unused)
{
	struct scene x;

	(void)unused;
	open_at(&x, fixture("cgroup-v2"), 8100);
	assert_int_equal(x.result, -ENOENT);
	assert_non_null(strstr(x.why.text, "/../elsewhere is not mounted here"));
	end(&x);
	open_at(&x, fixture("cgroup-v2"), 8200); /* deleted */
	assert_int_equal(x.result, -ENOENT);
	end(&x);
	open_at(&x, fixture("cgroup-v2"), 8300);
	assert_int_equal(x.result, -ENODEV);
	assert_non_null(strstr(x.why.text, "whole machine"));
	end(&x);
	open_at(&x, fixture("cgroup-v2"), 9999); /* no such process */
	assert_int_equal(x.result, -ENOENT);
	end(&x);
	open_at(&x, fixture("vm-small"), 0); /* nothing of the kind */
	assert_int_equal(x.result, -ENOENT);
	end(&x);
}

static void broken_files_give_no_number(void **unused)
{
	static const pid_t lost[] = { 77, 78, 79 };
	struct scene x;

	(void)unused;
	begin(&x, "cgroup-broken", 0);
	for (uint32_t i = 1; i < x.n.sample.nslots; i++)
		assert_true(x.n.sample.state[i] != STATE_PRESENT || x.n.sample.value[i] >= 0);
	VALUE(&x, "cpu_seconds", "slice", -1);
	VALUE(&x, "cpu_user_seconds", "slice", -1);
	VALUE(&x, "cpu_system_seconds", "slice", -1); /* as ns it does not fit */
	VALUE(&x, "throttled_seconds", "slice", 7000);
	VALUE(&x, "memory_bytes", "slice", -1); /* cut */
	VALUE(&x, "memory_shared_bytes", "slice", 5);
	VALUE(&x, "memory_kernel_bytes", "slice", -1);
	VALUE(&x, "memory_limit_bytes", "slice", -1);
	VALUE(&x, "cpu_limit_cores", "slice", -1);
	VALUE(&x, "swap_limit_bytes", "slice", 5000);
	VALUE(&x, "memory_high_events", "slice", 3);
	VALUE(&x, "memory_oom_kills", "slice", -1);
	VALUE(&x, "storage_written_bytes", "slice", INT64_MAX);
	VALUE(&x, "pressure_io_some_seconds", "slice", 9);
	VALUE(&x, "pressure_cpu_some_seconds", "slice", -1);
	assert_string_equal(refusal(&x, "cgroup.memory_bytes", "slice"),
			    "memory.current gives no number for it");
	assert_string_equal(refusal(&x, "cgroup.memory_kernel_bytes", "slice"),
			    "memory.stat gives no number for it");
	assert_string_equal(refusal(&x, "cgroup.memory_dirty_bytes", "slice"),
			    "memory.stat does not report it");
	end(&x);
	for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
		open_at(&x, fixture("cgroup-broken"), lost[i]);
		assert_true(x.result < 0 && *x.why.text);
		end(&x);
	}
}

/* A copy of a fixture in the working directory, so that its files can change. */
static char copied_to[64];

static int copy_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	char to[1024], text[8192];
	const char *below = strstr(path, "fixtures/");
	int in, out;
	ssize_t n;

	(void)st;
	(void)at;
	below = strchr(below + strlen("fixtures/"), '/');
	snprintf(to, sizeof to, "%s%s", copied_to, below ? below : "");
	if (flag == FTW_D)
		return mkdir(to, 0700) && errno != EEXIST;
	in = open(path, O_RDONLY | O_CLOEXEC);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	n = read(in, text, sizeof text);
	assert_true(n >= 0 && n < (ssize_t)sizeof text && write(out, text, (size_t)n) == n);
	close(in);
	close(out);
	return 0;
}

static void copy(const char *name)
{
	snprintf(copied_to, sizeof copied_to, "copy.XXXXXX");
	assert_non_null(mkdtemp(copied_to));
	assert_int_equal(nftw(fixture(name), copy_one, 8, FTW_PHYS), 0);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)st;
	(void)flag;
	(void)at;
	return remove(path);
}

static void remove_copy(void)
{
	assert_int_equal(nftw(copied_to, remove_one, 8, FTW_PHYS | FTW_DEPTH), 0);
}

static void change(const char *name, const char *text)
{
	char path[512];
	int fd;

	snprintf(path, sizeof path, "%s/%s", copied_to, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

#define V2_JOB  "sys/fs/cgroup/system.slice/slurmstepd.scope/s5K1KKYAYG5D00"
#define V2_TASK V2_JOB "/step_0/user/task_0"

static void others_in_it_are_seen(void **unused)
{
	struct scene x;

	(void)unused;
	copy("cgroup-v2");
	open_at(&x, copied_to, 7100);
	assert_string_equal(meta_text(&x, "cgroup.owner"), "alone");
	assert_int_equal(meta(&x, "cgroup.memory_peak_before_bytes")->value, 3221225472);
	assert_int_equal(meta(&x, "cgroup.memory_oom_kills_before")->value, 1);
	/* a descendant of the root, whatever it is called */
	change(V2_TASK "/cgroup.procs", "7100\n7101\n7102\n");
	read_after(&x, NS_PER_S);
	assert_string_equal(meta_text(&x, "cgroup.owner"), "alone");
	/* the root's parent is none of the job's */
	change(V2_TASK "/cgroup.procs", "7000\n7100\n7101\n7102\n");
	read_after(&x, 2 * NS_PER_S);
	assert_string_equal(meta_text(&x, "cgroup.owner"), "task");
	/* it was there: that it is gone does not undo it */
	change(V2_TASK "/cgroup.procs", "7100\n");
	read_after(&x, 20 * NS_PER_S);
	assert_string_equal(meta_text(&x, "cgroup.owner"), "task");
	end(&x);
	/* hidden: its stat cannot be read */
	change(V2_TASK "/cgroup.procs", "7100\n31000\n");
	change("proc/7100/cgroup", "0::/system.slice\n");
	change("sys/fs/cgroup/system.slice/cgroup.procs", "7100\n");
	change("sys/fs/cgroup/system.slice/memory.current", "4096\n");
	open_at(&x, copied_to, 7100);
	assert_string_equal(meta_text(&x, "cgroup.owner"), "unknown"); /* groups below */
	end(&x);
	change("proc/7100/cgroup", "0::/system.slice/slurmstepd.scope/s5K1KKYAYG5D00/step_0/user/"
				   "task_0\n");
	open_at(&x, copied_to, 7100);
	assert_string_equal(meta_text(&x, "cgroup.owner"), "task");
	end(&x);
	remove_copy();
}

/* It may stand on one of the others. */
static void of_what_is_not_known_there_is_no_total(void **unused)
{
	struct scene x;

	(void)unused;
	copy("cgroup-namespace");
	change("proc/diskstats", "   8       1 sda1 9 0 2 0 20 0 4 0 0 0 0\n");
	open_at(&x, copied_to, 0);
	assert_int_equal(x.result, 0);
	assert_int_equal(read_after(&x, NS_PER_S), 0);
	assert_string_equal(label(&x, "8:0", "class"), "unknown");
	assert_int_equal(node_value(&x.n, "cgroup_disk.written_bytes", "8:0"), 2000);
	VALUE(&x, "storage_read_bytes", "slice", -1);
	assert_non_null(strstr(refusal(&x, "cgroup.storage_read_bytes", "slice"), "does not say"));
	/* Alone it is counted once, whatever it is. */
	change("sys/fs/cgroup/io.stat", "8:0 rbytes=1000 wbytes=2001 rios=10 wios=20\n");
	assert_int_equal(read_after(&x, NS_PER_S), 0);
	VALUE(&x, "storage_written_bytes", "slice", 2001);
	assert_string_equal(refusal(&x, "cgroup.storage_read_bytes", "slice"), "(none)");
	end(&x);
	remove_copy();
}

static void limits_may_change(void **unused)
{
	struct scene x;

	(void)unused;
	copy("cgroup-v2");
	change(V2_TASK "/pids.max", "garbage\n");
	open_at(&x, copied_to, 7100);
	assert_string_equal(refusal(&x, "cgroup.tasks_limit_count", "task"),
			    "pids.max: it holds no limit");
	change(V2_JOB "/step_0/memory.max", "1000000\n");
	change(V2_TASK "/pids.max", "10\n");
	read_after(&x, NS_PER_S);
	VALUE(&x, "memory_limit_bytes", "task", 8589934592);
	read_after(&x, 10 * NS_PER_S);
	VALUE(&x, "memory_limit_bytes", "task", 1000000);
	end(&x);
	remove_copy();
}

static void what_is_read_rarely_is_in_the_last_sample(void **unused)
{
	struct scene x;

	(void)unused;
	copy("cgroup-v2");
	open_at(&x, copied_to, 7100);
	x.n.env.interval_ns = 0;
	read_after(&x, NS_PER_S);
	VALUE(&x, "memory_anonymous_bytes", "task", 2500000000);
	change(V2_TASK "/memory.peak", "4000000000\n");
	read_after(&x, NS_PER_S / 10);
	VALUE(&x, "memory_peak_bytes", "task", -1); /* absent, not repeated */
	read_after(&x, NS_PER_S);
	VALUE(&x, "memory_anonymous_bytes", "task", 2500000000);
	VALUE(&x, "memory_anonymous_bytes", "job", -1);
	x.n.sample.last = true;
	read_after(&x, NS_PER_S / 10);
	VALUE(&x, "memory_peak_bytes", "task", 4000000000);
	VALUE(&x, "memory_oom_kills", "task", 1);
	VALUE(&x, "memory_anonymous_bytes", "job", 6000000000);
	end(&x);
	remove_copy();
}

/* Cut anywhere, a file gives fewer values and never another one. */
static void cut_files_give_no_wrong_value(void **unused)
{
	static const char *const names[] = { "cpu.stat", "memory.stat", "memory.events",
					     "memory.peak", "io.pressure" };
	struct scene x;

	(void)unused;
	copy("cgroup-v2");
	open_at(&x, copied_to, 7100);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[1024], text[8192], name[512];
		struct root top;
		ssize_t n;

		snprintf(path, sizeof path, "%s/" V2_TASK, fixture("cgroup-v2"));
		assert_int_equal(root_open(&top, path), 0);
		n = root_read(&top, names[i], text, sizeof text);
		root_close(&top);
		assert_true(n > 0);
		snprintf(name, sizeof name, V2_TASK "/%s", names[i]);
		for (ssize_t cut = n; cut-- > 0;) {
			int64_t v;

			text[cut] = '\0';
			change(name, text);
			read_after(&x, NS_PER_S);
			v = node_value(&x.n, "cgroup.memory_peak_bytes", "task");
			assert_true(v == -1 || v == 3221225472);
			v = node_value(&x.n, "cgroup.major_faults", "task");
			assert_true(v == -1 || v == 66);
			v = node_value(&x.n, "cgroup.cpu_seconds", "task");
			assert_true(v == -1 || v == 400000000000);
			v = node_value(&x.n, "cgroup.pressure_io_full_seconds", "task");
			assert_true(v == -1 || v == 60006);
		}
	}
	end(&x);
	remove_copy();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_1_of_slurm),
		cmocka_unit_test(the_batch_job_is_above_and_aside),
		cmocka_unit_test(version_2_of_slurm_with_a_sluid),
		cmocka_unit_test(version_1_and_2_together),
		cmocka_unit_test(stacked_devices_are_not_counted_twice),
		cmocka_unit_test(a_namespace_begins_at_its_own_root),
		cmocka_unit_test(a_container_mounts_its_own_group),
		cmocka_unit_test(it_is_the_targets_and_not_the_recorders),
		cmocka_unit_test(broken_files_give_no_number),
		cmocka_unit_test(others_in_it_are_seen),
		cmocka_unit_test(of_what_is_not_known_there_is_no_total),
		cmocka_unit_test(limits_may_change),
		cmocka_unit_test(what_is_read_rarely_is_in_the_last_sample),
		cmocka_unit_test(cut_files_give_no_wrong_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
