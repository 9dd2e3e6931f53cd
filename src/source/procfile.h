/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procfile.h - parsers of one process's files in /proc, proc(5).
 *
 * Pure: text in, numbers out. The text is hostile and NUL-terminated; 0 when everything asked for
 * was found, else -EBADMSG. /proc/PID/stat has no names: its fields are counted from the last ')',
 * since a command name may hold anything.
 */
#ifndef SONDE_SOURCE_PROCFILE_H
#define SONDE_SOURCE_PROCFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif
