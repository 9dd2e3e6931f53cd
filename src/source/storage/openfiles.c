/* SPDX-License-Identifier: Apache-2.0 */
/* openfiles.c - which mounts the job's open files are on: /proc/PID/fd says that it is a file,
 * /proc/PID/fdinfo on which mount. The file itself is never touched: its file system may hang. Two
 * files are read for each, so the processes are looked at in turn, so many of their files a second.
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/text/number.h"
#include "source/period.h"
#include "source/source.h"
#include "source/storage/mountinfo.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILES_A_SECOND = 8, ROUND_S = 60, PIDS = 1024, MOUNTS = 64 };

static const struct metric metrics[] = {
	{ "mount.job_open_files_count", .domain = "mount", .unit = UNIT_COUNT, .kind = KIND_GAUGE,
	  .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM, .label = "Open files",
	  .help = "Open file descriptors of the job's processes on a mount, without sockets, pipes "
		  "and the like. 8 of them are read per second, all at most once in 60 s; updated "
		  "once all processes were read, absent in between and while one cannot be read." },
};

struct mount_files {
	uint64_t id;         /* of mountinfo; 0: no mount that is seen from here */
	int64_t count, here; /* of the processes that had their turn; of the one that has it */
	uint32_t instance, slot;
};

struct openfiles {
	const struct source_env *env;
	struct period looks, rounds;
	uint32_t mounts_seen; /* checksum of mountinfo: an id may be another mount when it has
				 changed */
	pid_t pids[PIDS];
	size_t npids, turn; /* of the round */
	bool open, partial; /* partial: not every file was seen */
	bool cut;           /* mountinfo did not fit */
	int dir;            /* PID/fd of pids[turn], while it is listed */
	ssize_t listed, at; /* of entries */
	_Alignas(struct dirent64) char entries[2048];
	struct mount_files mount[MOUNTS];
	size_t nmounts;
	char mountinfo[64 * 1024];
};

static int openfiles_open(void *state, const struct source_env *env, struct sample *s,
			  struct err *e)
{
	struct openfiles *o = state;
	ssize_t n = root_read(&env->proc, "self/mountinfo", o->mountinfo, sizeof o->mountinfo);

	(void)s;
	if (n < 0 && n != -EFBIG)
		return err_set(e, (int)n, "%s/self/mountinfo: %s", env->proc.path,
			       strerror((int)-n));
	o->env = env;
	return 0;
}

static struct mount_files *mount_of(struct openfiles *o, uint64_t id)
{
	char point[MOUNT_PATH_SIZE], type[MOUNT_TYPE_SIZE];

	for (size_t i = 0; i < o->nmounts; i++)
		if (o->mount[i].id == id)
			return &o->mount[i];
	if (!mountinfo_find(o->mountinfo, id, point, sizeof point, type))
		id = 0;
	if (!id && o->cut)
		return NULL;
	for (size_t i = 0; i < o->nmounts; i++)
		if (o->mount[i].id == id)
			return &o->mount[i];
	if (o->nmounts == MOUNTS)
		return NULL;
	o->mount[o->nmounts] = (struct mount_files){ .id = id };
	return &o->mount[o->nmounts++];
}

/* What is closed by now is no harm. */
static void count_file(struct openfiles *o, const char *fd)
{
	char target[2], path[80], text[1024];
	struct mount_files *m;
	uint64_t id;
	ssize_t n = readlinkat(o->dir, fd, target, sizeof target);

	if (n <= 0 || target[0] != '/')
		return;
	snprintf(path, sizeof path, "%d/fdinfo/%.20s", (int)o->pids[o->turn], fd);
	n = root_read(&o->env->proc, path, text, sizeof text);
	if ((n < 0 && n != -EFBIG) || !mountinfo_id_of(text, &id))
		return;
	m = mount_of(o, id);
	if (m)
		m->here++;
	else
		o->partial = true;
}

/* False when this process has no more. */
static bool next_file(struct openfiles *o)
{
	const struct dirent64 *entry;

	if (o->at >= o->listed) {
		o->listed = getdents64(o->dir, o->entries, sizeof o->entries);
		o->at = 0;
		if (o->listed <= 0)
			return false;
	}
	entry = (const struct dirent64 *)(const void *)(o->entries + o->at);
	o->at += entry->d_reclen;
	if (entry->d_name[0] != '.')
		count_file(o, entry->d_name);
	return true;
}

static bool has_files(struct openfiles *o)
{
	const struct dirent64 *entry;
	ssize_t n = lseek(o->dir, 0, SEEK_SET);

	n = n < 0 ? n : getdents64(o->dir, o->entries, sizeof o->entries);
	for (ssize_t at = 0; at < n; at += entry->d_reclen) {
		entry = (const struct dirent64 *)(const void *)(o->entries + at);
		if (entry->d_name[0] != '.')
			return true;
	}
	return false;
}

/* A process that has none left has ended: what was seen of it before is not open any more. */
static void end_turn(struct openfiles *o)
{
	bool counts = has_files(o);

	for (size_t i = 0; i < o->nmounts; i++) {
		number_add(&o->mount[i].count, counts ? o->mount[i].here : 0);
		o->mount[i].here = 0;
	}
	file_close(&o->dir);
	o->turn++;
}

static void open_next(struct openfiles *o)
{
	char path[32];

	snprintf(path, sizeof path, "%d/fd", (int)o->pids[o->turn]);
	o->dir = root_file(&o->env->proc, path);
	o->listed = o->at = 0;
	o->partial |= o->dir == -EACCES || o->dir == -EPERM;
	if (o->dir < 0) {
		o->dir = 0;
		o->turn++;
	}
}

static void forget_mounts(struct openfiles *o, struct sample *s)
{
	for (size_t i = 0; i < o->nmounts; i++) {
		if (o->mount[i].slot)
			sample_series_end(s, o->mount[i].slot, 1);
		if (o->mount[i].instance)
			sample_end(s, o->mount[i].instance, s->mono_ns);
	}
	o->nmounts = 0;
}

static void read_mounts(struct openfiles *o, struct sample *s)
{
	uint32_t seen;

	o->cut = root_read(&o->env->proc, "self/mountinfo", o->mountinfo, sizeof o->mountinfo) ==
		 -EFBIG;
	seen = crc32c(0, o->mountinfo, strlen(o->mountinfo));
	if (seen != o->mounts_seen)
		forget_mounts(o, s);
	o->mounts_seen = seen;
}

static void begin_round(struct openfiles *o, struct sample *s)
{
	o->npids = o->env->job.tree ? o->env->job.pids(o->env->job.tree, o->pids, PIDS) : 0;
	o->turn = 0;
	o->partial = o->npids == PIDS;
	o->open = o->npids > 0;
	if (!o->open) {
		o->rounds = (struct period){ 0 }; /* as soon as there is one */
		return;
	}
	read_mounts(o, s);
	for (size_t i = 0; i < o->nmounts; i++)
		o->mount[i].count = 0;
}

static void make_instance(struct openfiles *o, struct mount_files *m, struct sample *s)
{
	char point[MOUNT_PATH_SIZE], type[MOUNT_TYPE_SIZE];
	bool known = m->id && mountinfo_find(o->mountinfo, m->id, point, sizeof point, type);

	m->instance =
		sample_instance(s, "mount", known ? point : "not mounted here", 0, s->mono_ns, 0);
	if (m->instance && known)
		sample_label(s, m->instance, "type", type);
	if (m->instance)
		m->slot = sample_series(s, metrics, 1, m->instance);
}

static void end_round(struct openfiles *o, struct sample *s)
{
	o->open = false;
	for (size_t i = 0; i < o->nmounts && !o->partial; i++) {
		if (!o->mount[i].instance && o->mount[i].count)
			make_instance(o, &o->mount[i], s);
		if (o->mount[i].slot)
			sample_put(s, o->mount[i].slot, o->mount[i].count);
	}
}

static int openfiles_read(void *state, struct sample *s)
{
	struct openfiles *o = state;

	if (!period_is_due(&o->looks, s, NS_PER_S))
		return 0;
	if (!o->open && period_is_due(&o->rounds, s, ROUND_S * NS_PER_S))
		begin_round(o, s);
	for (int files = 0; o->open && files < FILES_A_SECOND; files++)
		if (o->turn == o->npids)
			end_round(o, s);
		else if (!o->dir)
			open_next(o);
		else if (!next_file(o))
			end_turn(o);
	return 0;
}

static void openfiles_close(void *state)
{
	struct openfiles *o = state;

	file_close(&o->dir);
}

const struct source source_openfiles = {
	.name = "openfiles",
	.what = "the mounts that the job's open files are on",
	SOURCE_METRICS(metrics),
	.size = sizeof(struct openfiles),
	.can_wait = source_can_wait,
	.open = openfiles_open,
	.read = openfiles_read,
	.close = openfiles_close,
};
