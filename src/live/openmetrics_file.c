/* SPDX-License-Identifier: Apache-2.0 */
#include "live/openmetrics_file.h"

#include "base/clock.h"
#include "live/exposition.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_MS = 1000 };

static int write_all(int fd, const struct bytes *text)
{
	size_t done = 0;

	while (done < text->len) {
		ssize_t n = write(fd, text->data + done, text->len - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* A new file beside path, whose name is then *temporary (to be freed). A descriptor, or -1 with
 * errno. before: what is there; its mode is 0 when nothing is. */
static int file_beside(const char *path, char **temporary, struct stat *before)
{
	int fd, code;

	if (stat(path, before)) {
		before->st_mode = 0;
	} else if (!S_ISREG(before->st_mode)) {
		errno = EEXIST; /* a device, a FIFO, a directory: not ours to replace */
		return -1;
	}
	if (asprintf(temporary, "%s.XXXXXX", path) < 0)
		return -1;
	fd = mkostemp(*temporary, O_CLOEXEC);
	if (fd >= 0)
		return fd;
	code = errno;
	free(*temporary);
	errno = code;
	return -1;
}

static int cannot(const char *path, int rc, struct err *e)
{
	return err_set(e, rc, "cannot write %.300s: %s", path,
		       rc == -EEXIST ? "it is not a regular file" : strerror(-rc));
}

int openmetrics_file_try(const char *file, struct err *e)
{
	struct stat before;
	char *temporary;
	int fd = file_beside(file, &temporary, &before);

	if (fd < 0)
		return cannot(file, -errno, e);
	close(fd);
	unlink(temporary);
	free(temporary);
	return 0;
}

/* st becomes that of what was written. */
static int file_replace(const char *path, const struct bytes *text, struct stat *st)
{
	struct stat before;
	char *temporary;
	int fd = file_beside(path, &temporary, &before), rc = 0;

	if (fd < 0)
		return -errno;
	if (before.st_mode && fchmod(fd, before.st_mode & 0666))
		rc = -errno;
	if (!rc)
		rc = write_all(fd, text);
	if (!rc && fstat(fd, st))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(temporary, path))
		rc = -errno;
	if (rc)
		unlink(temporary);
	free(temporary);
	return rc;
}

static void file_remove(const char *path, const struct stat *ours)
{
	struct stat now;

	if (ours->st_ino && !stat(path, &now) && now.st_ino == ours->st_ino &&
	    now.st_dev == ours->st_dev)
		unlink(path);
}

static bool is_over(const struct openmetrics_file *t, const struct follow *f)
{
	for (uint32_t i = 0; i < follow_count(f); i++) {
		const struct follow_node *n = follow_node(f, i);
		const char *slash = strrchr(n->path, '/');

		if (!strcmp(slash ? slash + 1 : n->path, t->only) && n->state == FOLLOW_ENDED)
			return true;
	}
	return kill(t->recorder, 0) && errno == ESRCH;
}

/* Until it is time to look again; whether the recorder ended meanwhile. */
static bool sleep_or_end(const struct openmetrics_file *t)
{
	struct pollfd p = { .fd = t->ended, .events = POLLIN };

	return poll(&p, 1, LOOK_MS) > 0 && p.revents;
}

static int update(const struct openmetrics_file *t, const struct follow *f, struct bytes *text,
		  struct stat *ours)
{
	const struct exposition_run run = { f, t->directory, t->only };
	int rc = exposition_put(text, &run, 1, clock_utc_ns(), EXPOSITION_TEXT);

	return rc ? rc : file_replace(t->file, text, ours);
}

int openmetrics_file_follow(const struct openmetrics_file *t, struct err *e)
{
	struct stat ours = { 0 };
	struct bytes text = { 0 };
	struct follow *f;
	int64_t due = 0;
	bool over = false, said = false;
	int rc = follow_open(&f, t->directory, e), wrote;

	if (rc)
		return rc;
	while (!rc && !over) {
		int64_t now = clock_mono_ns();

		rc = follow_poll(f, e);
		if (!rc && now >= due) {
			wrote = update(t, f, &text, &ours);
			if (wrote && !said) {
				cannot(t->file, wrote, e);
				t->say(e->text);
				said = true;
			}
			due = now + t->every_ns;
		}
		over = is_over(t, f) || sleep_or_end(t);
	}
	file_remove(t->file, &ours);
	follow_close(f);
	bytes_free(&text);
	return rc;
}
