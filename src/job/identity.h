/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - which job this is, where, and what this process may use.
 *
 * No scheduler is asked: only variables, and files that they name, are read. What is not known is 0
 * or empty, in the batch job as job/scheduler/scheduler.h says.
 */
#ifndef SONDE_JOB_IDENTITY_H
#define SONDE_JOB_IDENTITY_H

#include "job/scheduler/scheduler.h"

struct identity {
	struct batch_job job; /* borrows from the environment */
	char id[128];    /* the job's id, made fit for a file name; "" outside of a scheduler */
	char launch[64]; /* outside of one, of mpirun's copies: equal for all of a launch; "" */
	char host[128];
	int64_t cores_present, cores_allowed; /* online; in this process's affinity */
};

void identity_find(struct identity *id, char *const *environment);
void identity_free(struct identity *id);

/* "sonde_<job id>"; outside of a scheduler "sonde_<launch>" under mpirun, else
 * "sonde_<UTC time>_<pid>". */
void identity_directory(const struct identity *id, int64_t utc_ns, char *out, size_t size);

#endif
