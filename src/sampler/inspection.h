/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspection.h - a look at the job's threads by a process of its own, which asks the helper
 * sonde-unwind and makes texts of what it says, so that the recorder neither waits nor allocates.
 *
 * It is left behind when it takes too long. {0} has none under way and no answer.
 */
#ifndef SONDE_SAMPLER_INSPECTION_H
#define SONDE_SAMPLER_INSPECTION_H

#include "base/bytes.h"
#include "job/secret/secret_list.h"
#include "waits/wait.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* At most so long, of a hang: in a line, all threads, and the roll call of ranks. */
enum { HANG_WHERE = 1000, HANG_STACKS = 6000, HANG_RANKS = 12000 };
enum { INSPECTION_BYTES = HANG_WHERE + HANG_STACKS + HANG_RANKS, INSPECTION_TEXT = 512 };

struct inspection {
	pid_t pid; /* 0: none is under way */
	int from;
	int64_t begun_ns;
	uint32_t looks; /* so far, */
	int64_t cpu_ns; /* and what they used */
	size_t of;      /* processes, some of which may be looked at; whoever begins one says it */
	const struct secret_list *secrets; /* of the site and the user; NULL: none */
	size_t coming_len, len;
	/* Texts that end in NUL. What comes takes the place of the last when it is whole. */
	char coming[INSPECTION_BYTES], text[INSPECTION_BYTES];
};

/* What that process does: it sends its texts, and knows those of the last one. */
typedef void inspection_look(const pid_t *pids, size_t n, const struct inspection *last);

/* Of at most INSPECTION_TEXT bytes, without secrets; what no longer fits with them masked is masked
 * whole. */
void inspection_mask_text(const struct secret_list *secrets, char *text, size_t size);
/* What the threads wait for, likewise: a path may hold one. */
void inspection_mask(const struct inspection *l, struct waits *w);
/* The next text, less than `most` bytes, cut behind the last `at`; frees it. */
void inspection_send(struct bytes *b, size_t most, char at);

/* Begin one, if none is under way. False: it cannot be. */
bool inspection_begin(struct inspection *l, inspection_look *look, const pid_t *pids, size_t n,
		      int64_t now_ns);
void inspection_stop(struct inspection *l);
/* True when there is a new answer, whose first text is not empty. */
bool inspection_take(struct inspection *l, int64_t now_ns);
/* Of the last answer; "": there is none. */
const char *inspection_text(const struct inspection *l, int which);

#endif
