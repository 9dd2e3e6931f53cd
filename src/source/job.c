/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - what is told of the job's processes together; the process tree fills the rows. */
#include "source/job.h"

#include "source/source.h"

#define GAUGE   .kind = KIND_GAUGE, .over_nodes = COMBINE_SUM
#define COUNTER .kind = KIND_COUNTER, .over_nodes = COMBINE_SUM
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
	[JOB_THREADS] = { "job.threads_count", COUNT, GAUGE, .label = "Threads",
			  .help = "Threads of the job's live processes." },
	[JOB_FILES] = { "job.open_files_count", COUNT, GAUGE, .label = "Open files",
			.help = "Open file descriptors of the job's live processes." },
	[JOB_RESIDENT] = { "job.resident_bytes", BYTES, GAUGE, .label = "Job RSS",
			   .help = "Sum of resident set sizes; shared pages count once a "
				   "process." },
	[JOB_PSS] = { "job.pss_bytes", BYTES, GAUGE, .label = "Job PSS",
		      .help = "Sum of proportional set sizes; between two readings of a process "
			      "the "
			      "last one is moved by the change of its private resident memory (an "
			      "estimate); absent until every live process was read once." },
	[JOB_PSS_AGE] = { "job.pss_age_seconds", .unit = UNIT_SECONDS, .kind = KIND_GAUGE,
			  .over_nodes = COMBINE_MAX, .label = "Age of PSS",
			  .help = "How long ago the oldest PSS was read that the sum moves by an "
				  "estimate, in whole seconds, rounded up; 0: no estimate is in "
				  "it." },
	[JOB_SWAP] = { "job.swap_bytes", BYTES, GAUGE, .label = "Job swap",
		       .help = "Sum of swapped-out memory at the last reading of each process." },
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
};
_Static_assert(sizeof metrics / sizeof metrics[0] == JOB_NUMBER_OF, "a row for every index");

const struct metric *const job_metrics = metrics;

const struct source source_job = {
	.name = "job",
	.what = "the processes of the job together",
	SOURCE_METRICS(metrics),
};
