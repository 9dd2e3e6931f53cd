/* SPDX-License-Identifier: Apache-2.0 */
#include "session/jobline.h"

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/orphan.h"
#include "base/text/number.h"
#include "console/say.h"
#include "top/line.h"

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

static _Noreturn void be_line(const struct recording_plan *p, pid_t foreground, int ended)
{
	static const int ignored[] = {
		SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2
	};
	struct pollfd end = { .fd = ended, .events = POLLIN };
	struct line l = { .begin_ns = clock_mono_ns() };

	prctl(PR_SET_NAME, "sonde-progress");
	setsid();
	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_IGN);
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

void jobline_start(struct jobline *l, const struct recording_plan *p, pid_t foreground)
{
	int ends[2];

	*l = (struct jobline){ .fd = -1 };
	if (!p->o->progress || !isatty(STDERR_FILENO) || p->identity.job.number[BATCH_RANK] > 0)
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		say("--progress: cannot make a socket: %s", strerror(errno));
		return;
	}
	l->pid = orphan_fork();
	if (!l->pid)
		be_line(p, foreground, ends[1]);
	close(ends[1]);
	if (l->pid > 0) {
		l->fd = ends[0];
		return;
	}
	close(ends[0]);
	say("--progress: cannot fork: %s", strerror(-l->pid));
}

/* A terminal that Ctrl-S holds may hold it for ever. */
void jobline_end(struct jobline *l)
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
