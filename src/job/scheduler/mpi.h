/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.h - which rank this process is, as whoever started it as one says: mpirun, or a step's PMI.
 */
#ifndef SONDE_JOB_SCHEDULER_MPI_H
#define SONDE_JOB_SCHEDULER_MPI_H

#include "job/scheduler/scheduler.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Sets launcher, launch_id and the ranks, those that are told. */
void mpi_read(struct batch_job *j, char *const *environment);
/* Does it give every node a copy of the first one's environment? launcher may be NULL. */
bool mpi_copies_environment(const char *launcher);

/* Which launch a rank of Hydra (the mpiexec of MPICH and Intel MPI) belongs to.
 *
 * Its environment does not tell. Its ancestor does, the proxy that mpiexec starts on each node: by
 * itself where all ranks are on one node, else by the address of mpiexec in its command line. */
enum { HYDRA_LAUNCH = 160 };

/* The address of mpiexec in a proxy's command line of n bytes, each word with its NUL: "host:port".
 * The text is hostile. False when it is not a proxy's, or has none. */
bool hydra_address(const char *cmdline, size_t n, char out[HYDRA_LAUNCH]);
/* The launch of process pid: equal for all its ranks, and for those of no other launch at a time,
 * nor ever on this node when alone says that all ranks are here. False: not told. */
bool hydra_launch(pid_t pid, bool alone, char out[HYDRA_LAUNCH]);

#endif
