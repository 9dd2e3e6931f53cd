/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle.h - threads that wait for each other, so that none of them ever goes on.
 *
 * A thread is stuck if nobody but threads that are stuck could end its wait, and that was so while
 * all of them were looked at. Whom nobody is known to be able to wake is not called stuck: a signal
 * or a thread not seen might.
 */
#ifndef SONDE_WAITS_CYCLE_H
#define SONDE_WAITS_CYCLE_H

#include "waits/wait.h"

enum { CYCLE_MAX = 64, CYCLES_MAX = 16 };

struct cycle {
	uint32_t thread[CYCLE_MAX]; /* each waits for the next, and the last for the first */
	uint32_t n;
};

/* At most CYCLES_MAX of them, no thread in two; returns their number. 0 as well without memory. */
uint32_t cycles_find(const struct waits *w, struct cycle *out);

#endif
