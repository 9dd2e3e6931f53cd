/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - totals of ended processes by command name; bounded, whatever the job starts.
 *
 * At most COMMANDS_MAX names have a row of their own; all further names share the row "(other)".
 * Scripts that come when half of the rows are taken count as their interpreter.
 */
#ifndef SONDE_SAMPLER_TREE_SERIES_H
#define SONDE_SAMPLER_TREE_SERIES_H

#include "core/sample.h"
#include "job/message.h"
#include "sampler/tree/table.h"

struct tree;

enum { COMMANDS_MAX = 256, COMMAND_NAME = 48 };

struct command_row {
	char name[COMMAND_NAME];
	uint32_t slot;
	int64_t processes, cpu_ns, read_bytes, written_bytes, peak_rss_bytes;
	bool io_seen; /* of one of them at least */
};

struct commands {
	struct command_row row[COMMANDS_MAX + 1]; /* the last one is "(other)" */
	uint32_t n;
	bool other;
};

struct command_use {
	const char *name; /* what it is called */
	const char *comm; /* and its command alone, when there are many names */
	int64_t cpu_ns, read_bytes, written_bytes, peak_rss_bytes; /* cpu, peak 0: not seen */
	bool io_known;
};

void series_put(struct tree *t, struct sample *s);
void series_ended(struct tree *t, struct process *p, int64_t at_ns);
void series_last(struct tree *t);

/*
 * What the recording has of a task, as an MPI rank: from when to when it ran, and
 * what it used.
 *
 * A task is an instance of its own, of domain "task", without series. While it runs, its CPU time
 * is written down whenever it has risen by a twentieth: what there is of a task that nobody tells
 * the end of. Its launcher's last word takes the place of that.
 */

struct task_record {
	int64_t rank; /* -1: not told */
	char step[MESSAGE_STEP];
	pid_t pid;         /* its command; 0: not known */
	bool goes_on;      /* an earlier recorder has its begin */
	uint32_t instance; /* 0: not begun, or there was no room for it */
	int64_t used_ns;   /* CPU time written down so far */
};

void task_record_begin(struct sample *s, struct task_record *t, int64_t at_ns);
/* m: its launcher's; of a command that has started the task begins, if it has not. */
void task_record_started(struct sample *s, struct task_record *t, const struct message *m);
/* cpu_ns: what the sample just taken has of it. */
void task_record_used(struct sample *s, struct task_record *t, int64_t cpu_ns);
/* m: its launcher's last word. */
void task_record_end(struct sample *s, struct task_record *t, const struct message *m);
/* Its launcher was killed, and says nothing any more. */
void task_record_lost(struct sample *s, struct task_record *t, int64_t cpu_ns, int64_t now_ns);

#endif
