/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate.h - what two readings of a counter make: its rise, and its rate. The one place for the
 * rules.
 *
 * A counter that went back began anew: what it rose by meanwhile nobody knows, so that reading has
 * no rate, and the next one counts from it. Where readings lack in between (absent, unsupported,
 * forbidden, failed), the rate is of all of the real time since the reading before. What does not
 * fit, and what is not finite, is none. Counters of less than 64 bits are continued where they wrap
 * by the source that reads them. NAN is no rise, which is not 0.
 */
#ifndef SONDE_CORE_FRAME_RATE_H
#define SONDE_CORE_FRAME_RATE_H

#include "base/clock.h"
#include "core/metric.h"

#include <math.h>

/* {0}: never read. */
struct counter_reading {
	int64_t value;   /* as it is stored */
	int64_t mono_ns; /* when it was read */
	bool known;
};

/* Of values in base units. */
static inline double counter_rise_of(double from, double to)
{
	return to >= from ? to - from : (double)NAN;
}

/* Of stored ones, in base units: exact for integers. */
static inline double counter_rise(const struct metric *m, int64_t from, int64_t to)
{
	int64_t rise;

	if (m->storage == STORE_REAL)
		return counter_rise_of(metric_value(m, from), metric_value(m, to));
	if (__builtin_sub_overflow(to, from, &rise) || rise < 0)
		return NAN;
	return metric_value(m, rise);
}

/* From one time to a later one; 0 where it is none. */
static inline double real_seconds(int64_t from_ns, int64_t to_ns)
{
	if (to_ns <= from_ns)
		return 0;
	return (double)((uint64_t)to_ns - (uint64_t)from_ns) / (double)NS_PER_S;
}

/* Between two readings; 0: not known. */
static inline double counter_seconds(const struct counter_reading *from,
				     const struct counter_reading *to)
{
	return from->known && to->known ? real_seconds(from->mono_ns, to->mono_ns) : 0;
}

/* Per second, in base units. */
static inline double counter_rate(const struct metric *m, const struct counter_reading *from,
				  const struct counter_reading *to)
{
	double seconds = counter_seconds(from, to), rate;

	if (seconds <= 0)
		return NAN;
	rate = counter_rise(m, from->value, to->value) / seconds;
	return isfinite(rate) ? rate : (double)NAN;
}

#endif
