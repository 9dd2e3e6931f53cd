/* SPDX-License-Identifier: Apache-2.0 */
#include "job/spanfolder.h"

#include "core/ring.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define NAME "sonde-spans."

enum { FORGOTTEN_S = 3600, LOOKS_MOST = 10000 };

/* Nobody has it, and had it for long: its launcher and its recorder were killed. */
static bool is_forgotten(int folder)
{
	struct stat st;

	return !fstat(folder, &st) && st.st_uid == geteuid() &&
	       st.st_mtim.tv_sec < time(NULL) - FORGOTTEN_S && !flock(folder, LOCK_EX | LOCK_NB);
}

/* Folders that earlier jobs of this user left there hold memory. */
static void tidy(const char *where)
{
	char path[SPAN_FOLDER_SIZE];
	DIR *d = opendir(where);
	struct dirent *entry;

	for (int i = 0; d && i < LOOKS_MOST && (entry = readdir(d)); i++) {
		int fd, n;

		if (strncmp(entry->d_name, NAME, strlen(NAME)) != 0)
			continue;
		n = snprintf(path, sizeof path, "%s/%s", where, entry->d_name);
		if (n < 0 || (size_t)n >= sizeof path)
			continue;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && is_forgotten(fd))
			span_folder_unlink(path);
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
}

static bool make_in(struct span_folder *f, const char *where)
{
	int n = snprintf(f->path, sizeof f->path, "%s/" NAME "XXXXXX", where);

	if (n < 0 || (size_t)n >= sizeof f->path || !mkdtemp(f->path))
		return false;
	f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	span_folder_hold(f->fd);
	tidy(where);
	return true;
}

void span_folder_hold(int fd)
{
	if (fd >= 0)
		flock(fd, LOCK_SH | LOCK_NB);
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
	f->fd = -1;
	unsetenv(RING_FOLDER_VARIABLE);
}

void span_folder_remove(struct span_folder *f)
{
	if (f->path[0])
		span_folder_unlink(f->path);
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
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
