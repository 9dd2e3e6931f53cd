/* SPDX-License-Identifier: Apache-2.0 */
#include "source/cgroup/cgroup_below.h"

#include "base/root.h"
#include "base/text/number.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void cgroup_below_open(struct cgroup_below *x, int dir)
{
	*x = (struct cgroup_below){ .group[0] = { .dir = dir } };
}

static void forget(struct cgroup_below_group *g)
{
	file_close(&g->dir);
	file_close(&g->file);
	*g = (struct cgroup_below_group){ 0 };
}

void cgroup_below_close(struct cgroup_below *x)
{
	for (size_t i = 0; i < CGROUPS_BELOW; i++)
		forget(&x->group[i]);
}

static struct cgroup_below_group *find(struct cgroup_below *x, ino_t inode)
{
	for (size_t i = 0; i < CGROUPS_BELOW; i++)
		if (x->group[i].dir && x->group[i].inode == inode)
			return &x->group[i];
	return NULL;
}

static bool add(struct cgroup_below *x, const struct cgroup_below_group *above, const char *name,
		ino_t inode)
{
	const struct root root = { .fd = above->dir };
	char path[NAME_MAX + sizeof "/memory.oom_control"];

	for (size_t i = 1; i < CGROUPS_BELOW; i++) {
		struct cgroup_below_group *g = &x->group[i];

		if (g->dir)
			continue;
		snprintf(path, sizeof path, "%s/memory.oom_control", name);
		*g = (struct cgroup_below_group){ .dir = root_file(&root, name),
						  .file = root_file(&root, path),
						  .inode = inode,
						  .parent = above->inode,
						  .fresh = true };
		if (g->dir > 0 && g->file > 0)
			return true;
		g->dir = g->dir > 0 ? g->dir : 0;
		g->file = g->file > 0 ? g->file : 0;
		forget(g);
		return false;
	}
	return false;
}

/* A directory has a link of each one in it: as many as before are the same ones, as one that has
 * gone is noticed by its file. */
static bool list(struct cgroup_below *x, struct cgroup_below_group *above, char *text, size_t size)
{
	char *first = text + (-(uintptr_t)text & (_Alignof(struct dirent64) - 1));
	bool added = false;
	struct stat s;
	ssize_t n;

	size -= (size_t)(first - text);
	if (fstat(above->dir, &s) || (above->links > 1 && s.st_nlink == above->links))
		return false;
	above->inode = s.st_ino;
	above->links = s.st_nlink;
	lseek(above->dir, 0, SEEK_SET);
	while ((n = getdents64(above->dir, first, size)) > 0)
		for (char *p = first; p < first + n;) {
			const struct dirent64 *d = (const struct dirent64 *)(void *)p;

			if (d->d_type == DT_DIR && d->d_name[0] != '.' && !find(x, d->d_ino))
				added |= add(x, above, d->d_name, d->d_ino);
			p += d->d_reclen;
		}
	return added;
}

static void take(struct cgroup_below *x, struct cgroup_below_group *g, char *text, size_t size)
{
	struct cgroup_below_group *above = find(x, g->parent);
	const char *at;

	g->fresh = false;
	if (file_reread(g->file, text, size) < 0) {
		number_add(&x->gone, g->kills);
		forget(g);
		if (above)
			above->links = 0;
		return;
	}
	at = number_find_line(text, "oom_kill ");
	if (at)
		number_i64(&at, &g->kills);
}

/* Those that have come, and those in them, too. */
static void look_for_new(struct cgroup_below *x, char *text, size_t size)
{
	bool added = true;

	while (added) {
		added = false;
		for (size_t i = 0; i < CGROUPS_BELOW; i++)
			if (x->group[i].dir)
				added |= list(x, &x->group[i], text, size);
	}
}

int64_t cgroup_below_kills(struct cgroup_below *x, bool look, char *text, size_t size)
{
	int64_t kills;

	for (size_t i = 1; i < CGROUPS_BELOW; i++)
		if (x->group[i].dir)
			take(x, &x->group[i], text, size);
	if (look)
		look_for_new(x, text, size);
	kills = x->gone;
	for (size_t i = 1; i < CGROUPS_BELOW; i++) {
		if (x->group[i].fresh)
			take(x, &x->group[i], text, size);
		number_add(&kills, x->group[i].kills);
	}
	return kills;
}
