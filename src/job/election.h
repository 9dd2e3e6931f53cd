/* SPDX-License-Identifier: Apache-2.0 */
/*
 * election.h - which of the copies on a node has the recorder that all of them share.
 *
 * Who binds an abstract socket of a name made from the key is elected; the others connect to it.
 * The kernel forgets such a name with the process that holds it, so there is no stale lock, and a
 * private /tmp hides nothing. Every user may take any name: whoever answers must be of the same
 * user, and whoever connects, too.
 */
#ifndef SONDE_JOB_ELECTION_H
#define SONDE_JOB_ELECTION_H

#include "base/err.h"
#include "job/scheduler/scheduler.h"

#include <sys/types.h>

enum election { ELECTION_ELECTED, ELECTION_CONNECTED };

/* Bind or connect: *fd is the socket that listens, or the connection. -EAGAIN: neither now, try
 * again in a moment; -EPERM: the name is another user's; other -errno; all with a sentence. */
int election_try(const char *key, int *fd, struct err *e);

/* Who was elected for this key, without taking part: its pid, or 0. */
pid_t election_holder(const char *key);
/* Who connected: its pid as it is here, or -EPERM for another user, -ESRCH for one that has no pid
 * here. */
pid_t election_peer(int fd);

/* A job is recorded once into a directory on a node: who records all of it, beside it,
 * claims that, so that others that would count the same processes see it.
 *
 * A claim is a socket as of an election (job/election.h): it goes with the process. */
/* id: of the job, NULL: job's own. 0, and *fd holds the claim, or is 0 where
 * nobody can be met; or the pid of who holds it. */
pid_t claim_take(const struct batch_job *job, const char *id, const char *directory, int *fd);
/* The pid of who holds it; 0: nobody does. */
pid_t claim_holder(const struct batch_job *job, const char *directory);

#endif
