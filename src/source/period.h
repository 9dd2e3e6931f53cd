/* SPDX-License-Identifier: Apache-2.0 */
/*
 * period.h - for what is read more rarely than samples are taken.
 *
 * Samples are not quite on time: what is due within a tenth of its period is due now, so that a
 * period of 1 s is in every sample of 1 Hz. {0} is due at once, and everything in the last sample.
 * It reads no clock.
 */
#ifndef SONDE_SOURCE_PERIOD_H
#define SONDE_SOURCE_PERIOD_H

#include "core/sample.h"

struct period {
	int64_t next_ns; /* monotonic */
};

static inline bool period_is_due(struct period *p, const struct sample *s, int64_t period_ns)
{
	if (s->mono_ns < p->next_ns && !s->last)
		return false;
	p->next_ns = s->mono_ns + period_ns - period_ns / 10;
	return true;
}

#endif
