/* SPDX-License-Identifier: Apache-2.0 */
#include "source/fdlist.h"

#include "base/text/number.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int fdlist_open(struct fdlist *l, const struct root *proc, pid_t pid)
{
	char path[32];
	int dir;

	fdlist_close(l);
	snprintf(path, sizeof path, "%d/fd", (int)pid);
	dir = root_file(proc, path);
	if (dir < 0)
		return dir;
	l->dir = dir;
	l->listed = l->at = 0;
	return 0;
}

void fdlist_close(struct fdlist *l)
{
	file_close(&l->dir);
}

bool fdlist_next(struct fdlist *l, int *fd, char target[FDLIST_TARGET])
{
	while (l->dir) {
		const struct dirent64 *entry;
		const char *name;
		int64_t number;
		ssize_t n;

		if (l->at >= l->listed) {
			l->listed = getdents64(l->dir, l->entries, sizeof l->entries);
			l->at = 0;
			if (l->listed <= 0)
				break;
		}
		entry = (const struct dirent64 *)(const void *)(l->entries + l->at);
		l->at += entry->d_reclen;
		name = entry->d_name;
		if (!number_i64(&name, &number) || *name || number < 0 || number > INT32_MAX)
			continue;
		n = readlinkat(l->dir, entry->d_name, target, FDLIST_TARGET - 1);
		target[n > 0 ? n : 0] = '\0';
		*fd = (int)number;
		return true;
	}
	fdlist_close(l);
	return false;
}

bool fdlist_device(const char *target, const char *device, uint64_t first, uint64_t *number)
{
	size_t n = strlen(device);
	const char *p = target + n;

	return strncmp(target, device, n) == 0 && *p >= '0' && *p <= '9' &&
	       number_u64(&p, number) && !*p && *number >= first;
}
