/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_work.h - for programs whose parts take known CPU time: work(MS) takes so many milliseconds by
 * the thread's own clock, however fast the machine is at that moment and whoever else is on it. It
 * is a macro: the time is that of the function it stands in, inlined or not.
 */
#ifndef SONDE_TESTS_PROGRAMS_CPU_WORK_H
#define SONDE_TESTS_PROGRAMS_CPU_WORK_H

#include <time.h>

static volatile double sink __attribute__((unused)) = 1;

#define CPU_NS(t)                                                                                  \
	(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &(t)), (t).tv_sec * 1000000000L + (t).tv_nsec)

/* Asked rarely, so that asking takes hardly any of it. */
#define work(ms)                                                                                   \
	do {                                                                                       \
		struct timespec now_;                                                              \
		long end_ = CPU_NS(now_) + (ms)*1000000L;                                          \
                                                                                                   \
		while (CPU_NS(now_) < end_)                                                        \
			for (int i_ = 0; i_ < 40000; i_++)                                         \
				sink = sink * 1.0000001 + 0.1;                                     \
	} while (0)

#endif
