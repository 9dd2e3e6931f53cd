/* SPDX-License-Identifier: Apache-2.0 */
/* tree_status.c - how each process ended, and which limits it had of its own.
 *
 * The launcher knows that of what it waits for. Of others a pidfd tells it after their end (Linux
 * 6.15), without a privilege, if it was opened while they lived: so many are kept open at a time.
 */
#include "sampler/tree/tree_state.h"

#include "base/clock.h"
#include "base/crc32c.h"

#include <linux/types.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HANDLES_MAX = 256, HANDLES_SHARE = 8 /* of the files that may be open */ };

/* Of linux/pidfd.h, which older systems lack. */
enum { INFO_EXIT = 1 << 3 };
struct pidfd_info {
	__u64 mask, cgroupid;
	__u32 pid, tgid, ppid, ids[8];
	__s32 exit_code;
};
_Static_assert(sizeof(struct pidfd_info) == 64, "as the kernel has it");
#define PIDFD_GET_INFO _IOWR(0xFF, 11, struct pidfd_info)

void status_watch(struct tree *t, struct process *p)
{
	struct rlimit files;

	if (!t->reading.clocks) /* pids are another machine's */
		return;
	if (!t->handles_max)
		t->handles_max = getrlimit(RLIMIT_NOFILE, &files) ||
						 files.rlim_cur / HANDLES_SHARE > HANDLES_MAX
					 ? HANDLES_MAX
					 : (uint32_t)(files.rlim_cur / HANDLES_SHARE);
	if (t->handles >= t->handles_max)
		return;
	p->handle = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (p->handle > 0)
		t->handles++;
	else
		p->handle = 0;
}

void status_forget(struct tree *t, struct process *p)
{
	if (!p->handle)
		return;
	close(p->handle);
	p->handle = 0;
	t->handles--;
}

void status_take(struct tree *t, struct process *p)
{
	struct pidfd_info info = { .mask = INFO_EXIT };

	if (p->handle && !p->status && !ioctl(p->handle, PIDFD_GET_INFO, &info) &&
	    info.mask & INFO_EXIT)
		p->status = info.exit_code;
	status_forget(t, p);
}

static void label(struct tree *t, const struct process *p, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	sample_label(t->sample, p->instance, key, text);
}

void tree_limits(struct tree *t, const struct rlimit *limits)
{
	limits_take(limits, &t->limits);
	t->limits_known = true;
}

/* One process every two seconds: few programs set themselves a limit late. */
void status_turn(struct tree *t)
{
	if (!t->table.nlive || t->now_ns - t->limits_ns < 2 * NS_PER_S)
		return;
	t->limits_ns = t->now_ns;
	t->table.row[t->table.live[t->limits_turn++ % t->table.nlive]].limits_due = true;
}

/* What it has told once may have changed since, and is told again when it is another. */
static void say_limits(struct tree *t, struct process *p)
{
	struct limits own;
	bool again = p->limits_told;
	const char *key;
	uint32_t sum;

	if (!p->limits_due || !t->limits_known)
		return;
	p->limits_due = false;
	if (limits_read(t->reading.proc, p->pid, &own))
		return;
	sum = crc32c(0, &own, sizeof own);
	if (p->limits_sum == sum)
		return;
	p->limits_sum = sum;
	for (size_t i = 0; i < LIMIT_ROWS; i++) {
		if (own.value[i] == LIMIT_UNKNOWN || (own.value[i] == t->limits.value[i] && !again))
			continue;
		p->limits_told = true;
		key = limit_label(&limit_rows[i]);
		if (own.value[i] == LIMIT_NONE)
			sample_label(t->sample, p->instance, key, "unlimited");
		else
			label(t, p, key, own.value[i]);
	}
}

void status_say_now(struct tree *t, struct process *p)
{
	int64_t nice = p->stat.nice;

	if (!p->instance)
		return;
	say_limits(t, p);
	if (nice == p->nice_told || nice < PRIO_MIN || nice > PRIO_MAX)
		return;
	label(t, p, "nice", nice);
	p->nice_told = (int8_t)nice;
}

/* Most end with 0, of which nothing is said. */
void status_say(struct tree *t, const struct process *p)
{
	if (WIFSIGNALED(p->status)) {
		label(t, p, "signal", WTERMSIG(p->status));
		if (WCOREDUMP(p->status))
			label(t, p, "core_dumped", 1);
	} else if (WIFEXITED(p->status) && WEXITSTATUS(p->status)) {
		label(t, p, "exit_code", WEXITSTATUS(p->status));
	}
}
