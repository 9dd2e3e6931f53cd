/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.h - which trials of a batch were disturbed, by what their recordings say of the machine.
 *
 * Of a trial without a recording, or too short for the kernel's ticks, nothing is known, and it is
 * none of them. docs/bench.md has the limits.
 */
#ifndef SONDE_BENCH_NOISE_H
#define SONDE_BENCH_NOISE_H

#include "bench/group.h"

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
