/* SPDX-License-Identifier: Apache-2.0 */
/* attach.c - record processes that run already, and what they start. */
#include "base/clock.h"
#include "base/number.h"
#include "cmd/command.h"
#include "cmd/recording.h"
#include "cmd/say.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOTS_MAX = 256, LIMIT_MARGIN_S = 5 };

struct attach_options {
	struct recording_options recording; /* first, as RECORDING_OPTIONS wants it */
	const char *pids, *job;
	int64_t duration_ns, grace_ns;
};

_Static_assert(offsetof(struct attach_options, recording) == 0, "RECORDING_OPTIONS");

static const struct option options[] = {
	{ .name = "pid",
	  .letter = 'p',
	  .type = ARG_TEXT,
	  .value = "PID[,PID...]",
	  .help = "The processes; their descendants are recorded, too.",
	  OPTION_OFFSET(struct attach_options, pids) },
	{ .name = "job",
	  .type = ARG_TEXT,
	  .value = "ID",
	  .bare = "",
	  .help = "The processes of the batch job that this is in, or of --job=ID, on this node: "
		  "of all its steps, those to come too.",
	  OPTION_OFFSET(struct attach_options, job) },
	{ .name = "grace",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "60s",
	  .help = "With --job, end when the job had no process here for so long but those that "
		  "wait for others.",
	  OPTION_OFFSET(struct attach_options, grace_ns) },
	{ .name = "duration",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .help = "End after TIME; without it, when the processes have ended or on Ctrl-C.",
	  OPTION_OFFSET(struct attach_options, duration_ns) },
	RECORDING_OPTIONS,
};

static const struct example examples[] = {
	{ "attach -p 1234", "until process 1234 and its descendants have ended" },
	{ "attach -p 1234,1235 --duration 10m", "two process trees for ten minutes" },
	{ "attach --job", "in a job script, by srun --overlap --ntasks-per-node=1: every node" },
};

/* What a signal handler may write; the one thing that is not handed in. */
static volatile int stop;

static void on_signal(int signal)
{
	(void)signal;
	stop = 1;
}

static size_t parse_pids(const char *text, pid_t *out)
{
	size_t n = 0;

	for (const char *p = text; n < ROOTS_MAX; p++) {
		int64_t v;

		if (*p < '0' || *p > '9' || !number_i64(&p, &v) || v <= 0 || v > INT32_MAX)
			return 0;
		out[n++] = (pid_t)v;
		if (!*p)
			return n;
		if (*p != ',')
			return 0;
	}
	return 0;
}

static void end_on_signals(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	struct sigaction act = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
		sigaction(ending[i], &act, NULL);
}

/* What is recorded: by their pids, or the job's. */
struct attached {
	struct root proc;
	struct members members;
	pid_t roots[MEMBERS_AT_ONCE];
	size_t nroots;
	char command[256];
};

static int attach_pids(struct attached *x, const struct attach_options *o)
{
	x->nroots = parse_pids(o->pids, x->roots);
	if (!x->nroots) {
		say("attach: -p %s is no list of at most %d process ids, as 1234,1235", o->pids,
		    ROOTS_MAX);
		return EXIT_USAGE;
	}
	snprintf(x->command, sizeof x->command, "attach -p %s", o->pids);
	return EXIT_OK;
}

static int attach_job(struct attached *x, const struct attach_options *o,
		      const struct batch_job *job)
{
	const char *procfs = o->recording.procfs ? o->recording.procfs : "/proc";
	const char *id = o->job[0] ? o->job : NULL;
	int bad = root_open(&x->proc, procfs);
	struct err e;

	if (bad) {
		say("attach: cannot read %s: %s", procfs, strerror(-bad));
		return EXIT_FAILED;
	}
	if (members_open(&x->members, &x->proc, job, id, &e)) {
		say("attach: %s", e.text);
		return EXIT_FAILED;
	}
	if (x->members.by == MEMBERS_USER)
		say("attach: recording %s", x->members.how);
	x->nroots = members_next(&x->members, x->roots, MEMBERS_AT_ONCE);
	snprintf(x->command, sizeof x->command, "attach --job%s%s", id ? "=" : "", id ? id : "");
	return EXIT_OK;
}

/* Before the scheduler ends the job, so that the recording is closed by then. */
static int64_t until_limit_ns(const struct batch_job *job)
{
	int64_t end_s = job->number[BATCH_END_UTC], now = clock_utc_ns();

	if (end_s < 0 || end_s > INT64_MAX / NS_PER_S - LIMIT_MARGIN_S)
		return 0;
	end_s -= LIMIT_MARGIN_S;
	return end_s * NS_PER_S > now ? end_s * NS_PER_S - now : 0;
}

static int record(const struct attach_options *o, struct recording_plan *plan, struct attached *x)
{
	struct recorder_options r = recording_recorder(plan);

	r.sampler.tree.roots = x->roots;
	r.sampler.tree.nroots = x->nroots;
	r.sampler.tree.follow = o->job != NULL;
	r.members = o->job ? &x->members : NULL;
	r.grace_ns = o->grace_ns;
	r.command = x->command;
	r.duration_ns = o->duration_ns;
	if (!r.duration_ns && o->job && !o->job[0])
		r.duration_ns = until_limit_ns(&plan->identity.job);
	r.stop = &stop;
	end_on_signals();
	if (recorder_run(&r))
		return EXIT_FAILED;
	recording_tell(plan);
	return EXIT_OK;
}

static int attach(const void *given, int n, char **operands)
{
	const struct attach_options *o = given;
	struct recording_options recording = o->recording;
	struct recording_plan plan;
	struct attached *x;
	int code;

	(void)operands;
	if (!o->pids == !o->job || n) {
		say("attach: give the processes to record with -p PID[,PID...], or --job");
		return EXIT_USAGE;
	}
	/* Processes that are not there yet would not be counted, and sums be too small. */
	if (o->job && !strcmp(recording.perf, "auto"))
		recording.perf = "off";
	if (!recording_plan(&plan, &recording))
		return EXIT_USAGE;
	x = calloc(1, sizeof *x); /* the job's limit of the stack may be a small one */
	if (!x) {
		say("attach: out of memory");
		code = EXIT_FAILED;
	} else {
		code = o->job ? attach_job(x, o, &plan.identity.job) : attach_pids(x, o);
		if (code == EXIT_OK)
			code = record(o, &plan, x);
		root_close(&x->proc);
	}
	free(x);
	identity_free(&plan.identity);
	return code;
}

const struct command command_attach = {
	.name = "attach",
	.operands = "",
	.what = "Record processes that run already",
	.description =
		"Records processes that run already and all they start, until they have ended, the "
		"duration is over, or a signal (Ctrl-C, TERM, USR1, USR2) says so. The processes "
		"are not touched. What they used before is not counted.\n\n"
		"With --job they are those of the batch job on this node, of all its steps but "
		"without Sonde's own: told by the scheduler's control group, else by its "
		"slurmstepd, else by its variable in their environment. Outside of a batch job "
		"they are all of the user's, which is said. The recording has how they were told "
		"as job.members. It ends before the job's time limit.",
	COMMAND_OPTIONS(options),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct attach_options),
	.exec = attach,
};
