/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/attached.h"

#include "base/clock.h"
#include "base/number.h"
#include "job/claim.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a signal handler may write; the one thing that is not handed in. */
static volatile int stop;

static void on_signal(int signal)
{
	(void)signal;
	stop = 1;
}

static void end_on_signals(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	struct sigaction act = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
		sigaction(ending[i], &act, NULL);
}

bool attached_pids(struct attached *x, const char *text)
{
	x->nroots = 0;
	for (const char *p = text; x->nroots < ATTACHED_PIDS; p++) {
		int64_t v;

		if (*p < '0' || *p > '9' || !number_i64(&p, &v) || v <= 0 || v > INT32_MAX)
			return false;
		x->roots[x->nroots++] = (pid_t)v;
		if (!*p)
			return true;
		if (*p != ',')
			return false;
	}
	return false;
}

int attached_job(struct attached *x, const struct recording_plan *plan, const char *id,
		 struct err *e)
{
	const char *procfs = plan->o->procfs ? plan->o->procfs : "/proc";
	int bad = root_open(&x->proc, procfs);

	if (bad)
		return err_set(e, bad, "cannot read %s: %s", procfs, strerror(-bad));
	bad = members_open(&x->members, &x->proc, &plan->identity.job, id, e);
	if (bad)
		return bad;
	x->follow = true;
	x->nroots = members_next(&x->members, x->roots, MEMBERS_AT_ONCE);
	return 0;
}

/* Does this process write a recording there? The links' modes tell reading from writing. */
static bool records_into(const struct root *proc, pid_t pid, const char *directory)
{
	char path[sizeof proc->path + 320], to[PATH_MAX];
	size_t n = strlen(directory);
	bool does = false;
	DIR *d;

	snprintf(path, sizeof path, "%s/%d/fd", proc->path, (int)pid);
	d = opendir(path);
	for (struct dirent *entry; d && !does && (entry = readdir(d));) {
		struct stat link;
		ssize_t len;

		snprintf(path, sizeof path, "%s/%d/fd/%s", proc->path, (int)pid, entry->d_name);
		if (lstat(path, &link) || !(link.st_mode & S_IWUSR))
			continue;
		len = readlink(path, to, sizeof to - 1);
		to[len > 0 ? len : 0] = '\0';
		does = !strncmp(to, directory, n) && !strncmp(to + n, "/node-", 6);
	}
	if (d)
		closedir(d);
	return does;
}

int attached_claim(struct attached *x, const struct recording_plan *plan, const char *id,
		   struct err *e)
{
	const char *directory = plan->directory[0] == '/' ? plan->directory : plan->absolute;
	pid_t holder = claim_take(&plan->identity.job, id, directory, &x->claim);
	char whole[PATH_MAX];

	/* Members are looked for by now: Sonde's own are among those that may become some. */
	for (size_t i = 0; i < x->members.npending && !holder && realpath(directory, whole); i++)
		if (members_is_here(&x->members, x->members.pending[i]) &&
		    records_into(&x->proc, x->members.pending[i], whole))
			holder = x->members.pending[i];
	return holder ? err_set(e, -EEXIST,
				"process %d on this node records this job into %s already; end it, or "
				"record into another directory",
				(int)holder, directory)
		      : 0;
}

void attached_close(struct attached *x)
{
	file_close(&x->claim);
	root_close(&x->proc);
}

struct recorder_options attached_recorder(const struct recording_plan *plan, struct attached *x)
{
	struct recorder_options r = recording_recorder(plan);

	r.sampler.tree.roots = x->roots;
	r.sampler.tree.nroots = x->nroots;
	r.sampler.tree.follow = x->follow;
	r.members = x->follow ? &x->members : NULL;
	r.command = x->command;
	r.stop = &stop;
	end_on_signals();
	return r;
}

bool attached_signalled(void)
{
	return stop;
}

int64_t attached_until_limit_ns(const struct batch_job *job, int64_t margin_ns)
{
	int64_t end_s = job->number[BATCH_END_UTC], end_ns, now = clock_utc_ns();

	if (end_s < 0 || end_s > INT64_MAX / NS_PER_S)
		return 0;
	end_ns = end_s * NS_PER_S - margin_ns;
	return end_ns > now ? end_ns - now : 0;
}
