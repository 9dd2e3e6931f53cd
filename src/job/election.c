/* SPDX-License-Identifier: Apache-2.0 */
#include "job/election.h"

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/root.h"
#include "job/message.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
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

/* Until one that begins at the same moment listens. */
enum { TRIES = 50, PAUSE_MS = 20 };

/* Without symbolic links, and where it is missing yet, its parent so. */
static void resolve(const char *given, char out[PATH_MAX])
{
	char directory[PATH_MAX], parent[PATH_MAX], whole[PATH_MAX];
	const char *slash, *name;

	if (realpath(given, out))
		return;
	snprintf(directory, sizeof directory, "%s", given);
	for (size_t n = strlen(directory); n > 1 && directory[n - 1] == '/';)
		directory[--n] = '\0';
	slash = strrchr(directory, '/');
	name = slash ? slash + 1 : directory;
	snprintf(parent, sizeof parent, "%.*s", (int)(name - directory), directory);
	if (!realpath(parent[0] ? parent : ".", whole) ||
	    snprintf(out, PATH_MAX, "%s/%s", whole, name) >= PATH_MAX)
		snprintf(out, PATH_MAX, "%s", directory);
}

static void make_key(char *key, size_t size, const struct batch_job *job, const char *id,
		     const char *directory)
{
	const char *system = batch_job_system(job), *raw = job->text[BATCH_RAW_ID];
	bool is_own = !id || (raw && !strcmp(id, raw)); /* an element of an array has two ids */
	char whole[PATH_MAX];

	resolve(directory, whole);
	snprintf(key, size, "all of %s %s on %s\n%s", system ? system : "-", is_own ? job->id : id,
		 job->node, whole);
}

pid_t claim_take(const struct batch_job *job, const char *id, const char *directory, int *fd)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * NS_PER_MS };
	char key[2 * PATH_MAX];
	int how = -EAGAIN;
	pid_t holder = 0;

	make_key(key, sizeof key, job, id, directory);
	for (int i = 0; i < TRIES && how == -EAGAIN; i++) {
		if (i)
			nanosleep(&pause, NULL);
		how = election_try(key, fd, NULL);
	}
	if (how == ELECTION_CONNECTED)
		holder = election_peer(*fd);
	if (how != ELECTION_ELECTED)
		file_close(fd);
	return holder > 0 ? holder : 0;
}

pid_t claim_holder(const struct batch_job *job, const char *directory)
{
	char key[2 * PATH_MAX];

	make_key(key, sizeof key, job, NULL, directory);
	return election_holder(key);
}
