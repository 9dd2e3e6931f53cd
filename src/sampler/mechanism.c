/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/mechanism.h"

#include "base/err.h"
#include "sampler/tree/connector.h"
#include "sampler/tree/exits.h"
#include "sampler/tree/iterator.h"
#include "sampler/tree/reading.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int try_clock(const struct reading *r, struct err *e)
{
	int64_t ns;

	if (!r->clocks)
		return err_set(e, -EOPNOTSUPP, "the files read are not this kernel's /proc");
	if (process_clock(getppid(), &ns) && process_clock(getpid(), &ns))
		return err_set(e, -EPERM, "the CPU clock of another process cannot be read");
	return 0;
}

static int try_exits(const struct reading *r, struct err *e)
{
	pid_t self = getpid();
	struct exits *x;
	int bad;

	if (!r->clocks)
		return err_set(e, -EOPNOTSUPP, "the files read are not this kernel's /proc");
	bad = exits_open(&x, &self, 1, EXITS_CPUS_MAX, e);
	if (!bad)
		exits_close(x);
	return bad;
}

static int try_connector(const struct reading *r, struct err *e)
{
	struct connector c;
	int bad;

	if (!r->clocks)
		return err_set(e, -EOPNOTSUPP, "the files read are not this kernel's /proc");
	bad = connector_open(&c, e);
	if (!bad)
		connector_close(&c);
	return bad;
}

static int try_new_pids(const struct reading *r, struct err *e)
{
	char buf[128];
	ssize_t n = root_read(r->proc, "loadavg", buf, sizeof buf);
	pid_t last;

	if (n <= 0 || proc_last_pid_parse(buf, &last))
		return err_set(e, n < 0 ? (int)n : -ENODATA,
			       "loadavg does not report the last pid; all of /proc is looked "
			       "through, which costs more");
	return 0;
}

static int try_reaper(const struct reading *r, struct err *e)
{
	int was = 0;

	(void)r;
	if (prctl(PR_GET_CHILD_SUBREAPER, &was))
		return err_set(e, -errno, "the kernel has no child sub-reapers");
	return 0;
}

static int try_iterator(const struct reading *r, struct err *e)
{
	enum { PATIENCE_MS = 10000 };
	struct iterator it;
	int got;

	if (!r->clocks)
		return err_set(e, -EOPNOTSUPP, "the files read are not this kernel's /proc");
	got = iterator_start(&it, e);
	if (got)
		return got;
	got = iterator_wait(&it, PATIENCE_MS, e);
	iterator_close(&it);
	return got < 0 ? got : 0;
}

static int try_size(const struct reading *r, struct err *e)
{
	if (!r->files_by_size)
		return err_set(
			e, -EOPNOTSUPP,
			"this kernel is older than 6.2; open files are counted one by one, which "
			"costs a little more");
	return 0;
}

static int try_walk(const struct reading *r, struct err *e)
{
	char buf[256];
	ssize_t n = root_read(r->proc, "self/smaps_rollup", buf, sizeof buf);

	if (n == -EFBIG || n > 0)
		return 0;
	return err_set(e, n ? (int)n : -ENODATA, "smaps_rollup cannot be read: %s",
		       strerror(n ? (int)-n : ENODATA));
}

struct mechanism {
	const char *name, *what, *fix_user, *fix_admin;
	int (*try)(const struct reading *r, struct err *e);
};

static const struct mechanism mechanisms[] = {
	{ "process.cpu_clock", "shows which processes ran since the last sample", NULL, NULL,
	  try_clock },
	{ "process.exit_records",
	  "perf events report every fork and exit, with the CPU time of each process",
	  "run works without: totals stay exact, short processes have no CPU time of their own",
	  "sysctl kernel.perf_event_paranoid=2 (or lower); in a container, allow perf_event_open",
	  try_exits },
	{ "process.connector",
	  "the proc connector reports every fork and exit; used when perf events are refused or "
	  "cost too much",
	  "run works without: totals stay exact, the number of short processes is a bound",
	  "Linux 6.6 or later, or CAP_NET_ADMIN; in a container, the host's pid and user "
	  "namespaces",
	  try_connector },
	{ "process.new_pids",
	  "new pids are checked in each sample; used when neither is available, and misses the "
	  "short ones",
	  NULL, NULL, try_new_pids },
	{ "process.sub_reaper", "orphans of the job stay with the job", NULL, NULL, try_reaper },
	{ "process.task_iterator",
	  "a BPF task iterator reads thousands of active processes at a tenth of the cost",
	  "run works without: /proc has the same figures",
	  "CAP_BPF and CAP_PERFMON, Linux 5.10 with CONFIG_DEBUG_INFO_BTF, and the helper "
	  "sonde-iterator",
	  try_iterator },
	{ "process.files_by_size", "the number of open files in one call", NULL, NULL, try_size },
	{ "process.pss", "memory that counts shared pages once", NULL,
	  "a kernel of 4.14 or later with CONFIG_PROC_PAGE_MONITOR", try_walk },
};
_Static_assert(sizeof mechanisms / sizeof mechanisms[0] <= MECHANISMS_MAX, "room for every row");

size_t mechanism_check(const struct root *proc, struct finding out[MECHANISMS_MAX])
{
	size_t n = sizeof mechanisms / sizeof mechanisms[0];
	struct reading r;

	reading_init(&r, proc);
	for (size_t i = 0; i < n; i++) {
		const struct mechanism *m = &mechanisms[i];
		struct err e = { "" };
		int bad = m->try(&r, &e);

		out[i] = (struct finding){ .name = m->name,
					   .what = m->what,
					   .state = STATE_PRESENT };
		if (!bad)
			continue;
		out[i].state = state_of(bad);
		out[i].fix_user = m->fix_user;
		out[i].fix_admin = m->fix_admin;
		snprintf(out[i].reason, sizeof out[i].reason, "%.255s", e.text);
	}
	return n;
}
