/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - records until the job ends: the clock, the directory, the writer.
 *
 * Started by `run` in a process of its own, by `attach` in the foreground. Whatever fails here, the
 * job does not notice: the one sentence goes to `say`, once.
 */
#ifndef SONDE_SAMPLER_RECORDER_H
#define SONDE_SAMPLER_RECORDER_H

#include "base/process.h"
#include "job/identity.h"
#include "job/share.h"
#include "sampler/sampler.h"
#include "sampler/tree/members.h"

struct recorder_options {
	const char *marks;     /* a file of the job's (job/marklog.h), or NULL */
	const char *spans;     /* a folder of the job's (job/said.h), "" or NULL */
	const char *directory; /* created if missing */
	bool force;            /* record into a directory that holds another job's recording */
	const char *elsewhere; /* how another directory is named: "name another with -o" */
	/* Where to record if another job has the directory, NULL: nowhere; set when it is so. */
	const char *instead;
	bool *moved;
	const char *anyway;       /* and how this one is taken: ", or add --force"; NULL: not */
	const char *annotations;  /* what programs hand over (session/annotations.h), or NULL */
	const char *command;      /* of the job, or what was attached to */
	char *const *words;       /* of its command line; NULL: command is all there is to say */
	char *const *environment; /* of the job, to be recorded; NULL: it is not */
	const char *run_id;
	const struct identity *identity;
	struct sampler_options sampler;
	int64_t interval_ns, sync_ns, duration_ns; /* duration 0: until the job ends */
	bool for_site; /* attached by a site's prolog: a signal says that the batch job is over */
	struct members *members;  /* attached to a batch job: who is of it; else NULL */
	bool *saw;                /* set when one of them was seen; or NULL */
	int64_t await_ns;         /* and how long the first one is waited for */
	int64_t grace_ns;         /* and how long none may be there before the recording ends */
	bool (*leave)(void *ctx); /* attached: asked once a second; true ends the recording */
	void *leave_ctx;
	struct ipc *ipc; /* attached: a file that may end it, asked at each sample; or NULL */
	int launcher;    /* socket to the launcher, or -1: attached */
	int listener;    /* where launchers register that share this recorder, or -1 */
	const char *key, *step;   /* what they must have in common; the step that this one is in */
	const volatile int *stop; /* set by a signal: finish now; may be NULL */
	void (*say)(void *ctx, const char *sentence);
	void *say_ctx;
	/* Called once the recording is there, with its file's name in directory; may be NULL. */
	void (*opened)(const void *context, const char *name);
	const void *opened_context;
	/* Called behind that, unless the job has ended by then: for work that nobody waits for; may
	 * be NULL. */
	void (*beside)(void *context);
	void *beside_context;
	/* Called once it is whole for whoever reads it, before what only sampling needed is given
	 * back, and before it is on the disk where that is the node's own; NULL: there is no hurry.
	 */
	void (*closed)(void *context);
	void *closed_context;
};

/* 0 when a recording was made and closed; -errno with the sentence already said. */
int recorder_run(const struct recorder_options *o);

/* Fork twice into a session of its own, so that no signal to the job's group or session reaches it.
 * In the new process: 1, and *fd is its end; in the caller: 0, *fd is the launcher's end and *pid
 * the recorder's; or -errno with a sentence. Beside it, another process is made; NULL: none. */
int recorder_detach(int *fd, pid_t *pid, struct orphan *beside, struct err *e);
/* The recorder looks at the job's processes once its launcher has said that it may: what forked the
 * recorder, and whatever else the launcher starts for itself until then, looks like a part of the
 * job. */
void recorder_may_look(int fd);
/* As recorder_detach, for a recorder that is shared: it keeps the listener, which the caller loses,
 * and no standard error. */
int recorder_detach_shared(int listener, struct err *e);

#endif
