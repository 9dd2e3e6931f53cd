/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/sweepfiles.h"

#include "base/clock.h"
#include "base/folder.h"
#include "base/text/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_SECONDS = 10 };

/* Whole or not at all; one that is there stays. */
static int put_file(const char *path, const char *text, mode_t mode, struct err *e)
{
	char part[PATH_MAX];
	size_t n = strlen(text);
	int fd, rc = 0;

	if (!access(path, F_OK))
		return 0;
	if ((size_t)snprintf(part, sizeof part, "%s.%d", path, (int)getpid()) >= sizeof part)
		return err_set(e, -ENAMETOOLONG, "%.300s is too long a name", path);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	errno = fd < 0 ? errno : ENOSPC; /* of what is not written whole */
	if (fd < 0 || write(fd, text, n) != (ssize_t)n || fsync(fd) || rename(part, path))
		rc = err_set(e, -errno, "cannot write %.300s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (rc)
		unlink(part);
	return rc;
}

/* One that is there is run as it is only when it is what was asked for. */
static int put_script(struct sweeping *x, struct err *e)
{
	const char *text = x->spec.script;
	struct bytes b = { 0 };
	struct err why;

	if (textfile_read(x->script, "script", strlen(text), &b, &why) || b.len != strlen(text) ||
	    memcmp(b.data, text, b.len) != 0)
		unlink(x->script);
	bytes_free(&b);
	return put_file(x->script, text, 0700, e);
}

int sweepfiles_put(struct sweeping *x, struct err *e)
{
	char path[PATH_MAX];
	int rc = folder_make(x->work, e);

	snprintf(path, sizeof path, "%.4000s/specification.json", x->sweep.directory);
	if (!rc)
		rc = put_file(path, (const char *)x->text.data, 0600, e);
	for (uint32_t i = 0; i < x->spec.nfiles && !rc; i++) {
		if ((size_t)snprintf(path, sizeof path, "%s/%s", x->work, x->spec.file[i].path) >=
		    sizeof path)
			return err_set(e, -ENAMETOOLONG, "%.300s is too long a name",
				       x->spec.file[i].path);
		for (char *at = path + strlen(x->work) + 1; (at = strchr(at, '/')) && !rc; at++) {
			*at = '\0';
			rc = folder_make(path, e);
			*at = '/';
		}
		if (!rc)
			rc = put_file(path, x->spec.file[i].content, 0600, e);
	}
	return rc || !x->spec.script_is_text ? rc : put_script(x, e);
}

int sweepfiles_hold(const char *path, int seconds)
{
	const struct timespec pause = { .tv_nsec = 50 * NS_PER_MS };
	int64_t until = clock_mono_ns() + seconds * NS_PER_S;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		int rc = errno == EWOULDBLOCK || errno == EINTR ? -EAGAIN : -errno;

		if (rc != -EAGAIN || clock_mono_ns() >= until) {
			close(fd);
			return rc;
		}
		nanosleep(&pause, NULL);
	}
	return fd;
}

int sweepfiles_lock(struct sweeping *x, struct err *e)
{
	char path[PATH_MAX + 8];

	snprintf(path, sizeof path, "%s/lock", x->sweep.directory);
	x->lock = sweepfiles_hold(path, LOCK_SECONDS);
	if (x->lock == -EAGAIN)
		return err_set(e, -EBUSY, "another sonde bench sweep is at work on it, in %.300s",
			       x->sweep.directory);
	return x->lock < 0 ? err_set(e, x->lock, "%.300s: %s", path, strerror(-x->lock)) : 0;
}
