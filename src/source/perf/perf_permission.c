/* SPDX-License-Identifier: Apache-2.0 */
#include "source/perf/perf_permission.h"

#include "base/clock.h"
#include "base/text/number.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>
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

bool perf_may_count_itself(void)
{
	long fd = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, true);

	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

/* Words of reasons, each with what helps against it. */
#define ROOT_ALONE   "root alone may count"
#define OWN_ALONE    "users may count their own processes alone"
#define USER_MODE    "only user mode may be counted"
#define OTHER_USER   "processes that are another user's"
#define SECCOMP      "blocked by a seccomp filter"
#define LOCKDOWN     "the kernel is locked down"
#define SELINUX      "SELinux does not permit it"
#define MODULE       "a security module of the kernel does not permit it"
#define NO_KERNEL    "this kernel has no perf events"
#define NO_COUNTERS  "the cores show no counters that count"
#define NO_CGROUP    "this kernel counts no perf events of control groups"
#define OWN_FILES    "this process may not have open more than"
#define ALL_FILES    "the machine has too many files open"
#define NO_GROUP     "in no control group of its own for perf events"
#define NO_DIRECTORY "has no directory to count perf events of"

const char perf_no_counters[] =
	NO_COUNTERS "; a virtual machine has them only if its host gives them";
const char perf_user_mode_only[] =
	USER_MODE ", where it is always 0: kernel.perf_event_paranoid is more than 1";
const char perf_no_group[] =
	"the job is " NO_GROUP "; --perf-scope node counts the whole machine's";
const char perf_no_directory[] = NO_DIRECTORY;

const struct source_fix perf_fixes[] = {
	{ ROOT_ALONE, NULL,
	  "sysctl -w kernel.perf_event_paranoid=2, by which users count their own processes; in "
	  "/etc/sysctl.d it stays" },
	{ OWN_ALONE, "count the job's processes alone (--perf-scope job, no group memory_node)",
	  "sysctl -w kernel.perf_event_paranoid=0, by which users count the whole node; in "
	  "/etc/sysctl.d it stays" },
	{ USER_MODE, NULL,
	  "sysctl -w kernel.perf_event_paranoid=1, by which users count the kernel's mode, too" },
	{ OTHER_USER, "attach as the user whose processes they are, or as root", NULL },
	{ SECCOMP, NULL,
	  "allow the system call perf_event_open to the container: in its seccomp profile "
	  "(--security-opt seccomp=FILE), or by --cap-add PERFMON" },
	{ LOCKDOWN, NULL, "boot without lockdown=confidentiality" },
	{ SELINUX, NULL,
	  "allow perf_event { open read cpu kernel } in SELinux's policy; ausearch -m avc shows for "
	  "whom" },
	{ MODULE, NULL,
	  "allow perf events in the policy of that module; the kernel's log names it" },
	{ NO_KERNEL, NULL, "use a kernel with CONFIG_PERF_EVENTS" },
	{ NO_COUNTERS, NULL,
	  "give the virtual machine the counters: with KVM a CPU of the host's model with pmu=on; "
	  "clouds have them in bare metal and often in the largest machines" },
	{ NO_CGROUP, "count the job's processes (--perf-scope job)",
	  "use a kernel with CONFIG_CGROUP_PERF" },
	{ OWN_FILES, "count fewer groups at a time (--perf), or raise the limit: ulimit -n",
	  "raise the limit of open files: nofile in /etc/security/limits.conf, LimitNOFILE of the "
	  "batch system's service" },
	{ ALL_FILES, NULL, "sysctl -w fs.file-max to more" },
	{ NO_GROUP, "count the job's processes (--perf-scope job)",
	  "constrain jobs by control groups (Slurm: ProctrackType=proctrack/cgroup)" },
	{ NO_DIRECTORY, "count the job's processes (--perf-scope job)",
	  "mount the control groups where the job runs: cgroup2, or perf_event of version 1" },
	{ .words = NULL },
};

static bool line_says(const struct root *r, const char *path, const char *key, const char *word)
{
	char text[4096];
	const char *line =
		root_read(r, path, text, sizeof text) > 0 ? number_find_line(text, key) : NULL;
	const char *found = line ? strstr(line, word) : NULL;

	return found && found < number_next_line(line);
}

/* perf_event_paranoid lets it pass: something else does not. */
static int explain_blocked(const struct perf_refusal *r, struct err *e)
{
	if (line_says(r->sys, "kernel/security/lockdown", "", "[confidentiality]"))
		return err_set(e, -EPERM, LOCKDOWN " (confidentiality)");
	if (line_says(r->sys, "fs/selinux/enforce", "", "1"))
		return err_set(e, -EPERM, SELINUX);
	return err_set(e, -EPERM, MODULE);
}

static int explain_files(int bad, struct err *e)
{
	struct rlimit limit;

	if (bad == -ENFILE || getrlimit(RLIMIT_NOFILE, &limit))
		return err_set(e, bad, ALL_FILES);
	return err_set(e, bad,
		       "each event of each task or CPU takes an open file, and " OWN_FILES " %llu",
		       (unsigned long long)limit.rlim_cur);
}

int perf_explain(const struct perf_refusal *r, int bad, struct err *e)
{
	char text[32];
	const char *at = text;
	int64_t paranoid;

	if (bad == -EMFILE || bad == -ENFILE)
		return explain_files(bad, e);
	if (bad == -EINVAL && r->of_cgroup)
		return err_set(e, -EOPNOTSUPP, NO_CGROUP);
	if (bad == -ENOENT || bad == -ENODEV || bad == -EOPNOTSUPP)
		return err_set(e, bad, "the CPU or the kernel has no such events (%s)",
			       strerror(-bad));
	if (bad != -EACCES && bad != -EPERM && bad != -ENOSYS)
		return err_set(e, bad, "perf_event_open: %s", strerror(-bad));
	if (root_read(r->proc, "sys/kernel/perf_event_paranoid", text, sizeof text) <= 0 ||
	    !number_i64(&at, &paranoid))
		return err_set(e, -ENOSYS, NO_KERNEL);
	if (bad != -EACCES && line_says(r->proc, "self/status", "Seccomp:", "2"))
		return err_set(e, -EPERM, "perf_event_open is " SECCOMP ", as of a container");
	if (paranoid > 2)
		return err_set(e, -EACCES, "kernel.perf_event_paranoid is %d: " ROOT_ALONE,
			       (int)paranoid);
	if (bad == -EACCES && paranoid > 0 && r->of_cpus)
		return err_set(e, bad, "kernel.perf_event_paranoid is %d: " OWN_ALONE,
			       (int)paranoid);
	if (bad == -EACCES && !r->of_cpus && r->itself_permitted)
		return err_set(e, bad, "perf events may not be counted of " OTHER_USER);
	return explain_blocked(r, e);
}
