/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attached.h - recording beside a job what runs already, as `attach` and `perfmon` do: which
 * processes, and what ends it.
 */
#ifndef SONDE_SESSION_ATTACHED_H
#define SONDE_SESSION_ATTACHED_H

#include "session/recording.h"

enum { ATTACHED_PIDS = 256 };

struct attached {
	struct root proc;
	struct members members; /* of the batch job, when `follow` is set */
	bool follow;
	pid_t roots[MEMBERS_AT_ONCE];
	size_t nroots;
	int64_t ends_utc_ns; /* when the scheduler ends the job; 0: not known */
	int claim;           /* socket that other copies meet; 0: none */
	char command[256];   /* what the recording says was recorded */
};

/* The processes of a list, as "1234,1235". False when it is none, or has more than ATTACHED_PIDS.
 */
bool attached_pids(struct attached *x, const char *text);
/* The processes of the batch job on this node, those to come too: of the job id, NULL: of the one
 * that this is in, of whose script the plan learns the layout. 0, or -errno with a sentence. */
int attached_job(struct attached *x, struct recording_plan *plan, const char *id, struct err *e);
/* After attached_job. Of those that would record the same job on this node into one directory, and
 * count it twice, one does, as long as it lives. 0; -EEXIST with a sentence when another one does.
 */
int attached_claim(struct attached *x, const struct recording_plan *plan, const char *id,
		   struct err *e);
/* Who has the claim is to end and to leave the job to this one, if it is called so. */
void attached_take_over(const struct attached *x, const struct recording_plan *plan,
			const char *name);
void attached_unclaim(struct attached *x);
void attached_close(struct attached *x);

/* The recorder's options, but grace and duration. From now on INT, TERM, HUP, USR1 and USR2 end the
 * recording. Both are borrowed. */
struct recorder_options attached_recorder(const struct recording_plan *plan, struct attached *x);
/* Was there such a signal? */
bool attached_signalled(void);
/* Was there attached_take_over by another one? */
bool attached_taken_over(void);
/* From now until so long before that time (attached.ends_utc_ns); 0: it is not known, or over. */
int64_t attached_until_ns(int64_t ends_utc_ns, int64_t margin_ns);

#endif
