/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h - why a job was ended, as Slurm says: its commands are asked once, when a signal
 * from outside ended the job, by the node that is the job's first; and what its environment did not
 * say of it.
 *
 * Nothing in a job's environment or in its signals tells a time limit from scancel or from a lost
 * node. What is not answered in time is not known.
 */
#ifndef SONDE_JOB_SCHEDULER_ASK_H
#define SONDE_JOB_SCHEDULER_ASK_H

#include "job/scheduler/scheduler.h"

struct scheduler_answer {
	char state[24]; /* "TIMEOUT", "CANCELLED", "NODE_FAIL", "RUNNING", ...; "": not told */
	int64_t time_limit_s; /* -1: none, or not told */
	char lost[128];       /* names of nodes that are down, joined by ", "; "" */
	char lost_why[160];   /* of the first of them: "Not responding [slurm@2026-...]" */
	char name[256], account[128], qos[128];      /* "": not told */
	int64_t node_memory_bytes, cpu_memory_bytes; /* requested for each; -1: not told, or none */
	int64_t exit_code, signal; /* of its script, once it has ended; -1: not told */
};

/* What is asked of the job. */
struct scheduler_question {
	int64_t patience_ns;
	bool is_over; /* the job's script has ended: what is said of its end is final */
};

/* False: there is nobody to ask, or no answer. */
bool scheduler_ask(const struct batch_job *j, const struct scheduler_question *q,
		   struct scheduler_answer *a);
/* A line of the output of `scontrol -o show job ID`, and that of `scontrol -o show node LIST`;
 * hostile. */
void scheduler_answer_job(struct scheduler_answer *a, const char *text);
/* That of `sacct -n -P -X -o State`, of a job whose script has ended; hostile. False: no end. */
bool scheduler_answer_accounts(struct scheduler_answer *a, const char *text);
void scheduler_answer_nodes(struct scheduler_answer *a, const char *text);

#endif
