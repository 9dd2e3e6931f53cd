/* SPDX-License-Identifier: Apache-2.0 */
/*
 * story.h - what happened when: findings that no total and no mean tells.
 *
 * Made from the timeline and the footers of the recording, without decoding anything more. What did
 * not happen, or cannot be told, is NAN or "". Seconds are since the run began. Texts are hostile.
 */
#ifndef SONDE_REPORT_SUMMARY_STORY_H
#define SONDE_REPORT_SUMMARY_STORY_H

#include "core/stacks/waitkind.h"

#include <stdbool.h>
#include <stdint.h>

enum { STORY_TEXT = 160, STORY_WHERE = 1200, STORY_CRASH = 480 };

/* What a command may have done at least half of: time in the kernel, bytes through system calls,
 * those of them that it wrote, bytes of storage, page faults, waits, cores that it gave up or that
 * were taken from it. */
enum {
	DOER_KERNEL,
	DOER_MOVED,
	DOER_WRITTEN,
	DOER_STORAGE,
	DOER_FAULTS,
	DOER_SWITCHES,
	DOER_YIELDS,
	DOERS
};

/* The limits that a process is given (ulimit), and how near it came to them. */
enum {
	LIMIT_ADDRESS_SPACE,
	LIMIT_CPU,
	LIMIT_FILES,
	LIMIT_PROCESSES,
	LIMIT_FILE_SIZE,
	LIMIT_STACK,
	STORY_LIMITS
};
struct story_limit {
	double limit, reached; /* of the process that came nearest; limit NAN: there is none */
	char process[STORY_TEXT];
};

/* Ports of the fabric: how many were up, what they moved, the share of its link that the fullest
 * one used on average; how many of them moved next to nothing beside one of their
 * host and network that moved much; and the one whose link is slower than those like it. */
struct story_fabric {
	double ports, received_bytes, sent_bytes, used_ratio, ports_idle, busy_bytes_per_s,
		busy_ratio;
	double slow_bytes_per_s, usual_bytes_per_s;
	char idle_port[STORY_TEXT], busy_port[STORY_TEXT], slow_port[STORY_TEXT];
	char busy_metric[STORY_TEXT], slow_metric[STORY_TEXT]; /* of that network, which show it */
};

/* For how long the job was seen to wait like this while it did little, and the first that did. */
struct story_wait {
	double seconds, most;      /* most: processes at a time; 0: not told */
	double ratio, ratio_least; /* of the looks, whatever the job used: and the lower end of its
				    * 95 % interval; NAN: not known, or too few */
	char in[STORY_TEXT + 200];
};

struct story {
	/* Work for one core, on all nodes together: how long in all, the longest stretch of it, and
	 * for how many cores there was work on average while it was more. */
	double serial_s, serial_from_s, serial_to_s, parallel_s, parallel_cores;
	char serial_process[STORY_TEXT]; /* that ran in that longest stretch most */
	uint32_t serial_instance;        /* of the run; 0: none */
	double working_s; /* in which it had work: of a part of a core, that part of the time */
	double work_peak_cores; /* for how many cores there was work at most, over two seconds */
	double stolen_s;        /* of cores that were the job's, by a hypervisor */
	double waited_s;      /* of threads for a core, with those that ended before it was known */
	double waited_idle_s; /* for cores while as many that the job may use were idle */
	/* The part of it for cores that others had: up to those that the job may use. And how many
	 * it had while it wanted more than it may use. */
	double taken_s, crowded_cores;
	double taken_wall_s; /* by how much less the job would have run without them, at most */
	double others_cores; /* that others used, on average; of all nodes together */
	/* Nothing at work between the first work and the last: in all, and the longest. */
	double holes_s, hole_s, hole_from_s, hole_to_s;
	/* The job's memory after its first fifth: the line through it with its error (two standard
	 * errors), how steady it grew (the least slope of its thirds, as a share of that of all).
	 */
	double leak_bytes_per_s, leak_error_bytes_per_s, leak_steadiness;
	double leak_from_s, leak_to_s, leak_from_bytes, leak_to_bytes;
	/* The first kill for want of memory: when, whom, and how memory grew before it. */
	double oom_s, oom_from_s, oom_from_bytes, oom_bytes_per_s, oom_pid, oom_limit_bytes;
	double oom_held_bytes; /* what it held at its peak */
	char oom_process[STORY_TEXT], oom_host[STORY_TEXT];
	/* The first task that failed, or command where there are no tasks; of how many that could
	 * how many did. And the memory its host held at most, and might have. */
	double death_s, death_rank, death_signal, death_exit_code, failed, could_fail;
	double death_memory_bytes, death_limit_bytes;
	double ended_together; /* 1: all at once by a signal: none of them was the first */
	/* Tasks that ended with the sonde that ran them, which reported no end: only SIGKILL does
	 * that. And when the first of them did. */
	double unreported, unreported_s;
	char death_host[STORY_TEXT], death_task[STORY_TEXT], death_end[64];
	char death_log[STORY_TEXT + 32]; /* ". Its log ends: \"...\"", or "." */
	/* What the batch system said of the job when it was ended: "TIMEOUT"; "": nothing. Nodes
	 * that were lost, why, and when one of them was heard of last. */
	char scheduler_state[24], lost_nodes[STORY_TEXT], lost_why[STORY_TEXT + 32];
	double nodes_lost, lost_s, timed_out, cancelled;
	double ranks_elsewhere, launched_here; /* ranks */
	char launcher[32];                     /* that started ranks out of reach: "srun" */
	/* The host that is unlike the others in what makes slow, and how. */
	char straggler_host[STORY_TEXT], straggler_cause[STORY_TEXT];
	uint32_t straggler_node;    /* of the run; 0: none */
	double hosts_unequal_ratio; /* CPU time: most / mean - 1 */
	char busiest_host[STORY_TEXT];
	/* The longest time in which a watch for hangs saw no progress. */
	double hang_s, hang_from_s, hang_to_s, hangs;
	char hang_evidence[2 * STORY_TEXT];
	char hang_advice[STORY_WHERE]; /* in which functions they were, and what to do */
	/* Ranks that were in one call of MPI at each of so many looks, for so long, until the last
	 * one; NAN: none did: in how many such calls, their share of all ranks, and where all
	 * are. */
	double stay_s, stay_looks, stay_places, stay_ratio;
	char stay_in[STORY_WHERE];
	/* For how long nothing had run when the job ended, and what its processes waited for. */
	double silent_s;
	char silent_in[STORY_TEXT + 200];
	char silent_advice[STORY_WHERE];
	struct story_wait wait[STALL_NUMBER_OF];
	struct story_wait turns;        /* one thread ran while others waited for one mutex */
	double waited_longest_s;        /* of one kind; NAN: without a watch */
	char idle_in[STORY_TEXT + 220]; /* "; meanwhile sleep (pid 12) ..." of the longest; or "" */
	/* How often it woke a second while it rested; how often it started sleep, and what else as
	 * often: "; a script started sleep 12 times, curl 12 times". */
	double wakes_per_s, sleeps;
	char polled_with[STORY_TEXT]; /* or "" */
	/* The command whose processes do little more than start: how many, their CPU time. */
	double starts, starts_cpu_s;
	char starts_command[STORY_TEXT];
	char starts_by[STORY_TEXT]; /* " by bash job.sh,": who started most of them; or "" */
	const char *starts_shim;    /* "pyenv", which looks for it each time; NULL: none does */
	/* Of the commands that processes executed the one with most; NULL: none is known. And of
	 * very many processes " (417 of cut, 129 of date, started by bash daily.sh),", or "". */
	const char *executed;
	char started[3 * STORY_TEXT];
	/* The process that ended first by a signal, or that failed as the job did a moment later.
	 */
	double died_s, died_pid, died_signal, died_code, died_core;
	bool died_first; /* it is known of all others how they ended */
	char died_process[STORY_TEXT];
	uint32_t died_instance, hidden_instance; /* of the run; 0: none */
	/* What the kernel's log says of the command that crashed, of the process that ended first,
	 * of the first task to fail, and of a hidden failure (core/crash.h); or "". And whether the
	 * first of the former two that it knows had overflowed its stack; NAN: not known. */
	char crash[STORY_CRASH], died_crash[STORY_CRASH], death_crash[STORY_CRASH],
		hidden_crash[STORY_CRASH];
	double crash_stack;
	struct story_limit limit[STORY_LIMITS];
	/* Processes alike that one process started together: how many, how long the last one ran
	 * and all of them on average, and the last. */
	double alike, alike_last_s, alike_mean_s;
	char alike_last[STORY_TEXT];
	double last_touched_bytes; /* memory touched first right before the end, all at once */
	/* The process that was at work most, or waited for a core: for which share of its life,
	 * when that was nearly all of the run; the others together, in cores; how many others lived
	 * as long; and its nice value. */
	double busiest_share, busiest_work_ratio, busiest_others_share, busiest_companions,
		busiest_nice;
	char busiest_process[STORY_TEXT];
	const char *doer[DOERS]; /* the command, of the recording; NULL: none did so much of it */
	/* Processes that crashed or failed, though the job ended with 0, and did a part of its
	 * work: the share of the CPU time that they all had, and the one of them that had most of
	 * it. */
	double silent_by_sleep; /* 1: all that waited at the end were commands sleep, else 0 */
	double may_serve; /* 1: as a server waits or a monitor, which run until they are ended */
	double hidden_failures, hidden_work_ratio, hidden_s;
	/* Those that did less of it, and how many of these crashed; of the one that is named how
	 * many ended like it, and whether its command fails each time. */
	double hidden_short, hidden_crashes, hidden_alike, hidden_each_time;
	char hidden_process[STORY_TEXT], hidden_line[STORY_TEXT], hidden_end[64];
	/* Those that a signal from outside ended, the one of them with most CPU time, and who sent
	 * it, as far as that is known. */
	double killed, killed_s, killed_signal;
	/* Processes of compilers, their CPU time, and whether make started them without having been
	 * told to run several at a time. */
	double compilers, compilers_s, make_is_serial, make_is_parallel, make_recipes_ratio;
	char killed_process[STORY_TEXT], killed_by[STORY_TEXT + 60];
	/* Processes that one process started under one name, with that of the longest serial
	 * stretch, which had most to do: how many, seconds that it worked or waited for a core, and
	 * the others in all. Where it has none beside it, the threads of that process, as sampled.
	 */
	double workers, worker_most_s, worker_others_s;
	const char *worker_is; /* "threads"; NULL: there are none */
	char worker[STORY_TEXT];
	/* The command sleep went on when what had run beside it had ended: how often, how long. */
	double late_sleeps, late_s;
	/* The process of low priority that was there until the end and waited longest for a core,
	 * longer than for half of its life: its nice value, and how long. */
	double starved_nice, starved_s;
	char starved_process[STORY_TEXT];
	/* A process that lived to the end and that was started with a limit of its heap, the one
	 * that held most for it; NAN: there is none. */
	double heap_limit, heap_held;
	char heap_option[32], heap_process[STORY_TEXT];
	/* The command that made four fifths of the reads and writes or more: how many, their bytes,
	 * and the CPU time that it used in the kernel; NAN: none did. ", by dd bs=1, most likely in
	 * copy (dd.c:12).", or "". */
	double small_io_calls, small_io_bytes, small_io_kernel_s;
	char small_io_where[600];
	/* Compressors that wrote as much as they read: bytes, CPU time, and the largest; NAN: none.
	 */
	double incompressible_read, incompressible_written, incompressible_s;
	char incompressible[200];
	char slept_where[STORY_TEXT]; /* ", at the end in run_trial (sweep.py:7)."; or "" */
	struct story_fabric fabric;
	/* Of the compilers the share that had another one beside them for much of their lives. */
	double compilers_beside_ratio;
	/* The same of the command that was started most often, and a command line of it. */
	double most_started_beside;
	char most_started[STORY_TEXT];
	/* A file that a process read again and again: how often at least, bytes of it and of that,
	 * the share of the looks in which the process was within it. */
	double reread_times, reread_size, reread_bytes, reread_within;
	char reread_file[STORY_TEXT], reread_process[STORY_TEXT];
	/* How often a process of 256 MiB or more forked a child that executed no other program, the
	 * one that did most; its peak; who. */
	double forks, forked_bytes;
	char forked[STORY_TEXT];
	/* One in which a process went back again and again: its size, what that read meanwhile, and
	 * in how many looks it was before the last place. */
	double back_size, back_bytes, back_looks;
	char back[2 * STORY_TEXT + 32]; /* "python3 (pid 12) went back in /data/x.gz" */
	/* One that a process opened and closed again and again: looks that saw it open, and of them
	 * those that saw it closed right then. */
	double reopened_looks, reopened_closed;
	char reopened[2 * STORY_TEXT + 32]; /* "awk (pid 12) opened and closed /data/x" */
	double lock_held_outside; /* 1: who was seen to hold a lock on a file is not of the job */
	double writes_direct;     /* 1: the wait for storage that was seen was a write past the page
				     cache */
	char flushed[STORY_TEXT]; /* by what else, and where: "fsync, seen on data.log"; "": not
				     known */
	/* What the job's exit code means where it is an answer; NULL: it is none. Is it one? */
	const char *answer;
	double answered;
	/* Of the file systems of the job's directories the one that was the fullest, by space and
	 * by its share: what users may still fill at the end of what they may in all; or, where
	 * none is left, inodes. */
	double disk_free_bytes, disk_bytes, disk_free_ratio;
	/* The least and the most that was left at a sample, or when the job began. */
	double disk_low_bytes, disk_room_bytes, disk_room_inodes;
	double disk_no_inodes; /* that many there are, and not one is left */
	char disk_path[STORY_TEXT];
	/* ", most of it by dd.": the command that wrote at least half; "": none is known. */
	char writer[64];
};

/* Nothing failed, and tasks were killed without a word of their end. */
static inline bool story_was_killed(const struct story *y)
{
	return y->unreported >= 1 && !(y->failed >= 1);
}

/* Of several that could fail one was the first: it says more than the greatest status of all. */
static inline bool story_has_first_failure(const struct story *y)
{
	return y->could_fail >= 2 && y->failed >= 1 && !(y->ended_together > 0);
}

struct summary;

/* Threads for a core, with those that ended before it was known: as the bar has it. */
double story_waited_s(const struct summary *s);
/* Cores used, and those that threads waited for. */
double story_cores_wanted(const struct summary *s);
/* Time in which the job had work, without what others took. */
double story_working_s(const struct summary *s);
/* CPU time that threads may have spun for others of the job whose cores were taken, at most. */
double story_spun_for_own_s(const struct summary *s);

#endif
