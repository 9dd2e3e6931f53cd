/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hang.h - a watch over a job that makes no progress: it keeps what its processes were waiting for.
 *
 * No progress is less than a hundredth of a core, on average, for as long as it was told to be
 * patient. Ranks that wait by spinning are another's business (sampler/rankwatch.h). Its marks are
 * sonde.hang, with the evidence, and sonde.progress; sonde.hang.where follows the first with
 * functions and who waits for whom, as far as the helper could look. What a job waited for that was
 * silent when it ended is kept, too, however short that was: it may have been ended since it hung.
 * Nothing is done to the job.
 */
#ifndef SONDE_SAMPLER_HANG_H
#define SONDE_SAMPLER_HANG_H

#include "sampler/inspection.h"
#include "sampler/tree/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { HANG_EVIDENCE = 400 };

struct hang {
	int64_t patience_ns; /* 0: no watch */
	struct quiet {
		int64_t since_ns; /* of the last progress; 0: not begun */
		int64_t cpu_ns;   /* the job's, then */
	} long_one, last_one;
	bool told;
	int64_t seen_ns; /* when the evidence was collected; 0: there is none */
	char evidence[HANG_EVIDENCE];
	struct inspection look;
	/* Since when the job had been silent when it was looked at, and when that was asked for; 0:
	 * never. */
	int64_t looked_ns, asked_ns;
	bool asked_all, looked_all; /* and whether at every process */
	int64_t began_ns;           /* of the watch */
};

/* After the tree's sample. proc: to read what processes wait for. */
void hang_step(struct hang *h, const struct tree *t, const struct root *proc, struct sample *s);
/* At the end, as metadata: what a job that was silent then had waited for, and for how long. */
void hang_say_end(struct hang *h, struct sample *s);

#endif
