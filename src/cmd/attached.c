/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/attached.h"

#include "base/clock.h"
#include "base/number.h"
#include "job/election.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Until a copy that begins at the same moment listens. */
enum { CLAIM_TRIES = 50, CLAIM_PAUSE_MS = 20 };

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

static const char *text_or(const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

int attached_claim(struct attached *x, const struct recording_plan *plan, const char *id,
		   struct err *e)
{
	const char *directory = plan->directory[0] == '/' ? plan->directory : plan->absolute;
	const struct batch_job *job = &plan->identity.job;
	char key[2 * PATH_MAX];
	int how = -EAGAIN;
	pid_t holder;

	snprintf(key, sizeof key, "attach %s %s %s\n%s", text_or(batch_job_system(job), "-"),
		 id ? id : job->id, job->node, directory);
	for (int i = 0; i < CLAIM_TRIES && how == -EAGAIN; i++) {
		if (i)
			nanosleep(&(struct timespec){ .tv_nsec = CLAIM_PAUSE_MS * NS_PER_MS },
				  NULL);
		how = election_try(key, &x->claim, NULL);
	}
	if (how != ELECTION_CONNECTED)
		return 0; /* where nobody can be met, nobody is refused */
	holder = election_peer(x->claim);
	file_close(&x->claim);
	return err_set(e, -EEXIST, "process %d on this node records this job into %s already",
		       (int)holder, directory);
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
