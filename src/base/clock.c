/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

enum { CPU_TIME_OF_SCHEDULER = 2 }; /* the kernel's CPUCLOCK_SCHED */

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
	/* As clock_getcpuclockid does, which asks once more whether there is such a process. */
	return pid > 0 ? clock_ns((clockid_t)(~(uint32_t)pid << 3 | CPU_TIME_OF_SCHEDULER)) : 0;
}

int64_t clock_children_ns(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_CHILDREN, &u))
		return 0;
	return (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

/* v as n digits; returns what is behind them. */
static char *put_digits(char *at, int n, int64_t v)
{
	for (int i = n; i-- > 0; v /= 10)
		at[i] = (char)('0' + v % 10);
	return at + n;
}

static char *put_second(char *at, const struct tm *tm)
{
	const int part[] = { tm->tm_mon + 1, tm->tm_mday, tm->tm_hour, tm->tm_min, tm->tm_sec };
	static const char before[] = "--T::";

	at = put_digits(at, 4, tm->tm_year + 1900);
	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		*at++ = before[i];
		at = put_digits(at, 2, part[i]);
	}
	return at;
}

/* As gmtime_r(), which looks for the machine's time zone in a file before it does without. The
 * years begin in March, and each era has 400 of them: the last day of a year is one that may be
 * missing. */
static struct tm second_of(int64_t utc_s)
{
	enum { DAY = 86400, ERA = 146097, TO_EPOCH = 719468 };
	int64_t day = (utc_s - (utc_s % DAY + DAY) % DAY) / DAY + TO_EPOCH;
	int64_t era = (day - (day % ERA + ERA) % ERA) / ERA;
	int in_era = (int)(day - era * ERA), in_day = (int)((utc_s % DAY + DAY) % DAY);
	int year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	int in_year = in_era - (365 * year + year / 4 - year / 100);
	int month = (5 * in_year + 2) / 153; /* since March */

	return (struct tm){ .tm_year = (int)(year + era * 400 + (month >= 10) - 1900),
			    .tm_mon = month < 10 ? month + 2 : month - 10,
			    .tm_mday = in_year - (153 * month + 2) / 5 + 1,
			    .tm_hour = in_day / 3600,
			    .tm_min = in_day / 60 % 60,
			    .tm_sec = in_day % 60 };
}

const char *clock_stamp(int64_t utc_ns, char out[CLOCK_STAMP])
{
	char text[32];
	size_t n = 0;

	clock_iso(utc_ns - (utc_ns % NS_PER_S + NS_PER_S) % NS_PER_S, text, sizeof text);
	for (const char *at = text; *at; at++)
		if (*at != '-' && *at != ':')
			out[n++] = *at;
	out[n] = '\0';
	return out;
}

const char *clock_iso(int64_t utc_ns, char *out, size_t size)
{
	int64_t fraction = utc_ns % NS_PER_S, seconds = utc_ns / NS_PER_S;
	char text[sizeof "2026-11-20T13:05:33.123456789Z"], *at = text;
	struct tm tm;

	if (fraction < 0) {
		fraction += NS_PER_S;
		seconds--;
	}
	tm = second_of(seconds); /* it is of a year with four digits */
	at = put_second(at, &tm);
	if (fraction)
		*at++ = '.';
	if (fraction % NS_PER_MS)
		at = put_digits(at, 9, fraction);
	else if (fraction)
		at = put_digits(at, 3, fraction / NS_PER_MS);
	*at++ = 'Z';
	*at = '\0';
	snprintf(out, size, "%s", text);
	return out;
}

const char *clock_of_iso(const char *text, int64_t *utc_ns)
{
	struct tm tm = { 0 };
	const char *at = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	time_t seconds = at ? timegm(&tm) : -1;
	int64_t unit = NS_PER_S;

	if (seconds < 0 || seconds >= INT64_MAX / NS_PER_S)
		return NULL;
	*utc_ns = (int64_t)seconds * NS_PER_S;
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9'; at++) {
			unit /= 10;
			*utc_ns += (*at - '0') * unit;
		}
	return at;
}

bool clock_of_date(const char *text, int64_t *utc_ns)
{
	struct tm tm = { 0 };
	const char *at = strptime(text, "%a %b %d %H:%M:%S UTC %Y", &tm);
	time_t seconds = at && !*at ? timegm(&tm) : -1;

	if (seconds < 0 || seconds >= INT64_MAX / NS_PER_S)
		return false;
	*utc_ns = (int64_t)seconds * NS_PER_S;
	return true;
}
