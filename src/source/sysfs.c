/* SPDX-License-Identifier: Apache-2.0 */
#include "source/sysfs.h"

#include "base/number.h"

#include <dirent.h>
#include <string.h>

bool sysfs_exists(const struct root *sys, const char *path)
{
	int fd = root_file(sys, path);
	bool opened = fd >= 0;

	file_close(&fd);
	return opened;
}

bool sysfs_has_entries(const struct root *sys, const char *path)
{
	_Alignas(struct dirent64) char buf[1024];
	int fd = root_file(sys, path);
	bool found = false;
	ssize_t n;

	if (fd < 0)
		return false;
	n = getdents64(fd, buf, sizeof buf);
	for (ssize_t at = 0; at < n && !found;) {
		const struct dirent64 *entry = (const struct dirent64 *)(const void *)(buf + at);

		found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
		at += entry->d_reclen;
	}
	file_close(&fd);
	return found;
}

bool sysfs_number(const struct root *sys, const char *path, int64_t *out)
{
	char buf[64];
	const char *p = buf;
	int64_t v;

	if (root_read(sys, path, buf, sizeof buf) <= 0 || !number_i64(&p, &v) ||
	    strcmp(p + (*p == '\n'), "") != 0)
		return false;
	*out = v;
	return true;
}
