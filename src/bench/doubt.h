/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doubt.h - what speaks against the figures of a group's trials: noise of the machine, and peak
 * memory of another kind. The checks of a model that they fail are in group.h.
 */
#ifndef SONDE_BENCH_DOUBT_H
#define SONDE_BENCH_DOUBT_H

#include "bench/group.h"

/* Of peak memory one kind is kept, the one that most trials have: what all processes of a trial
 * held together, and what its largest process held, are different figures of the same name. Of
 * trials that do not know theirs, older ones, nothing is left out. */

/* Of a group whose rows are read: figures of other kinds are not known any more. */
void bench_memory_choose(struct bench_group *g);
/* "peak_memory_bytes of 2 of 10 trials is not of the kind pss but process: it is left out", without
 * an end; nothing where all are alike. */
void bench_memory_text(const struct bench_group *g, struct bytes *out);

/* Which trials of a batch were disturbed, by what their recordings say of the machine.
 *
 * Of a trial without a recording, or too short for the kernel's ticks, nothing is known, and it is
 * none of them. docs/bench.md has the limits. */

struct noise {
	uint32_t row;
	char why[320]; /* "others used 45 % of the machine's CPU time, ..." */
};

struct noises {
	struct noise *noise; /* [n] by row */
	uint32_t n, nwell;   /* nwell: trials that did not fail */
	bool worth_little;   /* more than a third of them */
};

/* 0 or -ENOMEM with a sentence. Free in either case. */
int noises_find(struct noises *x, const struct bench_group *g, struct err *e);
void noises_free(struct noises *x);
/* "6 of 10 trials were disturbed: 2 (others used ...), 3, ...; the batch is worth little: run it
 * again", without an end; nothing of a quiet one. */
void noises_text(const struct noises *x, const struct bench_group *g, struct bytes *out);

#endif
