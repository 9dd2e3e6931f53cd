/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_metric.c - what is told of a control group; cgroup_group.c says from which file. */
#include "source/cgroup/cgroup_metric.h"

#include "core/phase/event.h"

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
