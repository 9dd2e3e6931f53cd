/* SPDX-License-Identifier: Apache-2.0 */
#include "base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Descriptors 0-2 stay free for what they mean, even when the caller closed them. */
static int above_stdio(int fd)
{
	int moved;

	if (fd < 0)
		return -errno;
	if (fd > 2)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (moved < 0)
		moved = -errno;
	close(fd);
	return moved;
}

int root_open(struct root *r, const char *path)
{
	int fd;

	*r = (struct root){ 0 };
	if (strlen(path) >= sizeof r->path)
		return -ENAMETOOLONG;
	fd = above_stdio(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (fd < 0)
		return fd;
	r->fd = fd;
	snprintf(r->path, sizeof r->path, "%s", path);
	return 0;
}

int root_open_if_there(struct root *r, const char *path)
{
	int rc = root_open(r, path);

	if (rc != -ENOENT)
		return rc;
	r->fd = -1;
	snprintf(r->path, sizeof r->path, "%s", path);
	return 0;
}

void root_close(struct root *r)
{
	file_close(&r->fd);
}

static int leaves_root(const char *path)
{
	if (path[0] == '/')
		return 1;
	for (const char *p = path; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || !p[2]))
			return 1;
	}
	return 0;
}

int root_file(const struct root *r, const char *path)
{
	if (!r->fd)
		return -EBADF;
	if (leaves_root(path))
		return -EINVAL;
	if (r->fd < 0)
		return -ENOENT;
	/* Files of /proc and /sys take no notice; a pipe in place of one is not waited for. */
	return above_stdio(openat(r->fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
}

/* A read that gave less than asked for is the end, unless it stopped just below a page's end: there
 * the kernel's seq_file stops when the next record does not fit (seen on 6.18). Asking again at the
 * end would have it make the whole text a second time. */
static bool is_end(size_t n, size_t asked)
{
	enum { PAGE = 4096, RECORD_MAX = 1024 };

	return n < asked && n % PAGE < PAGE - RECORD_MAX;
}

static ssize_t read_all(int fd, char *buf, size_t size, bool records)
{
	size_t len = 0;

	while (len < size - 1) {
		size_t asked = size - 1 - len;
		ssize_t n = pread(fd, buf + len, asked, (off_t)len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
		if (!records && is_end((size_t)n, asked))
			break;
	}
	buf[len] = '\0';
	return (ssize_t)len;
}

ssize_t root_read(const struct root *r, const char *path, char *buf, size_t size)
{
	int fd = root_file(r, path);
	ssize_t n;

	buf[0] = '\0';
	if (fd < 0)
		return fd;
	n = read_all(fd, buf, size, false);
	if (n == (ssize_t)size - 1) {
		char more;

		if (pread(fd, &more, 1, n) > 0)
			n = -EFBIG;
	}
	close(fd);
	return n;
}

ssize_t file_reread(int fd, char *buf, size_t size)
{
	buf[0] = '\0';
	return read_all(fd, buf, size, false);
}

ssize_t file_reread_records(int fd, char *buf, size_t size)
{
	buf[0] = '\0';
	return read_all(fd, buf, size, true);
}

void file_close(int *fd)
{
	if (*fd > 0)
		close(*fd);
	*fd = 0;
}
