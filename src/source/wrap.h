/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.h - a counter of few bits that goes round, made one that only grows.
 *
 * A step is believed when it fits only one number of rounds: so much time has passed that the
 * counter cannot have gone round twice, and no more was counted than can be. Else nobody knows what
 * was counted since the last reading, and the step is a break.
 */
#ifndef SONDE_SOURCE_WRAP_H
#define SONDE_SOURCE_WRAP_H

#include <stdbool.h>
#include <stdint.h>

struct wrap {
	int64_t range;      /* its largest value; 0: it never goes round */
	int64_t most_per_s; /* it cannot count more than this in a second; > 0 */
	int64_t last, last_ns;
	int64_t total; /* starts as the counter itself stands */
	bool begun;
};

enum wrap_step { WRAP_BEGUN, WRAP_GREW, WRAP_BREAK };

/* A reading, 0 <= value (<= range), at a monotonic time. Only after WRAP_GREW is the difference of
 * total to that of the last step what was counted in between. */
enum wrap_step wrap_step(struct wrap *w, int64_t value, int64_t now_ns);
/* Between readings of this distance it can go round more than once. */
bool wrap_is_lost(const struct wrap *w, int64_t elapsed_ns);

#endif
