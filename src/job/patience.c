/* SPDX-License-Identifier: Apache-2.0 */
#include "job/patience.h"

#include "base/clock.h"
#include "job/glance.h"

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
