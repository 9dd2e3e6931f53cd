/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holdup_part.h - what the files of report/judging/holdup.h share. Nobody outside includes this.
 */
#ifndef SONDE_REPORT_JUDGING_HOLDUP_PART_H
#define SONDE_REPORT_JUDGING_HOLDUP_PART_H

#include "base/bytes.h"
#include "core/stacks/waiting.h"
#include "report/judging/holdup.h"

struct holdups {
	struct waiting *w;
	struct run *r;
	double wall_s; /* of the job */
};

/* On a CPU, or ready to be. */
double holdup_busy(const struct waiting_row *thread);
/* That, or it waits for storage, a pipe, a socket or a timer: it gets on with something. */
double holdup_works(const struct waiting_row *thread);
bool holdup_is_main(const struct holdups *h, const struct waiting_row *thread);
bool holdup_same_process(const struct waiting_row *a, const struct waiting_row *b);
/* The places of a thread, most first. */
const struct waiting_spot *holdup_spots(const struct waiting *w, const struct waiting_row *thread,
					uint32_t *n);
/* Those that `wanted` takes, sorted. Their number, or -ENOMEM; to be freed. */
typedef bool holdup_wanted(const struct waiting_spot *s);
typedef int holdup_order(const void *a, const void *b);
int holdup_choose(const struct holdups *h, holdup_wanted *wanted, holdup_order *order,
		  const struct waiting_spot ***out);
holdup_order holdup_by_seconds;

/* ---- words ---- */

/* "app (pid 12)", "thread 14 of app (pid 12)". */
void holdup_put_process(struct bytes *b, const struct holdups *h, const struct waiting_row *thread);
void holdup_put_thread(struct bytes *b, const struct holdups *h, const struct waiting_row *thread);
/* " in work (lock.c:12)" */
void holdup_put_place(struct bytes *b, const struct waiting_row *place);
/* "waits for a mutex at 0x12" */
void holdup_put_wait(struct bytes *b, const struct waiting_row *place);
/* "works for 97 % of its time, mostly in solve (solver.c:41)" */
void holdup_put_work(struct bytes *b, const struct holdups *h, const struct waiting_row *thread);
/* Takes the text, and frees it. */
void holdup_set(struct summary_holdup *out, double seconds, double threads, struct bytes *b);

/* ---- finding: 0 or -ENOMEM; out stays as it is where there is none ---- */

typedef int holdup_finder(const struct holdups *h, struct summary_holdup *out);
holdup_finder holdup_find_lock, holdup_find_barrier, holdup_find_file_lock, holdup_find_network,
	holdup_find_storage, holdup_find_sleep;
holdup_finder holdup_find_reader, holdup_find_feeder, holdup_find_workers, holdup_find_children;

#endif
