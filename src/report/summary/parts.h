/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - the parts that summary_make is put together from.
 *
 * Each part reads the run and fills its own figures; order matters only where said. Private to
 * this folder, and to judging/builds.c, holdup.c, hotspot.c and repeats.c.
 */
#ifndef SONDE_REPORT_SUMMARY_PARTS_H
#define SONDE_REPORT_SUMMARY_PARTS_H

#include "base/bytes.h"
#include "report/summary/summary.h"

/* Where figures.def says that a figure is besides in the rules. */
enum { HIDDEN = 0, JSON = 1, KEPT = 2 };

/* What may be kept of a series without decoding it, in base units; NAN: it had no value. */
enum series_field {
	SERIES_BEGIN = 1,
	SERIES_LAST = 2,
	SERIES_MAX = 4,
	SERIES_MIN = 8,
	SERIES_SUM = 16, /* of value x seconds */
	SERIES_SECONDS = 32,
	SERIES_RISE = SERIES_BEGIN | SERIES_LAST,
	SERIES_MEAN = SERIES_SUM | SERIES_SECONDS,
};

struct series_kept {
	uint32_t series, value; /* value: the first of its fields in series_index.value */
	uint32_t next;          /* of the same instance; 0: none */
};

/*
 * What is known of series without decoding them: of very many nodes only what parts ask for, before
 * it is read, and by how much all counters rose. Filled some nodes at a time.
 */
struct series_index {
	const struct run *run;
	bool *unasked;  /* set when somebody looks at what was not asked for */
	uint8_t *asked; /* [nmetrics] enum series_field; that of metric 0 means nothing */
	double *grown;  /* [nmetrics] what counters of the node and the job rose by; NAN: not known
			 */
	double *share;  /* [nnodes] what counts of the node's machine */
	struct series_kept *kept; /* from 1, in order of series */
	double *value;
	uint32_t *first; /* [ninstances] first kept of the instance; 0: none */
	uint32_t nkept, kept_cap, nvalues, values_cap;
	/* those of nodes from .. to - 1, while these are read */
	struct series_seen *seen;
	uint32_t from, to, first_seen, behind_seen;
};

/* 0 or -ENOMEM. Free in either case. */
int series_index_make(struct series_index *x, const struct run *r, bool *unasked);
/* To be kept of all series of a metric. Its id, 0: the run has none such. */
uint32_t series_index_ask(struct series_index *x, const char *metric, unsigned fields);
/* Before nodes are read, with what ranges of their chunks say, and after. 0 or -ENOMEM. */
int series_index_begin(struct series_index *x, uint32_t from, uint32_t to);
void series_index_add(struct series_index *x, const struct range *range, uint32_t n);
int series_index_end(struct series_index *x);
/* After all: first and next; and the summary's growth: 0 or -ENOMEM. */
void series_index_chain(struct series_index *x);
int series_index_growth(const struct series_index *x, struct summary *s);
void series_index_free(struct series_index *x);
/* A field of the k-th kept; by how much it rose; its mean. */
double series_index_value(const struct series_index *x, uint32_t k, enum series_field field);
double series_index_rise(const struct series_index *x, uint32_t k);
double series_index_mean(const struct series_index *x, uint32_t k);
/* Last or largest value of an instance's metric; NAN when it has none. metric 0: none such. */
double series_index_last(const struct series_index *x, uint32_t instance, uint32_t metric);
/* How much it rose while it was recorded. */
double series_index_grown(const struct series_index *x, uint32_t instance, uint32_t metric);
double series_index_max(const struct series_index *x, uint32_t instance, uint32_t metric);
double series_index_min(const struct series_index *x, uint32_t instance, uint32_t metric);

/* What each part asks for. */
void summary_job_ask(struct series_index *x);
void summary_energy_ask(struct series_index *x);
void summary_straggler_ask(struct series_index *x);
void summary_counters_ask(struct series_index *x);
void summary_devices_ask(struct series_index *x);
void summary_failure_ask(struct series_index *x);
void summary_processes_ask(struct series_index *x);
void summary_standouts_ask(struct series_index *x);
void summary_movers_ask(struct series_index *x);
/* A command line as sentences have it, appended: its first line, shortened, without the directories
 * of the program. */
void summary_put_command(char *out, size_t size, const char *line);
void summary_ending_ask(struct series_index *x);
void summary_mpi_ask(struct series_index *x);

/* A label that is a number; NAN: there is none. */
double summary_label_number(const struct run *r, uint32_t instance, const char *key);

/* When the job was last seen to be there: before the recorder began to wait in vain for more of it.
 */
int64_t summary_end_ns(const struct run *r, uint32_t node);
/* Statistics of the metrics that match names (globs; NULL: of all but those of processes), idle
 * head and tail, most cores; the timeline of those that are told (names, without globs); and fills
 * x. One pass over the recording. */
int summary_metrics_make(struct summary *s, struct run *r, const char *names, const char *told,
			 struct series_index *x, struct err *e);
/* The globs of those metrics. */
void summary_select(struct bytes *globs, const struct run *r, const char *names);
/* Rows of a short run are cheap to decode; of a long one the footers of its chunks must do. */
bool summary_is_short(const struct run *r);
/* What idle times, most cores and energy are made from: they are in every selection. */
extern const char summary_cores_metric[], summary_power_metric[], summary_job_power_metric[];
/* What the story is made from besides. */
extern const char summary_memory_metric[], summary_kills_metric[], summary_waited_metric[],
	summary_threads_metric[], summary_gpus_metric[], summary_blocked_metric[],
	summary_ready_metric[], summary_count_metric[], summary_node_cores_metric[],
	summary_steal_metric[], summary_shared_metric[], summary_memory_files_metric[];
/* Work for as many cores, or less, is none. */
extern const double summary_idle_cores;
/* The job, the nodes, the monitor: from what the recorder said at its end, else from the series. */
int summary_job_make(struct summary *s, const struct run *r, const struct series_index *x,
		     struct err *e);
/* The energy that was used, and the job's share of it. After the metrics and the job. */
int summary_energy_make(struct summary *s, const struct run *r, const struct series_index *x,
			struct err *e);
/* Adds the globs of metrics that are compared over nodes always. */
void summary_compared(struct bytes *names);
/* The nodes side by side, and who is missing. After the energy. compared: more metrics, or NULL. */
int summary_nodes_make(struct summary *s, const struct run *r, const char *compared, struct err *e);
/* The host that came nearest to its limit of memory, of the hosts that are there. */
void summary_tightest_make(struct summary *s);
/* The host that is slow, and why. */
int summary_straggler_make(struct summary *s, const struct run *r, const struct series_index *x,
			   struct err *e);
/* What perf events say of the run. After the job. */
int summary_counters_make(struct summary *s, const struct run *r, const struct series_index *x,
			  struct err *e);
/* The tasks that ended, and how unequal those of each step are. */
int summary_tasks_make(struct summary *s, const struct run *r, struct err *e);
/* Whether the job's ranks ran out of reach: 0 or -ENOMEM. */
int summary_elsewhere_make(struct summary *s, const struct run *r);
/* Top processes, and the commands. */
int summary_processes_make(struct summary *s, const struct run *r, const struct series_index *x,
			   struct err *e);
/* Which code it was, by the built-in classes and those of a file or directory, or NULL. */
int summary_code_make(struct summary *s, struct run *r, const char *classes, struct err *e);
/* After that: what did most of the work (code_work.c). */
void summary_work_make(struct summary *s);
/* The one place that most of it went to, after the processes: 0 or -ENOMEM. */
int summary_hot_make(struct summary *s);
void summary_code_ranks_init(struct summary *s); /* nothing is known */
/* After commands, processes and stacks. */
void summary_tools_make(struct summary *s);
/* What was run again with the same arguments (judging/repeats.c). 0 or -ENOMEM. */
int summary_repeats_make(struct summary *s, const struct run *r);
/* Compilers that make started (judging/builds.c). 0 or -ENOMEM. */
int summary_builds_make(struct summary *s, const struct run *r);
/* By process, how much of its code is MPI's. With the code's rows. */
int summary_code_ranks(struct summary *s, struct err *e);
/* What waits held the job up. After the job and its waits. 0 or -ENOMEM. */
int summary_holdups_make(struct summary *s, struct run *r);
/* For each window of the timeline how many threads waited for a core; 0 where that is not known,
 * an estimate where threads were too many to be looked at. To be freed; NULL: out of memory. */
double *summary_waits_make(const struct summary *s);
/* If they were: what the summary has of them by looks is wrong, and becomes what was estimated. */
void summary_waits_correct(struct summary *s, const double *waited);
/* Whether more of the job's threads than ran may have been ready in a window: the node was full,
 * and two or more of the job's were seen ready before and after it; or nobody looked at them for
 * long, and more was ready there than before the job and after it, or it had very many. */
bool summary_waits_unseen(const struct summary *s, uint32_t window);
void story_init(struct story *y);
/* Findings over time, after the metrics and the nodes: 0 or -ENOMEM. */
int summary_story_make(struct summary *s, const struct run *r);
/* How many GPUs there were and did anything, and the fullest; ports of the fabric side by side.
 * After the story. 0 or -ENOMEM. */
int summary_devices_make(struct summary *s, const struct run *r, const struct series_index *x);
/* Who was killed for want of memory; what the batch system said at the end, and nodes that were
 * lost; who failed first. After the tasks and the nodes. */
void summary_failure_make(struct summary *s, const struct run *r, const struct series_index *x);
/* Marks of a watch for hangs; what the job waited for while it did little. After the processes. */
void summary_pauses_make(struct summary *s, const struct run *r);
/* A compiler's name, with a version or not: "clang-14". */
bool summary_is_compiler(const char *name);
/* " src/a.cpp": the first source among the words of its command line; "": none. NULL: none. */
void summary_source_of(const char *line, char *out, size_t size);
/* Processes alike of which one ended long after the others. */
void summary_unequal_make(struct summary *s, const struct run *r);
/* Did it read as much as another one wrote that the same process started: is it behind that in a
 * pipe, and has its work after it? */
bool summary_is_fed(const struct summary *s, const struct run *r, const struct summary_process *p);
/* Processes that stand out: the one at work most, one with a limit of its heap, and the commands
 * that did most of what the kernel counts. 0 or -ENOMEM. */
/* 0 or -ENOMEM. */
int summary_movers_make(struct summary *s, const struct run *r, const struct series_index *x);
int summary_standouts_make(struct summary *s, const struct run *r, const struct series_index *x);
/* Processes that failed though the job did not (hidden.c). 0 or -ENOMEM. */
int summary_hidden_make(struct summary *s, const struct run *r, const struct series_index *x);
/* When the line of what was printed is known. */
void summary_hidden_say(struct summary *s);
/* What ended first, limits that were near, and the words of the ending. After the story. */
void summary_ending_make(struct summary *s, const struct run *r, const struct series_index *x);
/* What the kernel's log says of what crashed. After that. */
void summary_crashes_make(struct summary *s, const struct run *r);
/* Where the time went; after all of these. 0 or -ENOMEM. */
int summary_account_make(struct summary *s, const struct run *r);

#endif
