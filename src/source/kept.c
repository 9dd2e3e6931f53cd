/* SPDX-License-Identifier: Apache-2.0 */
#include "source/kept.h"

#include "base/text/number.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 16 * 1024, LARGEST = 16 * 1024 * 1024 };

static int whole_lines(struct kept *k, ssize_t n)
{
	char *end = n > 0 ? memrchr(k->text, '\n', (size_t)n) : NULL;

	k->len = end ? (size_t)(end + 1 - k->text) : 0;
	k->text[k->len] = '\0';
	k->cut = n > 0 && (size_t)n > k->len;
	if (n < 0)
		return (int)n;
	return k->len ? 0 : -ENODATA;
}

static ssize_t reread(const struct kept *k)
{
	return k->records ? file_reread_records(k->fd, k->text, k->cap)
			  : file_reread(k->fd, k->text, k->cap);
}

static int set_size(struct kept *k, size_t cap)
{
	char *text = realloc(k->text, cap);

	if (!text)
		return -ENOMEM;
	k->text = text;
	k->cap = cap;
	return 0;
}

/* Read with a buffer that doubles until the whole file fits, then give it room to grow. */
static int size_buffer(struct kept *k, size_t room)
{
	size_t cap = FIRST_SIZE;
	ssize_t n;

	for (;; cap *= 2) {
		n = set_size(k, cap);
		if (!n)
			n = reread(k);
		if (n < 0)
			return (int)n;
		if ((size_t)n + 1 < cap || cap >= LARGEST)
			break;
	}
	if ((size_t)n + room >= cap && cap < LARGEST && set_size(k, (size_t)n + room + 1))
		return -ENOMEM;
	return whole_lines(k, n);
}

static int open_it(struct kept *k, const struct root *root, const char *path, size_t room,
		   struct err *e)
{
	int r = root_file(root, path);

	if (r >= 0) {
		k->fd = r;
		r = size_buffer(k, room);
		k->before = r < 0 ? NULL : malloc(k->cap);
		k->fresh = true;
	}
	if (r < 0) {
		kept_close(k);
		return err_set(e, r, "%s/%s: %s", root->path, path,
			       r == -ENODATA ? "it is empty" : strerror(-r));
	}
	return 0;
}

int kept_open(struct kept *k, const struct root *root, const char *path, size_t room, struct err *e)
{
	*k = (struct kept){ 0 };
	return open_it(k, root, path, room, e);
}

int kept_open_records(struct kept *k, const struct root *root, const char *path, size_t room,
		      struct err *e)
{
	*k = (struct kept){ .records = true };
	return open_it(k, root, path, room, e);
}

int kept_read(struct kept *k)
{
	if (k->fresh) {
		k->fresh = false;
		return 0;
	}
	return whole_lines(k, reread(k));
}

int kept_read_same(struct kept *k)
{
	char *before = k->text;
	size_t len = k->len;
	int r;

	if (k->fresh || !k->before)
		return kept_read(k);
	k->text = k->before;
	k->before = before;
	r = kept_read(k);
	return r < 0 ? r : k->len == len && memcmp(k->text, before, len) == 0;
}

void kept_close(struct kept *k)
{
	file_close(&k->fd);
	free(k->text);
	free(k->before);
	*k = (struct kept){ 0 };
}

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
