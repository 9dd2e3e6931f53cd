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

static const char *flushed_by(const struct summary *s)
{
	return *s->story.flushed ? s->story.flushed : "fsync";
}

static const char *started(const struct summary *s)
{
	return *s->story.started ? s->story.started : ",";
}

static const char *repeated_by(const struct summary *s)
{
	return *s->story.starts_by ? s->story.starts_by : ",";
}

static const char *executed_command(const struct summary *s)
{
	const struct summary_command *most = summary_most_started(s);

	return s->story.executed ? s->story.executed : most ? most->name : NULL;
}

static const char *mpi_most_process(const struct summary *s)
{
	return *s->mpi_code_most_is ? s->mpi_code_most_is : "one process";
}

static const char *mpi_least_process(const struct summary *s)
{
	return *s->mpi_code_least_is ? s->mpi_code_least_is : "another";
}

/* With one or two wake-ups for each. */
static const char *delayed(const struct summary *s)
{
	const double from = 18, to = 60;

	return s->story.wakes_per_s >= from && s->story.wakes_per_s <= to
		       ? ". If each takes about 40 ms, it waits for a delayed acknowledgement: write a "
			 "request at once, or set TCP_NODELAY."
		       : ".";
}

static const char *mpi_most_in(const struct summary *s)
{
	return *s->mpi_code_most_in ? s->mpi_code_most_in : ";";
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
#include "report/judging/variables_text.def"
};
const size_t ntext_variables = sizeof text_variables / sizeof text_variables[0];

const struct text_variable *text_variable_find(const char *name)
{
	for (size_t i = 0; i < ntext_variables; i++)
		if (strcmp(text_variables[i].name, name) == 0)
			return &text_variables[i];
	return NULL;
}
