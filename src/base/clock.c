/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts))
		return 0;
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int64_t clock_utc_ns(void)
{
	int64_t ns = clock_ns(CLOCK_REALTIME);

	return ns < 0 ? 0 : ns; /* before 1970: nothing stores it */
}

int64_t clock_boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

int64_t clock_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t clock_cpu_ns_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_ns(clock);
}

const char *clock_iso(int64_t utc_ns, char *out, size_t size)
{
	int64_t fraction = utc_ns % NS_PER_S;
	time_t seconds = (time_t)(utc_ns / NS_PER_S);
	struct tm tm;
	size_t n;

	if (fraction < 0) {
		fraction += NS_PER_S;
		seconds--;
	}
	if (!size)
		return out;
	out[0] = '\0';
	if (!gmtime_r(&seconds, &tm))
		return out;
	n = strftime(out, size, "%Y-%m-%dT%H:%M:%S", &tm);
	if (fraction % NS_PER_MS)
		snprintf(out + n, size - n, ".%09lldZ", (long long)fraction);
	else if (fraction)
		snprintf(out + n, size - n, ".%03lldZ", (long long)(fraction / NS_PER_MS));
	else
		snprintf(out + n, size - n, "Z");
	return out;
}
