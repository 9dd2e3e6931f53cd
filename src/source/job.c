/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - what is told of the job's processes together; the process tree fills the rows. */
#include "source/job.h"

#include "source/source.h"

#define GAUGE   .kind = KIND_GAUGE, .over_nodes = COMBINE_SUM
#define COUNTER .kind = KIND_COUNTER, .over_nodes = COMBINE_SUM
#define TOTAL   .kind = KIND_TOTAL, .over_nodes = COMBINE_SUM
#define NS      .unit = UNIT_SECONDS, .mul = 1, .div = 1000000000
#define BYTES   .unit = UNIT_BYTES
#define COUNT   .unit = UNIT_COUNT

static const struct metric metrics[] = {
	[JOB_CPU] = { "job.cpu_seconds", NS, COUNTER, .label = "Job CPU",
		      .help = "CPU time of all processes of the job, the ended ones included." },
	[JOB_PROCESSES_LIVE] = { "job.processes_live_count", COUNT, GAUGE,
				 .label = "Live processes",
				 .help = "Processes of the job that were alive." },
	[JOB_PROCESSES_STARTED] = { "job.processes_started", COUNT, COUNTER,
				    .label = "Processes started",
				    .help = "Processes of the job that were seen to start." },
	[JOB_PROCESSES_ENDED] = { "job.processes_ended", COUNT, COUNTER, .label = "Processes ended",
				  .help = "Processes of the job that were seen to end." },
	[JOB_THREADS_STARTED] = { "job.threads_started", COUNT, COUNTER, .label = "Threads started",
				  .help = "Threads that the job's processes started, besides the "
					  "first of each; known where the kernel records starts." },
	[JOB_THREADS] = { "job.threads_count", COUNT, GAUGE, .label = "Threads",
			  .help = "Threads of the job's live processes." },
	[JOB_FILES] = { "job.open_files_count", COUNT, GAUGE, .label = "Open files",
			.help = "Open file descriptors of the job's live processes." },
	[JOB_RESIDENT] = { "job.resident_bytes", BYTES, GAUGE, .label = "Job RSS",
			   .help = "Sum of resident set sizes, with huge pages of hugetlbfs; "
				   "shared pages count once a process." },
	[JOB_VIRTUAL] = { "job.virtual_bytes", BYTES, GAUGE, .label = "Job address space",
			  .help = "Sum of address spaces." },
	[JOB_SHARED] = { "job.shared_bytes", BYTES, GAUGE, .label = "Job shared",
			 .help = "Sum of resident pages of files and of shared memory; each counts "
				 "once a process." },
	[JOB_PSS] = { "job.pss_bytes", BYTES, GAUGE, .label = "Job PSS",
		      .help = "Sum of proportional set sizes; between two readings of a process "
			      "the "
			      "last one is moved by the change of its private resident memory (an "
			      "estimate); with huge pages of hugetlbfs; absent until every live "
			      "process was read once." },
	[JOB_PSS_AGE] = { "job.pss_age_seconds", .unit = UNIT_SECONDS, .kind = KIND_GAUGE,
			  .over_nodes = COMBINE_MAX, .label = "Age of PSS",
			  .help = "How long ago the oldest PSS was read that the sum moves by an "
				  "estimate, in whole seconds, rounded up; 0: no estimate is in "
				  "it." },
	[JOB_USS] = { "job.uss_bytes", BYTES, GAUGE, .label = "Job USS",
		      .help = "Sum of unique set sizes at the last reading of each process; absent "
			      "until every live process was read once." },
	[JOB_SWAP] = { "job.swap_bytes", BYTES, GAUGE, .label = "Job swap",
		       .help = "Sum of swapped-out memory at the last reading of each process." },
	[JOB_HUGETLB] = { "job.hugetlb_bytes", BYTES, GAUGE, .label = "Job huge pages (hugetlbfs)",
			  .help = "Huge pages of hugetlbfs that processes have, which the kernel "
				  "counts apart from RSS and PSS: at most what is in use on the "
				  "whole machine; absent where the machine has none." },
	[JOB_ANONYMOUS_HUGE] = { "job.anonymous_huge_bytes", BYTES, GAUGE,
				 .label = "Job transparent huge pages",
				 .help = "Anonymous memory in transparent huge pages (THP), which "
					 "are resident as a whole once a part of one was touched; "
					 "read together with PSS, absent where a process is "
					 "estimated from some pages." },
	[JOB_MEMORY_FILES] = { "job.memory_files_bytes", BYTES, GAUGE,
			       .label = "Job files in memory",
			       .help = "Memory of memfds that processes have open, of System V "
				       "segments that they made, and of files in /dev/shm and "
				       "other tmpfs, like a /tmp in memory: what the user has "
				       "more there than when the recording began, at most what "
				       "the job wrote or shared; mapped or not. Absent where one "
				       "of them has more than 4,096 files and directories." },
	[JOB_READ] = { "job.read_bytes", BYTES, COUNTER, .label = "Read",
		       .help = "Bytes returned by read calls of the job, from cache or not." },
	[JOB_WRITTEN] = { "job.written_bytes", BYTES, COUNTER, .label = "Written",
			  .help = "Bytes given to write calls of the job." },
	[JOB_READ_CALLS] = { "job.read_calls", COUNT, COUNTER, .label = "Read calls",
			     .help = "Read system calls of the job." },
	[JOB_WRITE_CALLS] = { "job.write_calls", COUNT, COUNTER, .label = "Write calls",
			      .help = "Write system calls of the job." },
	[JOB_STORAGE_READ] = { "job.storage_read_bytes", BYTES, COUNTER,
			       .label = "Read from storage",
			       .help = "Bytes the job fetched from the storage layer." },
	[JOB_STORAGE_WRITTEN] = { "job.storage_written_bytes", BYTES, COUNTER,
				  .label = "Written to storage",
				  .help = "Bytes the job caused to be sent to the storage layer." },
	[JOB_MINOR_FAULTS] = { "job.minor_faults", COUNT, COUNTER, .label = "Minor faults",
			       .help = "Page faults of the job without I/O." },
	[JOB_MAJOR_FAULTS] = { "job.major_faults", COUNT, COUNTER, .label = "Major faults",
			       .help = "Page faults of the job that waited for I/O." },
	[JOB_ATTRIBUTED_CPU] = { "job.attributed_cpu_seconds", NS, COUNTER,
				 .label = "Attributed CPU",
				 .help = "CPU time of the job that is known process by process." },
	[JOB_VOLUNTARY] = { "job.voluntary_switches", COUNT, COUNTER, .label = "Voluntary switches",
			    .help = "Context switches because a thread waited for something: a "
				    "lower bound, of the threads that were sampled. Updated every "
				    "2 s or less often, once all threads that ran were sampled." },
	[JOB_INVOLUNTARY] = { "job.involuntary_switches", COUNT, COUNTER,
			      .label = "Involuntary switches",
			      .help = "Context switches because another thread got the CPU; known "
				      "as the voluntary ones are." },
	[JOB_MIGRATIONS] = { "job.migrations", COUNT, COUNTER, .label = "Migrations",
			     .help = "Moves of the job's threads to another CPU: a lower bound, "
				     "of the threads that were sampled." },
	[JOB_WAITED] = { "job.run_queue_seconds", NS, COUNTER, .label = "Waited for a CPU",
			 .help = "Time that the job's threads were ready to run and waited for a "
				 "CPU (run-queue delay), summed over the threads that were "
				 "sampled: a lower bound." },
	[JOB_THREADS_RUNNING] = { "job.threads_running_count", COUNT, GAUGE,
				  .label = "Threads running",
				  .help = "Threads that were running or ready to run when "
					  "sampled." },
	[JOB_THREADS_SLEEPING] = { "job.threads_sleeping_count", COUNT, GAUGE,
				   .label = "Threads sleeping",
				   .help = "Threads that slept until something happens." },
	[JOB_THREADS_BLOCKED] = { "job.threads_blocked_count", COUNT, GAUGE,
				  .label = "Threads blocked",
				  .help = "Threads in uninterruptible sleep, which mostly wait for "
					  "storage." },
	[JOB_THREADS_STOPPED] = { "job.threads_stopped_count", COUNT, GAUGE,
				  .label = "Threads stopped",
				  .help = "Threads that a signal or a debugger has stopped." },
	[JOB_VOLUNTARY_TOTAL] = { "job.waited_voluntary_switches", COUNT, TOTAL,
				  .label = "Voluntary switches, total",
				  .help = "All voluntary context switches: of processes that were "
					  "waited for as the kernel reports at their end, of "
					  "others as far as sampled." },
	[JOB_INVOLUNTARY_TOTAL] = { "job.waited_involuntary_switches", COUNT, TOTAL,
				    .label = "Involuntary switches, total",
				    .help = "All involuntary context switches, known as the "
					    "voluntary ones are." },
	[JOB_AFFINITY] = { "job.affinity_cpus_count", COUNT, GAUGE, .label = "CPUs allowed",
			   .help = "CPUs that at least one thread of the job may run on; the "
				   "metadata job.affinity lists them." },
	[JOB_LOOKS_AGE] = { "job.threads_age_seconds", .unit = UNIT_SECONDS, .kind = KIND_GAUGE,
			    .over_nodes = COMBINE_MAX, .label = "Age of threads' values",
			    .help = "Age of the oldest thread reading in the current values, of "
				    "threads that ran, in whole seconds, rounded up." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == JOB_NUMBER_OF, "a row for every index");

const struct metric *const job_metrics = metrics;

const struct source source_job = {
	.name = "job",
	.what = "the processes of the job together",
	SOURCE_METRICS(metrics),
};
