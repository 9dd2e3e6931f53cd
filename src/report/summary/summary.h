/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - the figures people quote of a run, made once, read by `show`, the page and the end of
 * `run`.
 *
 * Every figure that may be unknown is NAN, every text NULL, never 0 or "". Text is hostile: escape
 * it where it goes. Figures of several nodes are sums, but wall_s (the longest) and where it says
 * so. Recordings of one host, which are steps of a job, are one: its cores and memory count once.
 */
#ifndef SONDE_REPORT_SUMMARY_SUMMARY_H
#define SONDE_REPORT_SUMMARY_SUMMARY_H

#include "base/bytes.h"
#include "base/pool.h"
#include "core/frame/losses.h"
#include "core/frame/run.h"
#include "core/host/hostlist.h"
#include "core/stacks/waitkind.h"
#include "core/statistics/stats.h"
#include "report/judging/holdup.h"
#include "report/judging/verdict.h"
#include "report/phases/timeline.h"
#include "report/summary/account.h"
#include "report/summary/story.h"

#include <stdio.h>

enum { SUMMARY_COUNTERS = 28 };
enum { SUMMARY_TOP = 10, SUMMARY_VERDICTS = 32, SUMMARY_NAME = VERDICT_NAME };

/* What the job printed when it failed (report/summary/reason.h). Texts are hostile. */
struct summary_reason {
	const char *text;   /* its last lines; NULL: none */
	const char *absent; /* why there are none; NULL: nobody said */
	bool of_output;     /* of standard output, in place of standard error */
	bool is_error;      /* the line is known for one, and not only the last */
	bool is_crash;      /* it says that a signal ended a program, and nothing more */
	char line[240];     /* that tells the reason; "": none */
	char kind[32];      /* of error(), and what to do; "": not known */
	char advice[240];
};

/* Of several nodes, so many are named where a job is introduced, and the others counted. */
enum { SUMMARY_HOSTS_NAMED = 4 };

struct summary_process {
	uint32_t instance;
	const char *name, *host;
	const char *command_line; /* shortened, without secrets; NULL: not known */
	double pid;
	double start_s, end_s; /* since the run began; end NAN while it lives */
	double cpu_s, peak_rss_bytes, read_bytes, written_bytes; /* NAN: not known */
	double unnamed_s; /* while children ran that are not known by themselves; 0: there were none
			   */
	double gpu_bytes; /* most on all GPUs; NAN: it was seen on none */
	uint32_t gpus;    /* that it was seen on */
	bool counted_already; /* by the recorder that went on: not to be counted twice */
};

/* A class of code (core/stacks/classes.h): its part of the CPU time, and half the 95 % interval of
 * it. */
enum { SUMMARY_SHARES = 64 };
struct summary_share {
	const char *class;
	double ratio, error;
};

/* The one place that most of the CPU time went to, in the program's own terms; ratio NAN: not
 * known. */
enum hot_in {
	HOT_IN_KERNEL,
	HOT_IN_IO,
	HOT_IN_COPIES,
	HOT_IN_ALLOCATION,
	HOT_IN_COMPRESSION,
	HOT_IN_EXCEPTIONS,
	HOT_IN_PATTERNS,
	HOT_IN_LOCKS,
	HOT_IN_MPI,
	HOT_IN_OPENMP,
	HOT_IN_PARSING,
	HOT_IN_FAULTS,
	HOT_INS
};
struct summary_hot {
	double ratio, least; /* of the CPU time; the lower end of its 95 % interval */
	double seconds;
	char place[480];     /* "Logger.debug (__init__.py:1477), called by main (match.py:41)" */
	char reason[100];    /* "Arrays that grow (numpy.append)": why it is slow; "": not known */
	double reason_ratio; /* with the kernel's time that shows the same; NAN: not known */
	double reason_least, reason_seconds;
	char who[280];         /* "python3 match.py": with its arguments */
	char in[HOT_INS][480]; /* ", most likely in main (match.py:41)."; "": not known */
	double opens_ratio;    /* of the kernel's time, as far as sampled: opens and closes files */
	char no_storage[96];   /* "; storage had no part in it: 1.2 MiB were read and written."; "":
				  it may have */
	char advice[560];      /* what fits that kind of code */
	char beside_mpi[400];  /* ". Outside of MPI: advance (wave.c:10) 76 %."; "": not known */
};

struct summary_command {
	const char *name;
	double processes, cpu_s, peak_rss_bytes, read_bytes, written_bytes;
};

/* A task, as an MPI rank, in the order of steps, launches and ranks. Of one that nobody told the
 * end of, the CPU time is a lower bound, at most a twentieth less than its last sample's. */
/* How the job ended: "Killed by SIGSEGV", and why, what ended first: ": it ... memory that it may
 * not. First to die: ..." (report/summary/ending.h). */
struct summary_ending {
	char words[48];
	/* Without and with what to do about what was printed; likewise of a job that waited, and of
	 * the first of several tasks to fail. */
	char why[1700], advised[1940], waited[2200], death[1080], death_advised[1320];
	char first[700]; /* ". First to die: solver (pid 12), 3.1 s after the start, by SIGSEGV." or
			    "" */
};

struct summary_task {
	uint32_t instance;
	uint32_t launch;  /* of several with the same ranks in one step: which, from 0 on */
	const char *step; /* NULL: not told */
	const char *host;
	double rank, start_s, wall_s, cpu_s, peak_rss_bytes, exit_code, signal;
	bool cpu_is_bound;
};

/* The tasks that ran together: those of one launch of a step. */
struct summary_step {
	uint32_t first, n;         /* in summary.tasks */
	struct spread cpu, memory; /* least and most: from first on */
};

struct summary_node {
	uint32_t node;
	const char *host;
	uint64_t samples;
	double cores, memory_bytes;
	double exit_code, signal,
		end_s; /* of what the recorder's launchers ran; since the run began */
	bool complete;
	bool lost; /* not closed, and no other recorder went on: killed, cut off or still running */
	bool again; /* an entry before it is the same host */
};

/* All recordings of one host together. */
struct summary_host {
	uint32_t node; /* the first of them */
	const char *host;
	double cpu_s, peak_memory_bytes, read_bytes, written_bytes, energy_j;
	double energy_job_j; /* the job's part of it */
	double held_bytes;   /* resident memory that samples saw, at most */
	double limit_bytes;  /* of control groups, else asked for, else present */
	double limit_ratio;  /* peak_memory_bytes of it */
	double oom_kills;
	double late_s;   /* it began so long after the first node; NAN: it did not */
	double unseen_s; /* the recorder stopped, for so long nothing of the job was here; or NAN */
	bool lost;       /* as summary_node.lost, of any of them */
	bool restarted;  /* a recorder was lost here, and another one went on */
};

/* A figure of all hosts side by side; least and most are indices into summary.hosts. */
struct summary_comparison {
	const char *metric; /* public name */
	const char *label;  /* NULL: its name says enough */
	const char *of;     /* what is compared: "total", "peak" or "mean" over the time */
	enum unit unit;
	bool adds_up; /* else the total says nothing */
	struct spread spread;
};

/* A way to follow processes that a node's recorder tried, or was told not to. */
struct summary_mechanism {
	uint32_t node;
	const char *name;   /* "exit_records" */
	char state[16];     /* "used", "off", "unsupported", "forbidden", "failed" */
	const char *reason; /* NULL: none was given */
};

/* What perf events say of the whole run, as "1.85 instructions per cycle". */
struct summary_counter {
	const char *metric, *words;
	const char *symbol; /* of the unit, where that of the metric says too little; or NULL */
	enum unit unit;
	double value;
	double share; /* of the time in which it was counted; 1: all of it; NAN: not known */
	bool brief;   /* one of those that a line has room for */
};

/* A metric or rate of one node (or of one device of it: metric[device]) over the whole run. A gauge
 * stands until the node's next row, a rate for its interval. */
struct summary_metric {
	const char *name; /* public name */
	uint32_t node;
	enum unit unit;
	enum combine over_nodes;
	struct stats stats;
};

/* How much a counter rose while it was recorded, over all nodes and devices. */
struct summary_growth {
	const char *metric; /* as it is stored: "disk.reads" */
	double grown;
};

struct summary {
	const char *path; /* of the recording, as it was opened */
	int64_t start_utc_ns;
	/* job: a member for each of its figures, flags and texts */
#define NODES(id, member, ...) double member;
#define MADE(member, ...)      double member;
#define FLAG(member, ...)      bool member;
#define TEXT(member, ...)      const char *member;
#include "report/summary/figures.def"
	bool core_dumped;
	double affinity_cpus; /* that the job's threads might run on, on average over time */
	double time_left_s;   /* of the job's time limit, when it ended */
	bool memory_asked_per_core;
	bool layout_unknown;    /* Sonde was a step of its own, and nobody told the job's tasks */
	double gpus, gpus_used; /* that were recorded; that showed any use at all */
	double gpu_memory_peak_bytes, gpu_memory_total_bytes,
		gpu_memory_peak_ratio;    /* of the fullest */
	double host_cores_used_peak;      /* of the recording that used most */
	double host_threads_running_peak; /* at a look, of the host that had most */
	double host_gpus_used;            /* of the host that used most */
	double began_again;               /* 1: the batch job, which had begun before; else 0 */
	const char *attempts_before; /* how those before this one ended; NULL: there were none */
	/* monitor */
	double monitor_cpu_s, monitor_rss_bytes /* largest of a node */, monitor_bytes,
		monitor_samples, monitor_late, monitor_skipped,
		monitor_unwritten; /* samples that were taken and could not be recorded */
	const char *reduced; /* what a node read more rarely to stay within its limit; NULL none */
	double interval_s;
	double recorder_lost_s;     /* when one was lost that another went on for; NAN: none was */
	struct summary_node *nodes; /* [nnodes], no entry is empty */
	uint32_t nnodes, nhosts;
	/* The host that came nearest to its limit of memory, and what it held; host NULL: not known
	 */
	double tight_peak_bytes, tight_held_bytes, tight_limit_bytes;
	const char *tight_host;
	struct summary_host *hosts;             /* [nhosts] */
	struct summary_comparison *comparisons; /* of several hosts */
	uint32_t ncomparisons;
	struct hostlist missing; /* nodes of the job that have no recording here */
	bool of_step;            /* of tasks of a batch system's step, not of the batch script */
	/* How far the wall clocks of two hosts may be apart: the sum of the two largest errors that
	 * kernels estimate; NAN: one does not, or there is one host. */
	double clock_error_s;
	bool is_cascade, is_timeline;   /* imported: events of a pool's start, or else spans */
	struct hostlist unsynchronised; /* hosts whose kernel says that nobody corrects its clock */
	struct mpi *mpi; /* what ranks did with MPI (report/summary/mpi.h); NULL: nobody asked */
	double mpi_ranks, mpi_elapsed_s, mpi_balance, mpi_serialisation, mpi_transfer; /* of it */
	struct summary_counter counters[SUMMARY_COUNTERS]; /* those that were counted */
	uint32_t ncounters;
	const char *counters_refused; /* why those that were asked for are not there; NULL: none is
					 missing */
	char counters_missing[4 * SUMMARY_NAME]; /* their groups; "": all of them */
	double tasks_not_counted;                /* of the job, by perf events, while others were */
	struct summary_process by_cpu[SUMMARY_TOP], by_memory[SUMMARY_TOP], by_io[SUMMARY_TOP];
	uint32_t nby_cpu, nby_memory, nby_io;
	struct summary_process *processes; /* all that there were, as they came */
	uint32_t nprocesses;
	struct summary_command *commands; /* by CPU, largest first */
	uint32_t ncommands;
	struct summary_task *tasks;
	struct summary_step *steps;
	uint32_t ntasks, nsteps;
	/* of the step whose tasks used the most unequal CPU time; NAN: none has two */
	double unequal_tasks, unequal_ratio, unequal_mean_s, unequal_most_s, unequal_rank;
	struct summary_growth *growth; /* [ngrowth] of counters */
	uint32_t ngrowth;
	struct story story;
	struct summary_reason reason;
	struct summary_reason hidden_said; /* of a process that failed though the job did not */
	char hidden_more[2 * STORY_TEXT + STORY_CRASH +
			 270]; /* the process's arguments, and that line; or "" */
	struct summary_ending ending;
	struct account account;   /* where the time went */
	struct steps *iterations; /* its steps (report/steps/steps.h) */
	struct waittime *waits;   /* of threads (report/summary/waittime.h); NULL: not recorded */
	struct files_used *files_used; /* report/summary/filesused.h; NULL: not recorded */
	/* Of them, where system calls were traced: opens of small files in one directory, and what
	 * was moved; the file that was read again and again; names that are not there, in one
	 * directory; opens, stats and such names; reads and writes. NAN: not known. */
	double small_files_opens, small_files_bytes, again_times, again_bytes, names_missing,
		names_asked, files_calls;
	/* Likewise: the share of what was written by the process that wrote most, how long its
	 * writes and syncs took, and how many other processes were at work for at least half of
	 * the run; small pieces that several processes wrote to one file, not in order. */
	double writer_ratio, writer_seconds, writer_others, blocks_writes, blocks_bytes,
		blocks_processes;
	struct peers_used *peers_used; /* report/summary/peersused.h; NULL: not recorded */
	/* Of the connections that waited longest for a reader and for a send buffer: how long, and
	 * the share of the time sending; of those that sent most again: its share of the bytes,
	 * and how much. NAN: not known. */
	double reader_seconds, reader_ratio, buffer_seconds, buffer_ratio, again_sent_ratio,
		again_sent_bytes;
	struct touched_memory
		*touched; /* its memory by code (report/summary/touched.h); NULL: not known */
	/* The function of which memory grows with that of the job, "" or "load (load.c:41)"; by how
	 * much, and how much all grew. NAN: none does, or it was not recorded. */
	double touched_growth_bytes, touched_all_bytes;
	char touched_top[160];
	struct code *code; /* the code it went to (report/summary/code.h); NULL: not known */
	/* Of it: samples, as many of equal weight as have the same error; shares of CPU time in the
	 * function and the thread that used most, and of processes too short to be sampled; how
	 * many threads used a hundredth or more. NAN without samples. */
	/* Processes with enough samples, and what the one that had most (least) of its CPU time in
	 * MPI had there. */
	double mpi_code_processes, mpi_code_most, mpi_code_least, mpi_code_work;
	double mpi_code_idle; /* of the name of the former, how many used hardly any CPU time */
	/* Which these are, "rank 1" or "heat (pid 12)", and the function of MPI in which the former
	 * spent most of its time there: ", mostly in MPI_Allreduce;"; "": not known. */
	char mpi_code_most_is[160], mpi_code_least_is[160], mpi_code_most_in[80];
	double code_samples, code_top_ratio, code_thread_ratio, code_threads, code_short_ratio;
	double code_unoptimized_least; /* lower end of its interval, a share of all CPU time */
	double code_unoptimized_ratio;
	double code_process_ratio;    /* of the process whose thread used most */
	char code_fortran[160];       /* its function with most of that, and where it is */
	double code_fortran_ratio;    /* share of what was sampled in functions of Fortran */
	double code_openmp_ratio;     /* share of the CPU time in parallel regions of OpenMP */
	double code_one_by_one_ratio; /* in its critical sections and locks */
	/* The function that calls itself, in a sampled stack, most often; and the share of the CPU
	 * time in stacks that have one so often. */
	double code_recursion_depth, code_recursion_ratio;
	const char *code_recursion; /* hostile text of the recording; NULL: none */
	char code_top[160];         /* "solve (solver.c:41)" */
	char code_spins[160];       /* likewise, of those that take locks or spin; "": none */
	double code_scans_least;    /* CPU time of databases that go through whole tables */
	double code_r_ratio;        /* CPU time of what R's evaluator calls, a share */
	double code_r_text_ratio;   /* and of what makes strings for R */
	/* What checks or measures the program and was left on: its share of the CPU time, the lower
	 * end of the 95 % interval of that, what it is, and how to turn it off; NAN: there is none.
	 */
	double tool_ratio, tool_least;
	const char *tool, *tool_advice;
	/* A program that reads files, run with the same arguments again and again: how often, at
	 * least, its CPU time, and its command line; 0: there is none. */
	double repeated_runs, repeated_cpu_s;
	char repeated[160];
	struct summary_hot hot; /* where most of the CPU time went */
	char main_work[320];    /* "R, 57 % of it in libR.so (no symbols)"; "": not known */
	struct summary_share share[SUMMARY_SHARES];
	uint32_t nshares;
	/* Of the time of threads, if it was recorded: the share of each kind of wait, where they
	 * waited most, and what held them up. */
	bool waits_known;
	double wait_ratio[WAIT_KINDS];
	char wait_top[HOLDUP_TEXT];
	struct summary_holdup holdup[HOLDUP_NUMBER_OF];
	struct timeline timeline;         /* of the metrics that rules tell times of */
	struct summary_verdict *verdicts; /* worst first; room for SUMMARY_VERDICTS */
	uint32_t nverdicts;
	struct summary_mechanism *mechanism; /* what was said of each last; a node's are together */
	uint32_t nmechanisms;
	struct summary_metric *metrics; /* [nmetrics], those that had a value */
	uint32_t nmetrics, metrics_cap;
	struct pool names; /* of them */
	struct losses losses;
	uint32_t ndamages;
};

struct rules;

/* Reads the whole run and judges it by the built-in rules. Strings are borrowed from the run.
 * 0 or -errno. */
int summary_make(struct summary *out, struct run *r, struct err *e);
/* The same as wished. */
struct summary_wish {
	bool all; /* statistics of all metrics, not only of those that rules look at: what is to
		     be said in words needs no more, and costs a fraction */
	const struct rules *builtin; /* those that travel in the program, where they were read
					before: to read them takes milliseconds; NULL: read them */
	const struct rules *site;    /* to judge by, too, after the built-in ones; NULL: none */
	bool public;                 /* without what is private: what the job printed last */
	const char *compared;        /* globs of metrics to compare over nodes, too; NULL: none */
	const char *classes;         /* of code, beside the built-in ones; NULL: none */
};
int summary_make_as(struct summary *out, struct run *r, const struct summary_wish *w,
		    struct err *e);
void summary_free(struct summary *s);
/* Statistics of all metrics but those of processes, node after node, for who need not keep them: a
 * run of very many nodes has millions. Names stay until all were given. 0 or -errno. */
typedef int summary_metric_fn(void *ctx, const struct summary_metric *m);
int summary_metrics_each(struct run *r, summary_metric_fn *give, void *ctx, struct err *e);

/* Its name, as people read it. */
const char *summary_command_shown(const struct summary_command *c);
/* The command of which most processes ran; NULL: none is known. */
const struct summary_command *summary_most_started(const struct summary *s);
/* CPU time of programs that do nothing else: users know that they compress. */
double summary_compressors_s(const struct summary *s);

/* What some process reached between two samples and no row of the processes shows, since the kernel
 * does not say which; NAN: the rows show the peak. */
double summary_unseen_peak(const struct summary *s);

/* The terminal summary in about five lines of 80 columns: how it ended, the first verdicts, where
 * the time went, what was used, where the recording is and what to type next. newest: commands take
 * this recording when none is named. own: the job's own numbers, or NULL. Every text is escaped,
 * colour if asked. */
struct own;
void summary_print_brief(const struct summary *s, const struct own *own, FILE *out, bool colour,
			 bool newest);
/* The terminal summary with all verdicts and figures, likewise. */
void summary_print(const struct summary *s, FILE *out, bool colour);
/* The same for a pull request or the summary of a CI job. */
void summary_markdown(const struct summary *s, struct bytes *out);
/* The largest processes with their lifetimes, and the commands, as tables of 80 columns. */
void summary_print_tops(const struct summary *s, FILE *out);
/* The figures of all nodes side by side, likewise; nothing of a single one. */
void summary_print_nodes(const struct summary *s, FILE *out);
/* "; nearest to a limit: on n2 ...", of several nodes. */
void summary_print_tightest(const struct summary *s, struct bytes *out);
/* `sonde show --json`: schema "sonde/show/1". */
void summary_json(const struct summary *s, struct run *r, FILE *out);

/* "6: ranks 0-1 on n1, 2-3 on n2; failed: rank 3 on n2 (SIGSEGV)", not escaped; nothing where there
 * are not two tasks. */
void summary_tasks_words(const struct summary *s, struct bytes *out);
/* "on n2 298.0 MiB of its 300.0 MiB": the host that came nearest to its limit of memory, not
 * escaped; nothing of a single host, or where that was less than half of it. */
void summary_tightest_words(const struct summary *s, struct bytes *out);

/* "64.0 MiB in huge pages (hugetlbfs), ...": what of the peak is of kinds that resident sets do not
 * show, where it is a part of it that matters. */
void summary_memory_words(const struct summary *s, struct bytes *out);

/* "without an end: n2; no recording of: n3", escaped for a terminal; nothing where there is none.
 */
void summary_nodes_words(const struct summary *s, struct bytes *out);

/* What the job could use: what was requested, else what affinity and control groups allow, else
 * what is there. NAN: not known. */
struct summary_whole {
	double v;
	const char *words; /* "requested", "allowed", "present" */
};
struct summary_whole summary_cores(const struct summary *s);
struct summary_whole summary_memory(const struct summary *s);
/* What the peak of memory is of, in words; NULL: no kind that is known. */
struct summary_memory_kind {
	const char *words, *brief;
};
struct summary_memory_kind summary_memory_kind(const struct summary *s);

/* How much a counter, by its stored name, rose over all nodes and devices; NAN: not known. */
double summary_grown(const struct summary *s, const char *metric);
/* CPU time that others than the job used on its nodes; NAN: not known. */
double summary_others_s(const struct summary *s);
/* Core-seconds in which it waited for storage, as the account has them. */
double summary_storage_s(const struct summary *s);
/* "1.85", "2.9 GHz", "12.3 GFLOP/s". Returns out. */
const char *summary_counter_format(const struct summary_counter *c, char *out, size_t size);

#endif
