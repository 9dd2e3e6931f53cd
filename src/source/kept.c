/* SPDX-License-Identifier: Apache-2.0 */
#include "source/kept.h"

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
