/* SPDX-License-Identifier: Apache-2.0 */
#include "session/attached.h"

#include "base/clock.h"
#include "base/root.h"
#include "base/text/number.h"
#include "job/scheduler/scheduler.h"
#include "job/share.h"
#include "sampler/tree/members.h"
#include "source/procfile.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENVIRONMENT_MAX = 256 << 10, VARIABLES_MAX = 4096 };

/* The variables of a process, which ends before the room does; 0: none can be read. */
static size_t read_environment(const struct root *proc, pid_t pid, char *text, char **variable)
{
	char path[32];
	ssize_t got;
	size_t n = 0;

	snprintf(path, sizeof path, "%d/environ", (int)pid);
	got = root_read(proc, path, text, ENVIRONMENT_MAX);
	for (ssize_t i = 0; i < got && n < VARIABLES_MAX - 1;
	     i += (ssize_t)strnlen(text + i, (size_t)(got - i)) + 1)
		variable[n++] = text + i;
	variable[n] = NULL;
	return n;
}

static bool is_script_of(const struct batch_job *script, const struct batch_job *job)
{
	const char *a = script->text[BATCH_RAW_ID], *b = job->text[BATCH_RAW_ID];

	return script->part == BATCH_PART_SCRIPT && a && b && strcmp(a, b) == 0;
}

/* Takes the number of tasks from the first of these processes that has the script's environment;
 * leaves the job as it is where it is known, or none has it. */
static void attached_script_tasks(struct batch_job *job, const struct root *proc, const pid_t *pids,
				  size_t n)
{
	char *text = malloc(ENVIRONMENT_MAX), **variable = calloc(VARIABLES_MAX, sizeof *variable);
	bool found = !text || !variable || job->part != BATCH_PART_STEP ||
		     job->number[BATCH_TASKS_ASKED] > 0;

	for (size_t i = 0; i < n && !found; i++) {
		struct batch_job script;

		if (!read_environment(proc, pids[i], text, variable))
			continue;
		batch_job_find(&script, variable, job->node);
		found = is_script_of(&script, job);
		if (found)
			job->number[BATCH_TASKS_ASKED] = script.number[BATCH_TASKS_ASKED] > 0
								 ? script.number[BATCH_TASKS_ASKED]
								 : 1;
		batch_job_free(&script);
	}
	free(text);
	free(variable);
}

#define TIME_MAX_S (INT64_MAX / NS_PER_S)

enum { TAKE_OVER = SIGURG }; /* harmless to whoever does not expect it */

/* What a signal handler may write, the signal; the one thing that is not handed in. */
static volatile int stop;

static void on_signal(int signal)
{
	stop = signal;
}

static void end_on_signals(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, TAKE_OVER };
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

/* When the oldest of the job's processes here began, in UTC; 0: none tells. */
static int64_t oldest_utc_ns(const struct attached *x)
{
	int64_t since_boot = clock_boot_ns(), tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	int64_t age = -1;

	for (size_t i = 0; i < x->nroots; i++) {
		struct proc_stat st;
		int64_t began = members_stat(&x->members, x->roots[i], &st)
					? since_boot - st.starttime * tick_ns
					: -1;

		age = began > age ? began : age;
	}
	return age >= 0 ? clock_utc_ns() - age : 0;
}

/* As it is told, else what the job may last from its first process here on: on its first node that
 * is the batch script, on others it may be a later one. */
static int64_t end_of_job(const struct attached *x, const struct batch_job *job)
{
	int64_t end_s = job->number[BATCH_END_UTC], limit_s = job->number[BATCH_TIME_LIMIT];
	int64_t began = end_s < 0 && limit_s > 0 ? oldest_utc_ns(x) : 0;

	if (end_s > 0 && end_s < TIME_MAX_S)
		return end_s * NS_PER_S;
	return began && limit_s < TIME_MAX_S / 2 ? began + limit_s * NS_PER_S : 0;
}

int attached_job(struct attached *x, struct recording_plan *plan, const char *id, struct err *e)
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
	if (id)
		return 0;
	x->ends_utc_ns = end_of_job(x, &plan->identity.job);
	attached_script_tasks(&plan->identity.job, &x->proc, x->roots, x->nroots);
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

void attached_unclaim(struct attached *x)
{
	file_close(&x->claim);
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

bool attached_taken_over(void)
{
	return stop == TAKE_OVER;
}

void attached_take_over(const struct attached *x, const struct recording_plan *plan,
			const char *name)
{
	pid_t holder = claim_holder(&plan->identity.job, plan->directory);
	struct proc_stat st;

	if (holder > 0 && members_stat(&x->members, holder, &st) && !strcmp(st.comm, name))
		kill(holder, TAKE_OVER);
}

int64_t attached_until_ns(int64_t ends_utc_ns, int64_t margin_ns)
{
	int64_t left = ends_utc_ns - margin_ns - clock_utc_ns();

	return ends_utc_ns && left > 0 ? left : 0;
}
