/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hang_look.h - what the threads of a job that hangs wait for, by the helper sonde-unwind.
 *
 * A process of its own asks the helper and makes a text of what it says, so that the recorder
 * neither waits nor allocates. It is left behind when it takes too long.
 */
#ifndef SONDE_SAMPLER_HANG_LOOK_H
#define SONDE_SAMPLER_HANG_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { HANG_WHERE = 1000, HANG_STACKS = 6000 };

struct hang_look {
	pid_t pid; /* 0: none is under way */
	int from;
	int64_t begun_ns;
	uint32_t looks; /* so far, */
	int64_t cpu_ns; /* and what they used */
	size_t coming_len, len;
	/* Two texts that end in NUL: in short, and all. What comes takes its place when it is
	 * whole.
	 */
	char coming[HANG_WHERE + HANG_STACKS], text[HANG_WHERE + HANG_STACKS];
};

/* Begin one, if none is under way. False: it cannot be. */
bool hang_look_begin(struct hang_look *l, const pid_t *pids, size_t n, int64_t now_ns);
/* True when there is a new answer. */
bool hang_look_take(struct hang_look *l, int64_t now_ns);
/* Of the last answer: "Deadlock: ..." or who is where, and all threads line by line; "": not known.
 */
const char *hang_look_where(const struct hang_look *l);
const char *hang_look_stacks(const struct hang_look *l);
void hang_look_stop(struct hang_look *l);

#endif
