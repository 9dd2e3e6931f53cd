/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/block.h"
#include "recording/format.h"
#include "recording/join.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* When the recording was made, from its head; 0 when that cannot be read. */
static int64_t made_at(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint16_t type, version;
	struct head h;

	if (fd < 0)
		return 0;
	type = head_read(fd, &h, &version);
	close(fd);
	return type == BLOCK_HEAD || type == BLOCK_TAIL ? h.utc_ns : 0;
}

static bool is_recording(const char *name)
{
	const char *dot = strrchr(name, '.');

	return !strncmp(name, "node-", 5) && dot &&
	       (!strcmp(dot, ".sonde") || !strcmp(dot, ".tail"));
}

/* The newest head in the directory; -1 when no recording is in it. */
static int64_t newest_in(int dirfd, const char *name, bool any)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int64_t newest = -1;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while ((entry = readdir(d)) && !(any && newest >= 0)) {
		int64_t at;

		if (!is_recording(entry->d_name))
			continue;
		at = any ? 0 : made_at(fd, entry->d_name);
		newest = at > newest ? at : newest;
	}
	closedir(d);
	return newest;
}

bool run_is_recorded(const char *dir)
{
	return newest_in(AT_FDCWD, dir, true) >= 0;
}

int run_newest(const char *dir, char *out, size_t size, struct err *e)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char best[256] = "";
	int64_t newest = -1;

	if (!d)
		return err_set(e, -errno, "cannot read directory %.300s: %s", dir, strerror(errno));
	while ((entry = readdir(d))) {
		int64_t at;

		if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
			continue;
		at = newest_in(dirfd(d), entry->d_name, false);
		if (!at && strncmp(entry->d_name, "sonde_", 6))
			continue; /* files that are only called like those of a recording */
		if (at > newest || (at == newest && at >= 0 && strcmp(entry->d_name, best) > 0)) {
			newest = at;
			snprintf(best, sizeof best, "%s", entry->d_name);
		}
	}
	closedir(d);
	if (newest < 0 && run_is_recorded(dir)) {
		snprintf(out, size, "%s", dir);
		return 0;
	}
	if (newest < 0)
		return err_set(
			e, -ENOENT,
			"no recording is in %.300s; name one, or make one with: sonde run -- "
			"CMD",
			dir);
	if ((size_t)snprintf(out, size, "%s%s%s", strcmp(dir, ".") ? dir : "",
			     strcmp(dir, ".") ? "/" : "", best) >= size)
		return err_set(e, -ENAMETOOLONG, "the path of %.300s in %.300s is too long", best,
			       dir);
	return 0;
}
