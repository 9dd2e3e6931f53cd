/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elsewhere.h - what the threads of a job do now on other nodes, as its recorders there answer
 * (sampler/inspection.h) in the recording's directory, which all of them share.
 *
 * What they answer is hostile.
 */
#ifndef SONDE_SESSION_ELSEWHERE_H
#define SONDE_SESSION_ELSEWHERE_H

#include "core/frame/run.h"
#include "sampler/inspection.h"
#include "waits/wait.h"

enum { ELSEWHERE_HOSTS = 4096 };

struct elsewhere {
	int folder;     /* 0: nobody is asked */
	char here[256]; /* this host, which is looked at without asking */
	char word[ASKED_WORD];
	char **host; /* of those that have not answered yet */
	uint32_t n;
};

/* Ask the recorders that still write into this directory on other hosts, if there are any: n says
 * how many. End it in either case. 0, or -errno with a sentence. */
int elsewhere_ask(struct elsewhere *x, const struct run *r, const char *directory, struct err *e);
/* Take what has been answered, for at most so long, into w. */
void elsewhere_take(struct elsewhere *x, struct waits *w, int64_t patience_ns);
void elsewhere_end(struct elsewhere *x);

#endif
