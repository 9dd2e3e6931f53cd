/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hang.h - a watch over a job that makes no progress: it keeps what its processes were waiting in.
 *
 * No progress is less than a hundredth of a core, on average, for as long as it was told to be
 * patient. A job that waits by spinning is not seen. Its marks are sonde.hang, with the evidence,
 * and sonde.progress. Nothing is done to the job.
 */
#ifndef SONDE_SAMPLER_HANG_H
#define SONDE_SAMPLER_HANG_H

#include "sampler/tree.h"

struct hang {
	int64_t patience_ns; /* 0: no watch */
	int64_t since_ns;    /* of the last progress; 0: not begun */
	int64_t cpu_ns;      /* the job's, then */
	bool told;
};

/* After the tree's sample. proc: to read what processes wait in. */
void hang_step(struct hang *h, const struct tree *t, const struct root *proc, struct sample *s);

#endif
