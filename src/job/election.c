/* SPDX-License-Identifier: Apache-2.0 */
#include "job/election.h"

#include "base/crc32c.h"
#include "job/message.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

/* Copies of another version, whose packets are not ours, elect among themselves. Two keys of one
 * checksum meet in one name: the recorder compares the whole key. */
static socklen_t name_make(struct sockaddr_un *a, const char *key)
{
	size_t n = strlen(key);
	int len;

	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	len = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "sonde/%d/%u/%08x%08zx",
		       MESSAGE_VERSION, (unsigned)geteuid(), crc32c(0, key, n), n);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

pid_t election_peer(int fd)
{
	struct ucred c;
	socklen_t size = sizeof c;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &size))
		return -errno;
	if (c.uid != geteuid())
		return -EPERM;
	return c.pid > 0 ? c.pid : -ESRCH;
}

static int joined(int fd, struct err *e)
{
	pid_t peer = election_peer(fd);

	if (peer == -EPERM)
		return err_set(e, -EPERM,
			       "another user holds the socket of this job's recorder on this node");
	return peer < 0 ? err_set(e, peer,
				  "cannot identify the recorder of this job on this node: %s",
				  strerror(-peer))
			: 0;
}

int election_try(const char *key, int *out, struct err *e)
{
	struct sockaddr_un a;
	socklen_t size = name_make(&a, key);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), bad = 0;

	*out = -1;
	if (fd < 0)
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	if (!connect(fd, (const struct sockaddr *)&a, size)) {
		bad = joined(fd, e);
		if (!bad) {
			*out = fd;
			return ELECTION_CONNECTED;
		}
	} else if (errno != ECONNREFUSED) {
		bad = err_set(e, errno == EINTR ? -EAGAIN : -errno,
			      "cannot connect to this job's recorder: %s", strerror(errno));
	} else if (bind(fd, (const struct sockaddr *)&a, size) || listen(fd, BACKLOG)) {
		bad = err_set(e, errno == EADDRINUSE ? -EAGAIN : -errno,
			      "cannot be this job's recorder: %s", strerror(errno));
	} else {
		*out = fd;
		return ELECTION_ELECTED;
	}
	close(fd);
	return bad;
}

pid_t election_holder(const char *key)
{
	struct sockaddr_un a;
	socklen_t size = name_make(&a, key);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	pid_t holder = 0;

	if (fd < 0)
		return 0;
	if (!connect(fd, (const struct sockaddr *)&a, size))
		holder = election_peer(fd);
	close(fd);
	return holder > 0 ? holder : 0;
}
