/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_state.h - what the files of the process tree share; nobody else includes it.
 *
 * tree.c: one sample. sums.c: the totals; peak.c: of memory. starts.c: who starts, is renamed and
 * ends, and whom nobody waits for. discover.c: who is found in /proc, how many there were at most,
 * and what reports starts, where that costs the job too much. tasks.c: launchers, and how processes
 * ended. What has a header of its own is there: dump.h, memory.h, memory_files.h, series.h,
 * threads.h, walk.h.
 */
#ifndef SONDE_SAMPLER_TREE_TREE_STATE_H
#define SONDE_SAMPLER_TREE_TREE_STATE_H

#include "sampler/tree/affinity.h"
#include "sampler/tree/crashes.h"
#include "sampler/tree/dump.h"
#include "sampler/tree/exits.h"
#include "sampler/tree/memory.h"
#include "sampler/tree/reading.h"
#include "sampler/tree/series.h"
#include "sampler/tree/table.h"
#include "sampler/tree/tree.h"
#include "sampler/tree/walk.h"
#include "source/job.h"
#include "source/process.h"
#include "source/procfile.h"

enum {
	PROMOTED_MAX = 256, /* processes that are series at a time */
	NAMED_PER_S =
		200, /* short processes that become instances of their own: so many a second */
	NAMED_BURST = 2000, /* and so many at once; the others are in their command's totals only */
	NAMED_ALWAYS_MS = 50,   /* but never one that used this much CPU */
	GONE_MAX = 256,         /* processes that ended a moment ago */
	PEAK_MATTERS = 8 << 20, /* bytes of shared pages that a process usually has */
};

/* Whose child it was, for its own children that end with it. */
struct gone {
	pid_t pid, ppid;
	uint32_t instance;
	uint64_t ticks; /* when it was found to have ended */
};

/* What children had that were gone before their parent, a task's command, was. */
struct left {
	pid_t pid; /* of the parent; 0: there are none */
	bool surely;
	int64_t children, cpu_ns;
	struct proc_io io;
};

/* What one launcher started. */
struct task {
	pid_t launcher; /* 0: it has ended, or is gone, and its pid may be another's */
	int io;
	struct message reaped; /* what it waited for */
	pid_t command;         /* that has ended; 0: it runs */
	int children;          /* enum glance_children, of it */
	struct left left;
	struct proc_io io_base, io_now;
	bool io_known;
	int64_t parts[PART_NUMBER_OF], attributed_ended_ns;
	int64_t recorded[RECORDED_NUMBER_OF]; /* by an earlier recorder */
};

/* What processes that ended may have had more than when they were read last, at the rate at which
 * they grew then; and what they had. */
struct growth {
	int64_t before; /* what all had in the sample before */
	int64_t processes, had, more;
};

/* What all had since a sample in which the sum of PSS was last sure, at most. */
struct unsure {
	int64_t most, resident; /* each the most of all these samples; most 0: there are none */
	int64_t left_resident;  /* of struct tree, at the first */
};

/* Shares of memory that went over to those that still have it, since another gave it back, copied
 * it or ended; these are to be walked again, then. */
struct moved {
	int64_t fresh, due; /* bytes: since then; before, until all were walked */
	int64_t at_ns;      /* the last of the fresh */
};

/* Whether exit records cost the job too much. */
struct cheaper {
	bool may, seems, wanted; /* another mechanism; since it switches tasks often */
	int storm;               /* looks in a row at which it started processes that do little */
	int64_t since_ns;        /* what was before, the records have told */
	/* processes, and their CPU time, when it was judged last */
	int64_t started, started_ns, cpu_ns;
};

/* What comes due apart, as struct cadence has it. */
enum { DUE_STAT, DUE_IO, DUE_FILES, DUE_NUMBER_OF };

struct tree {
	struct reading reading;
	struct dump dump;
	struct table table;
	/* what tells of starts and ends; neither: new pids are looked for */
	struct exits *exits;
	struct connector connector;
	struct cheaper cheaper;
	struct commands commands;
	struct crashes crashes;
	struct sample *sample;
	int64_t opened_ticks; /* since boot */
	int64_t opened_ns;
	pid_t recorder;    /* as the root names it; it may be a descendant */
	bool launched;     /* launchers wait for what the job starts; else attached */
	struct task *task; /* in the order of coming; none leaves */
	uint32_t ntasks, tasks_max;
	int loadavg;
	pid_t last_pid;
	struct unplaced *unplaced; /* found by a scan */
	uint32_t job_slot, promoted;
	uint64_t ticks;
	struct cadence pace;
	unsigned due; /* enum reading_part: what is read of a process that ran, this time */
	int64_t due_ns[DUE_NUMBER_OF]; /* when they were due last */
	uint64_t dues[DUE_NUMBER_OF];  /* samples in which they were */
	uint64_t reads, first_reads;   /* of processes' files */
	int64_t files_cpu_ns;          /* what those took in this sample */
	uint32_t keep_hand;
	int64_t now_ns, named_left_ns, vanished_ns; /* when a process was found gone; 0: none was */
	bool follow;                                /* members that nothing tells of are adopted */
	bool unwatched;                             /* a process runs on without exit records */
	bool rescan;                                /* records were lost: look for what they told */
	bool any_failed;                            /* a process ended by a signal or not with 0 */
	uint64_t unknown_ends;                      /* processes that ended, nobody knows how */
	bool unwaited;          /* children that nobody waited for are not counted in full */
	int64_t unwaited_ns;    /* CPU of such children in departed_cpu_ns */
	uint32_t asks;          /* whether one waits for its children, in this sample */
	uint64_t records, told; /* of starts and ends, anybody's; told: until the last sample */
	int silent; /* samples in which the connector told nothing, since a pid was given out */

	int64_t max_rss_reaped;
	int64_t peak_of_one;        /* of a process, which no sample has seen; 0: none */
	int64_t live_peak;          /* processes in a sample */
	int64_t largest_rss;        /* of one process, in any sample */
	int64_t least;              /* what all had for certain in a sample, most of all samples */
	int64_t most_private;       /* PART_PRIVATE in that sample */
	struct growth left, missed; /* since the last sample; the largest between two */
	int64_t resident;           /* in the last sample */
	int64_t unread_ns;          /* CPU of those that ended and were never read */
	int64_t recorded[RECORDED_NUMBER_OF]; /* what earlier recorders have of the tasks here */

	int64_t parts[PART_NUMBER_OF]; /* sums of those of the processes in the table */

	/* of processes that are gone */
	int64_t departed_cpu_ns; /* whose time moved to nobody we see */
	int64_t attributed_ended_ns;
	int64_t started, ended, threads_started; /* threads: besides the first of each process */
	int64_t alive, alive_peak;     /* as starts and ends were told, in the order of time */
	uint32_t handles, handles_max; /* pidfds that are open, and may be; max 0: not known yet */
	uint32_t ending; /* rows whose process has ended and whose counts are on their way */
	uint64_t lost_records;
	int64_t forks_before, pid_before; /* when the recording began; -1: not known */
	int64_t taken_before, taken_ns;   /* by interrupts and a hypervisor: ticks when it began;
					     since, at its end; -1: not known */
	int64_t started_at_most;          /* -1: not known, or not yet */
	struct gone gone[GONE_MAX];       /* by pid */
	struct proc_io departed_io;
	int64_t departed_minflt, departed_majflt;

	int64_t cpu_ns;          /* the job's, as this sample found it */
	int64_t reported_cpu_ns; /* what of it was recorded in the last one, at put_ns */
	int64_t put_ns;          /* 0: none was */
	int64_t cores;           /* of this machine; 0: others' processes are read */
	int64_t waited_ns;       /* the same without what only records tell */
	int64_t unattributed_ns; /* the most of it that no process was known for */
	/* this sample's sums; counters never go back */
	int64_t job[JOB_NUMBER_OF];
	bool job_known[JOB_NUMBER_OF];
	struct unsure unsure;
	int64_t left_resident; /* of all that are gone, as they were read last */
	int64_t peak_rss, peak_pss, peak_pss_at_most, peak_pss_age_ns, samples_with_pss,
		samples_with_live;

	struct looks looks;
	struct arguments arguments;
	struct limits limits; /* the job's */
	bool limits_known;
	uint32_t limits_turn;
	int64_t limits_ns; /* when one was looked at last */

	struct memory memory;

	/* PSS */
	enum pss pss;
	double walks_share;
	int64_t walk_budget_ns, walk_time_ns, walks_ns;
	int64_t long_walk_ns; /* from when on the next long one may be */
	uint32_t walk_cursor;
	struct pages pages;
	struct pages_estimate *estimate; /* [table.cap], by row */
	int64_t shared_since_ns;         /* when one was read that may share much more memory */
	struct moved moved;
	bool paging;                    /* of one that was, at least */
	bool shares_changed;            /* one was made, or has left */
	int64_t peak_pages_error_bytes; /* of the peak; 0: no estimate was in it */
};

/* Are starts and ends told? */
static inline bool tree_has_events(const struct tree *t)
{
	return t->exits || t->connector.fd > 0;
}

/* starts.c */
void starts_step(struct tree *t, bool last);
/* Take the records of until then; 0: those that are there for sure. */
void starts_drain(struct tree *t, int64_t until_ns);
/* Counts of who has ended come in this call or the next, or are not waited for. */
void starts_end_the_ended(struct tree *t);
/* A process that was read a moment ago is gone: its records are there by now. */
void starts_catch_up(struct tree *t);
struct process *starts_add(struct tree *t, pid_t pid, pid_t ppid, int64_t at_ns);
void starts_end(struct tree *t, struct process *p, int64_t at_ns);
/* Exit records hold what interrupts and a hypervisor took, which its CPU clock does not: no thread
 * of it used more than has passed since that was read. */
void starts_bound(struct process *p, int64_t at_ns, int64_t cpus);

void io_add(struct proc_io *to, const struct proc_io *io, int sign);

/* p was read: what its parent had been given by then. */
void unwaited_note(struct tree *t, struct process *p);
/* p is gone. Did nobody wait for it, since its parent ignores that? One that ignores it at times
 * only is asked in each sample that finds a child gone; whether it waited for this one is then not
 * known. */
bool unwaited_is(struct tree *t, struct process *p);
/* p, which is gone, goes to its parent's account. */
void unwaited_count(const struct tree *t, struct process *parent, const struct process *p);
/* p leaves the table; what its launcher found; and what follows from both, in the end. */
void unwaited_leaves(struct tree *t, const struct process *p);
/* At the end: do exit records tell of more than was waited for? */
void unwaited_compare(struct tree *t);
/* Pids were given out, to whom is not known: may they be children of who ignores their end? */
void unwaited_suspect(struct tree *t);
/* Ends are told without their CPU time from now on. */
void unwaited_changed(struct tree *t);
/* From now on the totals are lower bounds, but for CPU time where each end tells it. */
void unwaited_say(struct tree *t);
void unwaited_heard(struct task *k, const struct message *m);
void unwaited_last(struct tree *t);
/* What /proc/PID/status of its first thread says. */
void unwaited_reported(struct process *p, bool ignores);

/* discover.c */
int discover_open(struct tree *t, const struct tree_options *o, struct err *e);
void discover_close(struct tree *t);
void discover_step(struct tree *t);
void discover_all(struct tree *t);
/* Was a pid given out since this was asked last? */
bool discover_new_pid(struct tree *t);
/* Say in the recording whether a mechanism is used, or why not. */
void discover_say(struct tree *t, const char *mechanism, int bad, const char *why);
bool discover_is_ours(const struct tree *t, pid_t ppid);

/* Its thread switched so often in so many nanoseconds. */
void cheaper_note(struct tree *t, int64_t switches, int64_t ns);
void cheaper_count(struct tree *t);
void cheaper_step(struct tree *t);

void bound_end(struct tree *t);

/* tasks.c */
int tasks_init(struct tree *t, const struct tree_options *o);
void tasks_close(struct tree *t);
/* The task that a launcher of this pid has started; NULL: none. */
struct task *task_of(const struct tree *t, pid_t launcher);
void tasks_read(struct tree *t);
/* Of all launchers: what they waited for, and their own input and output. False: not known. */
void tasks_reaped(const struct tree *t, struct message *sum);
bool tasks_io(const struct tree *t, struct proc_io *sum);
/* Has a launcher gone without a word: killed? What it would have waited for nobody tells. */
bool tasks_lost(const struct tree *t);
/* Was p, which began at that tick, there when an earlier recorder took its last sample? */
bool tasks_have_recorded(const struct tree *t, const struct process *p, int64_t start_ticks);

/* A process was found: how it ends will be known. */
void status_watch(struct tree *t, struct process *p);
/* It has ended: take how. */
void status_take(struct tree *t, struct process *p);
void status_forget(struct tree *t, struct process *p);
/* Labels of its instance: exit_code, or signal and core_dumped. */
void status_say(struct tree *t, const struct process *p);
/* Labels of its instance: limit.NAME, where it is not the job's, once for each program; nice, when
 * it has changed. */
void status_say_now(struct tree *t, struct process *p);
/* Each sample one process is asked for its limits again, in turn: it may have set others. */
void status_turn(struct tree *t);

/* sums.c */
void sums_make(struct tree *t);
/* Is what was waited for all that the job used, exit records notwithstanding? */
bool sums_account_stands(const struct tree *t);
/* Whether what it has more of, or less, may be others' too: of a mapping that it shares, or of the
 * program that it was forked from. */
bool sums_may_share(const struct tree *t, const struct process *p);
/* A process is about to leave the table, and its part the totals. */
void sums_leave(struct tree *t, const struct process *p);

/* walk.c */
void walk_moved(struct tree *t, int64_t bytes, int64_t at_ns);

/* peak.c */
/* With the PSS of this sample, as far as it is known, whose oldest reading is so old; with the sum
 * of resident sets. */
void peak_raise(struct tree *t, int64_t age_ns);
void peak_raise_rss(struct tree *t, int64_t resident);
/* It is gone, and grew to the last, maybe. */
void peak_ended(struct tree *t, const struct process *p, int64_t at_ns);
/* VmHWM of a process. */
void peak_told(struct tree *t, struct process *p, int64_t high_water);
void peak_take(const struct tree *t, struct tree_totals *out);

#endif
