/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timingprint.h - timed commands for people, and as files: JSON in the form of hyperfine's, CSV,
 * Markdown.
 */
#ifndef SONDE_TRIAL_TIMINGPRINT_H
#define SONDE_TRIAL_TIMINGPRINT_H

#include "base/bytes.h"
#include "trial/timing.h"

void timingprint_text(struct bytes *b, const struct timing *t);
void timingprint_json(struct bytes *b,
		      const struct timing *t); /* schema sonde/compare-commands/1 */
void timingprint_markdown(struct bytes *b, const struct timing *t);
/* Those that the options name. 0 or -errno with a sentence. */
int timingprint_files(const struct timing *t, struct err *e);

#endif
