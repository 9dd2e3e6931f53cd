/* SPDX-License-Identifier: Apache-2.0 */
#include "session/followers.h"

#include "base/clock.h"
#include "base/process.h"
#include "base/text/number.h"
#include "console/command.h"
#include "live/exposition.h"
#include "top/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LOOK_MS = 1000, END_MS = 1000, COLUMNS_MOST = 500 };

/* In the follower, which ends when ends[0] is closed: 0. Else its process, and ends[0] is open; or
 * -errno, and then it was reported why. */
static int fork_follower(const char *option, int ends[2])
{
	int forked;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		forked = -errno;
		say("%s: cannot make a socket: %s", option, strerror(-forked));
		return forked;
	}
	forked = orphan_fork();
	if (!forked)
		return 0;
	close(ends[1]);
	if (forked < 0) {
		close(ends[0]);
		say("%s: cannot fork: %s", option, strerror(-forked));
	}
	return forked;
}

/* Signals to the job's group are not for it. */
static void leave_group(const char *name)
{
	static const int ignored[] = { SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
				       SIGPIPE, SIGUSR1, SIGUSR2, SIGXFSZ };

	prctl(PR_SET_NAME, name);
	setsid();
	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_IGN);
}

/* ---- --progress ---- */

struct line {
	struct now now;
	bool open;
	int64_t begin_ns;
	size_t shown; /* columns of it */
	struct bytes text;
};

/* Neither stopped nor in the background: state, group and the terminal's foreground group are the
 * third, fifth and eighth field of its stat. */
static bool is_foreground(pid_t pid)
{
	char path[32], stat[512];
	const char *end;
	int64_t field[5] = { 0 }; /* from the fourth on */
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, stat, sizeof stat - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	stat[n] = '\0';
	end = strrchr(stat, ')');
	if (!end || strlen(end) < 4 || end[2] == 'T')
		return false;
	end += 3;
	for (size_t i = 0; i < sizeof field / sizeof field[0]; i++)
		if (!number_i64(&end, &field[i]))
			return false;
	return field[4] == field[1] || field[4] == -1;
}

static unsigned columns(void)
{
	struct winsize w = { 0 };

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || !w.ws_col)
		return 79;
	return w.ws_col > COLUMNS_MOST ? COLUMNS_MOST : w.ws_col - 1U;
}

/* Over the line that was there; the cursor goes to its begin, where whatever is said next stands.
 * One write: nothing comes in between. */
static void show(struct line *l, bool clear)
{
	unsigned room = columns();
	size_t wide;

	bytes_reset(&l->text);
	bytes_u8(&l->text, '\r');
	if (!clear)
		line_put(&l->text, &l->now, (double)(clock_mono_ns() - l->begin_ns) / 1e9, room);
	wide = l->text.len - 1;
	for (size_t i = wide; i < l->shown && i < room; i++)
		bytes_u8(&l->text, ' ');
	bytes_u8(&l->text, '\r');
	if (!l->text.failed && l->text.len > 2)
		(void)!write(STDERR_FILENO, l->text.data, l->text.len);
	l->shown = clear ? 0 : wide;
}

/* The directory may not be there yet. */
static void look(struct line *l, const char *directory)
{
	if (!l->open && now_open(&l->now, directory, NULL))
		return;
	l->open = true;
	now_look(&l->now, NULL);
}

static _Noreturn void follow_progress(const struct recording_plan *p, pid_t foreground, int ended)
{
	struct pollfd end = { .fd = ended, .events = POLLIN };
	struct line l = { .begin_ns = clock_mono_ns() };

	leave_group("sonde-progress");
	descriptors_close(3, ended);
	descriptors_null(STDERR_FILENO);
	while (poll(&end, 1, LOOK_MS) == 0) {
		look(&l, recording_absolute(p));
		if (l.open && is_foreground(foreground))
			show(&l, false);
	}
	if (l.shown && is_foreground(foreground))
		show(&l, true);
	_exit(0);
}

void progressline_start(struct progressline *l, const struct recording_plan *p, pid_t foreground)
{
	int ends[2];

	*l = (struct progressline){ .fd = -1 };
	if (!p->o->progress || !isatty(STDERR_FILENO) || p->identity.job.number[BATCH_RANK] > 0)
		return;
	l->pid = fork_follower("--progress", ends);
	if (!l->pid)
		follow_progress(p, foreground, ends[1]);
	if (l->pid > 0)
		l->fd = ends[0];
}

/* A terminal that Ctrl-S holds may hold it for ever. */
void progressline_end(struct progressline *l)
{
	struct pollfd p = { .fd = l->fd, .events = POLLIN };

	if (l->fd < 0)
		return;
	shutdown(l->fd, SHUT_WR);
	if (poll(&p, 1, END_MS) == 0)
		kill(l->pid, SIGKILL);
	close(l->fd);
	l->fd = -1;
}

/* ---- --mark-log ---- */

bool logmarks_read(struct mark_log *l, const struct option_list *logs,
		   const struct option_list *rules)
{
	struct err e = { "" };

	*l = (struct mark_log){ .ended = -1 };
	if (!logs->n != !rules->n) {
		say("run: --mark-log FILE and --mark-rule REGEX=NAME belong together: which log, and "
		    "which lines of it are marks");
		return false;
	}
	if (logs->n > MARK_LOGS_MAX) {
		say("run: --mark-log is given more than %d times", MARK_LOGS_MAX);
		return false;
	}
	for (; l->npaths < logs->n; l->npaths++)
		l->path[l->npaths] = logs->text[l->npaths];
	for (; l->nrules < rules->n; l->nrules++)
		if (mark_rule_parse(&l->rule[l->nrules], rules->text[l->nrules], &e)) {
			say("run: --mark-rule %s", e.text);
			return false;
		}
	return true;
}

static _Noreturn void follow_logs(struct mark_log *l, int ended)
{
	leave_group("sonde-marklog");
	descriptors_close(0, ended);
	l->ended = ended;
	mark_log_follow(l);
	_exit(0);
}

int logmarks_start(struct mark_log *l, const char *marks)
{
	int ends[2], forked;

	if (!l || !l->npaths || !*marks)
		return 0;
	l->marks = marks;
	forked = fork_follower("--mark-log", ends);
	if (!forked)
		follow_logs(l, ends[1]);
	for (; l->nrules; l->nrules--) /* it has its own copies */
		mark_rule_free(&l->rule[l->nrules - 1]);
	return forked > 0 ? ends[0] : 0;
}

/* ---- --openmetrics ---- */

#define EVERY_NS (5 * NS_PER_S) /* collectors look less often */

static void report_openmetrics(const char *sentence)
{
	say("--openmetrics: %s", sentence);
}

void openmetrics_check(const char *file)
{
	struct err e = { "" };

	if (openmetrics_file_try(file, &e))
		report_openmetrics(e.text);
}

static _Noreturn void follow_recording(const struct recording_plan *p, const char *name,
				       pid_t recorder, int ended)
{
	const struct openmetrics_file t = {
		.file = p->o->openmetrics,
		.directory = recording_absolute(p),
		.only = name,
		.recorder = recorder,
		.ended = ended,
		.every_ns = p->interval_ns > EVERY_NS ? p->interval_ns : EVERY_NS,
		.say = report_openmetrics,
	};
	struct err e = { "" };

	prctl(PR_SET_NAME, "sonde-textfile");
	descriptors_close(3, ended);
	descriptors_null(STDERR_FILENO);
	if (openmetrics_file_follow(&t, &e))
		report_openmetrics(e.text);
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
		follow_recording(plan, name, recorder, ends[0]);
	close(ends[0]);
	if (forked < 0) {
		close(ends[1]);
		say("--openmetrics: cannot fork: %s", strerror(-forked));
	}
}
