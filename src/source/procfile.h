/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procfile.h - the files of /proc/PID: of a process, of its threads, its open files, its limits.
 */
#ifndef SONDE_SOURCE_PROCFILE_H
#define SONDE_SOURCE_PROCFILE_H

#include "base/root.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/*
 * Parsers of one process's files in /proc, proc(5).
 *
 * Pure: text in, numbers out. The text is hostile and NUL-terminated; 0 when everything asked for
 * was found, else -EBADMSG. /proc/PID/stat has no names: its fields are counted from the last ')',
 * since a command name may hold anything.
 */

/* What /proc/PID/ns/pid links to in the initial pid namespace (PROC_PID_INIT_INO). */
#define PID_NAMESPACE_INITIAL "pid:[4026531836]"

enum { COMM_SIZE = 64 }; /* the kernel gives 15 bytes, kernel threads up to 63 */

struct proc_stat {
	pid_t pid, ppid;
	char state;           /* of its first thread */
	char comm[COMM_SIZE]; /* any bytes but NUL and the outer parentheses */
	int64_t flags, minflt, cminflt, majflt, cmajflt;
	int64_t utime, stime, cutime, cstime; /* USER_HZ ticks; c: of children it waited for */
	int64_t nice, num_threads, starttime; /* starttime: ticks since boot */
	int64_t vsize_bytes, rss_pages;
	int64_t status; /* as wait(2) gives it, of one that ended; 0: not permitted as well */
	int64_t stack;  /* where its first stack begins, another one after exec; 0: not permitted */
};
int proc_stat_parse(const char *text, struct proc_stat *out);
/* Has its last thread ended, or is about to? A first thread may end before the others. */
bool proc_stat_ended(const struct proc_stat *st);

/* Of the process and of the children it waited for (the kernel adds theirs when they are reaped).
 */
struct proc_io {
	int64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};
int proc_io_parse(const char *text, struct proc_io *out);

struct proc_smaps {                            /* bytes */
	int64_t pss, uss, swap;                /* uss: Private_Clean, _Dirty and _Hugetlb */
	int64_t anonymous_huge, shared_memory; /* -1: this kernel does not tell */
};
int proc_smaps_parse(const char *smaps_rollup, struct proc_smaps *out);

/* Second and third field of /proc/PID/statm. Shared: file and shmem pages that are resident. */
struct proc_statm {
	int64_t resident_pages, shared_pages;
};
int proc_statm_parse(const char *text, struct proc_statm *out);

/* HugetlbPages of /proc/PID/status, in bytes; 0 where there are none. */
int64_t proc_hugetlb(const char *status);
/* Bytes of /proc/meminfo in huge pages of hugetlbfs: all there are, and those in use at most. */
struct proc_hugetlb {
	int64_t present, used;
};
int proc_hugetlb_parse(const char *meminfo, struct proc_hugetlb *out);

/* Last field of /proc/loadavg: the pid that was given out last in this pid namespace. */
int proc_last_pid_parse(const char *loadavg, pid_t *out);

/*
 * The open files of a process, by /proc/PID/fd: the number of each and where it leads.
 *
 * The files themselves are never touched. It can be left and taken up again, so that a process with
 * many files is looked at in pieces. {0} is closed.
 */

enum { FDLIST_TARGET = 32 }; /* a longer name is cut */

struct fdlist {
	int dir;            /* 0: closed */
	ssize_t listed, at; /* of entries */
	_Alignas(struct dirent64) char entries[2048];
};

/* 0, or -errno: -ENOENT when the process has ended, -EACCES when it may not be looked at. */
int fdlist_open(struct fdlist *l, const struct root *proc, pid_t pid);
/* The next one. False when there are no more; the list is closed then. */
bool fdlist_next(struct fdlist *l, int *fd, char target[FDLIST_TARGET]);
void fdlist_close(struct fdlist *l);

/* The N of a path such as "/dev/nvidiaN", at least first; false for anything else: /dev/nvidiactl.
 */
bool fdlist_device(const char *target, const char *device, uint64_t first, uint64_t *number);

/*
 * Parsers of one thread's files, /proc/PID/task/TID/..., proc_pid_status(5).
 *
 * The same files of /proc/PID tell of the first thread alone. Pure: the text is hostile and
 * NUL-terminated; 0 when everything asked for was found, else -EBADMSG. Counts are those of the
 * thread so far; the kernel forgets them when it ends.
 */

struct thread_status {
	char state; /* R S D T t I Z X */
	int64_t voluntary, involuntary;
	/* Lists as cpuset(7) writes them, in the text, up to the end of the line; NULL: not told.
	 */
	const char *cpus, *nodes;
	int64_t high_water_bytes; /* of the resident set of its process; 0: not told */
	bool ignores_children;    /* SIGCHLD is ignored: nobody can wait for them */
};
int thread_status_parse(const char *status, struct thread_status *out);
/* Whether SigIgn names SIGCHLD; false where it is not told. */
bool thread_ignores_children(const char *status);

/* All that the kernel has counted of a thread: exact of one that does not run. turns: how often it
 * got a CPU. */
struct thread_times {
	int64_t run_ns, ready_ns, turns;
};
int thread_times_parse(const char *schedstat, struct thread_times *out);

/* Time it was ready to run and waited for a CPU. -EOPNOTSUPP where the kernel does not account
 * that: it prints zeros. */
int thread_schedstat_parse(const char *schedstat, int64_t *wait_ns);

/* Moves to another CPU, which sched tells where the kernel has it (CONFIG_SCHED_DEBUG). */
int thread_sched_parse(const char *sched, int64_t *migrations);

/*
 * The resource limits of a process (ulimit): which are recorded, and by what names.
 *
 * Soft limits, which are those that bind. LIMIT_NONE stands for unlimited, LIMIT_UNKNOWN for what
 * could not be read.
 */

enum { LIMIT_ROWS = 9 };
#define LIMIT_NONE    INT64_C(-1)
#define LIMIT_UNKNOWN INT64_C(-2)

struct limit_row {
	const char *key, *line; /* of the job; as /proc/PID/limits calls it */
	__rlimit_resource_t resource;
};
extern const struct limit_row limit_rows[LIMIT_ROWS];

/* Of a process: "limit.open_files_count". */
const char *limit_label(const struct limit_row *row);

struct limits {
	int64_t value[LIMIT_ROWS];
};

/* Those of rlimits[RLIM_NLIMITS]. */
void limits_take(const struct rlimit *rlimits, struct limits *out);
/* Of a process; its file is for everybody to read. 0 or -errno. */
int limits_read(const struct root *proc, pid_t pid, struct limits *out);
/* Pure: text in, numbers out. The text is hostile. */
void limits_parse(const char *text, struct limits *out);

#endif
