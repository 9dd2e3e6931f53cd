/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixes.h - what would make available what is not, said in the recording as doctor says it.
 *
 * Metadata source.NAME.fix_user, .fix_admin and metric.NAME.fix_user, .fix_admin, from the rows of
 * the sources. What failed has no known fix for an administrator.
 */
#ifndef SONDE_SAMPLER_FIXES_H
#define SONDE_SAMPLER_FIXES_H

#include "source/source.h"

/* The source that declares a metric; NULL: none does. */
const struct source *fixes_source(const struct metric *m);
/* Of a source that could not be opened. */
void fixes_say_source(struct sample *s, const struct source *k, enum state state);
/* Of the metrics that the events in the sample say are forbidden. */
void fixes_say_metrics(struct sample *s);

#endif
