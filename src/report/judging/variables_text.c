/* SPDX-License-Identifier: Apache-2.0 */
/* variables_text.c - what rules know that is not a number: names and words. */
#include "core/stacks/waitkind.h"
#include "report/judging/advice.h"
#include "report/judging/condition.h"
#include "report/judging/variables.h"
#include "report/summary/ending.h"
#include "report/summary/filesused.h"
#include "report/summary/peersused.h"

#include <string.h>

#define TEXT_OF(name_, member_)                                                                    \
	static const char *name_(const struct summary *s)                                          \
	{                                                                                          \
		return s->member_;                                                                 \
	}
TEXT_OF(oom_process, story.oom_process)
TEXT_OF(oom_host, story.oom_host)
TEXT_OF(lost_nodes, story.lost_nodes)
TEXT_OF(scheduler_state, story.scheduler_state)
TEXT_OF(tight_host, tight_host)
TEXT_OF(death_task, story.death_task)
TEXT_OF(death_end, story.death_end)
TEXT_OF(attempts_before, attempts_before)
TEXT_OF(launcher, story.launcher)
TEXT_OF(straggler_host, story.straggler_host)
TEXT_OF(straggler_cause, story.straggler_cause)
TEXT_OF(busiest_host, story.busiest_host)
TEXT_OF(hang_evidence, story.hang_evidence)
TEXT_OF(hang_advice, story.hang_advice)
TEXT_OF(ranks_stay, story.stay_in)
TEXT_OF(silent_in, story.silent_in)
TEXT_OF(slept_in, story.wait[STALL_TIMER].in)
TEXT_OF(stopped_in, story.wait[STALL_STOPPED].in)
TEXT_OF(file_lock_in, story.wait[STALL_FILE_LOCK].in)
TEXT_OF(database_lock_in, story.wait[STALL_DATABASE].in)
TEXT_OF(storage_wait_in, story.wait[STALL_STORAGE].in)
TEXT_OF(network_wait_in, story.wait[STALL_NETWORK].in)
TEXT_OF(turns_in, story.turns.in)
TEXT_OF(repeated_command, story.starts_command)
TEXT_OF(silent_advice, story.silent_advice)
TEXT_OF(ending, ending.words)
TEXT_OF(waiting_why, ending.waited)
TEXT_OF(error_line, reason.line)
TEXT_OF(limit_address_space_process, story.limit[LIMIT_ADDRESS_SPACE].process)
TEXT_OF(limit_cpu_process, story.limit[LIMIT_CPU].process)
TEXT_OF(limit_files_process, story.limit[LIMIT_FILES].process)
TEXT_OF(limit_file_size_process, story.limit[LIMIT_FILE_SIZE].process)
TEXT_OF(busiest_process, story.busiest_process)
TEXT_OF(worker, story.worker)
TEXT_OF(alike_last, story.alike_last)
TEXT_OF(worker_is, story.worker_is)
TEXT_OF(hidden_process, story.hidden_process)
TEXT_OF(hidden_end, story.hidden_end)
TEXT_OF(killed_process, story.killed_process)
TEXT_OF(killed_by, story.killed_by)
TEXT_OF(starved_process, story.starved_process)
TEXT_OF(heap_process, story.heap_process)
TEXT_OF(heap_option, story.heap_option)
TEXT_OF(incompressible_process, story.incompressible)
TEXT_OF(disk_path, story.disk_path)
TEXT_OF(reread_file, story.reread_file)
TEXT_OF(reread_process, story.reread_process)
TEXT_OF(gone_back, story.back)
TEXT_OF(forked_process, story.forked)
TEXT_OF(most_started_line, story.most_started)
TEXT_OF(reopened, story.reopened)
TEXT_OF(fabric_idle_port, story.fabric.idle_port)
TEXT_OF(fabric_busy_port, story.fabric.busy_port)
TEXT_OF(fabric_slow_port, story.fabric.slow_port)
TEXT_OF(fabric_busy_metric, story.fabric.busy_metric)
TEXT_OF(fabric_slow_metric, story.fabric.slow_metric)
TEXT_OF(energy_of, energy_of)
TEXT_OF(reduced, reduced)
TEXT_OF(serial_process, story.serial_process)
TEXT_OF(top_function, code_top)
TEXT_OF(spinning_function, code_spins)
TEXT_OF(hot_place, hot.place)
TEXT_OF(hot_reason, hot.reason)
TEXT_OF(hot_process, hot.who)
TEXT_OF(hot_advice, hot.advice)
TEXT_OF(top_fortran, code_fortran)
TEXT_OF(recursive_function, code_recursion)
TEXT_OF(growing_function, touched_top)
TEXT_OF(tool, tool)
TEXT_OF(tool_advice, tool_advice)
TEXT_OF(same_command, repeated)
TEXT_OF(top_wait, wait_top)

static const char *lost_why(const struct summary *s)
{
	return *s->story.lost_why ? s->story.lost_why : ",";
}

/* A rule before it has named the cause: then what to do is said. */
static bool is_named(const struct summary *s)
{
	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (s->verdicts[i].severity == SEVERITY_BAD)
			return true;
	return false;
}

static const char *death_log(const struct summary *s)
{
	return is_named(s) ? s->ending.death : s->ending.death_advised;
}

/* What follows a sentence's words and ends it: a text, or its full stop. */
#define TEXT_OR_STOP(name_, field_)                                                                \
	static const char *name_(const struct summary *s)                                          \
	{                                                                                          \
		return *s->field_ ? s->field_ : ".";                                               \
	}
TEXT_OR_STOP(hidden_more, hidden_more)
TEXT_OR_STOP(disk_writer, story.writer)
TEXT_OR_STOP(idle_in, story.idle_in)
TEXT_OR_STOP(beside_mpi, hot.beside_mpi)
TEXT_OR_STOP(no_storage, hot.no_storage)
TEXT_OR_STOP(slept_where, story.slept_where)
TEXT_OR_STOP(first_death, ending.first)
TEXT_OR_STOP(polled_with, story.polled_with)

/* By what the process was seen to wait that was seen to wait for storage. */
static const char *flushed_by(const struct summary *s)
{
	return strstr(s->story.wait[STALL_STORAGE].in, " (O_SYNC)") ? "O_SYNC" : "fsync";
}

#define HOT_IN(name_, which_)                                                                      \
	static const char *name_(const struct summary *s)                                          \
	{                                                                                          \
		return *s->hot.in[which_] ? s->hot.in[which_] : ".";                               \
	}
HOT_IN(kernel_in, HOT_IN_KERNEL)
HOT_IN(io_in, HOT_IN_IO)
HOT_IN(copies_in, HOT_IN_COPIES)
HOT_IN(allocation_in, HOT_IN_ALLOCATION)
HOT_IN(compression_in, HOT_IN_COMPRESSION)
HOT_IN(exceptions_in, HOT_IN_EXCEPTIONS)
HOT_IN(pattern_in, HOT_IN_PATTERNS)
HOT_IN(locks_in, HOT_IN_LOCKS)
HOT_IN(mpi_in, HOT_IN_MPI)
HOT_IN(openmp_in, HOT_IN_OPENMP)
HOT_IN(parsing_in, HOT_IN_PARSING)
HOT_IN(faults_in, HOT_IN_FAULTS)

static const char *small_io_where(const struct summary *s)
{
	return *s->story.small_io_where ? s->story.small_io_where : io_in(s);
}

static const char *ending_why(const struct summary *s)
{
	return is_named(s) ? s->ending.why : s->ending.advised;
}

/* Who died before the job fell silent may be what it waits for. */
static const char *died_before(const struct summary *s)
{
	static const double about_s = 1;

	return s->story.died_s <= s->wall_s - s->story.silent_s + about_s && *s->ending.first
		       ? s->ending.first
		       : ".";
}

static const char *ended_by(const struct summary *s)
{
	return ending_is_by_timeout(s) ? "timeout ended it" : s->ending.words;
}

static const char *most_started_command(const struct summary *s)
{
	const struct summary_command *most = summary_most_started(s);

	return most ? most->name : NULL;
}

static const char *busiest_command(const struct summary *s)
{
	return s->ncommands ? s->commands[0].name : NULL;
}

static const char *main_command(const struct summary *s)
{
	if (!s->ncommands || s->commands[0].cpu_s >= s->cpu_s / 2)
		return busiest_command(s);
	return "several commands";
}

static const char *main_work(const struct summary *s)
{
	return *s->main_work ? s->main_work : NULL;
}

/* Short processes are known by their CPU time only: who used nearly all of it did the rest, too. */
static const char *doer(const struct summary *s, int which)
{
	static const double nearly_all = 0.9;

	if (s->story.doer[which])
		return s->story.doer[which];
	if (!s->ncommands || s->commands[0].cpu_s >= nearly_all * s->cpu_s)
		return busiest_command(s);
	return "several commands";
}

static const char *kernel_command(const struct summary *s)
{
	return doer(s, DOER_KERNEL);
}

static const char *moving_command(const struct summary *s)
{
	return doer(s, DOER_MOVED);
}

static const char *storage_command(const struct summary *s)
{
	return doer(s, DOER_STORAGE);
}

static const char *faulting_command(const struct summary *s)
{
	return doer(s, DOER_FAULTS);
}

static const char *switching_command(const struct summary *s)
{
	return doer(s, DOER_SWITCHES);
}

static const char *yielding_command(const struct summary *s)
{
	return doer(s, DOER_YIELDS);
}

static const char *small_files_directory(const struct summary *s)
{
	return s->files_used && *s->files_used->small.name ? s->files_used->small.name : NULL;
}

static const char *again_file(const struct summary *s)
{
	return s->files_used && *s->files_used->again.name ? s->files_used->again.name : NULL;
}

static const char *missing_directory(const struct summary *s)
{
	return s->files_used && *s->files_used->missing.name ? s->files_used->missing.name : NULL;
}

static const char *blocks_file(const struct summary *s)
{
	return s->files_used && *s->files_used->blocks.name ? s->files_used->blocks.name : NULL;
}

static const char *writer_process(const struct summary *s)
{
	for (uint32_t i = 0; i < s->nprocesses && s->files_used; i++)
		if (s->processes[i].instance == s->files_used->writer.process)
			return s->processes[i].name;
	return NULL;
}

/* The node, where it is one of the run; else the other end. */
static const char *peer_end(const struct peer_row *r)
{
	return !r ? NULL : r->remote_node && r->to != r->node ? r->remote_node : r->name;
}

static const char *peer_process(const struct peer_row *r)
{
	return r ? r->process : NULL;
}

#define PEER_TEXTS(which_)                                                                         \
	static const char *which_##_end(const struct summary *s)                                   \
	{                                                                                          \
		return s->peers_used ? peer_end(s->peers_used->which_) : NULL;                     \
	}                                                                                          \
	static const char *which_##_process(const struct summary *s)                               \
	{                                                                                          \
		return s->peers_used ? peer_process(s->peers_used->which_) : NULL;                 \
	}
PEER_TEXTS(reader)
PEER_TEXTS(buffer)
PEER_TEXTS(again)

#define HELD_UP(name_, which_)                                                                     \
	static const char *name_(const struct summary *s)                                          \
	{                                                                                          \
		return s->holdup[which_].at;                                                       \
	}
HELD_UP(held_up_lock, HOLDUP_LOCK)
HELD_UP(held_up_barrier, HOLDUP_BARRIER)
HELD_UP(held_up_reader, HOLDUP_READER)
HELD_UP(held_up_feeder, HOLDUP_FEEDER)
HELD_UP(held_up_workers, HOLDUP_WORKERS)
HELD_UP(held_up_children, HOLDUP_CHILDREN)
HELD_UP(held_up_network, HOLDUP_NETWORK)
HELD_UP(held_up_storage, HOLDUP_STORAGE)
HELD_UP(held_up_file_lock, HOLDUP_FILE_LOCK)
HELD_UP(held_up_sleep, HOLDUP_SLEEP)

/* Cores that wait for data from memory are as busy as those that compute. */
static const char *cores_were(const struct summary *s)
{
	for (uint32_t i = 0; i < s->nmetrics; i++)
		if (!strcmp(s->metrics[i].name, "perf.topdown.memory_bound_ratio"))
			return "well used";
	return "busy, with computing or with waiting for memory (--perf counts which)";
}

const struct text_variable text_variables[] = {
	{ "small_files_directory", "The directory of which most small files were opened.",
	  small_files_directory },
	{ "blocks_file", "The file with most writes of small pieces by several processes.",
	  blocks_file },
	{ "writer_process", "The process that wrote most bytes to files.", writer_process },
	{ "again_file", "The file that was read most again.", again_file },
	{ "missing_directory", "The directory with most names that do not exist.",
	  missing_directory },
	{ "reader_end", "The other end, or its node, that was waited for most as it did not read.",
	  reader_end },
	{ "reader_process", "The process that sent to it.", reader_process },
	{ "buffer_end", "The other end to which the send buffer was too small.", buffer_end },
	{ "buffer_process", "The process that sent to it.", buffer_process },
	{ "again_end", "The other end to which most was sent again.", again_end },
	{ "again_process", "The process that sent to it.", again_process },
	{ "growing_function", "The function whose memory grows with the job's, and where it is.",
	  growing_function },
	{ "top_function",
	  "The function that used most CPU time, and where it is: \"solve (solver.c:41)\".",
	  top_function },
	{ "spinning_function",
	  "The function with most of the CPU time that takes locks or waits without sleeping.",
	  spinning_function },
	{ "hot_place",
	  "The one place that most of the CPU time went to: \"Logger.debug (__init__.py:1477), called by main "
	  "(match.py:41)\".",
	  hot_place },
	{ "kernel_in",
	  "Where the kernel's work was sampled, the calls or functions with most of it: \", 61 % of it in open64 "
	  "(libc.so.6), called by demux (demux.c:12).\"; else the program's own function that most of the sampled "
	  "calls of input, output, locks and clocks come from: \", most likely in load (load.py:18).\"; else \".\"",
	  kernel_in },
	{ "calls_advice",
	  "What helps against system calls, and how to count them where they were not sampled.",
	  advice_of_calls },
	{ "io_in", "The same of calls of input and output.", io_in },
	{ "copies_in", "The same of copies of memory.", copies_in },
	{ "allocation_in", "The same of allocating.", allocation_in },
	{ "compression_in", "The same of compression.", compression_in },
	{ "exceptions_in", "The same of exceptions.", exceptions_in },
	{ "collection_advice",
	  "What helps where much CPU time collects garbage, by what collects it.",
	  advice_of_collection },
	{ "faults_advice", "What helps against page faults, by what manages the memory.",
	  advice_of_faults },
	{ "locks_in", "The same of taking locks.", locks_in },
	{ "mpi_in", "The same of MPI.", mpi_in },
	{ "openmp_in", "The same of waiting in OpenMP's library.", openmp_in },
	{ "parsing_in", "The same of parsing documents.", parsing_in },
	{ "pattern_in", "The same of compiling regular expressions.", pattern_in },
	{ "faults_in",
	  "The same of page faults; else the one that has four fifths of all samples; else \".\"",
	  faults_in },
	{ "beside_mpi",
	  "What ranks do outside of MPI: the program's functions with most of that time.",
	  beside_mpi },
	{ "no_storage",
	  "Of a job that read and wrote less than 1 MiB a second: \"; it read and wrote only 2.1 MiB: it "
	  "computes.\"; else \".\"",
	  no_storage },
	{ "hot_process", "The process that it is in, or several alike, with arguments.",
	  hot_process },
	{ "top_fortran", "The function of Fortran that most of the CPU time is in or called from.",
	  top_fortran },
	{ "hot_reason", "Why that place is slow: \"Arrays that grow (numpy.append)\".",
	  hot_reason },
	{ "hot_advice", "What to do about code of its kind.", hot_advice },
	{ "tool", "What checks or measures the program, and used most: \"tracemalloc, which ...\".",
	  tool },
	{ "same_command", "The command line that was run again and again.", same_command },
	{ "tool_advice", "How to turn it off.", tool_advice },
	{ "busiest_command", "The command whose processes used most CPU time.", busiest_command },
	{ "main_command",
	  "The command whose processes used at least half of the CPU time; else \"several commands\".",
	  main_command },
	{ "main_work",
	  "The same, whether one process of it or many, and the function that had a quarter of the "
	  "CPU time or more: \"R, 57 % of it in libR.so (no symbols)\".",
	  main_work },
	{ "kernel_command",
	  "The command whose processes used at least half of the CPU time in the kernel; else one "
	  "that used nearly all CPU time; else \"several commands\".",
	  kernel_command },
	{ "moving_command", "Likewise of the bytes read and written by system calls.",
	  moving_command },
	{ "storage_command", "Likewise of the bytes that storage read and wrote.",
	  storage_command },
	{ "faulting_command", "Likewise of the page faults.", faulting_command },
	{ "switching_command", "Likewise of the context switches by waiting.", switching_command },
	{ "yielding_command", "Likewise of those by yielding, or for others.", yielding_command },
	{ "most_started_line", "The command line of one of its processes that ran for long.",
	  most_started_line },
	{ "most_started_command", "The command that was started most often.",
	  most_started_command },
	{ "serial_process", "The process that ran most in the longest single-core period.",
	  serial_process },
	{ "oom_process", "The process that was killed because memory ran out.", oom_process },
	{ "oom_host", "Where it ran.", oom_host },
	{ "tight_host", "The machine that came nearest to its memory limit.", tight_host },
	{ "death_task", "The first to fail: \"rank 3 of step 0 on n2\".", death_task },
	{ "death_end", "How it ended: \"killed by SIGSEGV\".", death_end },
	{ "death_log",
	  "The error that it printed, and what to do: \". PermissionError: ... .\"; else what its log "
	  "ends with, when --mark-log watched it: \". Its log ends: ...\"; else \".\"",
	  death_log },
	{ "error_line", "The line of what the failed job printed that tells the reason.",
	  error_line },
	{ "attempts_before", "How the attempts before this one ended.", attempts_before },
	{ "launcher", "The launcher of the ranks that ran elsewhere: \"srun\".", launcher },
	{ "straggler_host", "The host that differs from the others in a way that slows it down.",
	  straggler_host },
	{ "straggler_cause", "How it differs: \"clock 1.2 GHz, the others 2.6 GHz\".",
	  straggler_cause },
	{ "busiest_host", "The host that used most CPU time.", busiest_host },
	{ "hang_evidence", "What the job's threads did when there was no progress.",
	  hang_evidence },
	{ "hang_advice", "What to do about what they waited for.", hang_advice },
	{ "scheduler_state", "What the batch system said of the job: \"CANCELLED\".",
	  scheduler_state },
	{ "lost_nodes", "The nodes that were lost: \"n3\".", lost_nodes },
	{ "lost_why", "Why, as the batch system said: \" (Not responding),\"; else \",\".",
	  lost_why },
	{ "ranks_stay", "Where all ranks of an MPI job were while some stayed in a call.",
	  ranks_stay },
	{ "silent_in", "What the job's processes waited for when it was silent until its end.",
	  silent_in },
	{ "slept_in", "The process that was seen to sleep in a timer first.", slept_in },
	{ "stopped_in", "The process that was seen to be stopped first.", stopped_in },
	{ "file_lock_in", "The process that was seen to wait for a lock on a file first.",
	  file_lock_in },
	{ "database_lock_in", "The process that was seen to wait for the lock of a database first.",
	  database_lock_in },
	{ "turns_in", "The process whose threads wait for one mutex.", turns_in },
	{ "network_wait_in", "The process that was seen to wait for the network first.",
	  network_wait_in },
	{ "storage_wait_in", "The process that was seen to wait for storage first.",
	  storage_wait_in },
	{ "at_the_end",
	  "\"at the end\"; of a job that still runs \"now\", where the end was not recorded \"at the end "
	  "of the recording\".",
	  condition_at_the_end },
	{ "the_end", "The same: \"the end\".", condition_the_end },
	{ "idle_in",
	  "What the job waited for longest while it did little: \"; meanwhile sleep (pid 12) sleeps "
	  "(timer).\"; else \".\"",
	  idle_in },
	{ "polled_with",
	  "What a script started again and again: \"; a script started sleep 12 times, curl 12 "
	  "times.\"; else \".\"",
	  polled_with },
	{ "repeated_command", "The interpreter that was started again and again.",
	  repeated_command },
	{ "repeated_shim",
	  "Who looks for it at each start, and what to do: \", also to pyenv, which ... .\"; else \".\"",
	  advice_of_shim },
	{ "silent_advice", "What to do about that.", silent_advice },
	{ "ending", "How the job ended: \"Killed by SIGSEGV\".", ending },
	{ "ending_why",
	  "The error that it printed, or what the exit code or signal means, what to do, and which "
	  "process ended first by a signal or failed: \": ... .\".",
	  ending_why },
	{ "waiting_why", "The same of a job that waited; what to do is about either.",
	  waiting_why },
	{ "died_before",
	  "Of a job that hung, the process that ended by a signal or failed before: "
	  "\". First to die: ... .\"; else \".\"",
	  died_before },
	{ "ended_by", "The program that ended it: \"timeout ended it\".", ended_by },
	{ "limit_address_space_process", "The process nearest to the limit of address space.",
	  limit_address_space_process },
	{ "limit_cpu_process", "The process nearest to the limit of CPU time.", limit_cpu_process },
	{ "limit_files_process", "The process nearest to the limit of open files.",
	  limit_files_process },
	{ "limit_file_size_process", "The process that wrote most.", limit_file_size_process },
	{ "busiest_process", "The process that was at work most, or waited for a core.",
	  busiest_process },
	{ "interpreter_command",
	  "The command that runs an interpreter and used most CPU time; else the one that used most.",
	  advice_interpreter },
	{ "interpreter_advice", "What to do about its loops.", advice_of_interpreter },
	{ "unoptimized_advice",
	  "What was compiled without optimization was compiled so, and how to build it: \"(-O0). Build with -O2 "
	  "... .\"",
	  advice_of_unoptimized },
	{ "recursive_function", "The function that called itself most often.", recursive_function },
	{ "alike_last", "Of processes of one program the one that ended last.", alike_last },
	{ "worker", "The process, or thread, of several alike that had most to do.", worker },
	{ "worker_is", "What it is one of: \"processes alike\", or \"threads\".", worker_is },
	{ "hidden_process", "The process that failed while the job did not.", hidden_process },
	{ "hidden_end", "How it ended: \"was killed by SIGSEGV\".", hidden_end },
	{ "hidden_more",
	  "Its command line, how many ended like it, and the error in the recorded end of standard error: \": "
	  "`step 7`, one of 3 that were seen to end so. Standard error says: ... .\"; else \".\"",
	  hidden_more },
	{ "killed_process", "The process that SIGKILL or timeout ended while the job went on.",
	  killed_process },
	{ "killed_by", "Who ended it, as far as that is known: \"most likely by `pkill -9 step`\".",
	  killed_by },
	{ "starved_process", "The process of low priority that waited longest for a core.",
	  starved_process },
	{ "heap_process", "The process that was started with a heap limit and came nearest to it.",
	  heap_process },
	{ "heap_option", "The option that set it: \"-Xmx\".", heap_option },
	{ "small_io_where",
	  "The command that made nearly all reads and writes, with arguments, the size of each where reads and "
	  "writes differ, and io_in: \" (1 B a read, 4.0 KiB a write), by dd bs=1.\".",
	  small_io_where },
	{ "incompressible_process",
	  "The compressor, with arguments, that read most of what did not get smaller.",
	  incompressible_process },
	{ "slept_where",
	  "In which function the process slept that was seen to, if it slept at the end, too: \", at the end in "
	  "run_trial (sweep.py:7).\"; else \".\"",
	  slept_where },
	{ "first_death",
	  "The process that ended first by a signal or failed: \". First to die: ... .\"; else \".\"",
	  first_death },
	{ "disk_path",
	  "The job's directory, or mount that it wrote to, that was the fullest at the end.",
	  disk_path },
	{ "cores_were",
	  "\"well used\" where counters tell that they did not wait for memory, else \"busy\".",
	  cores_were },
	{ "reread_file", "The file that a process read again and again.", reread_file },
	{ "reread_process", "That process.", reread_process },
	{ "forked_process", "The large process that was forked most often.", forked_process },
	{ "gone_back", "\"python3 (pid 12) went back in /data/reads.gz\", where it did.",
	  gone_back },
	{ "reopened", "\"awk (pid 12) opened and closed /data/out.txt\", likewise.", reopened },
	{ "flushed_by",
	  "What makes the disk flush: \"O_SYNC\" where a process was seen to wait in a write to a file opened so, else \"fsync\".",
	  flushed_by },
	{ "disk_writer",
	  "The command that wrote at least half of the job's bytes: \", most of it by dd.\"; else \".\"",
	  disk_writer },
	{ "fabric_idle_port", "A fabric port with almost no traffic: \"mlx5_1/1 on n1\".",
	  fabric_idle_port },
	{ "fabric_busy_port", "The port next to it with much traffic.", fabric_busy_port },
	{ "fabric_slow_port", "The port with a slower link than most ports like it.",
	  fabric_slow_port },
	{ "fabric_busy_metric", "The metric of the busy port's network that shows it.",
	  fabric_busy_metric },
	{ "fabric_slow_metric", "The metric of the slow port's network that shows it.",
	  fabric_slow_metric },
	{ "energy_of", "The parts whose energy was measured: processors, memory, the node.",
	  energy_of },
	{ "top_wait",
	  "What threads waited for most, and where: \"waits for a mutex at 0x55d0c8 in work "
	  "(lock.c:12)\".",
	  top_wait },
	{ "held_up_lock",
	  "Whose threads wait for one lock, which and where: \"app (pid 12): each waits for a mutex at 0x55d0c8 in work (lock.c:12)\".",
	  held_up_lock },
	{ "held_up_barrier",
	  "Whose threads wait in a barrier, where, for which thread, and what that does.",
	  held_up_barrier },
	{ "held_up_reader", "Who waits for room in a pipe, who reads it, and what that does.",
	  held_up_reader },
	{ "held_up_feeder", "Who waits for data from a pipe, who writes it, and what that does.",
	  held_up_feeder },
	{ "held_up_workers",
	  "Who waits for its busy threads or children, where, and what these do.",
	  held_up_workers },
	{ "held_up_children", "Who ran which program how often, one after the other.",
	  held_up_children },
	{ "held_up_network", "Who waits for which file on a network file system, and where.",
	  held_up_network },
	{ "held_up_storage", "The same of another file system.", held_up_storage },
	{ "held_up_file_lock", "Who waits for a lock on which file, and where.",
	  held_up_file_lock },
	{ "held_up_sleep", "Which program sleeps, and where.", held_up_sleep },
	{ "reduced", "What Sonde read less often to stay within its limit.", reduced },
};
const size_t ntext_variables = sizeof text_variables / sizeof text_variables[0];

const struct text_variable *text_variable_find(const char *name)
{
	for (size_t i = 0; i < ntext_variables; i++)
		if (strcmp(text_variables[i].name, name) == 0)
			return &text_variables[i];
	return NULL;
}
