/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timingprint.h - timed commands for people, and as files: JSON in the form of hyperfine's, CSV,
 * Markdown.
 */
#ifndef SONDE_TRIAL_TIMINGPRINT_H
#define SONDE_TRIAL_TIMINGPRINT_H

#include "base/bytes.h"
#include "report/comparison/comparison.h"
#include "trial/timing.h"

void timingprint_text(struct bytes *b, const struct timing *t);
void timingprint_json(struct bytes *b,
		      const struct timing *t); /* schema sonde/compare-commands/1 */
void timingprint_markdown(struct bytes *b, const struct timing *t);
/* Those that the options name. 0 or -errno with a sentence. */
int timingprint_files(const struct timing *t, struct err *e);

/*
 * Two groups of batches of trials, as figures and facts of a comparison.
 */
/* operand: A and B, each "bench:3" or "bench:3,bench:4". Adds a condition for each result of which
 * it is known what is better, when there is none; reads and judges. 0 or -errno with a sentence. */
int batchgroups_read(struct comparison *x, const char *store, char *const operand[2],
		     struct err *e);

#endif
