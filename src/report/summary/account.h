/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - where the time went: the wall time of a job x the cores it could use, in parts.
 *
 * The whole is wall time x cores; of a job that used more than that, its CPU time. It is counted
 * in core-seconds, so that threads that wait while all of those cores compute for the job take
 * nothing of it: that is `crowded_s`, which stands beside it. The parts add up to the whole. Each
 * takes at most what those before it left, in this order:
 *   computing       the job's CPU time, user and kernel as the kernel counted them (wait4);
 *   throttled       cgroup.throttled_seconds of the job's own control group;
 *   waiting         job.run_queue_seconds (schedstat), less what was throttled, in windows of time,
 *                   with what is estimated of programs too short to be looked at twice (waits.c):
 *                   at most the cores that the job did not use in a window. For others: at most
 *                   the CPU time that the nodes spent on others; the rest is for its own threads;
 *   memory          time in which some thread stalled on memory (pressure of the job's own control
 *                   group; else of the node, and then at most the next one);
 *   storage         the most of job.threads_blocked_count x time in windows, of the time that
 *                   processes were seen to wait for files, and of I/O pressure: of the job's own
 *                   control group, else of the node, times the job's part of what its disks did;
 *                   without what is memory;
 *   unknown         what is left where nobody had looked at the threads for a while, or ever;
 *   idle            what is left.
 * A part that is not known is NAN, and then what it may be is in another one: computing that is not
 * split in `computing`, waiting in `waiting`, memory in `storage`. {0} is none: whole_s 0.
 */
#ifndef SONDE_REPORT_SUMMARY_ACCOUNT_H
#define SONDE_REPORT_SUMMARY_ACCOUNT_H

#include "base/bytes.h"

#include <stdbool.h>

/* In the order in which they are drawn. */
enum account_part {
	ACCOUNT_USER,
	ACCOUNT_KERNEL,
	ACCOUNT_COMPUTING, /* user or kernel: not known */
	ACCOUNT_THROTTLED,
	ACCOUNT_OTHERS,
	ACCOUNT_OWN,
	ACCOUNT_WAITING, /* for others or for its own: not known */
	ACCOUNT_MEMORY,
	ACCOUNT_STORAGE,
	ACCOUNT_IDLE,
	ACCOUNT_UNKNOWN,
	ACCOUNT_PARTS
};

/* The words for a part, for whoever draws it. */
struct account_row {
	const char *key;    /* "computing_user" */
	const char *label;  /* "Computing in user mode" */
	const char *source; /* what it is taken from, in words */
	const char *colour; /* on a terminal */
	char glyph;
};
struct json;

extern const struct account_row account_rows[ACCOUNT_PARTS];

/* What is known of a job, in seconds; NAN: it is not. */
struct account_figures {
	double wall_s, cores;
	double cpu_s, user_s, system_s;
	double waited_s;    /* threads, for a core that the job did not use */
	double crowded_s;   /* threads, while it used all of them */
	double throttled_s; /* core-seconds */
	double others_s;    /* CPU time of others on the nodes */
	double memory_s;    /* at least one thread stalled on memory */
	double blocked_s;   /* threads, in uninterruptible sleep */
	double unseen_s;    /* core-seconds of which nothing is known but the CPU time */
};

struct account {
	double whole_s, wall_s, cores; /* whole_s 0: not known */
	double part_s[ACCOUNT_PARTS];  /* NAN: not known, or does not apply */
	double crowded_s;              /* beyond the whole; NAN: not known */
};

void account_make(struct account *a, const struct account_figures *f);
/* Parts in whole percent, which add up to 100. */
void account_percent(const struct account *a, int percent[ACCOUNT_PARTS]);
/* "[####==    ] computing 61 % (kernel 4 %), waiting for a core 12 %, idle 27 %" in at most so many
 * columns, 40 or more. Nothing of an account that is not known. */
void account_print(struct bytes *out, const struct account *a, unsigned columns, bool colour);
/* An object; null when it is not known. */
void account_json(struct json *j, const struct account *a);

#endif
