/* SPDX-License-Identifier: Apache-2.0 */
#include "source/cgroup/cgroup_file.h"

#include "base/clock.h"
#include "base/text/number.h"
#include "core/phase/event.h"
#include "source/storage/disk.h"

#include <stdio.h>
#include <string.h>

/* ---- Metrics ---- */

/* What is told of a control group; cgroup_group.c says from which file. */

/* A group that has the job's own in it is aside: totals are those of the job's own. */
#define GROUP   .domain = "cgroup", .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM
#define BYTES   GROUP, .unit = UNIT_BYTES, .kind = KIND_GAUGE
#define COUNTER GROUP, .unit = UNIT_COUNT, .kind = KIND_COUNTER
#define NS      GROUP, .unit = UNIT_SECONDS, .mul = 1, .div = 1000000000, .kind = KIND_COUNTER
#define RATIO                                                                                      \
	.domain = "cgroup", .unit = UNIT_RATIO, .kind = KIND_GAUGE, .over_instances = COMBINE_MAX, \
	.over_nodes = COMBINE_MAX
#define STALL(word, heading, sentence)                                                             \
	{                                                                                          \
		"cgroup.pressure_" word "_seconds", "cgroup",                                      \
			.unit = UNIT_ELAPSED_SECONDS, .mul = 1, .div = 1000000,                    \
			.kind = KIND_COUNTER, .over_instances = COMBINE_MAX,                       \
			.over_nodes = COMBINE_MEAN, .label = heading,                              \
			.help = "Time in which " sentence "."                                      \
	}
#define DISK .domain = "cgroup_disk", .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM

const struct metric cgroup_metrics[CGROUP_METRICS] = {
	[CGROUP_CPU] = { "cgroup.cpu_seconds", NS, .label = "Cgroup CPU",
			 .help = "CPU time of everything that ran in the control group, "
				 "including short-lived processes." },
	[CGROUP_CPU_USER] = { "cgroup.cpu_user_seconds", NS, .label = "Cgroup CPU, user",
			      .help = "CPU time of the control group in user mode." },
	[CGROUP_CPU_SYSTEM] = { "cgroup.cpu_system_seconds", NS, .label = "Cgroup CPU, system",
				.help = "CPU time of the control group in kernel mode." },
	[CGROUP_PERIODS] = { "cgroup.periods", COUNTER, .label = "Scheduling periods",
			     .help = "Periods of the CPU limit in which the control group ran." },
	[CGROUP_PERIODS_THROTTLED] = { "cgroup.throttled_periods", COUNTER,
				       .label = "Throttled periods",
				       .help = "Periods in which the CPU limit stopped the control "
					       "group." },
	[CGROUP_THROTTLED] = { "cgroup.throttled_seconds", NS, .label = "Throttled",
			       .help = "Time the CPU limit kept the control group from running, "
				       "added up over cores." },
	[CGROUP_CPU_LIMIT] = { "cgroup.cpu_limit_cores", GROUP, .unit = UNIT_CORES, .mul = 1,
			       .div = 1000000, .kind = KIND_GAUGE, .label = "CPU limit",
			       .help = "Cores the control group may use on average: the least "
				       "limit of it and those above it." },
	[CGROUP_MEMORY] = { "cgroup.memory_bytes", BYTES, .label = "Cgroup memory",
			    .help = "Memory charged to the control group, page cache included." },
	[CGROUP_MEMORY_PEAK] = { "cgroup.memory_peak_bytes", BYTES, .label = "Cgroup memory peak",
				 .help = "Most memory ever charged to the control group, page "
					 "cache and what came before the recording included; "
					 "version 2 reports it since Linux 5.19." },
	[CGROUP_MEMORY_LIMIT] = { "cgroup.memory_limit_bytes", BYTES,
				  .label = "Cgroup memory limit",
				  .help = "Most memory the control group may have: the least limit "
					  "of it and those above it." },
	[CGROUP_SWAP] = { "cgroup.swap_bytes", BYTES, .label = "Cgroup swap",
			  .help = "Memory of the control group that was swapped out." },
	[CGROUP_SWAP_LIMIT] = { "cgroup.swap_limit_bytes", BYTES, .label = "Cgroup swap limit",
				.help = "Most swap the control group may have; version 1 limits "
					"it only together with memory." },
	[CGROUP_ANONYMOUS] = { "cgroup.memory_anonymous_bytes", BYTES, .label = "Cgroup anonymous",
			       .help = "Heaps, stacks and other private memory." },
	[CGROUP_FILE] = { "cgroup.memory_file_bytes", BYTES, .label = "Cgroup page cache",
			  .help = "Page cache of files, shared memory and tmpfs included." },
	[CGROUP_SHARED] = { "cgroup.memory_shared_bytes", BYTES, .label = "Cgroup shared",
			    .help = "Shared memory and tmpfs, /dev/shm included." },
	[CGROUP_KERNEL] = { "cgroup.memory_kernel_bytes", BYTES, .label = "Cgroup kernel",
			    .help = "Kernel memory of the control group; version 2 reports it since "
				    "Linux 5.18." },
	[CGROUP_SOCKETS] = { "cgroup.memory_sockets_bytes", BYTES, .label = "Cgroup sockets",
			     .help = "Buffers of network sockets; version 1 reports those of TCP." },
	[CGROUP_KERNEL_STACK] = { "cgroup.memory_kernel_stack_bytes", BYTES,
				  .label = "Cgroup kernel stacks",
				  .help = "Kernel stacks of threads." },
	[CGROUP_PAGE_TABLES] = { "cgroup.memory_page_tables_bytes", BYTES,
				 .label = "Cgroup page tables",
				 .help = "Page tables of processes." },
	[CGROUP_PERCPU] = { "cgroup.memory_percpu_bytes", BYTES, .label = "Cgroup per-CPU",
			    .help = "Kernel memory kept per core." },
	[CGROUP_SLAB] = { "cgroup.memory_slab_bytes", BYTES, .label = "Cgroup slab",
			  .help = "Kernel data structures." },
	[CGROUP_MAPPED] = { "cgroup.memory_mapped_bytes", BYTES, .label = "Cgroup mapped",
			    .help = "Files mapped into processes." },
	[CGROUP_DIRTY] = { "cgroup.memory_dirty_bytes", BYTES, .label = "Cgroup dirty",
			   .help = "Page cache that waits to be written." },
	[CGROUP_WRITEBACK] = { "cgroup.memory_writeback_bytes", BYTES, .label = "Cgroup writeback",
			       .help = "Page cache that is being written." },
	[CGROUP_ANONYMOUS_HUGE] = { "cgroup.memory_anonymous_huge_bytes", BYTES,
				    .label = "Cgroup anonymous huge pages",
				    .help = "Anonymous memory in transparent huge pages." },
	[CGROUP_FILE_INACTIVE] = { "cgroup.memory_inactive_file_bytes", BYTES,
				   .label = "Cgroup inactive file",
				   .help = "Page cache not used lately, the first to be "
					   "reclaimed." },
	[CGROUP_REFAULTS_ANONYMOUS] = { "cgroup.memory_refaults_anonymous", COUNTER,
					.label = "Anonymous refaults",
					.help = "Swapped-out pages that were soon read back." },
	[CGROUP_REFAULTS_FILE] = { "cgroup.memory_refaults_file", COUNTER, .label = "File refaults",
				   .help = "File pages that were dropped and soon read back." },
	[CGROUP_FAULTS] = { "cgroup.page_faults", COUNTER, .label = "Cgroup page faults",
			    .help = "Page faults, minor and major." },
	[CGROUP_MAJOR_FAULTS] = { "cgroup.major_faults", COUNTER, .label = "Cgroup major faults",
				  .help = "Page faults that waited for I/O." },
	[CGROUP_HIGH_EVENTS] = { "cgroup.memory_high_events", COUNTER, .label = "Above memory.high",
				 .help = "Times processes were slowed down to reclaim memory above "
					 "memory.high." },
	[CGROUP_MAX_EVENTS] = { "cgroup.memory_limit_events", COUNTER, .label = "Memory limit hit",
				.help = "Times the control group was about to go above its "
					"memory limit." },
	[CGROUP_OOM_EVENTS] = { "cgroup.memory_oom_events", COUNTER, .label = "Out of memory",
				.help = "Times the limit was reached and nothing could be "
					"reclaimed." },
	[CGROUP_OOM_KILLS] = { "cgroup.memory_oom_kills", COUNTER, .label = "Out-of-memory kills",
			       .help = "Processes of the control group that the kernel killed for "
				       "want of memory." },
	[CGROUP_READ] = { "cgroup.storage_read_bytes", GROUP, .unit = UNIT_BYTES,
			  .kind = KIND_COUNTER, .label = "Cgroup read from disks",
			  .help = "Bytes the control group read from disks." },
	[CGROUP_WRITTEN] = { "cgroup.storage_written_bytes", GROUP, .unit = UNIT_BYTES,
			     .kind = KIND_COUNTER, .label = "Cgroup written to disks",
			     .help = "Bytes the control group wrote to disks; version 1 does not "
				     "see what goes through the page cache." },
	[CGROUP_READS] = { "cgroup.storage_reads", COUNTER, .label = "Cgroup reads from disks",
			   .help = "Reads of the control group from disks." },
	[CGROUP_WRITES] = { "cgroup.storage_writes", COUNTER, .label = "Cgroup writes to disks",
			    .help = "Writes of the control group to disks." },
	[CGROUP_PIDS] = { "cgroup.tasks_count", GROUP, .unit = UNIT_COUNT, .kind = KIND_GAUGE,
			  .label = "Cgroup threads",
			  .help = "Processes and threads in the control group." },
	[CGROUP_PIDS_LIMIT] = { "cgroup.tasks_limit_count", GROUP, .unit = UNIT_COUNT,
				.kind = KIND_GAUGE, .label = "Limit of threads",
				.help = "Most processes and threads the control group may have: "
					"the least limit of it and those above it." },
	[CGROUP_PRESSURE_CPU_SOME] = STALL("cpu_some", "Cgroup CPU pressure, some",
					   "some task of the control group waited for a core"),
	[CGROUP_PRESSURE_CPU_FULL] =
		STALL("cpu_full", "Cgroup CPU pressure, full",
		      "no task of the control group got a core and some waited for one"),
	[CGROUP_PRESSURE_MEMORY_SOME] = STALL("memory_some", "Cgroup memory pressure, some",
					      "some task of the control group waited for memory"),
	[CGROUP_PRESSURE_MEMORY_FULL] = STALL("memory_full", "Cgroup memory pressure, full",
					      "all tasks of the control group that could run "
					      "waited for memory"),
	[CGROUP_PRESSURE_IO_SOME] = STALL("io_some", "Cgroup I/O pressure, some",
					  "some task of the control group waited for I/O"),
	[CGROUP_PRESSURE_IO_FULL] = STALL("io_full", "Cgroup I/O pressure, full",
					  "all tasks of the control group that could run waited "
					  "for I/O"),
	[CGROUP_MEMORY_RATIO] = { "cgroup.memory_used_ratio", RATIO,
				  .formula = "cgroup.memory_bytes / cgroup.memory_limit_bytes",
				  .label = "Cgroup memory used",
				  .help = "Memory charged, page cache included, as a share of the "
					  "limit." },
	[CGROUP_THROTTLED_RATIO] = { "cgroup.throttled_periods_ratio", RATIO,
				     .formula = "cgroup.throttled_periods_per_second / "
						"cgroup.periods_per_second",
				     .label = "Throttled periods",
				     .help = "Share of the periods in which the CPU limit stopped "
					     "the control group." },
	[CGROUP_DISK] = { "cgroup_disk.read_bytes", DISK, .unit = UNIT_BYTES, .kind = KIND_COUNTER,
			  .label = "Cgroup read",
			  .help = "Bytes the job's control group read from the disk." },
	{ "cgroup_disk.written_bytes", DISK, .unit = UNIT_BYTES, .kind = KIND_COUNTER,
	  .label = "Cgroup written", .help = "Bytes the job's control group wrote to the disk." },
	{ "cgroup_disk.reads", DISK, .unit = UNIT_COUNT, .kind = KIND_COUNTER,
	  .label = "Cgroup reads", .help = "Reads of the job's control group from the disk." },
	{ "cgroup_disk.writes", DISK, .unit = UNIT_COUNT, .kind = KIND_COUNTER,
	  .label = "Cgroup writes", .help = "Writes of the job's control group to the disk." },
};
_Static_assert((int)CGROUP_SERIES <= (int)EVENT_SET_MAX, "they are one set of series");

/* ---- Files ---- */

#define NUMBER(metric)                                                                             \
	{                                                                                          \
		{                                                                                  \
			"", NULL, metric, 1                                                        \
		}                                                                                  \
	}
#define STALLS(some, full)                                                                         \
	{                                                                                          \
		{ "some ", "total=", some, 1 },                                                    \
		{                                                                                  \
			"full ", "total=", full, 1                                                 \
		}                                                                                  \
	}
/* cpuacct.stat counts in USER_HZ, which is 100. */
enum { US = 1000, TICK = 10000000 };

/* Fields in the kernel's order: each is looked for behind the one before. */
const struct cgroup_file cgroup_files[CGROUP_FILES] = {
	{ 2,
	  CONCERN_CPU_TIME,
	  "cpu.stat",
	  ALWAYS,
	  WITH_BELOW,
	  FIELDS,
	  { { "usage_usec ", NULL, CGROUP_CPU, US },
	    { "user_usec ", NULL, CGROUP_CPU_USER, US },
	    { "system_usec ", NULL, CGROUP_CPU_SYSTEM, US },
	    { "nr_periods ", NULL, CGROUP_PERIODS, 1 },
	    { "nr_throttled ", NULL, CGROUP_PERIODS_THROTTLED, 1 },
	    { "throttled_usec ", NULL, CGROUP_THROTTLED, US } } },
	{ 2, CONCERN_MEMORY, "memory.current", ALWAYS, WITH_BELOW, FIELDS, NUMBER(CGROUP_MEMORY) },
	{ 2, CONCERN_MEMORY, "memory.peak", RARELY, WITH_BELOW, FIELDS,
	  NUMBER(CGROUP_MEMORY_PEAK) },
	{ 2,
	  CONCERN_MEMORY,
	  "memory.events",
	  RARELY,
	  WITH_BELOW,
	  FIELDS,
	  { { "high ", NULL, CGROUP_HIGH_EVENTS, 1 },
	    { "max ", NULL, CGROUP_MAX_EVENTS, 1 },
	    { "oom ", NULL, CGROUP_OOM_EVENTS, 1 },
	    { "oom_kill ", NULL, CGROUP_OOM_KILLS, 1 } } },
	{ 2,
	  CONCERN_MEMORY,
	  "memory.stat",
	  RARELY,
	  WITH_BELOW,
	  FIELDS,
	  { { "anon ", NULL, CGROUP_ANONYMOUS, 1 },
	    { "file ", NULL, CGROUP_FILE, 1 },
	    { "kernel ", NULL, CGROUP_KERNEL, 1 },
	    { "kernel_stack ", NULL, CGROUP_KERNEL_STACK, 1 },
	    { "pagetables ", NULL, CGROUP_PAGE_TABLES, 1 },
	    { "percpu ", NULL, CGROUP_PERCPU, 1 },
	    { "sock ", NULL, CGROUP_SOCKETS, 1 },
	    { "shmem ", NULL, CGROUP_SHARED, 1 },
	    { "file_mapped ", NULL, CGROUP_MAPPED, 1 },
	    { "file_dirty ", NULL, CGROUP_DIRTY, 1 },
	    { "file_writeback ", NULL, CGROUP_WRITEBACK, 1 },
	    { "anon_thp ", NULL, CGROUP_ANONYMOUS_HUGE, 1 },
	    { "inactive_file ", NULL, CGROUP_FILE_INACTIVE, 1 },
	    { "slab ", NULL, CGROUP_SLAB, 1 },
	    { "workingset_refault_anon ", NULL, CGROUP_REFAULTS_ANONYMOUS, 1 },
	    { "workingset_refault_file ", NULL, CGROUP_REFAULTS_FILE, 1 },
	    { "pgfault ", NULL, CGROUP_FAULTS, 1 },
	    { "pgmajfault ", NULL, CGROUP_MAJOR_FAULTS, 1 } } },
	{ 2, CONCERN_MEMORY, "memory.swap.current", RARELY, WITH_BELOW, FIELDS,
	  NUMBER(CGROUP_SWAP) },
	{ 2, CONCERN_IO, "io.stat", RARELY, WITH_BELOW, DISKS_V2, { { 0 } } },
	{ 2, CONCERN_PIDS, "pids.current", RARELY, WITH_BELOW, FIELDS, NUMBER(CGROUP_PIDS) },
	{ 2, CONCERN_PRESSURE, "cpu.pressure", RARELY, WITH_BELOW, FIELDS,
	  STALLS(CGROUP_PRESSURE_CPU_SOME, CGROUP_PRESSURE_CPU_FULL) },
	{ 2, CONCERN_PRESSURE, "memory.pressure", RARELY, WITH_BELOW, FIELDS,
	  STALLS(CGROUP_PRESSURE_MEMORY_SOME, CGROUP_PRESSURE_MEMORY_FULL) },
	{ 2, CONCERN_PRESSURE, "io.pressure", RARELY, WITH_BELOW, FIELDS,
	  STALLS(CGROUP_PRESSURE_IO_SOME, CGROUP_PRESSURE_IO_FULL) },

	{ 1, CONCERN_CPU_TIME, "cpuacct.usage", ALWAYS, WITH_BELOW, FIELDS, NUMBER(CGROUP_CPU) },
	{ 1,
	  CONCERN_CPU_TIME,
	  "cpuacct.stat",
	  RARELY,
	  WITH_BELOW,
	  FIELDS,
	  { { "user ", NULL, CGROUP_CPU_USER, TICK },
	    { "system ", NULL, CGROUP_CPU_SYSTEM, TICK } } },
	{ 1,
	  CONCERN_CPU,
	  "cpu.stat",
	  ALWAYS,
	  WITH_BELOW,
	  FIELDS,
	  { { "nr_periods ", NULL, CGROUP_PERIODS, 1 },
	    { "nr_throttled ", NULL, CGROUP_PERIODS_THROTTLED, 1 },
	    { "throttled_time ", NULL, CGROUP_THROTTLED, 1 } } },
	{ 1, CONCERN_MEMORY, "memory.usage_in_bytes", ALWAYS, WITH_BELOW, FIELDS,
	  NUMBER(CGROUP_MEMORY) },
	{ 1, CONCERN_MEMORY, "memory.max_usage_in_bytes", RARELY, WITH_BELOW, FIELDS,
	  NUMBER(CGROUP_MEMORY_PEAK) },
	{ 1, CONCERN_MEMORY, "memory.failcnt", RARELY, WITH_BELOW, FIELDS,
	  NUMBER(CGROUP_MAX_EVENTS) },
	{ 1,
	  CONCERN_MEMORY,
	  "memory.oom_control",
	  ALWAYS, /* a step's groups go soon after its end */
	  ADDED,
	  FIELDS,
	  { { "oom_kill ", NULL, CGROUP_OOM_KILLS, 1 } } },
	{ 1,
	  CONCERN_MEMORY,
	  "memory.stat",
	  RARELY,
	  WITH_BELOW,
	  FIELDS,
	  { { "total_cache ", NULL, CGROUP_FILE, 1 },
	    { "total_rss ", NULL, CGROUP_ANONYMOUS, 1 },
	    { "total_rss_huge ", NULL, CGROUP_ANONYMOUS_HUGE, 1 },
	    { "total_shmem ", NULL, CGROUP_SHARED, 1 },
	    { "total_mapped_file ", NULL, CGROUP_MAPPED, 1 },
	    { "total_dirty ", NULL, CGROUP_DIRTY, 1 },
	    { "total_writeback ", NULL, CGROUP_WRITEBACK, 1 },
	    { "total_workingset_refault_anon ", NULL, CGROUP_REFAULTS_ANONYMOUS, 1 },
	    { "total_workingset_refault_file ", NULL, CGROUP_REFAULTS_FILE, 1 },
	    { "total_swap ", NULL, CGROUP_SWAP, 1 },
	    { "total_pgfault ", NULL, CGROUP_FAULTS, 1 },
	    { "total_pgmajfault ", NULL, CGROUP_MAJOR_FAULTS, 1 },
	    { "total_inactive_file ", NULL, CGROUP_FILE_INACTIVE, 1 } } },
	{ 1, CONCERN_MEMORY, "memory.kmem.usage_in_bytes", RARELY, WITH_BELOW, FIELDS,
	  NUMBER(CGROUP_KERNEL) },
	{ 1, CONCERN_MEMORY, "memory.kmem.tcp.usage_in_bytes", RARELY, WITH_BELOW, FIELDS,
	  NUMBER(CGROUP_SOCKETS) },
	{ 1,
	  CONCERN_IO,
	  "blkio.throttle.io_service_bytes_recursive",
	  RARELY,
	  WITH_BELOW,
	  DISKS_V1_BYTES,
	  { { 0 } } },
	{ 1,
	  CONCERN_IO,
	  "blkio.throttle.io_serviced_recursive",
	  RARELY,
	  WITH_BELOW,
	  DISKS_V1_COUNTS,
	  { { 0 } } },
	/* Linux before 4.17; of the group alone, without those below it */
	{ 1,
	  CONCERN_IO,
	  "blkio.throttle.io_service_bytes",
	  RARELY,
	  OWN_ONLY,
	  DISKS_V1_BYTES,
	  { { 0 } } },
	{ 1,
	  CONCERN_IO,
	  "blkio.throttle.io_serviced",
	  RARELY,
	  OWN_ONLY,
	  DISKS_V1_COUNTS,
	  { { 0 } } },
	{ 1, CONCERN_PIDS, "pids.current", RARELY, WITH_BELOW, FIELDS, NUMBER(CGROUP_PIDS) },
};

const struct cgroup_limit cgroup_limits[CGROUP_LIMITS] = {
	{ CGROUP_CPU_LIMIT,
	  CONCERN_CPU,
	  "cpu_limit_of",
	  { NULL, "cpu.cfs_quota_us", "cpu.max" },
	  "cpu.cfs_period_us" },
	{ CGROUP_MEMORY_LIMIT,
	  CONCERN_MEMORY,
	  "memory_limit_of",
	  { NULL, "memory.limit_in_bytes", "memory.max" },
	  NULL },
	{ CGROUP_SWAP_LIMIT,
	  CONCERN_MEMORY,
	  "swap_limit_of",
	  { NULL, NULL, "memory.swap.max" },
	  NULL },
	{ CGROUP_PIDS_LIMIT,
	  CONCERN_PIDS,
	  "tasks_limit_of",
	  { NULL, "pids.max", "pids.max" },
	  NULL },
};

/* ---- Disks ---- */

enum { DISKS_MAX = 256, DISKSTATS_SIZE = 16 * 1024 };

int cgroup_disks_init(struct cgroup_disks *x, const struct root *proc, const struct root *sys)
{
	*x = (struct cgroup_disks){ .proc = proc, .sys = sys };
	return devices_init(&x->devices, DISKS_MAX);
}

void cgroup_disks_free(struct cgroup_disks *x)
{
	devices_free(&x->devices);
}

/* The number that the line begins with, "8:0 ". Some kernels put that of a device without figures
 * before it, on the same line (seen on 5.4): the last one counts. NULL when it begins with none. */
static const char *number_of(const char *line, size_t *len)
{
	const char *found = NULL, *p = line;
	uint64_t major, minor;

	for (;;) {
		const char *start = number_skip_blanks(p);

		p = start;
		if (!number_u64(&p, &major) || *p++ != ':' || !number_u64(&p, &minor) || *p != ' ')
			return found;
		found = start;
		*len = (size_t)(p - start);
	}
}

/* "sda", of the line with this number. */
static bool name_in_diskstats(const struct cgroup_disks *x, const char *number, char *out,
			      size_t size)
{
	char text[DISKSTATS_SIZE];
	uint64_t wanted[2] = { 0 }, v[2];
	int fd = root_file(x->proc, "diskstats");
	ssize_t n = fd < 0 ? fd : file_reread(fd, text, sizeof text);

	file_close(&fd);
	text[n > 0 ? n : 0] = '\0';
	number_u64(&number, &wanted[0]);
	number += *number == ':';
	number_u64(&number, &wanted[1]);
	for (const char *p = text; strchr(p, '\n'); p = number_next_line(p)) {
		const char *q = p;

		if (!number_u64(&q, &v[0]) || !number_u64(&q, &v[1]) || v[0] != wanted[0] ||
		    v[1] != wanted[1])
			continue;
		q = number_skip_blanks(q);
		snprintf(out, size, "%.*s", (int)strcspn(q, " \n"), q);
		return *out;
	}
	return false;
}

/* "" when the kernel does not say. */
static void name_of(const struct cgroup_disks *x, const char *number, char *out, size_t size)
{
	char path[96], text[512];
	const char *name = NULL;

	snprintf(path, sizeof path, "dev/block/%s/uevent", number);
	if (root_read(x->sys, path, text, sizeof text) > 0)
		name = number_find_line(text, "DEVNAME=");
	if (name && *name && *name != '\n')
		snprintf(out, size, "%.*s", (int)strcspn(name, "\n"), name);
	else if (!name_in_diskstats(x, number, out, size))
		*out = '\0';
}

/* Partitions are counted with their disks: what looks like one is something that was not found. */
static enum block_class class_of(const struct cgroup_disks *x, const char *name)
{
	enum block_class class = *name ? block_class_of(x->sys, name) : BLOCK_PARTITION;

	if (class == BLOCK_UNKNOWN)
		class = block_class_by_name(name);
	return class == BLOCK_PARTITION ? BLOCK_UNKNOWN : class;
}

static void announce(struct cgroup_disks *x, struct device *v, struct sample *s)
{
	char name[64];

	v->told = true;
	name_of(x, v->name, name, sizeof name);
	v->class = class_of(x, name);
	v->flags = v->class == BLOCK_DISK ? 0 : INSTANCE_ASIDE;
	if (!x->tell)
		return;
	if (s->slot_cap - s->nslots < CGROUP_DISK_SERIES + DEVICES_LEAVE) {
		sample_leave_out(s, &cgroup_metrics[CGROUP_DISK], v->name);
		return;
	}
	v->instance = sample_instance(s, cgroup_metrics[CGROUP_DISK].domain, *name ? name : v->name,
				      x->parent, clock_mono_ns(), v->flags);
	if (!v->instance)
		return;
	v->nslots = CGROUP_DISK_SERIES;
	v->slot = sample_series(s, &cgroup_metrics[CGROUP_DISK], v->nslots, v->instance);
	sample_label(s, v->instance, "number", v->name);
	sample_label(s, v->instance, "class", block_class_names[v->class]);
}

static void begin(struct cgroup_disks *x)
{
	devices_begin(&x->devices);
	x->counted = x->unknown = 0;
}

static struct device *meet(struct cgroup_disks *x, const char *number, size_t len, struct sample *s)
{
	struct device *v = devices_meet(&x->devices, number, len);

	if (!v)
		return NULL;
	if (!v->told)
		announce(x, v, s);
	x->counted += v->class == BLOCK_DISK;
	x->unknown += v->class == BLOCK_UNKNOWN;
	return v;
}

static void take(const struct device *v, struct sample *s, uint32_t i, const char *p,
		 int64_t total[CGROUP_DISK_SERIES])
{
	int64_t value;

	if (!number_i64(&p, &value) || value < 0)
		return;
	device_put(v, s, i, value);
	if (v->class == BLOCK_DISK || v->class == BLOCK_UNKNOWN)
		number_add(&total[i], value);
}

bool cgroup_disks_are_known(const struct cgroup_disks *x)
{
	return !x->unknown || x->unknown + x->counted == 1;
}

void cgroup_disks_v2(struct cgroup_disks *x, const char *text, bool whole, struct sample *s,
		     int64_t total[CGROUP_DISK_SERIES])
{
	static const char *const keys[CGROUP_DISK_SERIES] = { " rbytes=", " wbytes=", " rios=",
							      " wios=" };

	begin(x);
	for (const char *line = text; *line; line = number_next_line(line)) {
		size_t len = 0, n = strcspn(line, "\n");
		const char *number = number_of(line, &len);
		const struct device *v = NULL;

		for (uint32_t i = 0; number && i < CGROUP_DISK_SERIES; i++) {
			const char *at = memmem(line, n, keys[i], strlen(keys[i]));

			if (at && !v) /* a device without figures is not worth a word */
				v = meet(x, number, len, s);
			if (at && v)
				take(v, s, i, at + strlen(keys[i]), total);
		}
	}
	if (whole)
		devices_sweep(&x->devices, s);
}

void cgroup_disks_v1(struct cgroup_disks *x, const char *text, struct sample *s, uint32_t first,
		     int64_t total[CGROUP_DISK_SERIES])
{
	struct device *v = NULL;

	begin(x);
	for (const char *line = text; *line; line = number_next_line(line)) {
		size_t len;
		const char *number = number_of(line, &len), *word = number ? number + len + 1 : "";

		if (!number)
			continue;
		if (!v || v->len != len || memcmp(v->name, number, len) != 0)
			v = meet(x, number, len, s);
		if (v && strncmp(word, "Read ", 5) == 0)
			take(v, s, first, word + 5, total);
		else if (v && strncmp(word, "Write ", 6) == 0)
			take(v, s, first + 1, word + 6, total);
	}
}
