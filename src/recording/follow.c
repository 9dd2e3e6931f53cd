/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/follow.h"

#include "recording/follow_part.h"
#include "recording/format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A directory is listed when its time changed; and now and then, since two changes may share one
 * tick of its file system's clock. */
enum { LIST_EVERY = 16, FILES_STEP = 64, FILES_MAX = 65536 };

static void file_free(struct follow_file *x)
{
	if (!x)
		return;
	follow_file_reset(x);
	rows_free(&x->rows);
	free(x->node.series);
	free(x->node.metas);
	free(x->instance);
	free(x->sonde);
	free(x->tail);
	free(x->path);
	free(x);
}

/* The recording <stem>.sonde. NULL when out of memory. */
static struct follow_file *file_new(const struct follow *f, const char *name, size_t stem)
{
	struct follow_file *x = calloc(1, sizeof *x);
	int made;

	if (!x)
		return NULL;
	made = asprintf(&x->path, "%s%s%s", f->path, f->single ? "" : "/", f->single ? "" : name);
	x->path = made < 0 ? NULL : x->path;
	x->sonde = strdup(name);
	made = asprintf(&x->tail, "%.*s.tail", (int)stem, name);
	x->tail = made < 0 ? NULL : x->tail;
	if (!x->sonde || !x->tail || !x->path || rows_init(&x->rows, COLUMNS_MAX)) {
		file_free(x);
		return NULL;
	}
	x->node.path = x->path;
	x->node.host = x->head.host;
	return x;
}

static int file_add(struct follow *f, const char *name, size_t stem)
{
	struct follow_file **moved, *x;

	if (f->nfiles == FILES_MAX)
		return 0;
	if (f->nfiles == f->cap) {
		moved = realloc(f->file, (f->cap + FILES_STEP) * sizeof(struct follow_file *));
		if (!moved)
			return -ENOMEM;
		f->file = moved;
		f->cap += FILES_STEP;
	}
	x = file_new(f, name, stem);
	if (!x)
		return -ENOMEM;
	x->listed = true;
	f->file[f->nfiles++] = x;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct follow_file *const *x = a, *const *y = b;

	return strcmp((*x)->sonde, (*y)->sonde);
}

static int to_file(const void *name, const void *file)
{
	const struct follow_file *const *x = file;

	return strcmp(name, (*x)->sonde);
}

/* ---- which files ---- */

static int names_read(struct follow *f, DIR *d)
{
	uint32_t known = f->nfiles;
	struct dirent *entry;
	int rc = 0;

	while (!rc && (entry = readdir(d))) {
		const char *name = entry->d_name, *dot = strrchr(name, '.');
		struct follow_file **x;

		if (strncmp(name, "node-", 5) || !dot || strcmp(dot, ".sonde"))
			continue;
		x = known ? bsearch(name, f->file, known, sizeof(struct follow_file *), to_file)
			  : NULL;
		if (x)
			(*x)->listed = true;
		else
			rc = file_add(f, name, (size_t)(dot - name));
	}
	return rc;
}

/* Those that are still there, in order of their names. */
static void files_keep(struct follow *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nfiles; i++) {
		if (f->file[i]->listed)
			f->file[n++] = f->file[i];
		else
			file_free(f->file[i]);
	}
	f->nfiles = n;
	if (n)
		qsort(f->file, n, sizeof(struct follow_file *), by_name);
}

static int directory_list(struct follow *f)
{
	int fd = openat(f->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	for (uint32_t i = 0; i < f->nfiles; i++)
		f->file[i]->listed = false;
	rc = names_read(f, d);
	closedir(d);
	for (uint32_t i = 0; rc && i < f->nfiles; i++)
		f->file[i]->listed = true; /* not all names were seen */
	files_keep(f);
	return rc;
}

/* The directory may have been removed, and one of its name made. */
static int directory_open(struct follow *f)
{
	struct stat now, held;

	if (stat(f->path, &now) < 0)
		return -errno;
	if (f->dir >= 0 && !fstat(f->dir, &held) && held.st_ino == now.st_ino &&
	    held.st_dev == now.st_dev) {
		if (f->polls++ % LIST_EVERY && !memcmp(&f->listed, &now.st_mtim, sizeof f->listed))
			return 0;
	} else {
		if (f->dir >= 0)
			close(f->dir);
		f->dir = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (f->dir < 0)
			return -errno;
		f->polls = 1;
	}
	f->listed = now.st_mtim;
	return directory_list(f);
}

/* ---- the calls ---- */

/* One recording: its directory is opened once. */
static int single_open(struct follow *f)
{
	const char *slash = strrchr(f->path, '/'), *name = slash ? slash + 1 : f->path;
	size_t n = strlen(name), end = strlen(".sonde");
	char *dir;

	if (n > end && !strcmp(name + n - end, ".sonde"))
		n -= end;
	dir = strndup(f->path, (size_t)(name - f->path));
	if (!dir)
		return -ENOMEM;
	f->dir = open(*dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	return f->dir < 0 ? -errno : file_add(f, name, n);
}

int follow_open(struct follow **out, const char *path, struct err *e)
{
	struct follow *f = calloc(1, sizeof *f);
	struct stat st;
	int rc = f ? 0 : -ENOMEM;

	*out = NULL;
	if (f)
		f->dir = -1;
	if (!rc && stat(path, &st) < 0)
		rc = -errno;
	if (!rc && chunk_reader_init(&f->chunk))
		rc = -ENOMEM;
	if (!rc && !(f->path = strdup(path)))
		rc = -ENOMEM;
	if (!rc && !S_ISDIR(st.st_mode)) {
		f->single = true;
		rc = single_open(f);
	}
	if (rc) {
		follow_close(f);
		return err_set(e, rc, "cannot follow %.300s: %s", path, strerror(-rc));
	}
	*out = f;
	return 0;
}

int follow_poll(struct follow *f, struct err *e)
{
	int rc = f->single ? 0 : directory_open(f);

	for (uint32_t i = 0; !rc && i < f->nfiles; i++)
		rc = follow_file_poll(f, f->file[i]);
	return rc ? err_set(e, rc, "cannot follow %.300s: %s", f->path, strerror(-rc)) : 0;
}

int follow_at(struct follow *f, int64_t utc_ns, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < f->nfiles; i++)
		rc = follow_file_at(f, f->file[i], utc_ns);
	return rc ? err_set(e, rc, "cannot replay %.300s: %s", f->path, strerror(-rc)) : 0;
}

void follow_close(struct follow *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->nfiles; i++)
		file_free(f->file[i]);
	free(f->file);
	if (f->dir >= 0)
		close(f->dir);
	chunk_reader_free(&f->chunk);
	bytes_free(&f->data);
	bytes_free(&f->events);
	pool_free(&f->record);
	pool_free(&f->catalogue.pool);
	free(f->catalogue.metric);
	idmap_free(&f->catalogue.names);
	free(f->path);
	free(f);
}

uint32_t follow_count(const struct follow *f)
{
	return f->nfiles;
}

const struct follow_node *follow_node(const struct follow *f, uint32_t i)
{
	return &f->file[i]->node;
}
