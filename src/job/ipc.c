/* SPDX-License-Identifier: Apache-2.0 */
#include "job/ipc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GOING_ON "INPROGRESS"

static const char blanks[] = " \t\r\n\v\f";

/* It is never long; a longer word is another one. -errno when it cannot be read. */
static int read_word(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);
	int bad = n < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	n = n < 0 ? 0 : n;
	while (n && strchr(blanks, out[n - 1]))
		n--;
	out[n] = '\0';
	return bad;
}

/* An empty one is being written this moment. */
static bool says_over(const char *word)
{
	return word[0] && strcmp(word, GOING_ON) != 0;
}

static int write_word(const char *path, int how, struct err *e)
{
	static const char line[] = GOING_ON "\n";
	ssize_t n = sizeof line - 1;
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | how, 0600), bad = 0;

	if (fd < 0 || write(fd, line, (size_t)n) != n)
		bad = -errno;
	if (fd >= 0 && close(fd) && !bad)
		bad = -errno;
	if (!bad || (bad == -EEXIST && (how & O_EXCL)))
		return bad;
	return err_set(e, bad, "cannot write %s, by which the job could say that it is over: %s",
		       path, strerror(-bad));
}

static void look(const char *path, struct stat *st)
{
	if (stat(path, st) || !S_ISREG(st->st_mode))
		*st = (struct stat){ 0 };
}

int ipc_begin(struct ipc *f, const char *job, bool anew, struct err *e)
{
	char word[32];
	int bad;

	*f = (struct ipc){ 0 };
	snprintf(f->path, sizeof f->path, ".ipc-%.200s", job);
	for (char *c = f->path; *c; c++)
		if (*c == '/')
			*c = '_';
	bad = write_word(f->path, O_CREAT | O_EXCL, e);
	look(f->path, &f->seen);
	if (bad != -EEXIST)
		return bad;
	if (!f->seen.st_ino)
		return err_set(e, -EINVAL,
			       "%s is not a file, so the job cannot use it to report its end",
			       f->path);
	bad = read_word(f->path, word, sizeof word);
	if (bad)
		return err_set(e, bad, "cannot read %s: %s", f->path, strerror(-bad));
	if (!anew || !says_over(word))
		return 0;
	bad = write_word(f->path, O_TRUNC, e);
	look(f->path, &f->seen);
	return bad;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool ipc_over(struct ipc *f)
{
	struct stat now;
	char word[32];

	look(f->path, &now);
	if (is_same(&now, &f->seen))
		return false;
	f->seen = now;
	f->over = now.st_ino && !read_word(f->path, word, sizeof word) && says_over(word);
	return f->over;
}
