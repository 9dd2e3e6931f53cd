/* SPDX-License-Identifier: Apache-2.0 */
#include "job/markfile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char nowhere[] = "/dev/null", name[] = "/marks";

static bool make(struct mark_file *f)
{
	const char *where = getenv("TMPDIR");
	char *end = f->path + sizeof f->path - sizeof name;
	size_t n;
	int fd;

	if (snprintf(f->path, (size_t)(end - f->path), "%s/sonde-marks.XXXXXX",
		     where && where[0] == '/' ? where : "/tmp") >= end - f->path ||
	    !mkdtemp(f->path))
		return false;
	n = strlen(f->path);
	memcpy(f->path + n, name, sizeof name);
	fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	f->fd = fd < 0 ? -1 : open(f->path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0)
		mark_file_unlink(f->path);
	return f->fd >= 0;
}

void mark_file_make(struct mark_file *f)
{
	f->fd = -1;
	if (!make(f))
		f->path[0] = '\0';
	setenv(MARK_FILE_VARIABLE, f->path[0] ? f->path : nowhere, 1);
}

void mark_file_remove(struct mark_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	if (f->path[0])
		mark_file_unlink(f->path);
	f->path[0] = '\0';
	setenv(MARK_FILE_VARIABLE, nowhere, 1);
}

void mark_file_unlink(const char *path)
{
	char directory[PATH_MAX];
	const char *end = strrchr(path, '/');

	unlink(path);
	if (end && end > path && (size_t)(end - path) < sizeof directory) {
		snprintf(directory, sizeof directory, "%.*s", (int)(end - path), path);
		rmdir(directory);
	}
}
