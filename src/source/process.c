/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - what is told of each process; the process tree (sampler/tree/tree.h) fills the rows.
 */
#include "source/process.h"

#include "source/source.h"

#define GAUGE   .kind = KIND_GAUGE, .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM
#define COUNTER .kind = KIND_COUNTER, .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM
#define TOTAL   .kind = KIND_TOTAL, .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM
#define PROCESS .domain = "process"
#define COMMAND .domain = "command"
#define TASK    .domain = "task"
#define TICKS   .unit = UNIT_SECONDS, .mul = 1, .div = 100
#define NS      .unit = UNIT_SECONDS, .mul = 1, .div = 1000000000
#define BYTES   .unit = UNIT_BYTES
#define COUNT   .unit = UNIT_COUNT

static const struct metric metrics[] = {
	[PROCESS_CPU] = { "process.cpu_seconds", PROCESS, NS, COUNTER, .label = "CPU",
			  .help = "CPU time of the process itself, from its CPU clock." },
	[PROCESS_CPU_USER] = { "process.cpu_user_seconds", PROCESS, TICKS, COUNTER,
			       .label = "User CPU", .help = "CPU time in user mode." },
	[PROCESS_CPU_SYSTEM] = { "process.cpu_system_seconds", PROCESS, TICKS, COUNTER,
				 .label = "System CPU", .help = "CPU time in kernel mode." },
	[PROCESS_THREADS] = { "process.threads_count", PROCESS, COUNT, GAUGE, .label = "Threads",
			      .help = "Threads." },
	[PROCESS_FILES] = { "process.open_files_count", PROCESS, COUNT, GAUGE,
			    .label = "Open files", .help = "Open file descriptors." },
	[PROCESS_RESIDENT] = { "process.resident_bytes", PROCESS, BYTES, GAUGE, .label = "RSS",
			       .help = "Resident set size, with huge pages of hugetlbfs; pages "
				       "shared with others count in full." },
	[PROCESS_VIRTUAL] = { "process.virtual_bytes", PROCESS, BYTES, GAUGE,
			      .label = "Virtual memory", .help = "Address space." },
	[PROCESS_SHARED] = { "process.shared_bytes", PROCESS, BYTES, GAUGE,
			     .label = "Shared memory",
			     .help = "Resident pages of files and of shared memory." },
	[PROCESS_SWAP] = { "process.swap_bytes", PROCESS, BYTES, GAUGE, .label = "Swap",
			   .help = "Memory that was swapped out, read together with PSS." },
	[PROCESS_PSS] = { "process.pss_bytes", PROCESS, BYTES, GAUGE, .label = "PSS",
			  .help = "Proportional set size, with huge pages of hugetlbfs: shared "
				  "pages divided by their users; read when the budget allows, "
				  "absent in between." },
	[PROCESS_USS] = { "process.uss_bytes", PROCESS, BYTES, GAUGE, .label = "USS",
			  .help = "Unique set size: pages no other process has; read together with "
				  "PSS." },
	[PROCESS_READ] = { "process.read_bytes", PROCESS, BYTES, COUNTER, .label = "Read",
			   .help = "Bytes returned by read calls, from cache or not; with those of "
				   "children it waited for that were too short-lived to be "
				   "read themselves." },
	[PROCESS_WRITTEN] = { "process.written_bytes", PROCESS, BYTES, COUNTER, .label = "Written",
			      .help = "Bytes given to write calls; with those of "
				      "children it waited for that were too short-lived to be "
				      "read themselves." },
	[PROCESS_READ_CALLS] = { "process.read_calls", PROCESS, COUNT, COUNTER,
				 .label = "Read calls", .help = "Read system calls." },
	[PROCESS_WRITE_CALLS] = { "process.write_calls", PROCESS, COUNT, COUNTER,
				  .label = "Write calls", .help = "Write system calls." },
	[PROCESS_STORAGE_READ] = { "process.storage_read_bytes", PROCESS, BYTES, COUNTER,
				   .label = "Read from storage",
				   .help = "Bytes fetched from the storage layer." },
	[PROCESS_STORAGE_WRITTEN] = { "process.storage_written_bytes", PROCESS, BYTES, COUNTER,
				      .label = "Written to storage",
				      .help = "Bytes caused to be sent to the storage layer." },
	[PROCESS_MINOR_FAULTS] = { "process.minor_faults", PROCESS, COUNT, COUNTER,
				   .label = "Minor faults", .help = "Page faults without I/O." },
	[PROCESS_MAJOR_FAULTS] = { "process.major_faults", PROCESS, COUNT, COUNTER,
				   .label = "Major faults",
				   .help = "Page faults that waited for I/O." },
	[PROCESS_VOLUNTARY] = { "process.voluntary_switches", PROCESS, COUNT, COUNTER,
				.label = "Voluntary switches",
				.help = "Context switches because a thread waited for something. "
					"All its threads together, read in rotation every few "
					"seconds and absent in between; what an ended "
					"thread did after it was read last is not included." },
	[PROCESS_INVOLUNTARY] = { "process.involuntary_switches", PROCESS, COUNT, COUNTER,
				  .label = "Involuntary switches",
				  .help = "Context switches because another thread got the CPU; "
					  "read together with the voluntary ones." },
	[PROCESS_MIGRATIONS] = { "process.migrations", PROCESS, COUNT, COUNTER,
				 .label = "Migrations",
				 .help = "Moves of its threads to another CPU; read together with "
					 "the switches." },
	[PROCESS_WAITED] = { "process.run_queue_seconds", PROCESS, NS, COUNTER,
			     .label = "Waited for a CPU",
			     .help = "Time that its threads were ready to run and waited for a "
				     "CPU (run-queue delay), summed up; read together with "
				     "the switches." },
	[PROCESS_PEAK_RESIDENT] = { "process.peak_resident_bytes", PROCESS, BYTES,
				    .kind = KIND_GAUGE, .over_instances = COMBINE_MAX,
				    .over_nodes = COMBINE_MAX, .label = "Peak RSS",
				    .help = "Largest resident set size that was sampled, or that the kernel "
					    "had kept as the largest when it was asked." },
	[COMMAND_PROCESSES] = { "command.processes", COMMAND, COUNT, TOTAL, .label = "Processes",
				.help = "Processes of this command name that have ended." },
	[COMMAND_CPU] = { "command.cpu_seconds", COMMAND, NS, TOTAL, .label = "CPU",
			  .help = "CPU time of the processes of this command name that have "
				  "ended." },
	[COMMAND_READ] = { "command.read_bytes", COMMAND, BYTES, TOTAL, .label = "Read",
			   .help = "Bytes read by them, as far as sampled." },
	[COMMAND_WRITTEN] = { "command.written_bytes", COMMAND, BYTES, TOTAL, .label = "Written",
			      .help = "Bytes written by them, as far as sampled." },
	[COMMAND_PEAK_RESIDENT] = { "command.peak_resident_bytes", COMMAND, BYTES,
				    .kind = KIND_GAUGE, .over_instances = COMBINE_MAX,
				    .over_nodes = COMBINE_MAX, .label = "Peak RSS",
				    .help = "Largest resident set size sampled of one of them." },
	[TASK_CPU] = { "task.cpu_seconds", TASK, NS, TOTAL, .label = "CPU",
		       .help = "CPU time of what a task, as an MPI rank, started; reported at its "
			       "end, "
			       "else as of its last samples." },
	[TASK_PEAK_RESIDENT] = { "task.peak_resident_bytes", TASK, BYTES, .kind = KIND_GAUGE,
				 .over_instances = COMBINE_MAX, .over_nodes = COMBINE_MAX,
				 .label = "Peak RSS",
				 .help = "Largest resident set size of one process of a task, as "
					 "the kernel reports at its end." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == PROCESS_NUMBER_OF, "a row for every index");

const struct metric *const process_metrics = metrics;

const struct source source_process = {
	.name = "process",
	.what = "the processes of the job, one by one, by command and by task",
	SOURCE_METRICS(metrics),
};
