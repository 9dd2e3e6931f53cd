/* SPDX-License-Identifier: Apache-2.0 */
#include "job/patience.h"

#include "base/clock.h"
#include "base/root.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 50, STILL_MS = 1000, DISK_MS = 5000 };

struct patience patience_begin(pid_t pid, bool may_sleep, int most_ms)
{
	int64_t now = clock_mono_ns();

	return (struct patience){ .pid = pid,
				  .may_sleep = may_sleep,
				  .deadline_ns = now + most_ms * NS_PER_MS,
				  .moved_ns = now };
}

/* As /proc/PID/stat has it, behind the last parenthesis; 0: not known. */
static char state_of_process(pid_t pid)
{
	char path[32], text[512];
	const char *end;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	end = file_reread(fd, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
	close(fd);
	return end && end[1] == ' ' ? end[2] : 0;
}

static int64_t cpu_ns_of(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int64_t still_ns(const struct patience *p, char state)
{
	if (state == 'D')
		return DISK_MS * NS_PER_MS;
	return state == 'T' || state == 't' || !p->may_sleep ? STILL_MS * NS_PER_MS : INT64_MAX;
}

int patience_left_ms(struct patience *p)
{
	char state = p->pid > 0 ? state_of_process(p->pid) : 0;
	int64_t cpu = p->pid > 0 ? cpu_ns_of(p->pid) : 0, now = clock_mono_ns();

	if (state == 'R' || cpu != p->cpu_ns)
		p->moved_ns = now;
	p->cpu_ns = cpu;
	return now >= p->deadline_ns || now - p->moved_ns >= still_ns(p, state) ? 0 : LOOK_MS;
}
