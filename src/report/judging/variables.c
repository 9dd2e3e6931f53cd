/* SPDX-License-Identifier: Apache-2.0 */
#include "report/judging/variables.h"

#include "report/summary/ending.h"

#include <math.h>
#include <signal.h>
#include <string.h>

/* Of all recordings of its host. */
static uint64_t samples_of(const struct summary *s, const struct summary_node *first)
{
	uint64_t n = first->samples;

	for (uint32_t i = 0; s->nnodes != s->nhosts && i < s->nnodes; i++)
		if (s->nodes[i].again && !strcmp(s->nodes[i].host, first->host))
			n += s->nodes[i].samples;
	return n;
}

static double samples(const struct summary *s)
{
	double least = NAN;

	for (uint32_t i = 0; i < s->nnodes; i++)
		if (!s->nodes[i].again)
			least = fmin(least, (double)samples_of(s, &s->nodes[i]));
	return isnan(least) ? 0 : least;
}

static double cores_available(const struct summary *s)
{
	return summary_cores(s).v;
}

static double memory_available(const struct summary *s)
{
	return summary_memory(s).v;
}

static double monitor_ratio(const struct summary *s)
{
	return s->wall_s > 0 ? s->monitor_cpu_s / s->wall_s : NAN;
}

static double nodes(const struct summary *s)
{
	return s->nnodes;
}

static double damages(const struct summary *s)
{
	return s->ndamages;
}

static double out_of_time(const struct summary *s)
{
	static const double before_s = 3; /* batch systems end a job at its limit or after it */

	if (!isnan(s->story.timed_out))
		return s->story.timed_out;
	if (isnan(s->time_limit_s))
		return NAN;
	return isnan(s->time_left_s) ? s->wall_s >= 0.97 * s->time_limit_s
				     : s->time_left_s <= before_s;
}

static double hosts(const struct summary *s)
{
	return s->nhosts;
}

static double host_cores_asked(const struct summary *s)
{
	return s->cores_asked / s->nhosts;
}

static double host_affinity_cpus(const struct summary *s)
{
	return s->affinity_cpus / s->nhosts;
}

static double host_memory_asked(const struct summary *s)
{
	return s->memory_asked_bytes / s->nhosts;
}

static double host_memory_limit(const struct summary *s)
{
	double limit = isnan(s->memory_limit_bytes)
			       ? variable_largest(s, "cgroup.memory_limit_bytes")
			       : s->memory_limit_bytes / s->nhosts;

	return isnan(limit) ? s->memory_present / s->nhosts : limit;
}

/* Where it is an interval its end: what is requested next time is to be enough. */
static double host_peak_memory(const struct summary *s)
{
	double most = NAN;

	for (uint32_t i = 0; s->hosts && i < s->nhosts; i++)
		most = fmax(most, s->hosts[i].peak_memory_bytes);
	return s->nhosts == 1 ? fmax(s->peak_memory_bytes, s->peak_memory_at_most) : most;
}

static double gpus_used_ratio(const struct summary *s)
{
	return variable_mean(s, "gpu.utilization_ratio") * s->gpus / s->gpus_used;
}

/* That the reader of its output ended first is none. */
static double hidden_error(const struct summary *s)
{
	return s->hidden_said.is_error && strcmp(s->hidden_said.kind, "broken_pipe") != 0;
}

static double straggler(const struct summary *s)
{
	return *s->story.straggler_cause != 0;
}

/* A launcher waits for as long as its ranks run. Who interrupts a job by hand may just not want to
 * wait. */
static double hung(const struct summary *s)
{
	const double silent = s->story.silent_s;
	const double least = ending_signal(s->signal, s->exit_code) == SIGINT ? 10 : 2;

	return !(s->story.ranks_elsewhere > 0) && silent >= least &&
	       (silent >= 0.5 * s->wall_s || silent >= 60) && !(s->oom_kills > 0) &&
	       ending_is_from_outside(s) && !ending_has_own_cause(s);
}

static double most_started_processes(const struct summary *s)
{
	const struct summary_command *most = summary_most_started(s);

	return most ? most->processes : NAN;
}

static double most_started_cpu(const struct summary *s)
{
	const struct summary_command *most = summary_most_started(s);

	return most ? most->cpu_s : NAN;
}

#define FIGURE(member) .offset = offsetof(struct summary, member)

const struct variable variables[] = {
	{ "samples", UNIT_COUNT, "Samples of the host that has fewest.", .make = samples },
	{ "nodes", UNIT_COUNT, "Recordings that were joined, one a node.", .make = nodes },
	{ "damages", UNIT_COUNT, "Damaged places found in the recording.", .make = damages },
#define NODES(id, member, name, unit, where, help, ...) { name, unit, help, FIGURE(member) },
#define MADE(member, name, unit, where, help)           { name, unit, help, FIGURE(member) },
#define FLAG(member, name, help)                        { name, UNIT_ONE, help, FIGURE(member), .flag = true },
#include "report/summary/figures.def"
	{ "code_samples", UNIT_COUNT,
	  "Samples of code; as many of equal weight as have the same error.",
	  FIGURE(code_samples) },
	{ "code_top_ratio", UNIT_RATIO, "Share of the CPU time in the function that used most.",
	  FIGURE(code_top_ratio) },
	{ "hot_ratio", UNIT_RATIO,
	  "Share of the CPU time that went to one place: a function of the program's own, with what it calls "
	  "of libraries, else a function of a library.",
	  FIGURE(hot.ratio) },
	{ "hot_least", UNIT_RATIO, "The lower end of its 95 % interval.", FIGURE(hot.least) },
	{ "hot_seconds", UNIT_SECONDS, "How much CPU time that is.", FIGURE(hot.seconds) },
#include "report/judging/variables_cause.def"
#include "report/judging/variables_used.def"
	{ "touched_growth_bytes", UNIT_BYTES,
	  "Growth of the memory of the function whose memory grows with the job's.",
	  FIGURE(touched_growth_bytes) },
	{ "touched_all_bytes", UNIT_BYTES, "Growth of resident memory meanwhile.",
	  FIGURE(touched_all_bytes) },
	{ "code_thread_ratio", UNIT_RATIO, "Share of the CPU time in the thread that used most.",
	  FIGURE(code_thread_ratio) },
	{ "mpi_code_processes", UNIT_COUNT, "Of MPI: with a hundredth of what was sampled.",
	  FIGURE(mpi_code_processes) },
	{ "mpi_code_most_ratio", UNIT_RATIO, "Most of its CPU time that one spends in MPI.",
	  FIGURE(mpi_code_most) },
	{ "mpi_code_idle", UNIT_COUNT,
	  "Processes of its name that used less than a tenth of its CPU time meanwhile.",
	  FIGURE(mpi_code_idle) },
	{ "mpi_code_least_ratio", UNIT_RATIO, "Least of its CPU time that one spends in MPI.",
	  FIGURE(mpi_code_least) },
	{ "code_fortran_ratio", UNIT_RATIO,
	  "Share of what was sampled that is in files or procedures of Fortran.",
	  FIGURE(code_fortran_ratio) },
	{ "code_openmp_ratio", UNIT_RATIO, "Share of the CPU time in OpenMP's parallel regions.",
	  FIGURE(code_openmp_ratio) },
	{ "code_recursion_depth", UNIT_COUNT,
	  "How often a function was in one sampled stack, where that was 32 times or more.",
	  FIGURE(code_recursion_depth) },
	{ "code_recursion_ratio", UNIT_RATIO, "Share of the CPU time in such stacks.",
	  FIGURE(code_recursion_ratio) },
	{ "code_threads", UNIT_COUNT, "Threads with a hundredth of what was sampled, or more.",
	  FIGURE(code_threads) },
	{ "code_unoptimized_ratio", UNIT_RATIO, "CPU time of code compiled with -O0, a share.",
	  FIGURE(code_unoptimized_ratio) },
	{ "code_unoptimized_least", UNIT_RATIO, "The lower end of its 95 % interval.",
	  FIGURE(code_unoptimized_least) },
	{ "code_short_ratio", UNIT_RATIO, "CPU time of processes without a sample, a share.",
	  FIGURE(code_short_ratio) },
	{ "cores_available", UNIT_CORES,
	  "Cores requested, else allowed, else present; where none were requested at most "
	  "cores_limit.",
	  .make = cores_available },
	{ "cores_wanted", UNIT_CORES,
	  "Cores used, and those that threads waited for, where that is known.",
	  .make = story_cores_wanted },
	{ "memory_available_bytes", UNIT_BYTES,
	  "Memory requested, else present, and then at most memory_limit_bytes.",
	  .make = memory_available },
	{ "most_started_processes", UNIT_COUNT,
	  "Processes of the command that was started most often.", .make = most_started_processes },
	{ "most_started_cpu_seconds", UNIT_SECONDS, "Their CPU time.", .make = most_started_cpu },
	{ "unequal_tasks", UNIT_COUNT,
	  "Tasks of the step whose tasks used the most unequal CPU time.", FIGURE(unequal_tasks) },
	{ "unequal_ratio", UNIT_RATIO, "By how much one of them exceeded their average.",
	  FIGURE(unequal_ratio) },
	{ "unequal_mean_seconds", UNIT_SECONDS, "Their average CPU time.", FIGURE(unequal_mean_s) },
	{ "unequal_most_seconds", UNIT_SECONDS, "CPU time of the one that used most.",
	  FIGURE(unequal_most_s) },
	{ "unequal_rank", UNIT_COUNT, "The rank of that one.", FIGURE(unequal_rank) },
	{ "mpi_ranks", UNIT_COUNT, "Ranks whose calls of MPI were recorded.", FIGURE(mpi_ranks) },
	{ "mpi_elapsed_seconds", UNIT_SECONDS, "Their time between MPI_Init and MPI_Finalize.",
	  FIGURE(mpi_elapsed_s) },
	{ "mpi_load_balance_ratio", UNIT_RATIO,
	  "Mean time that ranks compute, of the most that one computes.", FIGURE(mpi_balance) },
	{ "mpi_serialisation_ratio", UNIT_RATIO,
	  "The most that a rank computes, of the time without moving data.",
	  FIGURE(mpi_serialisation) },
	{ "mpi_transfer_ratio", UNIT_RATIO,
	  "The time without moving data, of the time that passed.", FIGURE(mpi_transfer) },
	{ "monitor_cpu_seconds", UNIT_SECONDS, "CPU time of Sonde itself.", FIGURE(monitor_cpu_s) },
	{ "monitor_cores", UNIT_CORES, "Sonde's CPU time divided by wall time.",
	  .make = monitor_ratio },
	{ "recorder_lost_seconds", UNIT_SECONDS,
	  "When a recorder was lost, since the run began; another one went on.",
	  FIGURE(recorder_lost_s) },
	{ "hosts", UNIT_COUNT, "Machines; several recordings of one are its steps.",
	  .make = hosts },
	{ "time_left_seconds", UNIT_SECONDS,
	  "How much of it was left when the job ended, where the batch system reports until when "
	  "it may run.",
	  FIGURE(time_left_s) },
	{ "out_of_time", UNIT_ONE,
	  "1 when the time limit was over at the job's end, or, where only its length is known, "
	  "the "
	  "recording lasted 97 % of it, else 0.",
	  .make = out_of_time },
	{ "timed_out", UNIT_ONE,
	  "1 when the batch system said that the time limit ended the job, 0 when it gave another "
	  "reason.",
	  FIGURE(story.timed_out) },
	{ "cancelled", UNIT_ONE,
	  "1 when it said that the job was cancelled or preempted, 0 when it gave another reason.",
	  FIGURE(story.cancelled) },
	{ "nodes_lost", UNIT_COUNT,
	  "Nodes that were lost: as the batch system said, or by recordings that stop 3 s before "
	  "the others.",
	  FIGURE(story.nodes_lost) },
	{ "lost_seconds", UNIT_SECONDS, "When the last sample of such a node was taken.",
	  FIGURE(story.lost_s) },
	{ "host_cores_asked", UNIT_CORES, "Cores requested, of each machine.",
	  .make = host_cores_asked },
	{ "host_cores_used_peak", UNIT_CORES, "Most cores in use on one machine.",
	  FIGURE(host_cores_used_peak) },
	{ "host_threads_running_peak", UNIT_COUNT,
	  "Most threads of the job that ran or were ready to run on one machine.",
	  FIGURE(host_threads_running_peak) },
	{ "host_affinity_cpus", UNIT_COUNT,
	  "CPUs of each machine that the job's threads might run on, on average over time; of "
	  "several recordings of a machine, of the one that had most.",
	  .make = host_affinity_cpus },
	{ "host_memory_asked_bytes", UNIT_BYTES, "Memory requested, of each machine.",
	  .make = host_memory_asked },
	{ "host_memory_limit_bytes", UNIT_BYTES,
	  "Memory that control groups allow on each machine, else that it has.",
	  .make = host_memory_limit },
	{ "host_peak_memory_bytes", UNIT_BYTES, "Most memory that the job held on one machine.",
	  .make = host_peak_memory },
	{ "tight_peak_bytes", UNIT_BYTES,
	  "Most memory that the job held on the machine that came nearest to its limit.",
	  FIGURE(tight_peak_bytes) },
	{ "tight_held_bytes", UNIT_BYTES,
	  "Most resident memory that samples saw there; page cache is none of it.",
	  FIGURE(tight_held_bytes) },
	{ "tight_limit_bytes", UNIT_BYTES,
	  "That machine's limit: of control groups, else the request, else its memory.",
	  FIGURE(tight_limit_bytes) },
	{ "gpus", UNIT_COUNT, "GPUs that were recorded.", FIGURE(gpus) },
	{ "gpus_used", UNIT_COUNT, "Those that were ever more than 2 % in use.",
	  FIGURE(gpus_used) },
	{ "gpus_used_ratio", UNIT_RATIO,
	  "Share of the time in which those were in use, on average.", .make = gpus_used_ratio },
	{ "host_gpus_used", UNIT_COUNT, "Most of them on one machine.", FIGURE(host_gpus_used) },
	{ "gpu_memory_peak_bytes", UNIT_BYTES,
	  "Most memory in use on the fullest GPU: the job's where that is known, else all.",
	  FIGURE(gpu_memory_peak_bytes) },
	{ "gpu_memory_total_bytes", UNIT_BYTES, "Memory that this GPU has.",
	  FIGURE(gpu_memory_total_bytes) },
	{ "serial_seconds", UNIT_SECONDS,
	  "Time in which there was work for half a core to 1.3 cores, on all nodes together; what a "
	  "hypervisor took counts as work.",
	  FIGURE(story.serial_s) },
	{ "serial_from_seconds", UNIT_SECONDS, "When the longest stretch of it began.",
	  FIGURE(story.serial_from_s) },
	{ "serial_to_seconds", UNIT_SECONDS, "When that ended.", FIGURE(story.serial_to_s) },
	{ "parallel_cores", UNIT_CORES,
	  "Cores at work, waited for or stolen, on average while it was more than 1.3.",
	  FIGURE(story.parallel_cores) },
	{ "parallel_seconds", UNIT_SECONDS, "For how long it was.", FIGURE(story.parallel_s) },
	{ "working_seconds", UNIT_SECONDS,
	  "Time in which the job had work: for less than a core, that part of the time; without what others took.",
	  .make = story_working_s },
	{ "work_peak_cores", UNIT_CORES,
	  "Cores at work, waited for or stolen at most, over two seconds, on all nodes together.",
	  FIGURE(story.work_peak_cores) },
	{ "stolen_seconds", UNIT_SECONDS,
	  "CPU time that a hypervisor took from the cores that the job was at work on: the job's "
	  "part of it is as large as of what ran.",
	  FIGURE(story.stolen_s) },
	{ "waited_idle_seconds", UNIT_SECONDS,
	  "Time that threads waited for cores while as many of those that the job may use were idle.",
	  FIGURE(story.waited_idle_s) },
	{ "crowded_cores", UNIT_CORES,
	  "Cores in use on average while the job had work for more than it may use.",
	  FIGURE(story.crowded_cores) },
	{ "taken_seconds", UNIT_SECONDS,
	  "Time that threads waited for cores while the job had fewer than it may use, as far as "
	  "others ran meanwhile.",
	  FIGURE(story.taken_s) },
	{ "taken_wall_seconds", UNIT_SECONDS,
	  "By how much shorter the run would have been at most if others had taken no cores away.",
	  FIGURE(story.taken_wall_s) },
	{ "spun_for_own_seconds", UNIT_SECONDS,
	  "CPU time that threads may have spun for others of the job whose cores were taken, at most: none "
	  "where the job had work for one core.",
	  .make = story_spun_for_own_s },
	{ "others_cores", UNIT_CORES, "Cores that others used meanwhile, on average.",
	  FIGURE(story.others_cores) },
	{ "holes_seconds", UNIT_SECONDS,
	  "Time without work (5 % of a core, a thread that waits for one, or GPUs in use) between "
	  "the first work and the last.",
	  FIGURE(story.holes_s) },
	{ "hole_seconds", UNIT_SECONDS, "The longest stretch of it.", FIGURE(story.hole_s) },
	{ "hole_from_seconds", UNIT_SECONDS, "When that began.", FIGURE(story.hole_from_s) },
	{ "hole_to_seconds", UNIT_SECONDS, "When that ended.", FIGURE(story.hole_to_s) },
	{ "leak_bytes_per_second", UNIT_BYTES_PER_SECOND,
	  "Slope of the job's resident memory after the first fifth of the run, by least squares.",
	  FIGURE(story.leak_bytes_per_s) },
	{ "leak_error_bytes_per_second", UNIT_BYTES_PER_SECOND,
	  "Two standard errors of that slope; neighbouring values count as alike as they are.",
	  FIGURE(story.leak_error_bytes_per_s) },
	{ "leak_steadiness", UNIT_RATIO,
	  "The least slope of the thirds of that time, as a share of the slope of all of it.",
	  FIGURE(story.leak_steadiness) },
	{ "leak_from_seconds", UNIT_SECONDS, "When that time began.", FIGURE(story.leak_from_s) },
	{ "leak_to_seconds", UNIT_SECONDS, "When it ended.", FIGURE(story.leak_to_s) },
	{ "leak_from_bytes", UNIT_BYTES, "The line's value where it begins.",
	  FIGURE(story.leak_from_bytes) },
	{ "leak_to_bytes", UNIT_BYTES, "The line's value where it ends.",
	  FIGURE(story.leak_to_bytes) },
	{ "oom_seconds", UNIT_SECONDS, "When the first process was killed for want of memory.",
	  FIGURE(story.oom_s) },
	{ "oom_pid", UNIT_ONE, "Which process it was, most likely.", FIGURE(story.oom_pid) },
	{ "oom_held_bytes", UNIT_BYTES, "Most memory that it held.", FIGURE(story.oom_held_bytes) },
	{ "oom_from_seconds", UNIT_SECONDS, "When memory began to grow before that.",
	  FIGURE(story.oom_from_s) },
	{ "oom_from_bytes", UNIT_BYTES, "Resident memory of the job at that time.",
	  FIGURE(story.oom_from_bytes) },
	{ "oom_bytes_per_second", UNIT_BYTES_PER_SECOND, "How fast it grew from there.",
	  FIGURE(story.oom_bytes_per_s) },
	{ "oom_limit_bytes", UNIT_BYTES, "The limit of memory of the machine where it was.",
	  FIGURE(story.oom_limit_bytes) },
	{ "could_fail", UNIT_COUNT,
	  "Tasks of the job; where none are known, recordings of what one launcher started.",
	  FIGURE(story.could_fail) },
	{ "failed", UNIT_COUNT, "Those that ended by a signal or not with exit code 0.",
	  FIGURE(story.failed) },
	{ "death_seconds", UNIT_SECONDS, "When the first of these ended.", FIGURE(story.death_s) },
	{ "death_rank", UNIT_COUNT, "Its rank.", FIGURE(story.death_rank) },
	{ "death_signal", UNIT_ONE, "The signal that ended it.", FIGURE(story.death_signal) },
	{ "death_exit_code", UNIT_ONE, "Its exit code.", FIGURE(story.death_exit_code) },
	{ "death_memory_bytes", UNIT_BYTES, "Most memory that the job held where it ran.",
	  FIGURE(story.death_memory_bytes) },
	{ "death_limit_bytes", UNIT_BYTES, "The limit of memory there.",
	  FIGURE(story.death_limit_bytes) },
	{ "ended_together", UNIT_ONE,
	  "1 when all tasks were ended at once by the same signal, of those that ask to end or "
	  "kill, else 0.",
	  FIGURE(story.ended_together) },
	{ "unreported", UNIT_COUNT,
	  "Tasks that were killed at once with the sonde that ran them, which left no exit code.",
	  FIGURE(story.unreported) },
	{ "unreported_seconds", UNIT_SECONDS, "When the first of these ended.",
	  FIGURE(story.unreported_s) },
	{ "began_again", UNIT_ONE,
	  "1 when the batch job had begun before and was put back into the queue, else 0.",
	  FIGURE(began_again) },
	{ "ranks_elsewhere", UNIT_ONE,
	  "1 when a launcher of ranks was recorded, and not the ranks, else 0.",
	  FIGURE(story.ranks_elsewhere) },
	{ "launched_here", UNIT_ONE,
	  "1 when a launcher started ranks on this machine (mpirun), else 0.",
	  FIGURE(story.launched_here) },
	{ "straggler", UNIT_ONE, "1 when one host is unlike the others in what makes slow, else 0.",
	  .make = straggler },
	{ "hosts_unequal_ratio", UNIT_RATIO,
	  "By how much the CPU time of the busiest host exceeds the average.",
	  FIGURE(story.hosts_unequal_ratio) },
	{ "hangs", UNIT_COUNT, "Times that --watch-hang saw no progress; without it not known.",
	  FIGURE(story.hangs) },
	{ "hang_seconds", UNIT_SECONDS, "The longest of them.", FIGURE(story.hang_s) },
	{ "hang_from_seconds", UNIT_SECONDS, "When that began.", FIGURE(story.hang_from_s) },
	{ "hang_to_seconds", UNIT_SECONDS, "When it ended.", FIGURE(story.hang_to_s) },
	{ "ranks_stay_seconds", UNIT_SECONDS,
	  "For how long ranks of an MPI job were in one and the same call at each look, until the last one.",
	  FIGURE(story.stay_s) },
	{ "ranks_stay_looks", UNIT_COUNT, "How many looks that were.", FIGURE(story.stay_looks) },
	{ "ranks_stay_places", UNIT_COUNT, "In how many such calls ranks were.",
	  FIGURE(story.stay_places) },
	{ "ranks_stay_ratio", UNIT_RATIO, "The share of all ranks that were in one.",
	  FIGURE(story.stay_ratio) },
	{ "silent_by_sleep", UNIT_ONE, "1 where only the command sleep waited then, else 0.",
	  FIGURE(story.silent_by_sleep) },
	{ "silent_seconds", UNIT_SECONDS,
	  "For how long nothing of the job had run when it ended; not known when something had.",
	  FIGURE(story.silent_s) },
	{ "slept_seconds", UNIT_SECONDS,
	  "For how long a job that used less than a tenth of a core slept in timers.",
	  FIGURE(story.wait[STALL_TIMER].seconds) },
	{ "stopped_seconds", UNIT_SECONDS, "For how long a signal or a debugger stopped a process.",
	  FIGURE(story.wait[STALL_STOPPED].seconds) },
	{ "file_lock_seconds", UNIT_SECONDS, "For how long a process waited for a lock on a file.",
	  FIGURE(story.wait[STALL_FILE_LOCK].seconds) },
	{ "network_wait_seconds", UNIT_SECONDS,
	  "For how long a process that did little waited for the network, by samples.",
	  FIGURE(story.wait[STALL_NETWORK].seconds) },
	{ "storage_wait_seconds", UNIT_SECONDS,
	  "For how long a process of the job waited in a system call for storage or a file system, by samples.",
	  FIGURE(story.wait[STALL_STORAGE].seconds) },
	{ "storage_seconds", UNIT_SECONDS,
	  "Core-seconds in which the job waited for storage, as the bar of where the time went has them.",
	  .make = summary_storage_s },
	{ "wakes_per_second", UNIT_PER_SECOND,
	  "How often threads of the job woke while it used less than a quarter of a core (median).",
	  FIGURE(story.wakes_per_s) },
	{ "sleeps", UNIT_COUNT, "Processes of the command sleep, where there were four or more.",
	  FIGURE(story.sleeps) },
	{ "late_sleeps", UNIT_COUNT,
	  "Processes of the command sleep that slept on when all that had run beside them had ended.",
	  FIGURE(story.late_sleeps) },
	{ "late_seconds", UNIT_SECONDS, "For how long they did, in all.", FIGURE(story.late_s) },
	{ "workers", UNIT_COUNT,
	  "Processes of one name and parent, of which one was at work in the longest stretch for one core; "
	  "where it has none beside it, its threads that were sampled.",
	  FIGURE(story.workers) },
	{ "worker_most_seconds", UNIT_SECONDS,
	  "How long that one was at work or waited for a core.", FIGURE(story.worker_most_s) },
	{ "worker_others_seconds", UNIT_SECONDS, "How long the others were, in all.",
	  FIGURE(story.worker_others_s) },
	{ "repeated_starts", UNIT_COUNT,
	  "Processes of an interpreter or virtual machine of which each used little more CPU time than a "
	  "start takes.",
	  FIGURE(story.starts) },
	{ "repeated_starts_cpu_seconds", UNIT_SECONDS, "What they used.",
	  FIGURE(story.starts_cpu_s) },
	{ "hung", UNIT_ONE,
	  "1 when the job was silent for half of its time, or a minute, until timeout or a signal "
	  "ended it, else 0.",
	  .make = hung },
	{ "limit_address_space_bytes", UNIT_BYTES,
	  "Address space that a process might have (ulimit -v), of the one that came nearest.",
	  FIGURE(story.limit[LIMIT_ADDRESS_SPACE].limit) },
	{ "reached_address_space_bytes", UNIT_BYTES, "What that one had at most, as sampled.",
	  FIGURE(story.limit[LIMIT_ADDRESS_SPACE].reached) },
	{ "limit_cpu_seconds", UNIT_SECONDS, "CPU time that a process might use (ulimit -t).",
	  FIGURE(story.limit[LIMIT_CPU].limit) },
	{ "reached_cpu_seconds", UNIT_SECONDS, "What the one that came nearest used.",
	  FIGURE(story.limit[LIMIT_CPU].reached) },
	{ "limit_open_files", UNIT_COUNT, "Files that a process might have open (ulimit -n).",
	  FIGURE(story.limit[LIMIT_FILES].limit) },
	{ "reached_open_files", UNIT_COUNT, "What the one that came nearest had open, as sampled.",
	  FIGURE(story.limit[LIMIT_FILES].reached) },
	{ "limit_processes", UNIT_COUNT,
	  "Processes and threads that the user might have (ulimit -u).",
	  FIGURE(story.limit[LIMIT_PROCESSES].limit) },
	{ "reached_processes", UNIT_COUNT,
	  "Those of the job, at most, as sampled; the user's others count, too.",
	  FIGURE(story.limit[LIMIT_PROCESSES].reached) },
	{ "limit_file_bytes", UNIT_BYTES, "How large a file might become (ulimit -f).",
	  FIGURE(story.limit[LIMIT_FILE_SIZE].limit) },
	{ "reached_file_bytes", UNIT_BYTES,
	  "Bytes that the process that wrote most wrote, to all files together.",
	  FIGURE(story.limit[LIMIT_FILE_SIZE].reached) },
	{ "compressors_seconds", UNIT_SECONDS,
	  "CPU time of programs that do nothing but compress (gzip, bzip2, xz, zstd, lz4, 7z, zip and their kin).",
	  .make = summary_compressors_s },
	{ "busiest_share", UNIT_RATIO,
	  "For which share of the run the process that was at work most was, or waited for a core; "
	  "not known when it came late or left early.",
	  FIGURE(story.busiest_share) },
	{ "busiest_work_ratio", UNIT_RATIO,
	  "Its share of what all processes that were sampled used or waited for, also when it came late or left "
	  "early.",
	  FIGURE(story.busiest_work_ratio) },
	{ "busiest_others_cores", UNIT_CORES,
	  "Cores that the other processes used or waited for, together, on average.",
	  FIGURE(story.busiest_others_share) },
	{ "busiest_companions", UNIT_COUNT, "Others that came early and left late.",
	  FIGURE(story.busiest_companions) },
	{ "busiest_nice", UNIT_ONE, "Its nice value.", FIGURE(story.busiest_nice) },
	{ "starved_nice", UNIT_ONE,
	  "Nice value of the process of low priority that was there until the end and waited longest "
	  "for a core: longer than for half of its time.",
	  FIGURE(story.starved_nice) },
	{ "starved_seconds", UNIT_SECONDS, "How long it waited.", FIGURE(story.starved_s) },
	{ "heap_limit_bytes", UNIT_BYTES,
	  "Heap that a process was started with (-Xmx, --max-old-space-size), of the one that held "
	  "most for it at the end.",
	  FIGURE(story.heap_limit) },
	{ "heap_held_bytes", UNIT_BYTES, "What it held.", FIGURE(story.heap_held) },
	{ "limit_stack_bytes", UNIT_BYTES, "How large a stack might become (ulimit -s).",
	  FIGURE(story.limit[LIMIT_STACK].limit) },
	{ "disk_free_bytes", UNIT_BYTES,
	  "Space left at the end on the fullest file system of those that the job wrote to or had "
	  "its directories on.",
	  FIGURE(story.disk_free_bytes) },
	{ "disk_bytes", UNIT_BYTES, "Space for users there.", FIGURE(story.disk_bytes) },
	{ "disk_low_bytes", UNIT_BYTES, "The least that was left there at a sample.",
	  FIGURE(story.disk_low_bytes) },
	{ "disk_free_ratio", UNIT_RATIO, "Its share of the space for users there.",
	  FIGURE(story.disk_free_ratio) },
	{ "disk_no_inodes", UNIT_COUNT, "Inodes there when none of them was left.",
	  FIGURE(story.disk_no_inodes) },
	{ "died_signal", UNIT_ONE, "The signal that the process that ended first by one had.",
	  FIGURE(story.died_signal) },
	{ "crash_stack", UNIT_ONE, "Whether the kernel's log says that the stack overflowed.",
	  FIGURE(story.crash_stack) },
	{ "fabric_ports", UNIT_COUNT,
	  "Ports of InfiniBand, Omni-Path, RoCE and Slingshot that were up.",
	  FIGURE(story.fabric.ports) },
	{ "fabric_ports_idle", UNIT_COUNT,
	  "Those of them that moved under 1 % of what another one of their host and network moved.",
	  FIGURE(story.fabric.ports_idle) },
	{ "fabric_busy_bytes_per_second", UNIT_BYTES_PER_SECOND,
	  "What that one moved, in the direction in which it moved more.",
	  FIGURE(story.fabric.busy_bytes_per_s) },
	{ "fabric_busy_ratio", UNIT_RATIO, "Its share of that one's link.",
	  FIGURE(story.fabric.busy_ratio) },
	{ "fabric_slow_bytes_per_second", UNIT_BYTES_PER_SECOND,
	  "Speed of the port whose link is slower than most of those like it.",
	  FIGURE(story.fabric.slow_bytes_per_s) },
	{ "fabric_usual_bytes_per_second", UNIT_BYTES_PER_SECOND, "The speed of those.",
	  FIGURE(story.fabric.usual_bytes_per_s) },
	{ "samples_taken", UNIT_COUNT, "Samples of all nodes.", FIGURE(monitor_samples) },
	{ "unwritten_samples", UNIT_COUNT, "Samples that were taken and could not be recorded.",
	  FIGURE(monitor_unwritten) },
	{ "late_samples", UNIT_COUNT, "Samples taken late.", FIGURE(monitor_late) },
	{ "skipped_samples", UNIT_COUNT, "Samples that were not taken.", FIGURE(monitor_skipped) },
};
const size_t nvariables = sizeof variables / sizeof variables[0];

const struct variable *variable_find(const char *name)
{
	for (size_t i = 0; i < nvariables; i++)
		if (strcmp(variables[i].name, name) == 0)
			return &variables[i];
	return NULL;
}

struct expr_value variable_lookup(void *ctx, const char *function, const char *name)
{
	const struct summary *s = ctx;
	double v = NAN;

	if (function) {
		const struct variable_function *f = variable_function_find(function);

		if (f)
			v = f->of(s, name);
	} else {
		const struct variable *var = variable_find(name);

		if (var && var->make)
			v = var->make(s);
		else if (var && var->flag)
			v = *((const bool *)((const char *)s + var->offset));
		else if (var)
			memcpy(&v, (const char *)s + var->offset, sizeof v);
		if (s->cpu_is_bound && var == variable_find("cpu_seconds"))
			v = NAN; /* nothing follows from a lower bound */
	}
	return (struct expr_value){ .known = !isnan(v), .v = v };
}
