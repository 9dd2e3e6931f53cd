/* SPDX-License-Identifier: Apache-2.0 */
#include "source/kept.h"

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
