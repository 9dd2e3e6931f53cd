/* SPDX-License-Identifier: Apache-2.0 */
/* attach.c - record processes that run already, and what they start. */
#include "base/clock.h"
#include "console/command.h"
#include "session/attached.h"
#include "session/followers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Before the scheduler ends the job, so that the recording is closed by then. */
#define LIMIT_MARGIN_NS (5 * NS_PER_S)

struct attach_options {
	struct recording_options recording; /* first, as RECORDING_OPTIONS wants it */
	const char *pids, *job, *marks;
	int64_t duration_ns, grace_ns;
	bool site;
};

_Static_assert(offsetof(struct attach_options, recording) == 0, "RECORDING_OPTIONS");

static const struct option options[] = {
	{ .name = "pid",
	  .letter = 'p',
	  .type = ARG_TEXT,
	  .value = "PID[,PID...]",
	  .help = "Record these processes and their descendants.",
	  OPTION_OFFSET(struct attach_options, pids) },
	{ .name = "job",
	  .type = ARG_TEXT,
	  .value = "ID",
	  .bare = "",
	  .help = "Record all processes on this node of the current batch job, or of job ID, in "
		  "all of its steps, including later ones.",
	  OPTION_OFFSET(struct attach_options, job) },
	{ .name = "grace",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .fallback = "60s",
	  .help = "With --job, stop when the job has had no process on this node for TIME, except "
		  "processes that wait for others.",
	  OPTION_OFFSET(struct attach_options, grace_ns) },
	{ .name = "site",
	  .type = ARG_FLAG,
	  .help = "With --job, as a site's prolog starts it: a signal means that the job is over. "
		  "Slurm is asked how it ended and for its name, account and memory, which a "
		  "prolog is not told; the time limit does not end the recording.",
	  OPTION_OFFSET(struct attach_options, site) },
	{ .name = "duration",
	  .type = ARG_DURATION,
	  .value = "TIME",
	  .help = "Stop after TIME. Default: when the processes have ended, or on Ctrl-C.",
	  OPTION_OFFSET(struct attach_options, duration_ns) },
	{ .name = "marks",
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "Read marks that the job writes to FILE, in the format of $SONDE_MARKS. FILE is "
		  "created if missing.",
	  OPTION_OFFSET(struct attach_options, marks) },
	RECORDING_OPTIONS,
};

static const struct example examples[] = {
	{ "attach -p 1234", "until process 1234 and its descendants have ended" },
	{ "attach -p 1234,1235 --duration 10m", "two process trees for ten minutes" },
	{ "attach --job", "in a job script, with srun --overlap --ntasks-per-node=1: every node" },
};

static int attach_pids(struct attached *x, const struct attach_options *o)
{
	if (!attached_pids(x, o->pids)) {
		say("attach: -p %s is not a list of at most %d process ids, as 1234,1235", o->pids,
		    ATTACHED_PIDS);
		return EXIT_USAGE;
	}
	snprintf(x->command, sizeof x->command, "attach -p %s", o->pids);
	return EXIT_OK;
}

static int attach_job(struct attached *x, const struct attach_options *o,
		      struct recording_plan *plan)
{
	const char *id = o->job[0] ? o->job : NULL;
	struct err e = { "" };

	if (attached_job(x, plan, id, &e) || attached_claim(x, plan, id, &e)) {
		say("attach: %s", e.text);
		return EXIT_FAILED;
	}
	if (x->members.by == MEMBERS_USER)
		say("attach: recording %s", x->members.how);
	snprintf(x->command, sizeof x->command, "attach --job%s%s", id ? "=" : "", id ? id : "");
	return EXIT_OK;
}

/* Of copies on many nodes, the first says in a line where to look for all of them. */
static void tell(const struct attach_options *o, const struct recording_plan *p)
{
	const struct batch_job *j = &p->identity.job;
	bool one_of_many = o->job && j->number[BATCH_NODES] > 1 && j->number[BATCH_NODE_INDEX] >= 0;

	if (!one_of_many || p->o->json || p->o->summary) {
		recording_print(p);
		return;
	}
	if (j->number[BATCH_NODE_INDEX])
		return;
	recording_leave(p);
	if (!p->o->quiet)
		say("recorded job %s on %s; its copies record the other nodes; recording: %s; "
		    "next: sonde report %s",
		    j->id, p->identity.host, p->directory, p->directory);
}

/* A regular file, for who writes waits for nobody; it stays. */
static bool make_marks(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
		      0600);
	struct stat st;
	bool regular = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode);

	if (fd < 0)
		say("attach: --marks %s: %s", path, strerror(errno));
	else if (!regular)
		say("attach: --marks %s is not a regular file", path);
	if (fd >= 0)
		close(fd);
	return regular;
}

static int record(const struct attach_options *o, struct recording_plan *plan, struct attached *x)
{
	struct recorder_options r = attached_recorder(plan, x);
	struct progressline line;
	int bad;

	if (o->marks && !make_marks(o->marks))
		return EXIT_FAILED;
	r.marks = o->marks;
	r.await_ns = r.grace_ns = o->grace_ns;
	r.duration_ns = o->duration_ns;
	r.for_site = o->site;
	if (!r.duration_ns && !o->site)
		r.duration_ns = attached_until_ns(x->ends_utc_ns, LIMIT_MARGIN_NS);
	progressline_start(&line, plan, getpid());
	bad = recorder_run(&r);
	progressline_end(&line);
	if (bad)
		return EXIT_FAILED;
	tell(o, plan);
	return EXIT_OK;
}

static int attach(const void *given, int n, char **operands)
{
	const struct attach_options *o = given;
	struct recording_plan plan;
	struct attached *x;
	int code;

	(void)operands;
	if (!o->pids == !o->job || n) {
		say("attach: no processes given; use -p PID[,PID...] or --job");
		return EXIT_USAGE;
	}
	if (o->site && !o->job) {
		say("attach: --site needs --job");
		return EXIT_USAGE;
	}
	if (!recording_plan(&plan, &o->recording))
		return EXIT_USAGE;
	x = calloc(1, sizeof *x); /* the job's limit of the stack may be a small one */
	if (!x) {
		say("attach: out of memory");
		code = EXIT_FAILED;
	} else {
		code = o->job ? attach_job(x, o, &plan) : attach_pids(x, o);
		if (code == EXIT_OK)
			code = record(o, &plan, x);
		attached_close(x);
	}
	free(x);
	identity_free(&plan.identity);
	return code;
}

const struct command command_attach = {
	.name = "attach",
	.operands = "",
	.what = "Record processes that are already running",
	.description =
		"Records running processes and everything they start, until they have ended, the "
		"duration is over, or a signal (Ctrl-C, TERM, USR1, USR2) arrives. The processes "
		"are not affected. What they used earlier is not counted.\n\n"
		"With --job, Sonde records the processes of the batch job on this node: those of "
		"all steps, without Sonde's own. It finds them by the scheduler's control group, "
		"else by its slurmstepd, else by its variable in their environment. Outside of a "
		"batch job it records all processes of the user, and prints a note. The recording "
		"states the method as job.members. It ends before the job's time limit.",
	COMMAND_OPTIONS(options),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct attach_options),
	.exec = attach,
};
