/* SPDX-License-Identifier: Apache-2.0 */
#include "job/leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FRESH "sonde-new" /* what one is called until it is held */

enum { FRESH_S = 60, LOOKS_MOST = 10000, ENVIRONMENT_MAX = 1 << 20 };

void leftover_hold(int fd)
{
	if (fd >= 0)
		flock(fd, LOCK_SH | LOCK_NB);
}

/* ---- whose is it ---- */

static bool has_path(int proc, const char *pid, const char *path, char *room)
{
	char name[32];
	ssize_t n, len = 0;
	int fd;

	if ((size_t)snprintf(name, sizeof name, "%s/environ", pid) >= sizeof name)
		return false;
	fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (len < ENVIRONMENT_MAX &&
	       (n = read(fd, room + len, (size_t)(ENVIRONMENT_MAX - len))) > 0)
		len += n;
	close(fd);
	return memmem(room, (size_t)len, path, strlen(path)) != NULL;
}

/* It is not known of too many processes. */
static bool is_anyones(const char *path)
{
	DIR *d = opendir("/proc");
	char *room = malloc(ENVIRONMENT_MAX);
	bool found = !d || !room;
	struct dirent *entry;
	int looks = 0;

	while (!found && (entry = readdir(d)))
		if (entry->d_name[0] > '0' && entry->d_name[0] <= '9')
			found = ++looks > LOOKS_MOST ||
				has_path(dirfd(d), entry->d_name, path, room);
	free(room);
	if (d)
		closedir(d);
	return found;
}

/* ---- those there are ---- */

static bool is_called(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(entry, name, n) && entry[n] == '.';
}

static bool is_left_over(int folder, bool fresh, const char *path)
{
	struct stat st;

	if (fstat(folder, &st) || st.st_uid != geteuid() || flock(folder, LOCK_EX | LOCK_NB))
		return false;
	return fresh ? st.st_mtim.tv_sec < time(NULL) - FRESH_S : !is_anyones(path);
}

static void tidy_one(const char *path, bool fresh)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && is_left_over(fd, fresh, path))
		leftover_remove(path);
	if (fd >= 0)
		close(fd);
}

static void tidy(const char *where, const char *name)
{
	char path[PATH_MAX];
	DIR *d = opendir(where);
	struct dirent *entry;

	for (int i = 0; d && i < LOOKS_MOST && (entry = readdir(d)); i++) {
		bool fresh = is_called(entry->d_name, FRESH);

		if ((fresh || is_called(entry->d_name, name)) &&
		    snprintf(path, sizeof path, "%s/%s", where, entry->d_name) < PATH_MAX)
			tidy_one(path, fresh);
	}
	if (d)
		closedir(d);
}

/* Under its own name once it is held. */
static int make(const char *fresh, const char *path)
{
	int fd = open(fresh, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	leftover_hold(fd);
	if (fd >= 0 && !renameat2(AT_FDCWD, fresh, AT_FDCWD, path, RENAME_NOREPLACE))
		return fd;
	if (fd >= 0 && errno != EEXIST && !rename(fresh, path))
		return fd; /* a file system that knows no such flag */
	rmdir(fresh);
	if (fd >= 0)
		close(fd);
	return -1;
}

int leftover_folder(const char *where, const char *name, char *path, size_t size)
{
	char fresh[PATH_MAX];
	int n = snprintf(fresh, sizeof fresh, "%s/" FRESH ".XXXXXX", where);

	if (n < 0 || (size_t)n >= sizeof fresh || !mkdtemp(fresh))
		return -1;
	if ((size_t)snprintf(path, size, "%s/%s%s", where, name, strrchr(fresh, '.')) >= size) {
		rmdir(fresh);
		return -1;
	}
	return make(fresh, path);
}

void leftover_tidy(const char *path)
{
	char where[PATH_MAX], *slash, *dot;

	snprintf(where, sizeof where, "%s", path);
	slash = strrchr(where, '/');
	dot = slash ? strrchr(slash, '.') : NULL;
	if (!dot)
		return;
	*slash = *dot = '\0';
	tidy(where, slash + 1);
}

static bool is_itself_or_above(const char *entry)
{
	return !strcmp(entry, ".") || !strcmp(entry, "..");
}

static void empty(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	for (struct dirent *entry; d && (entry = readdir(d));)
		if (!is_itself_or_above(entry->d_name) && unlinkat(dirfd(d), entry->d_name, 0))
			unlinkat(dirfd(d), entry->d_name, AT_REMOVEDIR);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

/* Most are empty, and one call removes them. */
void leftover_remove(const char *path)
{
	if (!rmdir(path) || errno == ENOENT)
		return;
	empty(path);
	rmdir(path);
}
