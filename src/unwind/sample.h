/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - the stack of a thread from a sample of the kernel's: registers, and a copy of the top
 * of its stack; and such samples of threads that run now.
 */
#ifndef SONDE_UNWIND_SAMPLE_H
#define SONDE_UNWIND_SAMPLE_H

#include "unwind/frame.h"
#include "unwind/records.h"

struct sample_place {
	struct modules *modules;
	struct rows *rows;
	struct space *space; /* of the process */
};

/* The innermost first; where nothing is known of it, it is a frame all the same. */
void sample_unwind(const struct sample_place *in, const struct record_sample *sample,
		   struct stack *out);

enum { SAMPLE_THREADS = 32 };

/*
 * What these threads do in user mode in the next 20 to 300 ms: take is called with the first sample
 * of each. At most SAMPLE_THREADS of them; who may not be sampled, or does not run, has none.
 */
void sample_threads(const pid_t *tid, uint32_t n,
		    void (*take)(void *context, uint32_t i, const struct record_sample *sample),
		    void *context);

#endif
