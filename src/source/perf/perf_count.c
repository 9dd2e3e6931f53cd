/* SPDX-License-Identifier: Apache-2.0 */
#include "source/perf/perf_count.h"

#include "base/clock.h"
#include "base/text/number.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- What may be counted ---- */

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

/* ---- Counting ---- */

static void set_type(struct perf_event_attr *a, const struct perf_event *ev, uint32_t type)
{
	if (!strcmp(ev->pmu, "hardware")) {
		a->type = PERF_TYPE_HARDWARE;
		a->config |= (uint64_t)type << PERF_PMU_TYPE_SHIFT; /* hybrid CPUs, Linux 5.13 */
	} else if (!strcmp(ev->pmu, "software")) {
		a->type = PERF_TYPE_SOFTWARE;
	} else if (!strcmp(ev->pmu, "breakpoint")) {
		a->type = PERF_TYPE_BREAKPOINT;
		a->bp_type = HW_BREAKPOINT_X;
		a->bp_len = sizeof(long);
	} else {
		a->type = type ? type : PERF_TYPE_RAW;
	}
}

static int event_open(const struct perf_event *ev, const struct perf_seat *seat,
		      const struct perf_where *w, int leader, bool together)
{
	struct perf_event_attr a = {
		.size = sizeof a,
		.config = perf_code(ev, seat->kind),
		.config1 = ev->config[1],
		.config2 = ev->config[2],
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			       (together ? PERF_FORMAT_GROUP : 0),
		.inherit = w->inherit,
		/* Of a cgroup, what is switched on later counts time from before (Linux 6.18). */
		.disabled = leader < 0 && !w->cgroup,
		.enable_on_exec = leader < 0 && w->at_exec,
		.exclude_kernel = w->user_only,
		.exclude_hv = w->user_only,
	};
	unsigned long flags = PERF_FLAG_FD_CLOEXEC | (w->cgroup ? PERF_FLAG_PID_CGROUP : 0);
	long fd;

	set_type(&a, ev, seat->type);
	fd = syscall(SYS_perf_event_open, &a, seat->pid, seat->cpu, leader, flags);
	if (fd < 0 && errno == EOPNOTSUPP) { /* Apple's cores count no guests, and say so */
		a.exclude_guest = 1;
		fd = syscall(SYS_perf_event_open, &a, seat->pid, seat->cpu, leader, flags);
	}
	return fd < 0 ? -errno : (int)fd;
}

static void close_seat(int *fd, uint32_t n)
{
	for (uint32_t i = n; i > 0; i--) /* the leader last: its siblings would go on alone */
		if (fd[i - 1] > 0)
			close(fd[i - 1]);
	memset(fd, 0, n * sizeof *fd);
}

/* Whether an event that cannot be beside the leader can be counted without it. */
static bool opens_alone(const struct perf_event *ev, const struct perf_where *w,
			const struct perf_seat *seat)
{
	int fd = event_open(ev, seat, w, -1, false);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The first seat shows which events there are. Before Linux 4.13 inherited events could not be read
 * together. */
static int open_first(struct perf_count *c, struct perf_set *s, struct perf_set *rest,
		      const struct perf_where *w, const struct perf_seat *seat)
{
	struct perf_set had = *s;
	int first = 0;

	s->n = 0;
	for (uint32_t i = 0; i < had.n; i++) {
		const struct perf_event *ev = perf_set_event(&had, i);
		int leader = s->n ? c->fd[0] : -1;
		int fd = event_open(ev, seat, w, leader, c->together);

		if (fd == -EINVAL && !s->n && c->together) {
			fd = event_open(ev, seat, w, leader, false);
			c->together = fd < 0;
		}
		if (fd >= 0) {
			c->fd[s->n] = fd;
			s->event[s->n++] = had.event[i];
		} else if (s->n && fd == -EINVAL && opens_alone(ev, w, seat)) {
			rest->event[rest->n++] = had.event[i];
		} else if (!first) {
			first = fd;
		}
	}
	if (!s->n) {
		*s = had;
		return first;
	}
	c->n = s->n;
	c->again[c->nseats++] = seat->again;
	return 0;
}

static int open_seat(struct perf_count *c, const struct perf_set *s, const struct perf_where *w,
		     const struct perf_seat *seat)
{
	int *fd = &c->fd[c->nseats * c->n], bad = 0;

	for (uint32_t i = 0; i < s->n && !bad; i++) {
		fd[i] = event_open(perf_set_event(s, i), seat, w, i ? fd[0] : -1, c->together);
		if (fd[i] < 0) {
			bad = fd[i];
			fd[i] = 0;
		}
	}
	if (bad)
		close_seat(fd, s->n);
	else
		c->again[c->nseats++] = seat->again;
	return bad;
}

/* A quarter of the files that this process may have open, for one set: the rest is for others. */
static bool are_too_many(size_t files)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	       files > limit.rlim_cur / 4;
}

/* A task that has ended meanwhile, or that is not to be counted, as one of another user is. */
static bool pass_over(struct perf_count *c, const struct perf_seat *seat, int bad)
{
	if (bad == -ESRCH)
		return true;
	if (seat->cpu >= 0 || (bad != -EACCES && bad != -EPERM && bad != -EMFILE && bad != -ENFILE))
		return false;
	c->refused += !seat->again;
	c->refusal = bad;
	return true;
}

int perf_count_open(struct perf_count *c, struct perf_set *s, struct perf_set *rest,
		    const struct perf_where *w)
{
	int bad;

	*rest = (struct perf_set){ .group = s->group };
	*c = (struct perf_count){ .together = w->together, .at_exec = w->at_exec };
	if (!w->n)
		return -ESRCH;
	if (are_too_many(w->n * s->n))
		return -EMFILE;
	c->fd = calloc(w->n * s->n, sizeof *c->fd);
	c->again = calloc(w->n, sizeof *c->again);
	bad = c->fd && c->again ? 0 : -ENOMEM;
	for (size_t k = 0; k < w->n && !bad; k++) {
		bad = c->nseats ? open_seat(c, s, w, &w->seat[k])
				: open_first(c, s, rest, w, &w->seat[k]);
		if (bad && pass_over(c, &w->seat[k], bad))
			bad = 0;
	}
	if (!bad && !c->nseats)
		bad = c->refused ? c->refusal : -ESRCH;
	while (w->probe && c->nseats)
		close_seat(&c->fd[--c->nseats * c->n], c->n);
	c->reads = c->nseats * (c->together ? 1 : c->n);
	if (bad)
		perf_count_close(c);
	return bad;
}

int perf_count_more(struct perf_count *c, const struct perf_set *s, const struct perf_where *w)
{
	size_t had = c->nseats, n = had + w->n;
	int *fd, bad = 0;
	bool *again;

	if (!w->n)
		return 0;
	if (are_too_many(n * c->n))
		return -EMFILE;
	fd = reallocarray(c->fd, n * c->n, sizeof *fd);
	if (!fd)
		return -ENOMEM;
	c->fd = fd;
	memset(fd + had * c->n, 0, w->n * c->n * sizeof *fd);
	again = reallocarray(c->again, n, sizeof *again);
	if (!again)
		return -ENOMEM;
	c->again = again;
	for (size_t k = 0; k < w->n && !bad; k++) {
		bad = open_seat(c, s, w, &w->seat[k]);
		if (bad && !w->at_exec && pass_over(c, &w->seat[k], bad))
			bad = 0;
	}
	while (bad && c->nseats > had)
		close_seat(&c->fd[--c->nseats * c->n], c->n);
	c->reads = c->nseats * (c->together ? 1 : c->n);
	return bad;
}

void perf_count_close(struct perf_count *c)
{
	for (size_t k = 0; c->fd && k < c->nseats; k++)
		close_seat(&c->fd[k * c->n], c->n);
	free(c->fd);
	free(c->again);
	*c = (struct perf_count){ 0 };
}

int perf_count_pin(pid_t pid)
{
	struct perf_event_attr a = { .size = sizeof a,
				     .type = PERF_TYPE_SOFTWARE,
				     .config = PERF_COUNT_SW_DUMMY,
				     .exclude_kernel = 1,
				     .exclude_hv = 1 };
	long fd = syscall(SYS_perf_event_open, &a, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? 0 : (int)fd;
}

int perf_count_enable(const struct perf_count *c, size_t first)
{
	for (size_t k = first; k < c->nseats; k++)
		if (ioctl(c->fd[k * c->n], PERF_EVENT_IOC_ENABLE, 0))
			return -errno;
	return 0;
}

static int read_exactly(int fd, uint64_t *words, size_t n)
{
	ssize_t got = read(fd, words, n * sizeof *words);

	if (got < 0)
		return -errno;
	return got == (ssize_t)(n * sizeof *words) ? 0 : -ENODATA;
}

/* { n, enabled, running, value of each }; or for each event { value, enabled, running } */
static int read_seat(const struct perf_count *c, const int *fd, struct perf_counted *out,
		     uint64_t time[2])
{
	uint64_t words[3 + PERF_GROUP_EVENTS_MAX];
	int bad = 0;

	if (c->together) {
		bad = read_exactly(fd[0], words, 3 + c->n);
		if (!bad && words[0] != c->n)
			bad = -EBADMSG;
		for (uint32_t i = 0; i < c->n && !bad; i++)
			out->value[i] += words[3 + i];
		memcpy(time, words + 1, 2 * sizeof *time);
		return bad;
	}
	for (uint32_t i = 0; i < c->n && !bad; i++) {
		bad = read_exactly(fd[i], words, 3);
		out->value[i] += words[0];
		if (!i)
			memcpy(time, words + 1, 2 * sizeof *time);
	}
	return bad;
}

int perf_count_read(const struct perf_count *c, struct perf_counted *out)
{
	memset(out, 0, sizeof *out);
	for (size_t k = 0; k < c->nseats; k++) {
		uint64_t time[2] = { 0, 0 };
		int bad = read_seat(c, &c->fd[k * c->n], out, time);

		if (bad)
			return bad;
		out->enabled_ns += c->again[k] ? 0 : time[0];
		out->running_ns += time[1];
	}
	return 0;
}
