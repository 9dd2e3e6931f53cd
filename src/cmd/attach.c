/* SPDX-License-Identifier: Apache-2.0 */
/* attach.c - record processes that run already, and what they start. */
#include "base/number.h"
#include "cmd/command.h"
#include "cmd/recording.h"
#include "cmd/say.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { ROOTS_MAX = 256 };

struct attach_options {
	struct recording_options recording; /* first, as RECORDING_OPTIONS wants it */
	const char *pids;
	int64_t duration_ns;
};

_Static_assert(offsetof(struct attach_options, recording) == 0, "RECORDING_OPTIONS");

static const struct option options[] = {
	{ .name = "pid",
	  .letter = 'p',
	  .type = ARG_TEXT,
	  .value = "PID[,PID...]",
	  .help = "The processes; their descendants are recorded, too.",
	  OPTION_OFFSET(struct attach_options, pids) },
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

static int attach(const void *given, int n, char **operands)
{
	const struct attach_options *o = given;
	struct sigaction act = { .sa_handler = on_signal };
	struct recorder_options r;
	struct recording_plan plan;
	pid_t roots[ROOTS_MAX];
	char command[256];

	(void)operands;
	if (!o->pids || n) {
		say("attach: give the processes to record with -p PID[,PID...]");
		return EXIT_USAGE;
	}
	if (!recording_plan(&plan, &o->recording))
		return EXIT_USAGE;
	r = recording_recorder(&plan);
	r.sampler.tree.nroots = parse_pids(o->pids, roots);
	r.sampler.tree.roots = roots;
	if (!r.sampler.tree.nroots) {
		say("attach: -p %s is no list of at most %d process ids, as 1234,1235", o->pids,
		    ROOTS_MAX);
		return EXIT_USAGE;
	}
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	snprintf(command, sizeof command, "attach -p %s", o->pids);
	r.command = command;
	r.duration_ns = o->duration_ns;
	r.stop = &stop;
	if (recorder_run(&r))
		return EXIT_FAILED;
	recording_tell(&plan);
	return EXIT_OK;
}

const struct command command_attach = {
	.name = "attach",
	.operands = "",
	.what = "Record processes that run already",
	.description =
		"Records processes that run already and all they start, until they have ended, the "
		"duration is over, or a signal (Ctrl-C) says so. The processes are not touched. "
		"What they used before is not counted.",
	COMMAND_OPTIONS(options),
	COMMAND_EXAMPLES(examples),
	.size = sizeof(struct attach_options),
	.exec = attach,
};
