/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/textfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 16384 };

/* Until the end; a file may grow meanwhile, and those of /proc have no size. */
static int read_all(int fd, size_t most, struct bytes *out)
{
	size_t begin = out->len;
	ssize_t got = 1;

	while (got && out->len - begin <= most) {
		if (!bytes_room(out, CHUNK))
			return -ENOMEM;
		got = read(fd, out->data + out->len, CHUNK);
		if (got < 0 && errno != EINTR)
			return -errno;
		out->len += got > 0 ? (size_t)got : 0;
	}
	return out->len - begin > most ? -EFBIG : 0;
}

int textfile_read(const char *path, const char *what, size_t most, struct bytes *out, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), bad;
	struct stat st;

	if (fd < 0)
		return err_set(e, -errno, "cannot open the %s %.300s: %s", what, path,
			       strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, -EINVAL, "the %s %.300s is not a regular file", what, path);
	}
	bad = read_all(fd, most, out);
	close(fd);
	if (bad == -EFBIG)
		return err_set(e, bad, "the %s %.300s has more than %zu bytes", what, path, most);
	return bad ? err_set(e, bad, "cannot read the %s %.300s: %s", what, path, strerror(-bad))
		   : 0;
}

/* ---- all of a directory ---- */

static int read_file(const struct textfiles *t, const char *path, struct err *e)
{
	struct bytes text = { 0 };
	char what[64];
	int rc;

	snprintf(what, sizeof what, "%s file", t->what);
	rc = textfile_read(path, what, t->most, &text, e);
	if (!rc)
		rc = t->take(t->ctx, path, (const char *)text.data, text.len, e);
	bytes_free(&text);
	return rc;
}

static bool is_named(const struct textfiles *t, const char *name)
{
	size_t n = strlen(name), ending = strlen(t->ending);

	return name[0] != '.' && n > ending && !strcmp(name + n - ending, t->ending);
}

static int read_entry(const struct textfiles *t, const char *directory, const char *name,
		      struct err *e)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
		return err_set(e, -ENAMETOOLONG, "%.300s: this path is too long", directory);
	return read_file(t, path, e);
}

/* Whatever the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_directory(const struct textfiles *t, const char *path, struct err *e)
{
	struct dirent **entry;
	int n = scandir(path, &entry, NULL, by_name), rc = 0;
	bool any = false;

	if (n < 0)
		return err_set(e, -errno, "cannot read the %s directory %.300s: %s", t->what, path,
			       strerror(errno));
	for (int i = 0; i < n; i++) {
		if (!rc && is_named(t, entry[i]->d_name)) {
			any = true;
			rc = read_entry(t, path, entry[i]->d_name, e);
		}
		free(entry[i]);
	}
	free(entry);
	if (!rc && !any)
		rc = err_set(e, -ENOENT,
			     "the directory %.300s holds no file named *%s; name the one that "
			     "does, or a file",
			     path, t->ending);
	return rc;
}

int textfiles_read(const struct textfiles *t, const char *path, struct err *e)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? read_directory(t, path, e)
							   : read_file(t, path, e);
}
