/* SPDX-License-Identifier: Apache-2.0 */
#include "job/spanfolder.h"

#include "core/ring.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool make_in(struct span_folder *f, const char *where)
{
	int n = snprintf(f->path, sizeof f->path, "%s/sonde-spans.XXXXXX", where);

	return n > 0 && (size_t)n < sizeof f->path && mkdtemp(f->path);
}

static bool is_in_memory(const char *where)
{
	struct statfs fs;

	return !statfs(where, &fs) && fs.f_type == TMPFS_MAGIC;
}

/* The job's own place first: whoever cleans up behind jobs knows it. */
void span_folder_make(struct span_folder *f)
{
	const char *told = getenv("TMPDIR"), *where = told && told[0] == '/' ? told : "/tmp";

	if ((is_in_memory(where) && make_in(f, where)) || make_in(f, "/dev/shm") ||
	    make_in(f, where)) {
		setenv(RING_FOLDER_VARIABLE, f->path, 1);
		return;
	}
	f->path[0] = '\0';
	unsetenv(RING_FOLDER_VARIABLE);
}

void span_folder_remove(struct span_folder *f)
{
	if (f->path[0])
		span_folder_unlink(f->path);
	f->path[0] = '\0';
	unsetenv(RING_FOLDER_VARIABLE);
}

void span_folder_unlink(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	for (struct dirent *entry; d && (entry = readdir(d));)
		if (unlinkat(dirfd(d), entry->d_name, 0))
			unlinkat(dirfd(d), entry->d_name, AT_REMOVEDIR);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	rmdir(path);
}
