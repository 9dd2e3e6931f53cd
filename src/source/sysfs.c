/* SPDX-License-Identifier: Apache-2.0 */
#include "source/sysfs.h"

#include "base/text/number.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
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

int sysfs_no_number(const char *text)
{
	enum { LONGEST = 18 }; /* digits of a number that fits */

	text = number_skip_blanks(text);
	text += *text == '-';
	return strspn(text, "0123456789") > LONGEST ? -ERANGE : -EBADMSG;
}

int sysfs_read_number(const struct root *sys, const char *path, int64_t *out)
{
	char buf[64];
	const char *p = buf;
	ssize_t n = root_read(sys, path, buf, sizeof buf);
	int64_t v;

	if (n <= 0)
		return n < 0 ? (int)n : -ENODATA;
	if (!number_i64(&p, &v))
		return sysfs_no_number(buf);
	if (strcmp(p + (*p == '\n'), "") != 0)
		return -EBADMSG;
	*out = v;
	return 0;
}

const char *sysfs_reason(int error)
{
	switch (error) {
	case -ENODATA:
		return "its file gives no data";
	case -EBADMSG:
		return "its file holds no number";
	case -ERANGE:
		return "its number is beyond what it can be";
	case -EFBIG:
		return "its file holds more than a number";
	default:
		return strerror(-error);
	}
}

void sysfs_put_state(struct sample *s, uint32_t slot, int *told, int error)
{
	if (*told == error)
		return;
	*told = error;
	if (slot && error)
		sample_refuse(s, slot, state_of(error), sysfs_reason(error));
	else if (slot)
		sample_refuse(s, slot, STATE_PRESENT, NULL);
}

static int by_number(const void *a, const void *b)
{
	const struct sysfs_name *x = a, *y = b;

	return strverscmp(x->text, y->text);
}

int sysfs_names(const struct root *sys, const char *path, struct sysfs_name *name, int max)
{
	_Alignas(struct dirent64) char buf[1024];
	int fd = root_file(sys, path), found = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	while ((n = getdents64(fd, buf, sizeof buf)) > 0)
		for (ssize_t at = 0; at < n && found < max;) {
			const struct dirent64 *entry =
				(const struct dirent64 *)(const void *)(buf + at);
			size_t len = strlen(entry->d_name);

			if (entry->d_name[0] != '.' && len < sizeof name->text)
				memcpy(name[found++].text, entry->d_name, len + 1);
			at += entry->d_reclen;
		}
	if (n < 0)
		found = -errno;
	file_close(&fd);
	if (found > 0)
		qsort(name, (size_t)found, sizeof *name, by_number);
	return found;
}

void sysfs_line(const struct root *sys, const char *path, char *out, size_t size)
{
	if (root_read(sys, path, out, size) < 0)
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}
