/* SPDX-License-Identifier: Apache-2.0 */
#include "source/perf_permission.h"

#include "base/clock.h"
#include "base/number.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long try_event(uint32_t type, uint64_t config, bool user_only)
{
	struct perf_event_attr a = { .size = sizeof a,
				     .type = type,
				     .config = config,
				     .exclude_kernel = user_only,
				     .exclude_hv = user_only };
	long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

bool perf_may_count_kernel(void)
{
	long fd = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, false);

	if (fd < 0)
		return false;
	close((int)fd);
	return true;
}

bool perf_cycles_advance(bool user_only)
{
	long fd = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, user_only);
	int64_t until = clock_mono_ns() + NS_PER_MS;
	uint64_t counted = 1;

	if (fd < 0)
		return true; /* said where the event itself cannot be opened */
	while (clock_mono_ns() < until)
		;
	if (read((int)fd, &counted, sizeof counted) != (ssize_t)sizeof counted)
		counted = 0;
	close((int)fd);
	return counted > 0;
}

int perf_explain(const struct root *proc, int bad, struct err *e)
{
	char text[32];
	const char *at = text;
	int64_t paranoid;

	if (bad == -ENOENT || bad == -ENODEV || bad == -EOPNOTSUPP)
		return err_set(e, bad, "the CPU or the kernel has no such events (%s)",
			       strerror(-bad));
	if (bad != -EACCES && bad != -EPERM && bad != -ENOSYS)
		return err_set(e, bad, "perf_event_open: %s", strerror(-bad));
	if (root_read(proc, "sys/kernel/perf_event_paranoid", text, sizeof text) <= 0 ||
	    !number_i64(&at, &paranoid))
		return err_set(e, -ENOSYS, "this kernel has no perf events");
	if (paranoid > 2)
		return err_set(e, -EACCES, "kernel.perf_event_paranoid is %d: root alone may count",
			       (int)paranoid);
	if (bad == -EACCES)
		return err_set(e, bad,
			       "kernel.perf_event_paranoid is %d, or the processes are another "
			       "user's",
			       (int)paranoid);
	return err_set(e, -EPERM,
		       "perf_event_open is blocked, as container runtimes do by a seccomp filter");
}
