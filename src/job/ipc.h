/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc.h - the file by which a job script says that its job is over: `echo FINISHED >.ipc-4711`, as
 * perfmon's users know it. While the job goes on it holds INPROGRESS.
 *
 * Only a change counts: what the file says at the beginning is of an earlier run of the job. It is
 * looked at with one stat, and opened when that differs. One that was taken away says nothing.
 */
#ifndef SONDE_JOB_IPC_H
#define SONDE_JOB_IPC_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/stat.h>

struct ipc {
	char path[256];
	struct stat seen; /* st_ino 0: it was not there */
	bool over;        /* it said so */
};

/* The file of this job, here; created if missing. anew: what another run has left in it is
 * replaced, which one node of a job does for all. -errno with a sentence when it cannot be made or
 * read; it may be asked all the same. */
int ipc_begin(struct ipc *f, const char *job, bool anew, struct err *e);
/* Does it say now that the job is over: anything but INPROGRESS? */
bool ipc_over(struct ipc *f);

#endif
