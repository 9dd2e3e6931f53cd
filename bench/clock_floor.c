/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_floor SECONDS: a timer of 1 kHz that does nothing but look at the time. Prints which share
 * of its wake-ups, in per cent, came more than a tenth of a millisecond late or not at all: what
 * this machine makes of any program.
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD_NS = 1000000 };

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int64_t due = (argc > 1 ? strtoll(argv[1], NULL, 10) : 10) * 1000, at = 0, late = 0;
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int64_t begin = now_ns() + PERIOD_NS;
	const struct itimerspec t = { .it_interval.tv_nsec = PERIOD_NS,
				      .it_value = { begin / 1000000000, begin % 1000000000 } };

	if (fd < 0 || timerfd_settime(fd, TFD_TIMER_ABSTIME, &t, NULL))
		return 1;
	while (at < due) {
		uint64_t n = 0;

		if (poll(&p, 1, -1) != 1 || read(fd, &n, sizeof n) != (ssize_t)sizeof n)
			continue;
		at += (int64_t)n;
		late += (int64_t)n - 1;
		late += now_ns() - (begin + (at - 1) * PERIOD_NS) > PERIOD_NS / 10;
	}
	printf("%.3f\n", (double)late * 100 / (double)due);
	return 0;
}
