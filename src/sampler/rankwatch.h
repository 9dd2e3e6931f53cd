/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rankwatch.h - a watch over the ranks of an MPI job: which of them stay in one call of MPI, where
 * they wait by spinning, and where the others are.
 *
 * It looks at the ranks of this node from time to time, rarely enough not to cost anything. As long
 * as those that are in MPI are there again at the next look, in the same call from the same line,
 * and no other rank is, the node stays the same; the recording keeps since when, at how many looks,
 * and the roll call of the last. So it does of a node none of whose ranks is in MPI. A job without
 * ranks is not looked at.
 */
#ifndef SONDE_SAMPLER_RANKWATCH_H
#define SONDE_SAMPLER_RANKWATCH_H

#include "core/sample.h"
#include "sampler/inspection.h"
#include "sampler/tree/tree.h"

struct rank_watch {
	struct inspection look;
	int64_t began_ns, due_ns;
	int64_t since_ns, seen_ns; /* the first look of the same, and the last */
	uint32_t looks;            /* that saw the same; 0: none had a rank */
};

/* After the tree's sample. */
void rank_watch_step(struct rank_watch *w, const struct tree *t, struct sample *s);
/* At the end. */
void rank_watch_end(struct rank_watch *w, struct sample *s);

#endif
