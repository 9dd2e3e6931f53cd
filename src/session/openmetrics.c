/* SPDX-License-Identifier: Apache-2.0 */
#include "session/openmetrics.h"

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/orphan.h"
#include "console/say.h"
#include "live/openmetrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define EVERY_NS (5 * NS_PER_S) /* collectors look less often */

static void say_it(const char *sentence)
{
	say("--openmetrics: %s", sentence);
}

void openmetrics_check(const char *file)
{
	struct err e = { "" };

	if (openmetrics_file_try(file, &e))
		say_it(e.text);
}

static _Noreturn void be_follower(const struct recording_plan *p, const char *name, pid_t recorder,
				  int ended)
{
	const struct openmetrics_file t = {
		.file = p->o->openmetrics,
		.directory = recording_absolute(p),
		.only = name,
		.recorder = recorder,
		.ended = ended,
		.every_ns = p->interval_ns > EVERY_NS ? p->interval_ns : EVERY_NS,
		.say = say_it,
	};
	struct err e = { "" };

	prctl(PR_SET_NAME, "sonde-textfile");
	descriptors_close(3, ended);
	descriptors_null(STDERR_FILENO);
	if (openmetrics_file_follow(&t, &e))
		say_it(e.text);
	_exit(0);
}

/* The pipe's other end stays open in the recorder, for as long as that lives. */
void openmetrics_start(const void *plan, const char *name)
{
	pid_t recorder = getpid();
	int ends[2], forked;

	if (pipe2(ends, O_CLOEXEC)) {
		say("--openmetrics: cannot make a pipe: %s", strerror(errno));
		return;
	}
	forked = orphan_fork();
	if (!forked)
		be_follower(plan, name, recorder, ends[0]);
	close(ends[0]);
	if (forked < 0) {
		close(ends[1]);
		say("--openmetrics: cannot fork: %s", strerror(-forked));
	}
}
