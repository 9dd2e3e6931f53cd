/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hang.h - watches over a job that may not go on: it uses no CPU time, or its ranks stay in one
 * call of MPI.
 */
#ifndef SONDE_SAMPLER_HANG_H
#define SONDE_SAMPLER_HANG_H

#include "core/sample.h"
#include "sampler/inspection.h"
#include "sampler/tree/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A watch over a job that makes no progress: it keeps what its processes were waiting for.
 *
 * No progress is less than a hundredth of a core, on average, for as long as it was told to be
 * patient. Ranks that wait by spinning are the other watch's business. Its marks are
 * sonde.hang, with the evidence, and sonde.progress; sonde.hang.where follows the first with
 * functions and who waits for whom, as far as the helper could look. What a job waited for that was
 * silent when it ended is kept, too, however short that was: it may have been ended since it hung.
 * Nothing is done to the job.
 */

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
	uint32_t asked_evidence;    /* checksum of the evidence then */
	int64_t began_ns;           /* of the watch */
};

/* After the tree's sample. proc: to read what processes wait for. */
void hang_step(struct hang *h, const struct tree *t, const struct root *proc, struct sample *s);
/* At the end, as metadata: what a job that was silent then had waited for, and for how long. */
void hang_say_end(struct hang *h, struct sample *s);

/*
 * A watch over the ranks of an MPI job: which of them stay in one call of MPI, where
 * they wait by spinning, and where the others are.
 *
 * It looks at the ranks of this node from time to time, rarely enough not to cost anything. As long
 * as those that are in MPI are there again at the next look, in the same call from the same line,
 * and no other rank is, the node stays the same; the recording keeps since when, at how many looks,
 * and the roll call of the last. So it does of a node none of whose ranks is in MPI. A job without
 * ranks is not looked at again before it starts another program.
 */

struct rank_watch {
	struct inspection look;
	int64_t began_ns, due_ns;
	int64_t since_ns, seen_ns; /* the first look of the same, and the last */
	uint32_t looks;            /* that saw the same; 0: none had a rank */
};

/* After the tree's sample. */
void rank_watch_step(struct rank_watch *w, struct tree *t, struct sample *s);
/* At the end. */
void rank_watch_end(struct rank_watch *w, struct sample *s);

#endif
