/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.h - which rank this process is, as whoever started it as one says: mpirun, or a step's PMI.
 */
#ifndef SONDE_JOB_SCHEDULER_MPI_H
#define SONDE_JOB_SCHEDULER_MPI_H

#include "job/scheduler/scheduler.h"

/* Sets launcher, launch_id and the ranks, those that are told. */
void mpi_read(struct batch_job *j, char *const *environment);
/* Does it give every node a copy of the first one's environment? launcher may be NULL. */
bool mpi_copies_environment(const char *launcher);

#endif
