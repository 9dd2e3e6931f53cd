/* SPDX-License-Identifier: Apache-2.0 */
#include "job/patience.h"

#include "base/clock.h"
#include "base/root.h"
#include "base/text/number.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* False when there is nothing to read. */
static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : file_reread(fd, text, size);

	if (fd >= 0)
		close(fd);
	return n > 0;
}

struct glance glance_at(pid_t pid)
{
	enum { FLAGS_FIELD = 7, EXITING = 0x4 }; /* after the name; PF_EXITING of linux/sched.h */
	struct glance g = { 0 };
	char path[32], text[1024];
	const char *p;
	int64_t flags;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	p = read_text(path, text, sizeof text) ? strrchr(text, ')') : NULL;
	if (!p || p[1] != ' ')
		return g;
	g.state = p[2];
	for (int field = 0; p && field < FLAGS_FIELD; field++)
		p = strchr(p + 1, ' ');
	g.ending = p && number_i64(&p, &flags) && flags & EXITING;
	g.cpu_ns = clock_cpu_ns_of(pid);
	return g;
}

static bool ignored_children(pid_t pid)
{
	char path[32], text[4096];
	const char *p;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	p = read_text(path, text, sizeof text) ? number_find_line(text, "SigIgn:") : NULL;
	return p && strtoull(number_skip_blanks(p), NULL, 16) >> (SIGCHLD - 1) & 1;
}

/* Page faults of children, of which each has some. */
static bool was_given_nothing(pid_t pid)
{
	enum { FIRST = 4, OF_CHILDREN = 11, LAST = 13 /* the major ones */ };
	char path[32], text[1024];
	int64_t field[LAST + 1] = { 0 };
	const char *p;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	p = read_text(path, text, sizeof text) ? strrchr(text, ')') : NULL;
	if (!p || strlen(p) < 4)
		return false;
	p += 3; /* behind its state */
	for (int i = FIRST; i <= LAST; i++)
		if (!number_i64(&p, &field[i]))
			return false;
	return field[OF_CHILDREN] + field[LAST] == 0;
}

/* A /proc of another pid namespace has other processes by these numbers. */
static bool is_own_proc(void)
{
	char self[16];
	ssize_t n = readlink("/proc/self", self, sizeof self - 1);

	self[n > 0 ? n : 0] = '\0';
	return strtol(self, NULL, 10) == getpid();
}

enum glance_children glance_children(pid_t pid)
{
	bool nothing;

	if (!is_own_proc())
		return CHILDREN_WAITED;
	nothing = was_given_nothing(pid);
	if (ignored_children(pid))
		return nothing ? CHILDREN_IGNORED : CHILDREN_IGNORED_LAST;
	return nothing ? CHILDREN_UNKNOWN : CHILDREN_WAITED;
}

int64_t glance_own_high_water(void)
{
	char text[4096];
	const char *p = NULL;
	int64_t kib;

	if (read_text("/proc/self/status", text, sizeof text))
		p = number_find_line(text, "VmHWM:");
	if (p)
		p = number_skip_blanks(p);
	return p && number_i64(&p, &kib) && kib < INT64_MAX / 1024 ? kib * 1024 : 0;
}

bool glance_any_child(bool (*is_so)(void *ctx, pid_t pid), void *ctx)
{
	char text[4096];
	int64_t pid;

	if (!read_text("/proc/thread-self/children", text, sizeof text))
		return false;
	for (const char *p = text; number_i64(&p, &pid);)
		if (is_so(ctx, (pid_t)pid))
			return true;
	return false;
}

enum { LOOK_MS = 50, STILL_MS = 1000, DISK_MS = 5000 };

struct patience patience_begin(pid_t pid, bool may_sleep, int most_ms)
{
	int64_t now = clock_mono_ns();

	return (struct patience){ .pid = pid,
				  .may_sleep = may_sleep,
				  .deadline_ns = now + most_ms * NS_PER_MS,
				  .moved_ns = now };
}

static int64_t still_ns(const struct patience *p, char state)
{
	if (state == 'D')
		return DISK_MS * NS_PER_MS;
	return state == 'T' || state == 't' || !p->may_sleep ? STILL_MS * NS_PER_MS : INT64_MAX;
}

int patience_left_ms(struct patience *p)
{
	struct glance g = p->pid > 0 ? glance_at(p->pid) : (struct glance){ 0 };
	int64_t now = clock_mono_ns();

	if (g.state == 'R' || g.cpu_ns != p->cpu_ns)
		p->moved_ns = now;
	p->cpu_ns = g.cpu_ns;
	return now >= p->deadline_ns || now - p->moved_ns >= still_ns(p, g.state) ? 0 : LOOK_MS;
}
