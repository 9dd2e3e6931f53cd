/* SPDX-License-Identifier: Apache-2.0 */
/* join_list.c - which files a run is made of: those of a directory, or one by its name; of several
 * attempts the last; and which recording in a directory is the newest. */
#include "core/frame/run.h"
#include "recording/block.h"
#include "recording/format.h"
#include "recording/join.h"
#include "recording/join_part.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

/*
 * A batch job that was put back into the queue has begun again: its recordings in
 * one directory are of several attempts. The last one is the run; of those before it is told how
 * they ended.
 */

enum { ATTEMPTS_TOLD = 8 };

/* A run, and which metadata is whose: there are as many nodes as thousands of it. */
struct told {
	const struct run *run;
	struct run_index metas;
};

static const struct run_meta *meta_of(const struct told *t, uint32_t node, const char *key)
{
	for (uint32_t i = t->metas.first[node]; i < t->metas.first[node + 1]; i++) {
		const struct run_meta *m = &t->run->metas[t->metas.id[i]];

		if (!strcmp(m->key, key))
			return m;
	}
	return NULL;
}

static int64_t number_of(const struct told *t, uint32_t node, const char *key, int64_t otherwise)
{
	const struct run_meta *m = meta_of(t, node, key);

	return m && m->type == META_INT ? m->value : otherwise;
}

/* Which attempt a node's recording is of, from 0 on; -1: it does not say what job it is of. */
static int64_t attempt_of(const struct told *t, uint32_t node)
{
	return number_of(t, node, "job.restarts_count", meta_of(t, node, "job.scheduler") ? 0 : -1);
}

static int64_t next_attempt(const struct told *t, int64_t after)
{
	int64_t next = INT64_MAX;

	for (uint32_t i = 1; i < t->run->nnodes; i++) {
		int64_t a = attempt_of(t, i);

		if (a > after && a < next)
			next = a;
	}
	return next;
}

static void say_attempt(const struct told *t, int64_t attempt, char *out, size_t size)
{
	int64_t signal = 0, code = -1, longest = 0;
	uint32_t recordings = 0;
	char ending[48] = "end not seen";
	const char *name;

	for (uint32_t i = 1; i < t->run->nnodes; i++) {
		const struct run_node *n = &t->run->nodes[i];

		if (attempt_of(t, i) != attempt)
			continue;
		recordings++;
		signal = number_of(t, i, "job.signal", 0) > signal
				 ? number_of(t, i, "job.signal", 0)
				 : signal;
		code = number_of(t, i, "job.exit_code", -1) > code
			       ? number_of(t, i, "job.exit_code", -1)
			       : code;
		if (n->rows && n->last_ns - n->first_ns > longest)
			longest = n->last_ns - n->first_ns;
	}
	name = signal > 0 && signal < 65 ? sigabbrev_np((int)signal) : NULL;
	if (name)
		snprintf(ending, sizeof ending, "killed by SIG%s", name);
	else if (signal > 0)
		snprintf(ending, sizeof ending, "killed by signal %lld", (long long)signal);
	else if (code >= 0)
		snprintf(ending, sizeof ending, "exit code %lld", (long long)code);
	snprintf(out, size, "attempt %lld (recordings: %u, %s, %.1f s)", (long long)attempt + 1,
		 recordings, ending, (double)longest / 1e9);
}

/* Of all attempts before the last one. */
static char *say_all(const struct told *t, int64_t last)
{
	enum { ROOM = 160 };
	char *out = calloc(ATTEMPTS_TOLD + 1, ROOM);
	size_t len = 0;
	int64_t a = next_attempt(t, -1);

	for (int n = 0; out && n < ATTEMPTS_TOLD && a < last; n++, a = next_attempt(t, a)) {
		char one[ROOM - 2];

		say_attempt(t, a, one, sizeof one);
		len += (size_t)snprintf(out + len, (ATTEMPTS_TOLD + 1) * ROOM - len, "%s%s",
					n ? ", " : "", one);
	}
	return out;
}

static int keep(struct join_attempts *x, const char *path)
{
	const char **moved = realloc(x->keep, (x->nkeep + 1) * sizeof *moved);

	if (!moved)
		return -ENOMEM;
	x->keep = moved;
	x->keep[x->nkeep] = strdup(path);
	return x->keep[x->nkeep++] ? 0 : -ENOMEM;
}

static int find(struct join_attempts *x, const struct told *t)
{
	int64_t last = 0, first = INT64_MAX;
	int rc = 0;

	for (uint32_t i = 1; i < t->run->nnodes; i++) {
		int64_t a = attempt_of(t, i);

		last = a > last ? a : last;
		first = a >= 0 && a < first ? a : first;
	}
	if (first >= last)
		return 0;
	x->last = last;
	x->before = say_all(t, last);
	for (uint32_t i = 1; i < t->run->nnodes && !rc; i++)
		if (attempt_of(t, i) == last || attempt_of(t, i) < 0)
			rc = keep(x, t->run->nodes[i].file);
	return rc || !x->before ? -ENOMEM : 1;
}

int join_attempts_find(struct join_attempts *x, const struct run *r)
{
	struct told t = { .run = r };
	int rc = run_index_metas(&t.metas, r);

	if (!rc)
		rc = find(x, &t);
	run_index_free(&t.metas);
	return rc;
}

void join_attempts_free(struct join_attempts *x)
{
	for (size_t i = 0; i < x->nkeep; i++)
		free((void *)(uintptr_t)x->keep[i]);
	free(x->keep);
	free(x->before);
	*x = (struct join_attempts){ 0 };
}

/* The file itself, or a timeline that was imported into it. */
static bool is_kept(const struct join_file *f, const char *kept)
{
	size_t n = strlen(kept);

	if (!strcmp(f->path, kept))
		return true;
	n -= n > 6 ? 6 : n; /* ".sonde" */
	return !strncmp(f->path, kept, n) && !strncmp(f->path + n, ".timeline", 9);
}

void join_attempts_leave(struct join *j, const struct join_attempts *x)
{
	uint32_t kept = 0;
	size_t next = 0; /* they are in the same order, mostly */

	for (uint32_t i = 0; i < j->nfiles; i++)
		for (size_t k = 0; k < x->nkeep; k++) {
			size_t at = (next + k) % x->nkeep;

			if (!is_kept(&j->files[i], x->keep[at]))
				continue;
			j->files[kept++] = j->files[i];
			next = at;
			break;
		}
	j->nfiles = kept;
}

int join_attempts_report(struct join *j, const struct join_attempts *x)
{
	struct run *r = &j->run;
	struct run_meta *moved =
		x->before ? array_room(r->metas, r->nmetas, &j->cap.metas, sizeof *moved) : NULL;
	const char *text = x->before ? join_text(j, x->before) : NULL;

	if (!x->before || r->nnodes < 2)
		return 0;
	if (!moved || !text)
		return -ENOMEM;
	r->metas = moved;
	r->metas[r->nmetas++] = (struct run_meta){
		.node = 1, .type = META_TEXT, .key = "run.attempts_before", .text = text
	};
	return 0;
}

/* When the recording was made, from its head; 0 when that cannot be read. */
static int64_t made_at(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint16_t type, version;
	struct head h;

	if (fd < 0)
		return 0;
	type = head_read(fd, &h, &version);
	close(fd);
	return type == BLOCK_HEAD || type == BLOCK_TAIL ? h.utc_ns : 0;
}

static bool is_recording(const char *name)
{
	const char *dot = strrchr(name, '.');

	return !strncmp(name, "node-", 5) && dot &&
	       (!strcmp(dot, ".sonde") || !strcmp(dot, ".tail"));
}

/* The newest head in the directory; -1 when no recording is in it. */
static int64_t newest_in(int dirfd, const char *name, bool any)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int64_t newest = -1;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while ((entry = readdir(d)) && !(any && newest >= 0)) {
		int64_t at;

		if (!is_recording(entry->d_name))
			continue;
		at = any ? 0 : made_at(fd, entry->d_name);
		newest = at > newest ? at : newest;
	}
	closedir(d);
	return newest;
}

bool run_is_recorded(const char *dir)
{
	return newest_in(AT_FDCWD, dir, true) >= 0;
}

int run_newest(const char *dir, char *out, size_t size, struct err *e)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char best[256] = "";
	int64_t newest = -1;

	if (!d)
		return err_set(e, -errno, "cannot read directory %.300s: %s", dir, strerror(errno));
	while ((entry = readdir(d))) {
		int64_t at;

		if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
			continue;
		at = newest_in(dirfd(d), entry->d_name, false);
		if (!at && strncmp(entry->d_name, "sonde_", 6))
			continue; /* files that are only called like those of a recording */
		if (at > newest || (at == newest && at >= 0 && strcmp(entry->d_name, best) > 0)) {
			newest = at;
			snprintf(best, sizeof best, "%s", entry->d_name);
		}
	}
	closedir(d);
	if (newest < 0 && run_is_recorded(dir)) {
		snprintf(out, size, "%s", dir);
		return 0;
	}
	if (newest < 0)
		return err_set(
			e, -ENOENT,
			"no recording is in %.300s; name one, or make one with: sonde run -- "
			"CMD",
			dir);
	if ((size_t)snprintf(out, size, "%s%s%s", strcmp(dir, ".") ? dir : "",
			     strcmp(dir, ".") ? "/" : "", best) >= size)
		return err_set(e, -ENAMETOOLONG, "the path of %.300s in %.300s is too long", best,
			       dir);
	return 0;
}
