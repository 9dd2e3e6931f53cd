/* SPDX-License-Identifier: Apache-2.0 */
/* variables_text.c - what rules know that is not a number: names and words. */
#include "core/stacks/stall.h"
#include "report/judging/condition.h"
#include "report/judging/variables.h"
#include "report/summary/ending.h"
#include "report/summary/filesused.h"
#include "report/summary/peersused.h"

#include <string.h>

static const char *oom_process(const struct summary *s)
{
	return s->story.oom_process;
}

static const char *oom_host(const struct summary *s)
{
	return s->story.oom_host;
}

static const char *lost_nodes(const struct summary *s)
{
	return s->story.lost_nodes;
}

static const char *lost_why(const struct summary *s)
{
	return *s->story.lost_why ? s->story.lost_why : ",";
}

static const char *scheduler_state(const struct summary *s)
{
	return s->story.scheduler_state;
}

static const char *tight_host(const struct summary *s)
{
	return s->tight_host;
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

static const char *death_task(const struct summary *s)
{
	return s->story.death_task;
}

static const char *death_end(const struct summary *s)
{
	return s->story.death_end;
}

static const char *attempts_before(const struct summary *s)
{
	return s->attempts_before;
}

static const char *launcher(const struct summary *s)
{
	return s->story.launcher;
}

static const char *straggler_host(const struct summary *s)
{
	return s->story.straggler_host;
}

static const char *straggler_cause(const struct summary *s)
{
	return s->story.straggler_cause;
}

static const char *busiest_host(const struct summary *s)
{
	return s->story.busiest_host;
}

static const char *hang_evidence(const struct summary *s)
{
	return s->story.hang_evidence;
}

static const char *hang_advice(const struct summary *s)
{
	return s->story.hang_advice;
}

static const char *ranks_stay(const struct summary *s)
{
	return s->story.stay_in;
}

static const char *silent_in(const struct summary *s)
{
	return s->story.silent_in;
}

static const char *slept_in(const struct summary *s)
{
	return s->story.wait[STALL_TIMER].in;
}

static const char *stopped_in(const struct summary *s)
{
	return s->story.wait[STALL_STOPPED].in;
}

static const char *file_lock_in(const struct summary *s)
{
	return s->story.wait[STALL_FILE_LOCK].in;
}

static const char *storage_wait_in(const struct summary *s)
{
	return s->story.wait[STALL_STORAGE].in;
}

static const char *idle_in(const struct summary *s)
{
	return *s->story.idle_in ? s->story.idle_in : ".";
}

static const char *polled_with(const struct summary *s)
{
	return *s->story.polled_with ? s->story.polled_with : ".";
}

static const char *repeated_command(const struct summary *s)
{
	return s->story.starts_command;
}

static const char *silent_advice(const struct summary *s)
{
	return s->story.silent_advice;
}

static const char *ending(const struct summary *s)
{
	return s->ending.words;
}

static const char *ending_why(const struct summary *s)
{
	return is_named(s) ? s->ending.why : s->ending.advised;
}

static const char *waiting_why(const struct summary *s)
{
	return s->ending.waited;
}

static const char *error_line(const struct summary *s)
{
	return s->reason.line;
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

static const char *limit_address_space_process(const struct summary *s)
{
	return s->story.limit[LIMIT_ADDRESS_SPACE].process;
}

static const char *limit_cpu_process(const struct summary *s)
{
	return s->story.limit[LIMIT_CPU].process;
}

static const char *limit_files_process(const struct summary *s)
{
	return s->story.limit[LIMIT_FILES].process;
}

static const char *limit_file_size_process(const struct summary *s)
{
	return s->story.limit[LIMIT_FILE_SIZE].process;
}

static const char *busiest_process(const struct summary *s)
{
	return s->story.busiest_process;
}

static const char *hidden_process(const struct summary *s)
{
	return s->story.hidden_process;
}

static const char *hidden_end(const struct summary *s)
{
	return s->story.hidden_end;
}

static const char *starved_process(const struct summary *s)
{
	return s->story.starved_process;
}

static const char *heap_process(const struct summary *s)
{
	return s->story.heap_process;
}

static const char *heap_option(const struct summary *s)
{
	return s->story.heap_option;
}

static const char *disk_path(const struct summary *s)
{
	return s->story.disk_path;
}

static const char *fabric_idle_port(const struct summary *s)
{
	return s->story.fabric.idle_port;
}

static const char *fabric_busy_port(const struct summary *s)
{
	return s->story.fabric.busy_port;
}

static const char *fabric_slow_port(const struct summary *s)
{
	return s->story.fabric.slow_port;
}

static const char *fabric_busy_metric(const struct summary *s)
{
	return s->story.fabric.busy_metric;
}

static const char *fabric_slow_metric(const struct summary *s)
{
	return s->story.fabric.slow_metric;
}

static const char *energy_of(const struct summary *s)
{
	return s->energy_of;
}

static const char *reduced(const struct summary *s)
{
	return s->reduced;
}

static const char *serial_process(const struct summary *s)
{
	return s->story.serial_process;
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

static const char *top_function(const struct summary *s)
{
	return s->code_top;
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

static const char *growing_function(const struct summary *s)
{
	return s->touched_top;
}

static const char *top_wait(const struct summary *s)
{
	return s->wait_top;
}

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
	{ "hidden_process", "The process that failed while the job did not.", hidden_process },
	{ "hidden_end", "How it ended: \"was killed by SIGSEGV\".", hidden_end },
	{ "starved_process", "The process of low priority that waited longest for a core.",
	  starved_process },
	{ "heap_process", "The process that was started with a heap limit and came nearest to it.",
	  heap_process },
	{ "heap_option", "The option that set it: \"-Xmx\".", heap_option },
	{ "disk_path",
	  "The job's directory, or mount that it wrote to, that was the fullest at the end.",
	  disk_path },
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
