/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.h - the one recorder of a job's copies on a node, as `run` uses it: whether, which, and
 * what is said at the end.
 */
#ifndef SONDE_SESSION_SHARED_H
#define SONDE_SESSION_SHARED_H

#include "job/share.h"
#include "session/recording.h"

enum node_recorder { NODE_RECORDER_AUTO, NODE_RECORDER_SHARED, NODE_RECORDER_OWN };

struct shared {
	struct recording_plan *plan;
	char *const *argv;
	pid_t launcher;
	const struct said *said;
	int marks;         /* the file of this task's marks; -1: none */
	const char *spans; /* the folder of its spans; "": none */
	bool with_environment;
	int64_t nodes; /* of the job; -1: not known */
	struct share share;
};

/* Shall this copy share a recorder, as far as is known before there is one? */
bool shared_is_wanted(struct shared *s, enum node_recorder how);
/* Then it is registered with it, and s->share is what launches need. False: it has its own; why is
 * said. */
bool shared_join(struct shared *s);
/* When it is for this copy to speak: the summary of a task that was alone, or a line. */
void shared_print(const struct shared *s);

#endif
