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
#include "job/patience.h"

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

#endif
