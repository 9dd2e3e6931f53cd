/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pending.h"

#include "base/clock.h"
#include "base/text/textfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXTENSION ".json"

#define DROPPED "dropped" /* a file of a byte for each run that was dropped */

enum { KEPT_MAX = 10000, TRIM_EVERY = 32 };
enum { FILE_MAX = 16 << 20, TIME_DIGITS = 20, ABANDONED_S = 3600 };

static int write_file(const char *path, const struct bytes *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	ssize_t n;
	int rc;

	if (fd < 0)
		return -errno;
	n = write(fd, text->data, text->len);
	rc = n < 0 ? -errno : n < (ssize_t)text->len ? -ENOSPC : 0;
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

/* No other process has this name: of this host, this time. */
static bool name_file(const char *folder, char path[PATH_MAX], char whole[PATH_MAX])
{
	char host[64] = "";
	int n;

	gethostname(host, sizeof host - 1);
	for (char *c = host; *c; c++)
		*c = *c == '/' ? '_' : *c;
	n = snprintf(path, PATH_MAX, "%s/%0*" PRId64 "-%d-%s", folder, (int)TIME_DIGITS,
		     clock_utc_ns(), (int)getpid(), host);
	return n > 0 && snprintf(whole, PATH_MAX, "%s%s", path, EXTENSION) < PATH_MAX;
}

static int is_whole(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > sizeof EXTENSION && !strcmp(d->d_name + n - sizeof EXTENSION + 1, EXTENSION);
}

/* The oldest go first: names begin with the time. */
static void trim(const char *folder)
{
	struct dirent **names = NULL;
	int n = scandir(folder, &names, is_whole, alphasort), fd = -1;
	int dir = n > KEPT_MAX ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (dir >= 0)
		fd = openat(dir, DROPPED, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
			    0600);
	for (int i = 0; i < n; i++) {
		if (fd >= 0 && i < n - KEPT_MAX && !unlinkat(dir, names[i]->d_name, 0))
			(void)!write(fd, ".", 1);
		free(names[i]);
	}
	free(names);
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
}

int pending_leave(const char *folder, const struct history *h, const struct history_run *r,
		  struct err *e)
{
	char path[PATH_MAX], whole[PATH_MAX];
	struct bytes text = { 0 };
	struct json j = { .out = &text };
	int rc = -ENAMETOOLONG;

	history_json(&j, h, r);
	bytes_u8(&text, '\n');
	if (name_file(folder, path, whole)) {
		mkdir(folder, 0700);
		rc = text.failed ? -ENOMEM : write_file(path, &text);
		if (!rc && rename(path, whole))
			rc = -errno;
		if (rc)
			unlink(path);
	}
	bytes_free(&text);
	if (!rc && getpid() % TRIM_EVERY == 0)
		trim(folder);
	return rc ? err_set(e, rc, "cannot leave the run in %.300s: %s", folder, strerror(-rc)) : 0;
}

/* One that was never finished, since who wrote it was killed: named as name_file does, without the
 * extension, and older than anything that takes a moment. */
static bool is_abandoned(const struct dirent *d, const char *folder, char path[PATH_MAX])
{
	struct stat st;

	return !is_whole(d) && strspn(d->d_name, "0123456789") == TIME_DIGITS &&
	       snprintf(path, PATH_MAX, "%s/%s", folder, d->d_name) < PATH_MAX &&
	       !lstat(path, &st) && S_ISREG(st.st_mode) &&
	       st.st_mtime < clock_utc_ns() / NS_PER_S - ABANDONED_S;
}

static void remove_abandoned(const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *entry;
	char path[PATH_MAX];

	while (d && (entry = readdir(d)))
		if (is_abandoned(entry, folder, path))
			unlink(path);
	if (d)
		closedir(d);
}

static int64_t count_dropped(const char *folder)
{
	char path[PATH_MAX];
	struct stat st;

	return snprintf(path, sizeof path, "%s/" DROPPED, folder) < PATH_MAX && !lstat(path, &st)
		       ? st.st_size
		       : 0;
}

int pending_find(struct pending *p, const char *folder, struct err *e)
{
	struct dirent **names = NULL;
	int n = scandir(folder, &names, is_whole, alphasort);

	*p = (struct pending){ .dropped = count_dropped(folder) };
	remove_abandoned(folder);
	if (n < 0)
		return errno == ENOENT ? 0
				       : err_set(e, -errno, "cannot read %.300s: %s", folder,
						 strerror(errno));
	p->name = calloc((size_t)n + 1, sizeof *p->name);
	for (int i = 0; i < n; i++) {
		if (p->name)
			p->name[p->n] = strdup(names[i]->d_name);
		p->n += p->name && p->name[p->n];
		free(names[i]);
	}
	free(names);
	return p->name ? 0 : err_set(e, -ENOMEM, "out of memory for the history");
}

static bool path_of(const struct pending *p, const char *folder, int i, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/%s", folder, p->name[i]) < PATH_MAX;
}

int pending_read(const struct pending *p, const char *folder, int i, struct history *h,
		 struct err *e)
{
	struct bytes text = { 0 };
	char path[PATH_MAX];
	int rc = -ENAMETOOLONG;

	if (path_of(p, folder, i, path))
		rc = textfile_read(path, "run of the history", FILE_MAX, &text, e);
	if (!rc)
		rc = history_parse(h, text.data, text.len, e);
	bytes_free(&text);
	return rc;
}

void pending_remove(const struct pending *p, const char *folder, int i)
{
	char path[PATH_MAX];

	if (path_of(p, folder, i, path))
		unlink(path);
}

void pending_told(const char *folder)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/" DROPPED, folder) < PATH_MAX)
		unlink(path);
}

void pending_free(struct pending *p)
{
	for (int i = 0; i < p->n; i++)
		free(p->name[i]);
	free(p->name);
	*p = (struct pending){ 0 };
}
