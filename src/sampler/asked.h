/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asked.h - what a job does now on this node, for `sonde stacks` on another one.
 *
 * Who asks makes a file ASKED_FILE in the recording's directory, with a word in it; each recorder
 * looks for it every five seconds, and answers by a file ASKED_ANSWER* of its own: schema
 * sonde/stacks/1, with that word as "asked". Files of other users do not count. A process of its
 * own looks and writes, so that the recorder does not wait.
 */
#ifndef SONDE_SAMPLER_ASKED_H
#define SONDE_SAMPLER_ASKED_H

#include "sampler/tree/tree.h"

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define ASKED_FILE   "stacks-asked"
#define ASKED_ANSWER "stacks-answer."

enum { ASKED_WORD = 64, ASKED_S = 5 };

struct asked {
	int64_t due_ns; /* 0: it was not looked for yet */
	struct timespec seen;
	pid_t pid; /* that answers; 0: none does */
	int64_t begun_ns;
};

/* folder: of the recording. */
void asked_step(struct asked *a, int folder, const struct tree *t, int64_t now_ns);
void asked_stop(struct asked *a);

#endif
