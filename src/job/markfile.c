/* SPDX-License-Identifier: Apache-2.0 */
#include "job/markfile.h"

#include "base/root.h"
#include "job/leftover.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char nowhere[] = "/dev/null", name[] = "/marks";

static bool make(struct mark_file *f)
{
	const char *told = getenv("TMPDIR"), *where = told && told[0] == '/' ? told : "/tmp";
	int fd;

	f->folder = leftover_folder(where, "sonde-marks", f->path, sizeof f->path - sizeof name);
	if (f->folder < 0) {
		f->path[0] = '\0';
		return false;
	}
	memcpy(f->path + strlen(f->path), name, sizeof name);
	fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	f->fd = fd < 0 ? -1 : open(f->path, O_RDONLY | O_CLOEXEC);
	return f->fd >= 0;
}

void mark_file_make(struct mark_file *f)
{
	f->fd = f->folder = -1;
	if (!make(f))
		mark_file_remove(f);
	mark_file_export(f);
}

void mark_file_export(const struct mark_file *f)
{
	setenv(MARK_FILE_VARIABLE, f->path[0] ? f->path : nowhere, 1);
}

void mark_file_close(struct mark_file *f)
{
	file_close(&f->fd);
	file_close(&f->folder);
	f->path[0] = '\0';
	mark_file_export(f);
}

void mark_file_remove(struct mark_file *f)
{
	if (f->path[0])
		mark_file_unlink(f->path);
	mark_file_close(f);
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
