/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - the processes of the job that are alive, by pid.
 *
 * Address space for `cap` rows is reserved once, memory is used as rows are. A row keeps its
 * address while its process lives; live[] lists the rows in use in the order they came, parents
 * before children. A pid names one row at a time: identity is (pid, start time), and who reads it
 * checks both.
 */
#ifndef SONDE_SAMPLER_TREE_TABLE_H
#define SONDE_SAMPLER_TREE_TABLE_H

#include "base/bytes.h"
#include "base/root.h"
#include "job/secret/secret_list.h"
#include "source/procfile.h"

enum { TABLE_CAP = 131072, PROCESS_FILES_KEPT = 4, NAME_SIZE = 16, CALLED_SIZE = 48 };

enum kept_file { KEPT_STATM, KEPT_STAT, KEPT_IO, KEPT_FDS };

/* What a process adds to the job's totals. NO_: 1 when it could not be read; NO_PSS: its RSS. */
enum part {
	PART_CPU,
	PART_OWN,
	PART_LIVE,
	PART_THREADS,
	PART_FILES,
	PART_RESIDENT,
	PART_VIRTUAL,
	PART_SHARED,
	PART_PRIVATE, /* of one that executed its program since it started: nobody else has it */
	PART_PSS,
	PART_USS,
	PART_SWAP,
	PART_HUGETLB,
	PART_ANONYMOUS_HUGE,
	PART_SHARED_MEMORY, /* of what is mapped; more of it where it was not read exactly */
	PART_UNSURE,        /* memory that others may have, too, since it was walked */
	PART_COPIED,        /* shared pages that it may have its own copies of, since then */
	PART_MINOR_FAULTS,
	PART_MAJOR_FAULTS,
	PART_READ,
	PART_WRITTEN,
	PART_READ_CALLS,
	PART_WRITE_CALLS,
	PART_STORAGE_READ,
	PART_STORAGE_WRITTEN,
	PART_VOLUNTARY,
	PART_INVOLUNTARY,
	PART_MIGRATIONS,
	PART_WAITED,
	PART_CHILDREN_VOLUNTARY,
	PART_CHILDREN_INVOLUNTARY,
	PART_THREADS_RUNNING,
	PART_THREADS_SLEEPING,
	PART_THREADS_BLOCKED,
	PART_THREADS_STOPPED,
	PART_NO_THREADS,
	PART_NO_IO,
	PART_NO_FILES,
	PART_NO_SHARED,
	PART_NO_PSS,
	PART_NO_SWAP,
	PART_NO_ANONYMOUS_HUGE,
	PART_NUMBER_OF
};

/* What a thread has used, as its files tell. The order is that of the parts. */
enum thread_use {
	USE_VOLUNTARY,
	USE_INVOLUNTARY,
	USE_REAPED, /* those before it the kernel adds to the parent's when a process is reaped */
	USE_MIGRATIONS = USE_REAPED,
	USE_WAITED,
	USE_NUMBER_OF
};

/* What it was doing. The order is that of the parts. */
enum thread_state {
	THREAD_RUNNING, /* or ready to */
	THREAD_SLEEPING,
	THREAD_BLOCKED, /* cannot be woken by a signal: waits for storage, mostly */
	THREAD_STOPPED,
	THREAD_STATES /* none of these: has ended, is not known */
};

struct process {
	/* what every sample looks at: one cache line */
	_Alignas(64) pid_t pid;
	uint32_t idle_samples;
	int64_t cpu_ns; /* its CPU clock */
	int64_t read_ns;
	int64_t estimated_ns;    /* when its memory was walked, if that has changed; 0: not so */
	uint32_t instance, slot; /* 0: not yet, not promoted */
	uint8_t stale;           /* enum reading_part: what has changed since it was read */
	uint8_t history;         /* bit 0: active in this sample, bit 1: in the one before ... */
	uint8_t fresh;           /* in so many samples its values are put anew; 0: they stand */
	bool ended, vanished;
	bool part_due; /* its part of the job's totals has changed */
	bool walk_due; /* it was read since its memory was walked, or found unchanged */
	bool look_due; /* it ran since its threads were looked at */

	pid_t ppid;
	uint32_t task;                /* which of the launchers its ancestor had; 0 when attached */
	uint32_t next;                /* bucket chain */
	uint64_t order;               /* of arrival: live[] is sorted by it */
	int64_t part[PART_NUMBER_OF]; /* as it is in the job's totals */
	int64_t cpu_base_ns, end_ns;  /* base: what was before recording began */
	char comm[NAME_SIZE];
	char script[CALLED_SIZE]; /* what an interpreter runs, with its name; "": none */
	char told[CALLED_SIZE];   /* what its instance is called so far */
	int64_t start_ticks;      /* 0: stat was not read yet */
	int64_t birth_ns;
	int64_t found_ns; /* when it was found in /proc; 0: its birth was recorded */
	int64_t unnamed_ns, unnamed_until_ns; /* while children ran that have no instance */
	/* CPU */
	int64_t utime_base, stime_base, minflt_base, majflt_base;
	int64_t counted_ns; /* sum of the exit records of its tasks */
	int64_t clock_ns;   /* when its CPU clock was read; 0: never */
	int64_t children_base_ns;
	int32_t tasks_live, counts_due;
	/* last full reading */
	struct proc_stat stat;
	struct proc_io io, io_base,
		io_children; /* children: what reaped ones had, as far as seen */
	struct proc_statm statm;
	int64_t statm_rss_pages; /* what stat gave when statm was read */
	int64_t shared_bytes, files, peak_rss_bytes;
	/* memory walk; -1: never */
	int64_t pss_bytes, uss_bytes, swap_bytes, walk_ns, walk_cost_ns, walk_private_bytes;
	int64_t walk_minflt, walk_rss_bytes, walk_uss_bytes;
	int64_t noted_shared_bytes; /* when others were last told that it may share more */
	double copies; /* of its page faults, the part that made shared memory its own, of late */
	int64_t anonymous_huge_bytes, shared_memory_bytes; /* -1: not known */
	int64_t hugetlb_bytes;                             /* huge pages of hugetlbfs */
	int64_t hugetlb_faults;                            /* its faults when that was read */
	int64_t files_looked;      /* how many it had when memfds were looked for among them, */
	int64_t files_looked_ns;   /* and its cpu_ns then */
	int64_t pages_error_bytes; /* of an estimate from some pages */
	bool has_forked;           /* one that runs the same program */
	bool huge_faults;          /* a page fault may give it a huge page */
	bool walk_outdated;        /* others came since it was walked, which may share with it */
	bool pages_refused;
	bool paged; /* it is such an estimate, of struct tree's estimate[] */
	/* its threads, those that have ended included, as they were looked at last */
	uint32_t threads; /* the first row in struct threads; 0: none */
	int32_t threads_in[THREAD_STATES];
	int64_t looked_ns; /* 0: never */
	int64_t used[USE_NUMBER_OF], used_base[USE_NUMBER_OF];
	int64_t used_children[USE_REAPED]; /* what those it may have waited for had */
	int kept[PROCESS_FILES_KEPT];
	int64_t stack;                  /* of the program whose arguments were read */
	bool arguments_due, limits_due; /* it executes another program since */
	uint8_t program;                /* its file, in struct crashes, from 1 on; 0: not known */
	bool program_known;             /* to who asked for other programs */
	bool limits_told;               /* some that are not the job's */
	uint32_t limits_sum;            /* of those that were read last; 0: none */
	int8_t nice_told;               /* 0 until it was another one */
	int handle;                     /* pidfd; 0: none */
	int status; /* as wait(2) gives it, of one that ended; 0 also where it is not known */
	bool status_known;
	bool has_threads; /* more than one, at any time */
	bool io_known, io_refused, files_known, files_refused, shared_known;
	bool hugetlb_known;
	pid_t memory_of; /* an ancestor that has the same memory, not just the same pages; 0: none
			  */
	bool lends;      /* it is one */
	int64_t grown_at_ns;           /* when its resident memory was read last; 0: never */
	int64_t grown_ns, grown_bytes; /* what it had more by then, and since when */
	bool walk_refused, walked_now, before_us, looks_refused, looked_now;
	bool goes_on;                 /* an earlier recorder, which was lost, has it, too */
	bool waited;                  /* its time is in what its launcher has waited for */
	bool asked, ignores_children; /* whether it waits for them; it ignores SIGCHLD */
	bool judged, never_waits;     /* when a child was gone: it was given nothing of it */
	bool executed;                /* a program of its own, since it started */
	int64_t asked_ns;
	int64_t gone_ns;      /* CPU of children of its own that are gone, as far as seen */
	uint32_t gone;        /* how many are */
	bool gone_surely;     /* one that was a process of its own: it had faults */
	int64_t parent_given; /* page faults of children that its parent had been given when it was
				 read last; -1: not known */
};

struct table {
	struct process *row; /* row 0 is never used */
	uint32_t *bucket, *live, *spare;
	uint8_t *removed; /* a bit for each pid */
	uint32_t used, nlive, nspare, cap;
	uint64_t arrived;
	uint64_t refused; /* starts that found no room */
};

int table_init(struct table *t); /* 0 or -ENOMEM */
void table_free(struct table *t);
struct process *table_find(const struct table *t, pid_t pid); /* NULL: not there */
/* A new row, zeroed, for a pid that is not there; NULL when full (counted). */
struct process *table_add(struct table *t, pid_t pid, pid_t ppid);
/* The last process of this pid that was there was removed. */
bool table_removed(const struct table *t, pid_t pid);
/* Something of it has changed: its part of the totals is made anew, and its values are put, once
 * more without what is told only once. */
static inline void process_changed(struct process *p)
{
	p->fresh = 2;
	p->part_due = true;
}
/* What it is called, cut to what the kernel gives. The rest is zero: names compare as bytes. */
void process_name(struct process *p, const char *comm);
/* It executes another program: its arguments are others. */
void process_executes(struct process *p);
/* What people call it: its script, or its command. */
const char *process_called(const struct process *p);
void table_remove(struct table *t, struct process *p); /* its files must be closed */

/*
 * What a process was started with, as one line for its instance, and what people call
 * it: of an interpreter, the script.
 *
 * The line is what /proc/PID/cmdline begins with, quoted for a shell, secrets masked (job/words.h)
 * and cut. The text is hostile. Nothing is allocated after arguments_open.
 */

enum { ARGUMENTS_READ = 2048, ARGUMENTS_LINE = 256 };

struct arguments {
	char line[ARGUMENTS_LINE + 4];
	/* private */
	const struct secret_list *secrets;
	struct bytes words, scratch;
};

/* 0 or -ENOMEM. secrets: the site's own, borrowed, or NULL. */
int arguments_open(struct arguments *a, const struct secret_list *secrets);
void arguments_close(struct arguments *a);

/* Three system calls: a->line, and p->script. False when nothing can be read, as of a process that
 * has ended, or is not to be (arguments_open was not called). */
bool arguments_read(struct arguments *a, const struct root *proc, struct process *p);

/* The same of n bytes as the file gives them, which are changed; whole: there are no more. */
bool arguments_take(struct arguments *a, char *raw, size_t n, bool whole, struct process *p);

#endif
