/* SPDX-License-Identifier: Apache-2.0 */
#include "source/kept.h"

#include "base/text/number.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 16 * 1024, LARGEST = 16 * 1024 * 1024, SLACK = 2048 };

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

static ssize_t read_into(const struct kept *k, char *text, size_t cap)
{
	return k->records ? file_reread_records(k->fd, text, cap) : file_reread(k->fd, text, cap);
}

/* Both texts side by side. */
static int set_size(struct kept *k, size_t cap)
{
	char *room = malloc(2 * cap);

	if (!room)
		return -ENOMEM;
	free(k->room);
	k->room = k->text = room;
	k->before = room + cap;
	k->cap = cap;
	return 0;
}

static ssize_t read_with_room(struct kept *k, size_t cap)
{
	int bad = set_size(k, cap);

	return bad ? bad : read_into(k, k->text, cap);
}

/* With a buffer that doubles until the whole file fits; then it gets room to grow. */
static int size_large(struct kept *k, size_t room)
{
	size_t cap = FIRST_SIZE;
	ssize_t n;

	do {
		cap *= 2;
		n = read_with_room(k, cap);
	} while (n >= 0 && (size_t)n + 1 >= cap && cap < LARGEST);
	if (n >= 0 && (size_t)n + room >= cap && cap < LARGEST)
		n = read_with_room(k, (size_t)n + room + 1);
	return n < 0 ? (int)n : whole_lines(k, n);
}

/* Most files are small, and kept in little more than they have: each page that is written to takes
 * the start of a recording as long as a small file does. */
static int size_buffer(struct kept *k, size_t room)
{
	char first[FIRST_SIZE];
	ssize_t n = read_into(k, first, sizeof first);
	int bad;

	if (n < 0)
		return (int)n;
	if ((size_t)n + 1 >= sizeof first)
		return size_large(k, room);
	bad = set_size(k, (size_t)n + (size_t)n / 2 + room + SLACK);
	if (bad)
		return bad;
	memcpy(k->text, first, (size_t)n + 1);
	return whole_lines(k, n);
}

static int open_it(struct kept *k, const struct root *root, const char *path, size_t room,
		   struct err *e)
{
	int r = root_file(root, path);

	if (r >= 0) {
		k->fd = r;
		r = size_buffer(k, room);
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
	return whole_lines(k, read_into(k, k->text, k->cap));
}

int kept_read_same(struct kept *k)
{
	char *before = k->text;
	size_t len = k->len;
	int r;

	if (k->fresh)
		return kept_read(k);
	k->text = k->before;
	k->before = before;
	r = kept_read(k);
	return r < 0 ? r : k->len == len && memcmp(k->text, before, len) == 0;
}

void kept_close(struct kept *k)
{
	file_close(&k->fd);
	free(k->room);
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
