/* SPDX-License-Identifier: Apache-2.0 */
/* join_list.c - which files a run is made of: those of a directory, or one by its name. */
#include "recording/join.h"
#include "recording/join_part.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end) ? name + n - m : NULL;
}

/* Text put together in the pool; NULL when out of memory. */
static const char *joined(struct join *j, const char *a, const char *b, const char *c)
{
	size_t n = strlen(a) + strlen(b) + strlen(c) + 1;
	char *text = pool_take(&j->pool, n);

	if (text)
		snprintf(text, n, "%s%s%s", a, b, c);
	return text;
}

/* Add the recording whose files are <stem>.sonde and <stem>.tail. */
static int stem_add(struct join *j, const char *stem, size_t n, const char *dir)
{
	struct join_file *moved = array_room(j->files, j->nfiles, &j->cap.files, sizeof *moved), *f;
	const char *copy = pool_text(&j->pool, stem, n);

	if (!moved || !copy) {
		j->files = moved ? moved : j->files;
		return -ENOMEM;
	}
	j->files = moved;
	f = &j->files[j->nfiles++];
	*f = (struct join_file){ .sonde = joined(j, copy, ".sonde", ""),
				 .tail = joined(j, copy, ".tail", "") };
	if (!f->sonde || !f->tail)
		return -ENOMEM;
	f->path = joined(j, dir, *dir ? "/" : "", f->sonde);
	f->tail_path = joined(j, dir, *dir ? "/" : "", f->tail);
	return f->path && f->tail_path ? 0 : -ENOMEM;
}

/* Nodes in the order that people count them: n2 before n10. */
static int by_name(const void *a, const void *b)
{
	return strverscmp(((const struct join_file *)a)->sonde,
			  ((const struct join_file *)b)->sonde);
}

/* Names as they come are in any order, and a stem comes once for each of its files. */
static void files_sort(struct join *j)
{
	uint32_t n = 0;

	if (!j->nfiles)
		return;
	qsort(j->files, j->nfiles, sizeof *j->files, by_name);
	for (uint32_t i = 1; i < j->nfiles; i++) {
		if (by_name(&j->files[n], &j->files[i]))
			j->files[++n] = j->files[i];
		j->files[n].has_sonde |= j->files[i].has_sonde;
		j->files[n].has_tail |= j->files[i].has_tail;
	}
	j->nfiles = n + 1;
}

/* A recording that was renamed, without its tail: of one each they belong together, which its head
 * still has to prove. */
static void tail_find(struct join *j)
{
	struct join_file *sonde = NULL, *tail = NULL;
	uint32_t lone = 0;

	for (uint32_t i = 0; i < j->nfiles; i++) {
		struct join_file *f = &j->files[i];

		lone += f->has_sonde != f->has_tail;
		sonde = f->has_sonde && !f->has_tail ? f : sonde;
		tail = f->has_tail && !f->has_sonde ? f : tail;
	}
	if (lone != 2 || !sonde || !tail)
		return;
	sonde->tail = tail->tail;
	sonde->tail_path = tail->tail_path;
	memmove(tail, tail + 1, (size_t)(j->files + j->nfiles - (tail + 1)) * sizeof *tail);
	j->nfiles--;
}

/* What is wrong with the names in a directory; renamed: a recording that is not called node-*. */
static int names_check(struct join *j, const char *path, const char *renamed, struct err *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->nfiles; i++)
		n += j->files[i].has_sonde;
	if (!n && renamed)
		return err_set(e, -ENODATA,
			       "%.300s holds no node-*.sonde, but %.200s; to read it, name it: "
			       "%.300s/%.200s",
			       path, renamed, path, renamed);
	if (!j->nfiles)
		return err_set(e, -ENODATA, "%.300s holds no recording: no node-*.sonde is in it",
			       path);
	return 0;
}

static int directory_list(struct join *j, const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const char *renamed = NULL;
	struct dirent *entry;

	if (!d) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return err_set(e, rc, "cannot read directory %.300s: %s", path, strerror(-rc));
	}
	while (!rc && (entry = readdir(d))) {
		const char *sonde = ends_with(entry->d_name, ".sonde");
		const char *end = sonde ? sonde : ends_with(entry->d_name, ".tail");

		if (end && !strncmp(entry->d_name, "node-", 5)) {
			rc = stem_add(j, entry->d_name, (size_t)(end - entry->d_name), path);
			j->files[j->nfiles - 1].has_sonde = sonde;
			j->files[j->nfiles - 1].has_tail = !sonde;
		} else if (sonde && !renamed) {
			renamed = pool_text(&j->pool, entry->d_name, strlen(entry->d_name));
		}
	}
	closedir(d);
	if (rc)
		return err_set(e, rc, "not enough memory to list %.300s", path);
	files_sort(j);
	rc = names_check(j, path, renamed, e);
	if (rc)
		return rc;
	tail_find(j);
	j->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return j->dir < 0 ? err_set(e, -errno, "cannot open %.300s: %s", path, strerror(errno)) : 0;
}

/* A single file, whatever it is called; with its tail when it is called as recordings are. */
static int file_list(struct join *j, const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *end = ends_with(name, ".sonde");
	size_t dir = (size_t)(name - path);
	const char *dir_text = pool_text(&j->pool, path, dir > 1 ? dir - 1 : dir);
	int rc = dir_text ? 0 : -ENOMEM;

	end = end ? end : ends_with(name, ".tail");
	if (!rc)
		rc = stem_add(j, name, end ? (size_t)(end - name) : strlen(name), dir_text);
	if (rc)
		return err_set(e, rc, "not enough memory to read %.300s", path);
	if (!end) {
		j->files[0].sonde = name;
		j->files[0].tail = NULL;
		j->files[0].path = j->files[0].tail_path = path;
	}
	j->dir = open(dir ? dir_text : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return j->dir < 0 ? err_set(e, -errno, "cannot open %.300s: %s", path, strerror(errno)) : 0;
}

int join_list(struct join *j, bool is_directory, struct err *e)
{
	return is_directory ? directory_list(j, j->run.path, e) : file_list(j, j->run.path, e);
}
