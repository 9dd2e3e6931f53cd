/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the clocks, in ns.
 */
#ifndef SONDE_BASE_CLOCK_H
#define SONDE_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

int64_t clock_mono_ns(void);
int64_t clock_utc_ns(void);         /* never before 1970 */
int64_t clock_boot_ns(void);        /* since the boot, suspends included */
int64_t clock_cpu_ns(void);         /* CPU of this process */
int64_t clock_cpu_ns_of(pid_t pid); /* of another one; 0: it is gone */
int64_t clock_children_ns(void);    /* of children of this one that it has waited for */
/* "2026-11-20T13:05:33Z", with a fraction when there is one. Returns out. */
const char *clock_iso(int64_t utc_ns, char *out, size_t size);
/* "20261120T130533Z", of the second. Returns out. */
enum { CLOCK_STAMP = sizeof "20261120T130533Z" };
const char *clock_stamp(int64_t utc_ns, char out[CLOCK_STAMP]);
/* The reverse, from 1970 to 2262, in UTC. Returns what is behind the time and its fraction ("Z"),
 * or NULL: it begins with no time. */
const char *clock_of_iso(const char *text, int64_t *utc_ns);
/* Of "Sun Nov 29 09:56:02 UTC 2026", as date and Java write it; false: it is no such time. */
bool clock_of_date(const char *text, int64_t *utc_ns);

#endif
