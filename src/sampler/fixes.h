/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixes.h - what would make available what is not, said in the recording as doctor says it.
 *
 * Metadata source.NAME.fix_user, .fix_admin and metric.NAME.fix_user, .fix_admin, from the rows of
 * the sources. What failed has no fix for an administrator but one that fits the very reason; a
 * metric that is unsupported has no other fix at all.
 */
#ifndef SONDE_SAMPLER_FIXES_H
#define SONDE_SAMPLER_FIXES_H

#include "core/sample.h"
#include "source/source.h"

struct fix {
	const char *user, *admin; /* NULL: nothing */
};

/* The source that declares a metric; NULL: none does. */
const struct source *fixes_source(const struct metric *m);
/* What helps with a row's fixes; with a file of /proc that is refused, what permits it. */
struct fix fixes_of_mechanism(const char *user, const char *admin, enum state state,
			      const char *reason);
/* What helps against a source that is not available, or against a metric of it that is refused. */
struct fix fixes_of_source(const struct source *k, enum state state, const char *reason);
struct fix fixes_of_metric(const struct source *k, enum state state, const char *reason);
/* Of a source that could not be opened. */
void fixes_say_source(struct sample *s, const struct source *k, enum state state,
		      const char *reason);
/* Of the metrics that the events in the sample refuse. */
void fixes_say_metrics(struct sample *s);

/*
 * Says what a sample had no room for: of each kind how many, and the first of them.
 */

/* As metadata source.NAME of the source that would have told of them, as a source that failed. */
void left_out_say(struct sample *s);

#endif
