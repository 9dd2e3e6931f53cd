/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - the launcher: the job's parent and sub-reaper.
 *
 * It starts the command, forwards signals, waits, and repeats the command's status. The job's
 * stdin, stdout, environment (but SONDE_*), affinity, limits, signal mask and dispositions are its
 * own. The launcher knows nothing of measuring: it tells the recorder over a socket, and goes on
 * without it.
 */
#ifndef SONDE_JOB_LAUNCH_H
#define SONDE_JOB_LAUNCH_H

#include "base/err.h"
#include "job/said.h"
#include "job/sentinel.h"
#include "job/share.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

/* NO_PROCESS: there was no room for another process, so nothing was started. */
enum {
	LAUNCH_NO_PROCESS = 124,
	LAUNCH_FAILED = 125,
	LAUNCH_NOT_EXECUTABLE = 126,
	LAUNCH_NOT_FOUND = 127
};

/* What the command gets back of what the launcher changed for itself. */
struct launch_signals {
	sigset_t mask;
	struct sigaction child; /* SIGCHLD's disposition */
};

/* Block what is forwarded; before any fork, so that no signal is lost. */
int launch_begin(struct launch_signals *saved, struct err *e);
/* Give signals back as they were: before executing something in this process's place. */
void launch_signals_restore(const struct launch_signals *saved);

struct launch {
	char *const *argv;
	const struct launch_signals *saved;
	struct sentinel *sentinel;
	int recorder;        /* socket, or -1: without a recorder of its own */
	pid_t recorder_pid;  /* its own recorder's; 0: none */
	struct share *share; /* of a recorder that is shared, joined already; NULL: none */
	int follower;        /* socket of who follows the job's logs; 0: nobody. It is told of the
				end before the recorder is, and reads what is left (marklog.h) */
	bool wait_all;       /* wait for what the command left behind, too */
	bool let_go;         /* once the command runs, of all that it inherited, too, but standard
				error */
	enum printed_wish error_text; /* what it printed last goes to the recorder when it fails */
	int64_t limit_ns;         /* end the command when it takes so long: SIGTERM, and SIGKILL 2 s
				     later; 0: never */
	void (*ready)(void *ctx); /* called before the command starts, when the recorder is ready or
				     is waited for no longer; or NULL */
	void *ready_ctx;
	int ready_ms, done_ms; /* how long the recorder may keep the command waiting at its start;
				  and, while it works, at its end (patience.h) */
};

struct launch_end {
	int status;          /* as wait(2) gives it */
	bool recorder_lost;  /* it ended, or did not answer, before it was done */
	bool timed_out;      /* it took longer than it was given */
	int64_t wall_ns;     /* from before its fork until it was waited for */
	struct rusage usage; /* of the command, as wait4(2) gives it: with what it waited for */
};

/* Start, forward, wait. Returns 0 and how it ended, or an exit code (LAUNCH_*) with a sentence; in
 * either case what became of the recorder. */
int launch_command(const struct launch *l, struct launch_end *end, struct err *e);

/* End as the command ended: exit with its code, or die of its signal (without a second core). */
_Noreturn void launch_repeat(int status);

#endif
