/* SPDX-License-Identifier: Apache-2.0 */
#include "source/cgroup/cgroup_group.h"

#include "base/clock.h"
#include "base/root.h"
#include "base/text/number.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Kills in the groups below ---- */

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
	for (size_t i = 0; i <= x->last; i++)
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
		if (g->dir > 0 && g->file > 0) {
			x->last = i > x->last ? i : x->last;
			return true;
		}
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
		for (size_t i = 0; i <= x->last; i++)
			if (x->group[i].dir)
				added |= list(x, &x->group[i], text, size);
	}
}

int64_t cgroup_below_kills(struct cgroup_below *x, bool look, char *text, size_t size)
{
	int64_t kills;

	for (size_t i = 1; i <= x->last; i++)
		if (x->group[i].dir)
			take(x, &x->group[i], text, size);
	if (look)
		look_for_new(x, text, size);
	kills = x->gone;
	for (size_t i = 1; i <= x->last; i++) {
		if (x->group[i].fresh)
			take(x, &x->group[i], text, size);
		number_add(&kills, x->group[i].kills);
	}
	while (x->last && !x->group[x->last].dir)
		x->last--;
	return kills;
}

/* ---- Group ---- */

#define NO_LIMIT INT64_MIN
enum { PATH_ROOM = 2 * CGROUP_PATH_SIZE + 64 };

static const int64_t rarely_ns = NS_PER_S, very_rarely_ns = 10 * NS_PER_S;

static uint64_t bit(enum cgroup_metric m)
{
	return UINT64_C(1) << m;
}

static void put(struct cgroup_group *g, struct sample *s, enum cgroup_metric m, int64_t value)
{
	g->has |= bit(m);
	if (m == CGROUP_OOM_KILLS)
		number_add(&value, g->kills_below);
	if (m == CGROUP_MEMORY_PEAK)
		g->peak_bytes = value;
	if (m == CGROUP_OOM_KILLS)
		g->oom_kills = value;
	if (g->slot)
		sample_put(s, g->slot + m, value);
	else
		g->first[m] = value;
}

void cgroup_group_put_first(const struct cgroup_group *g, struct sample *s)
{
	for (uint32_t m = 0; g->slot && m < CGROUP_SERIES; m++)
		if (g->has & bit(m))
			sample_put(s, g->slot + m, g->first[m]);
}

static bool value_of(const struct cgroup_field *f, const char *p, int64_t *out)
{
	const char *at = p;

	if (f->after) {
		at = memmem(p, strcspn(p, "\n"), f->after, strlen(f->after));
		at = at ? at + strlen(f->after) : "";
	}
	return number_i64(&at, out) && *out >= 0 && !__builtin_mul_overflow(*out, f->scale, out);
}

static int scan_fields(struct cgroup_group *g, struct sample *s, const struct cgroup_file *file,
		       const char *text)
{
	const char *next = text;
	int found = 0;

	for (const struct cgroup_field *f = file->field; f->line; f++) {
		const char *p;
		int64_t v;

		if (g->slot && !(g->has & bit(f->metric)))
			continue;
		p = number_find_line(next, f->line);
		if (!p)
			p = number_find_line(text, f->line);
		if (!p || !value_of(f, p, &v)) {
			g->bad |= p || !*text ? bit(f->metric) : 0;
			continue;
		}
		put(g, s, f->metric, v);
		next = number_next_line(p);
		found++;
	}
	return found ? 0 : -EBADMSG;
}

const char cgroup_disks_unknown[] =
	"the kernel does not say of all its devices whether they are disks or stand on disks";

static void put_total(struct cgroup_group *g, struct sample *s, enum cgroup_metric m, int64_t value)
{
	bool known = cgroup_disks_are_known(&g->disks), was = !(g->bad & bit(m));

	if (g->slot && known != was)
		sample_refuse(s, g->slot + m, known ? STATE_PRESENT : STATE_FAILED,
			      known ? NULL : cgroup_disks_unknown);
	g->bad = known ? g->bad & ~bit(m) : g->bad | bit(m);
	if (known)
		put(g, s, m, value);
}

static int scan_disks(struct cgroup_group *g, struct sample *s, enum cgroup_shape shape,
		      const char *text, bool whole)
{
	int64_t total[CGROUP_DISK_SERIES] = { 0 };
	uint32_t first = shape == DISKS_V1_COUNTS ? 2 : 0, n = shape == DISKS_V2 ? 4 : 2;

	if (shape == DISKS_V2)
		cgroup_disks_v2(&g->disks, text, whole, s, total);
	else
		cgroup_disks_v1(&g->disks, text, s, first, total);
	for (uint32_t i = first; i < first + n; i++)
		put_total(g, s, CGROUP_READ + i, total[i]);
	return 0;
}

static int read_file(struct cgroup_group *g, size_t i, struct sample *s, char *text)
{
	const struct cgroup_file *file = &cgroup_files[i];
	ssize_t n;
	char *end;

	if (file->reach == ADDED)
		g->kills_below = cgroup_below_kills(
			&g->below, period_is_due(&g->below_period, s, rarely_ns), text, GROUP_TEXT);
	n = file_reread(g->file[i].fd, text, GROUP_TEXT);
	if (n < 0)
		return (int)n;
	end = n ? memrchr(text, '\n', (size_t)n) : NULL;
	end = end ? end + 1 : text;
	*end = '\0'; /* half a number is not a number */
	if (file->shape != FIELDS)
		return scan_disks(g, s, file->shape, text, end == text + n);
	return scan_fields(g, s, file, text);
}

static int read_files(struct cgroup_group *g, struct sample *s, char *text)
{
	int64_t period = g->above ? very_rarely_ns : rarely_ns;
	int result = 0;

	for (size_t i = 0; i < CGROUP_FILES; i++) {
		int r;

		if (!g->file[i].fd || (cgroup_files[i].pace == RARELY &&
				       !period_is_due(&g->file[i].period, s, period)))
			continue;
		r = read_file(g, i, s, text);
		if (r < 0)
			result = r;
	}
	return result;
}

/* What one group's own file says; -1: no limit. */
static const int64_t absurd = INT64_C(1) << 62; /* version 1's "none" is just below 2^63 */

static int read_file_at(const struct cgroup_place *p, size_t end, const char *file, char text[64])
{
	char path[PATH_ROOM];
	ssize_t n = -ENAMETOOLONG;

	if (cgroup_place_file(p, end, file, path, sizeof path))
		n = root_read(p->root, path, text, 64);
	return n < 0 ? (int)n : n ? 0 : -EBADMSG;
}

/* What it is in each second, in millionths; at: behind the limit v. */
static int64_t part_of_period(const struct cgroup_place *p, const struct cgroup_limit *l,
			      size_t end, int64_t v, const char *at)
{
	char text[64];
	int64_t period;
	int r = 0;

	if (p->version == 1) {
		r = read_file_at(p, end, l->period, text);
		at = text;
	}
	if (r < 0)
		return r;
	if (!number_i64(&at, &period) || period <= 0 || v > absurd / 1000000)
		return -EBADMSG;
	return v * 1000000 / period;
}

/* The limit; NO_LIMIT; -errno. */
static int64_t limit_at(const struct cgroup_place *p, const struct cgroup_limit *l, size_t end)
{
	char text[64];
	const char *at = text;
	int64_t v;
	int r = read_file_at(p, end, l->file[p->version], text);

	if (r == -ENOENT) /* the controller is off here, or it is the root, which has none */
		return NO_LIMIT;
	if (r < 0)
		return r;
	if (!number_i64(&at, &v))
		return strncmp(text, "max", 3) == 0 ? NO_LIMIT : -EBADMSG;
	if (v < 0 || v >= absurd)
		return NO_LIMIT;
	return l->period ? part_of_period(p, l, end, v, at) : v;
}

/* Version 1, Linux before 5.11: groups below this one may be free of its memory limit. */
static bool holds_below(const struct cgroup_place *p, enum cgroup_concern c, size_t end)
{
	char path[PATH_ROOM], text[16];

	return p->version != 1 || c != CONCERN_MEMORY ||
	       !cgroup_place_file(p, end, "memory.use_hierarchy", path, sizeof path) ||
	       root_read(p->root, path, text, sizeof text) <= 0 || *text != '0';
}

/* The least on the way up. */
static void find_limit(struct cgroup_group *g, size_t i)
{
	const struct cgroup_limit *l = &cgroup_limits[i];
	const struct cgroup_place *p = &g->places->of[l->concern];
	size_t end = g->end[l->concern];

	g->limit[i] = -1;
	g->limit_error[i] = 0;
	if (!end || p->error || !l->file[p->version])
		return;
	do {
		int64_t v = limit_at(p, l, end);

		if (v < 0 && v != NO_LIMIT && !g->limit_error[i])
			g->limit_error[i] = (int)v;
		if (v < 0 || (g->limit[i] >= 0 && v >= g->limit[i]))
			continue;
		g->limit[i] = v;
		g->limit_end[i] = end;
	} while (cgroup_place_up(p, &end) && holds_below(p, l->concern, end));
}

static void put_limits(struct cgroup_group *g, struct sample *s)
{
	for (size_t i = 0; i < CGROUP_LIMITS; i++) {
		enum cgroup_metric m = cgroup_limits[i].metric;

		if (g->limit[i] >= 0 && !(g->has & bit(m)))
			sample_refuse(s, g->slot ? g->slot + m : 0, STATE_PRESENT, NULL);
		if (g->limit[i] >= 0)
			put(g, s, m, g->limit[i]);
	}
}

int cgroup_group_read(struct cgroup_group *g, struct sample *s, char *text)
{
	if (period_is_due(&g->limits_period, s, very_rarely_ns))
		for (size_t i = 0; i < CGROUP_LIMITS; i++)
			find_limit(g, i);
	put_limits(g, s);
	return read_files(g, s, text);
}

/* The older file of the same shape is for kernels without the newer. */
static bool has_shape(const struct cgroup_group *g, enum cgroup_shape shape)
{
	for (size_t i = 0; shape != FIELDS && i < CGROUP_FILES; i++)
		if (g->file[i].fd && cgroup_files[i].shape == shape)
			return true;
	return false;
}

static int open_file(struct cgroup_group *g, const struct cgroup_file *file)
{
	const struct cgroup_place *p = &g->places->of[file->concern];
	char path[PATH_ROOM];

	if (p->error)
		return p->error;
	if (p->version != file->version || !g->end[file->concern] ||
	    (file->reach == OWN_ONLY && g->above))
		return -EOPNOTSUPP;
	if (!cgroup_place_file(p, g->end[file->concern], file->name, path, sizeof path))
		return -ENAMETOOLONG;
	return root_file(p->root, path);
}

static void open_below(struct cgroup_group *g, enum cgroup_concern c)
{
	const struct cgroup_place *p = &g->places->of[c];
	char path[PATH_ROOM];
	int dir = cgroup_place_file(p, g->end[c], "", path, sizeof path) ? root_file(p->root, path)
									 : -1;

	if (dir > 0)
		cgroup_below_open(&g->below, dir);
}

int cgroup_group_open(struct cgroup_group *g, const struct source_env *env, struct err *e)
{
	int opened = 0, error = cgroup_disks_init(&g->disks, &env->proc, &env->sys);

	if (error)
		return err_set(e, error, "there is no memory for a table of disks");
	g->disks.tell = !g->above;
	g->peak_bytes = g->oom_kills = -1;
	for (size_t i = 0; i < CGROUP_FILES; i++) {
		int r = has_shape(g, cgroup_files[i].shape) ? -EOPNOTSUPP
							    : open_file(g, &cgroup_files[i]);

		g->file[i].error = r < 0 ? r : 0;
		g->file[i].fd = r < 0 ? 0 : r;
		if (r > 0 && cgroup_files[i].reach == ADDED)
			open_below(g, cgroup_files[i].concern);
		opened += r > 0;
		if (r == -EACCES || r == -EPERM || !error)
			error = r;
	}
	if (opened)
		return 0;
	cgroup_group_close(g);
	return err_set(e, error, "no file of the control group %s can be read: %s",
		       cgroup_group_place(g)->path, strerror(-error));
}

void cgroup_group_close(struct cgroup_group *g)
{
	for (size_t i = 0; i < CGROUP_FILES; i++)
		file_close(&g->file[i].fd);
	cgroup_below_close(&g->below);
	cgroup_disks_free(&g->disks);
}

const struct cgroup_place *cgroup_group_place(const struct cgroup_group *g)
{
	const struct cgroup_places *x = g->places;

	if (!x->of[CONCERN_MEMORY].error && g->end[CONCERN_MEMORY])
		return &x->of[CONCERN_MEMORY];
	for (int c = 0; c < CONCERNS; c++)
		if (!x->of[c].error && g->end[c])
			return &x->of[c];
	return &x->of[CONCERN_MEMORY];
}

const char *cgroup_group_path(const struct cgroup_place *p, size_t end, char out[CGROUP_PATH_SIZE])
{
	while (end > 1 && p->path[end - 1] == '/')
		end--;
	snprintf(out, CGROUP_PATH_SIZE, "%.*s", (int)end, p->path);
	return out;
}
