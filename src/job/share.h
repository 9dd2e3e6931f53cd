/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - a launcher's part in a recorder that all copies of a job on this node share.
 *
 * The copy that is elected starts the recorder; every copy registers its task with it. When the
 * recorder is lost, or leaves with the step that it belongs to, those that are left elect another
 * one, and tell it what of their task is recorded already. Nothing here waits longer than it says.
 */
#ifndef SONDE_JOB_SHARE_H
#define SONDE_JOB_SHARE_H

#include "base/err.h"
#include "job/message.h"
#include "job/scheduler/scheduler.h"
#include "job/sentinel.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct share {
	struct registration what; /* filled in by the caller: key, step, rank, expected */
	/* Start a recorder that listens there, and close that here. Called in a launcher that was
	 * elected; 0 or -errno with a sentence. */
	int (*start)(void *ctx, int listener, struct err *e);
	void *ctx;
	void (*say)(const char *sentence);

	int marks;  /* the file that this task's marks are read from; -1: none */
	int fd;     /* the recorder; -1: none */
	int table;  /* what it has recorded of every task; -1: none */
	bool ready; /* it records this task */
	bool alone; /* it was refused, and had better have a recorder of its own */
	bool over;  /* no recorder is wanted any more: it was refused, or cannot be had */
	uint32_t slot;
	pid_t recorder;   /* as it says; 0: not known */
	int64_t again_ns; /* when the election is tried again; 0: not */
	struct note done; /* its last word: kind 0 until then */
	bool moved;       /* its directory is not the one that was named */
	char run_id[33];  /* of the first recorder's run; "" until it said so */
};

/* Elect or be connected, and register: tried until timeout_ms are over. 0, or -errno with a
 * sentence, and then nothing is shared. */
int share_join(struct share *s, int timeout_ms, struct err *e);
/* Until the recorder records this task or refuses; at most timeout_ms. */
void share_wait_ready(struct share *s, int timeout_ms);

/* Take what the recorder says. True when another recorder was found: it knows nothing of the task
 * but what is recorded. */
bool share_listen(struct share *s);
/* How long poll may wait for s->fd before share_listen has something to do; -1: for ever. */
int share_timeout_ms(const struct share *s);
/* Until the recorder's last word, in s->done, until it is gone, or patience is over. */
void share_wait_done(struct share *s, struct patience *patience);
void share_close(struct share *s);

/*
 * Which of the copies on a node has the recorder that all of them share.
 *
 * Who binds an abstract socket of a name made from the key is elected; the others connect to it.
 * The kernel forgets such a name with the process that holds it, so there is no stale lock, and a
 * private /tmp hides nothing. Every user may take any name: whoever answers must be of the same
 * user, and whoever connects, too.
 */
enum election { ELECTION_ELECTED, ELECTION_CONNECTED };

/* Bind or connect: *fd is the socket that listens, or the connection. -EAGAIN: neither now, try
 * again in a moment; -EPERM: the name is another user's; other -errno; all with a sentence. */
int election_try(const char *key, int *fd, struct err *e);

/* Who connected: its pid as it is here, or -EPERM for another user, -ESRCH for one that has no pid
 * here. */
pid_t election_peer(int fd);

/* A job is recorded once into a directory on a node: who records all of it, beside it,
 * claims that, so that others that would count the same processes see it.
 *
 * A claim is a socket as of an election (job/share.h): it goes with the process. */
/* id: of the job, NULL: job's own. 0, and *fd holds the claim, or is 0 where
 * nobody can be met; or the pid of who holds it. */
pid_t claim_take(const struct batch_job *job, const char *id, const char *directory, int *fd);
/* The pid of who holds it; 0: nobody does. */
pid_t claim_holder(const struct batch_job *job, const char *directory);

/*
 * The file by which a job script says that its job is over: `echo FINISHED >.ipc-4711`, as
 * perfmon's users know it. While the job goes on it holds INPROGRESS.
 *
 * Only a change counts: what the file says at the beginning is of an earlier run of the job. It is
 * looked at with one stat, and opened when that differs. One that was taken away says nothing.
 */
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
