/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roster.h - the launchers that share a recorder: who has come, whose task runs, who is gone.
 *
 * Everything that comes over the socket is hostile; a launcher is known by its pid as the kernel
 * tells it. Nothing is allocated after roster_open.
 */
#ifndef SONDE_SAMPLER_TREE_ROSTER_H
#define SONDE_SAMPLER_TREE_ROSTER_H

#include "base/err.h"
#include "sampler/sampler.h"

struct roster;

struct roster_options {
	int listener;
	const char *key, *step; /* of the copy that was elected */
	const char *run_id;
	const bool *moved; /* launchers are told: into another directory than was named */
	const struct secret_list *secrets;
};

int roster_open(struct roster **r, const struct roster_options *o, struct err *e);
void roster_close(struct roster *r);

/* Readable when somebody comes, speaks or goes. */
int roster_fd(const struct roster *r);
/* Take all there is, and tell it to the sampler. */
void roster_act(struct roster *r, struct sampler *to);

/* Have all that belong to this recorder's step ended, and will no more come? samples: taken so
 * far. */
bool roster_over(struct roster *r, const struct tree *t, int64_t samples);
/* Nobody comes any more; false when somebody has just come. */
bool roster_shut(struct roster *r, struct sampler *to);
/* How long until that may be so without anything happening; -1: not known. */
int roster_timeout_ms(const struct roster *r);

/* Leave for the launchers what the next sample holds of their tasks: before it is written, so that
 * it is rather missing than counted twice when the recorder is lost in between. */
void roster_leave(const struct roster *r, const struct tree *t, bool last, int64_t at_ns);

/* What the sample just taken has of each task that runs. */
void roster_note(struct roster *r, struct sampler *to);

/* A sentence for one of the launchers, now or as soon as one is there. */
void roster_say(struct roster *r, const char *sentence);
/* There is no recording, and this is why: refuse all that come within the next seconds. */
void roster_refuse(struct roster *r, const char *sentence);

struct roster_result {
	uint32_t tasks, ended, failed; /* failed: of those that ended */
	int status;                    /* 0, or that of one that failed; a signal before a code */
	int64_t started_ns, ended_ns;  /* first and last; 0: not known */
	int64_t lost_ns;               /* when the recorder was lost before this one; 0: none was */
	int64_t cores_allowed;         /* to any of the tasks */
	int64_t launchers_cpu_ns;      /* of those that told theirs */
	uint64_t foreign;              /* connections of other users, all refused */
};
struct roster_result roster_result(const struct roster *r);

/* The recording is closed: last words to all that are there. Those that go on find another. */
void roster_end(struct roster *r);

#endif
