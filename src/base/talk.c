/* SPDX-License-Identifier: Apache-2.0 */
#include "base/talk.h"

#include "base/child.h"
#include "base/descriptors.h"
#include "base/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CANNOT_START = 127, OUT_OF_THE_WAY = 16 };

/* Only system calls. */
static _Noreturn void become(const char *path, int socket)
{
	char *const argv[] = { (char *)path, NULL };
	int null;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	socket = fcntl(socket, F_DUPFD, OUT_OF_THE_WAY);
	null = open("/dev/null", O_RDWR);
	if (dup2(socket, 0) == 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2) {
		descriptors_close(3, -1);
		execv(path, argv);
	}
	_exit(CANNOT_START);
}

int talk_open(struct talk *t, const char *helper, const char *packages, struct err *e)
{
	char path[PATH_MAX];
	int pair[2], code;

	*t = (struct talk){ 0 };
	code = helper_find(helper, packages, path, sizeof path, e);
	if (code)
		return code;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	t->pid = fork();
	code = errno;
	if (t->pid == 0)
		become(path, pair[1]);
	close(pair[1]);
	t->socket = pair[0];
	if (t->pid > 0)
		return 0;
	close(pair[0]);
	*t = (struct talk){ 0 };
	return err_set(e, -code, "cannot start %s: %s", path, strerror(code));
}

void talk_close(struct talk *t)
{
	if (t->pid > 0) {
		close(t->socket);
		child_end(t->pid);
	}
	*t = (struct talk){ 0 };
}

bool talk_read(int fd, void *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = read(fd, (char *)to + done, n - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

bool talk_read_ahead(int fd, struct talk_ahead *ahead, void *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		size_t there = ahead->end - ahead->at, part = there < n - done ? there : n - done;
		ssize_t got;

		if (part) {
			memcpy((char *)to + done, ahead->bytes + ahead->at, part);
			ahead->at += part;
			done += part;
			continue;
		}
		if (n - done >= sizeof ahead->bytes)
			return talk_read(fd, (char *)to + done, n - done);
		got = read(fd, ahead->bytes, sizeof ahead->bytes);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		ahead->at = 0;
		ahead->end = (size_t)got;
	}
	return true;
}

bool talk_write(int fd, const void *from, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t put = send(fd, (const char *)from + done, n - done, MSG_NOSIGNAL);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		done += (size_t)put;
	}
	return true;
}
