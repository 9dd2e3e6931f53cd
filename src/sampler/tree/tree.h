/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - the job's process tree: who is alive, what each used, and what they used together.
 *
 * Totals are exact where the kernel is: what the launcher waited for (rusage), plus what is alive,
 * plus what the living have waited for. Births and ends come from exit records
 * (sampler/tree/exits.h) where they are permitted, else from the pids given out since the last
 * sample. No process is counted twice: its time moves to its parent's children when it is reaped.
 */
#ifndef SONDE_SAMPLER_TREE_TREE_H
#define SONDE_SAMPLER_TREE_TREE_H

#include "base/err.h"
#include "base/root.h"
#include "core/sample.h"
#include "job/message.h"
#include "job/secret/secret_list.h"
#include "sampler/budget.h"
#include "source/procfile.h"

#include <sys/resource.h>

enum pss { PSS_BUDGET, PSS_ALWAYS, PSS_OFF };

/* How starts and ends are known: AUTO, the best that is permitted; else the one named, and where
 * it is not permitted, by looking for new pids. */
enum process_events {
	PROCESS_EVENTS_AUTO,
	PROCESS_EVENTS_PERF,
	PROCESS_EVENTS_CONNECTOR,
	PROCESS_EVENTS_POLLING
};

/* How processes are read: AUTO, by the task iterator where it is permitted and cheaper; else from
 * the files of /proc. */
enum tree_reader { TREE_AUTO, TREE_PROC, TREE_BPF };

struct tree_options {
	const struct root *proc;
	pid_t launcher;     /* its children are the job; 0: attach */
	bool shared;        /* launchers are added later, and the first one, too */
	const pid_t *roots; /* attach: these and their descendants */
	size_t nroots;
	bool follow; /* attach: roots come and go, tree_adopt tells of more */
	enum process_events process_events;
	enum tree_reader reader;
	enum pss pss;
	bool no_arguments;                 /* command lines are not read */
	const struct secret_list *secrets; /* what is masked in them besides; or NULL */
};

struct tree;

int tree_open(struct tree **t, const struct tree_options *o, struct sample *s, struct err *e);
void tree_close(struct tree *t);
/* Why processes are read otherwise than was asked; "": they are not. */
const char *tree_complaint(const struct tree *t);

/* From the next sample on: how often what is read, and the share of a core that PSS may take. */
void tree_pace(struct tree *t, const struct cadence *c, double walks_share);
/* limits[RLIM_NLIMITS]: what the job was given. Of a process what differs from it is recorded, once
 * for each program that it executes; of none anything before this was called. */
void tree_limits(struct tree *t, const struct rlimit *limits);
/* CPU that reading the files of processes took in the last sample; -1: some were new in it, which
 * takes more. */
int64_t tree_files_ns(const struct tree *t);
/* CPU that reading PSS has taken so far. */
int64_t tree_walks_ns(const struct tree *t);
/* CPU of the job, as the last sample found it. */
int64_t tree_cpu_ns(const struct tree *t);
/* CPU of a process by its clock, as the last sample found it: it has run if that is another. -1:
 * not known so exactly. */
int64_t tree_ran_ns(const struct tree *t, pid_t pid);
/* What its stat said in the last sample, or would have: it has not run since it was read. NULL: not
 * known. */
const struct proc_stat *tree_stat(const struct tree *t, pid_t pid);
/* Threads that ran, or wanted to, when they were looked at last. */
int64_t tree_threads_running(const struct tree *t);
/* Births, ends, readings, series: one sample. last: the final one; what is alive is summed up too.
 */
void tree_sample(struct tree *t, struct sample *s, bool last);
/* Take records of starts and ends between samples, before their buffers are full. */
void tree_drain(struct tree *t);
/* How many were taken so far. */
uint64_t tree_records(const struct tree *t);
/* Descriptors that are readable when there are some; *n of them. To wait for them while the job
 * starts processes is dear: the kernel wakes who polls perf events whenever a task ends. */
const int *tree_fds(const struct tree *t, size_t *n);
/* The launcher of a task waited for a process of it. */
void tree_reaped(struct tree *t, uint32_t task, const struct message *m);

enum { TREE_TASKS_MAX = 1024 };

/* One more launcher, of a task that may run already: recorded[RECORDED_NUMBER_OF] says what others
 * have recorded of it. *task is its number. 0; -EALREADY when it is in the tree of another;
 * -ENOSPC. */
int tree_task_add(struct tree *t, pid_t launcher, const int64_t *recorded, uint32_t *task);
/* Its launcher waits for nothing any more: it has ended, or was killed, when it did not say so. */
void tree_task_over(struct tree *t, uint32_t task);
/* CPU time of what its launcher has started, as of the sample just taken. */
int64_t tree_task_cpu_ns(const struct tree *t, uint32_t task);
/* rows[n * RECORDED_NUMBER_OF]: what will be recorded of each task with the sample just taken.
 * Returns how many tasks there are; at most max are written. */
uint32_t tree_recorded(const struct tree *t, bool last, int64_t at_ns, int64_t *rows, uint32_t max);

/* Between samples, where processes are looked for: who was started by those that are known. */
void tree_catch_up(struct tree *t);
/* A process of the job that need not descend from a known one. What it used before the recording
 * began is not counted. Nothing happens when it is known, or gone. Returns whether it is sure that
 * none of the job's has started it. */
bool tree_adopt(struct tree *t, pid_t pid);
/* It was taken for the job's and is not. */
void tree_disown(struct tree *t, pid_t pid);
/* Those alive whose names begin so; returns how many of them fit. */
size_t tree_named(const struct tree *t, const char *beginning, pid_t *out, size_t cap);

struct tree_totals {
	int64_t user_ns, system_ns; /* -1: not known apart (attach) */
	int64_t cpu_ns, attributed_ns;
	int64_t live, started, ended;
	int64_t peak;            /* alive at a time; -1: not known but from samples */
	int64_t started_at_most; /* -1: not known; all there were when starts are exact */
	int64_t read_bytes, written_bytes;
	bool io_known;
	int64_t peak_memory_bytes;
	/* "pss", "pages", "rss", "process" (the largest one); NULL when nothing was seen */
	const char *peak_memory_kind;
	bool peak_memory_is_bound; /* it may have been more */
	int64_t peak_memory_at_most_bytes;
	int64_t peak_memory_error_bytes; /* of an estimate from some pages; 0: there is none */
	int64_t peak_memory_age_ns;      /* of the oldest reading a PSS peak was estimated from */
	uint64_t lost_records;
	bool exact_starts;                   /* every fork was seen */
	uint64_t unknown_ends;               /* of processes, with what exit code or signal */
	const char *starts_how, *totals_how; /* in words */
};
void tree_totals(const struct tree *t, struct tree_totals *out);
/* Whether a process ended by a signal or not with 0, as far as is known. */
bool tree_failed(const struct tree *t);
struct crashed; /* sampler/tree/crashes.h */
/* Did any process crash, or, if these count, end in a way that is not known? */
bool tree_may_have_crashed(const struct tree *t, bool unknown);
/* The process that ended by this signal, or may have, whose thread of this name has crashed; NULL:
 * none of the job's. */
struct crashed *tree_crashed(struct tree *t, pid_t tid, const char *comm, int signal);
/* The pids of what is alive; returns how many of them fit. */
size_t tree_pids(const struct tree *t, pid_t *out, size_t cap);
/* Of those that have used so much CPU time. */
size_t tree_busy(const struct tree *t, int64_t cpu_ns, pid_t *out, size_t cap);
/* Has any process come, or executed another program, since this was asked last? */
bool tree_has_other_programs(struct tree *t);
/* Of those that have read so much by system calls, with the children that they waited for. */
size_t tree_readers(const struct tree *t, int64_t least, pid_t *out, size_t cap);
/* Of those that have made so many reads and writes, likewise. */
size_t tree_callers(const struct tree *t, int64_t least, pid_t *out, size_t cap);
/* What the job has read by system calls, as far as is known; and its reads and writes. */
int64_t tree_read_bytes(const struct tree *t);
int64_t tree_calls(const struct tree *t);
bool tree_has(const struct tree *t, pid_t pid);
/* What it is in the recording, also when it ended a moment ago; 0: nothing, or not yet. */
uint32_t tree_instance(const struct tree *t, pid_t pid);
/* Were exit records given up since the job switches tasks too often for them? */
bool tree_switches_often(const struct tree *t);
/* Names and pids of what is alive though the command that it belongs to has ended, "sleep (123),
 * ..."; returns how many. Cut with "..." when too long. */
size_t tree_survivors(const struct tree *t, char *out, size_t size);

#endif
