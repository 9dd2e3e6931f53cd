/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/asking.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127 };

static void become(char *const *argv, int to, void (*change)(void))
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	dup2(null, STDIN_FILENO);
	dup2(to, STDOUT_FILENO);
	dup2(to, STDERR_FILENO);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (change)
		change();
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(NOT_FOUND);
}

int asking_start(struct asking *c, char *const *argv, void (*change)(void))
{
	int ends[2], bad;

	*c = (struct asking){ 0 };
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (!c->pid)
		become(argv, ends[1], change);
	bad = c->pid < 0 ? -errno : 0;
	close(ends[1]);
	c->from = ends[0];
	fcntl(c->from, F_SETFL, O_NONBLOCK);
	if (bad) {
		close(c->from);
		c->pid = 0;
	}
	return bad;
}

bool asking_take(struct asking *c)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(c->from, buf, sizeof buf)) > 0)
		if (c->output.len < ASKING_OUTPUT)
			bytes_put(&c->output, buf, (size_t)n);
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

bool asking_take_all(struct asking *c, int64_t patience_ns)
{
	int64_t until = clock_mono_ns() + patience_ns, left;

	while (asking_take(c)) {
		left = until - clock_mono_ns();
		if (left <= 0)
			return false;
		poll(&(struct pollfd){ .fd = c->from, .events = POLLIN }, 1,
		     (int)(left / NS_PER_MS) + 1);
	}
	return true;
}

const char *asking_text(struct asking *c)
{
	bytes_u8(&c->output, 0);
	if (c->output.failed)
		return "";
	c->output.len--;
	return (const char *)c->output.data;
}

void asking_end(struct asking *c, int signal)
{
	if (c->pid) {
		kill(c->pid, signal);
		waitpid(c->pid, NULL, 0);
		close(c->from);
	}
	bytes_free(&c->output);
	*c = (struct asking){ 0 };
}
