/* SPDX-License-Identifier: Apache-2.0 */
/* filesystem.c - the file systems of /, of the recording, and of the job's working and temporary
 * directories, of one more that it has files open on for writing, and of a local one that filled up
 * meanwhile: statfs(2), asked by a helper process each where a server may keep it waiting. None is
 * started while the job waits, or when samples are all alike: the one for files is with the second
 * sample, and waits for its path.
 */
#include "base/clock.h"
#include "base/text/number.h"
#include "source/kept.h"
#include "source/period.h"
#include "source/procfile.h"
#include "source/source.h"
#include "source/storage/localmounts.h"
#include "source/storage/mountinfo.h"
#include "source/storage/statfs_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A value is at most 16 samples, and PERIOD + PATIENCE, old. */
static const int64_t PERIOD_NS = 10 * NS_PER_S, PERIOD_LEAST_NS = NS_PER_S,
		     PATIENCE_NS = 5 * NS_PER_S;
/* At the end the last question is waited for: how full was it when the job ended? */
static const int64_t LAST_PATIENCE_NS = 50 * NS_PER_MS, LAST_PAUSE_NS = NS_PER_MS / 50,
		     LAST_PAUSE_MOST_NS = NS_PER_MS / 5;
#define TOO_LATE "it did not answer in 5 s"

enum {
	SIZE,
	AVAILABLE,
	USED,
	INODES,
	INODES_USED,
	MEASURED,
	USED_RATIO = MEASURED,
	INODES_USED_RATIO,
	METRICS_NUMBER_OF
};

/* Nodes often share a file system, so what they say of it is not added up. */
#define FILESYSTEM .domain = "filesystem", .kind = KIND_GAUGE, .over_nodes = COMBINE_MAX
#define BYTES      FILESYSTEM, .unit = UNIT_BYTES
#define COUNT      FILESYSTEM, .unit = UNIT_COUNT
#define RATIO      FILESYSTEM, .unit = UNIT_RATIO, .over_instances = COMBINE_MAX

static const struct metric metrics[] = {
	[SIZE] = { "filesystem.size_bytes", BYTES, .label = "Size",
		   .help = "Size of the file system." },
	[AVAILABLE] = { "filesystem.available_bytes", BYTES, .label = "Available",
			.help = "Space that users may still fill." },
	[USED] = { "filesystem.used_bytes", BYTES, .label = "Used", .help = "Space in use." },
	[INODES] = { "filesystem.inodes_count", COUNT, .label = "Inodes",
		     .help = "Files the file system can hold." },
	[INODES_USED] = { "filesystem.inodes_used_count", COUNT, .label = "Inodes used",
			  .help = "Files and directories in the file system." },
	[USED_RATIO] = { "filesystem.used_ratio", RATIO,
			 .formula = "filesystem.used_bytes / (filesystem.used_bytes + "
				    "filesystem.available_bytes)",
			 .label = "Used",
			 .help = "Space in use as a share of what users may fill, as df shows "
				 "it." },
	[INODES_USED_RATIO] = { "filesystem.inodes_used_ratio", RATIO,
				.formula = "filesystem.inodes_used_count / filesystem.inodes_count",
				.label = "Inodes used",
				.help = "Inodes in use as a share of all." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == METRICS_NUMBER_OF, "a row for every index");

enum { FILES_A_SECOND = 8, PIDS = 256 };
/* After a round of all processes in vain: such a part of the time so far, at most. */
enum { REST_PART = 8, REST_MOST_S = 30 };
enum { LOCAL_S = 5 }; /* from one question to all local file systems to the next */
enum { ROOT, OUTPUT, WORK, TEMPORARY, WRITTEN, FILLED, NPLACES };
/* Labels of the instance, with the path. */
static const char *const roles[NPLACES] = { "root",      "output",  "work",
					    "temporary", "written", "filled" };

/* One file system, as seen from a path on it. */
struct place {
	char path[PATH_MAX]; /* "": no such place */
	uint64_t mount;      /* of path, as text; 0: not listed */
	int home;            /* the place that speaks for this one: it is on the same mount */
	bool runs, last;     /* its helper does; it was asked for the last time */
	struct statfs_helper helper;
	int64_t asked_ns;
	uint32_t instance, slot;
	bool told, refused;
	bool elsewhere; /* in a mount namespace of the job's own, asked through a process */
	int64_t value[MEASURED]; /* the last answer; -1 = not told */
};

struct filesystem {
	struct place place[NPLACES];
	struct kept mountinfo; /* until every place was told of */
	bool wants_written;    /* there is a job, and a helper for WRITTEN, or there may be */
	int64_t began_ns;      /* the first sample; 0: none yet */
	int64_t period_ns;
	/* The job's open files, looked at in turn until WRITTEN is found. */
	const struct source_env *env;
	struct period looks, full_looks;
	struct localmounts local;
	struct fdlist files;
	pid_t pids[PIDS];
	size_t npids, turn;     /* pids[turn] is the next one */
	int64_t rest_ns;        /* until then none is looked at */
	char mounts[16 * 1024]; /* of a process in another mount namespace */
};

static int64_t product(uint64_t a, uint64_t b)
{
	int64_t v;

	return __builtin_mul_overflow(a, b, &v) ? -1 : v;
}

static void take_answer(struct place *p)
{
	const struct statfs_answer *a = p->helper.answer;

	p->value[SIZE] = product(a->blocks, a->block_bytes);
	p->value[AVAILABLE] = product(a->available, a->block_bytes);
	p->value[USED] = a->blocks < a->free ? -1 : product(a->blocks - a->free, a->block_bytes);
	/* Some (btrfs) have no fixed number of inodes and say 0. */
	p->value[INODES] = a->inodes ? product(a->inodes, 1) : -1;
	p->value[INODES_USED] = a->inodes && a->inodes >= a->inodes_free
					? product(a->inodes - a->inodes_free, 1)
					: -1;
}

static void refuse(struct place *p, struct sample *s, enum state state, const char *reason)
{
	for (uint32_t i = 0; p->slot && i < MEASURED; i++)
		if (p->value[i] >= 0)
			sample_refuse(s, p->slot + i, state, reason);
	p->refused = state != STATE_PRESENT;
}

static void tell_start(const struct filesystem *f, const struct place *p, struct sample *s)
{
	const struct localmount *m = localmounts_find(&f->local, p->helper.answer->device);
	char number[24];

	if (!m)
		return;
	snprintf(number, sizeof number, "%lld", (long long)m->available_bytes);
	sample_label(s, p->instance, "available_at_start_bytes", number);
	snprintf(number, sizeof number, "%lld", (long long)m->inodes_free);
	if (m->inodes_free >= 0)
		sample_label(s, p->instance, "inodes_free_at_start", number);
}

static void tell(struct filesystem *f, struct place *p, struct sample *s)
{
	char point[PATH_MAX], type[MOUNT_TYPE_SIZE] = "";

	p->told = true;
	if (!f->mountinfo.text || !mountinfo_find(f->mountinfo.text, p->helper.answer->mount_id,
						  point, sizeof point, type))
		snprintf(point, sizeof point, "%s", p->path);
	p->instance = sample_instance(s, metrics->domain, point, 0, clock_mono_ns(), 0);
	if (!p->instance)
		return;
	p->slot = sample_series(s, metrics, MEASURED, p->instance);
	for (int i = 0; i < NPLACES; i++)
		if (*f->place[i].path && &f->place[f->place[i].home] == p)
			sample_label(s, p->instance, roles[i], f->place[i].path);
	tell_start(f, p, s);
	if (p->helper.answer->read_only)
		sample_label(s, p->instance, "read_only", "1");
	if (*type)
		sample_label(s, p->instance, "type", type);
	for (uint32_t i = 0; p->slot && i < MEASURED; i++)
		if (p->value[i] < 0)
			sample_refuse(s, p->slot + i, STATE_UNSUPPORTED,
				      "this file system does not report it");
}

static void drop(struct place *p)
{
	statfs_helper_stop(&p->helper);
	p->runs = false;
}

static void ask(struct place *p, struct sample *s)
{
	p->asked_ns = clock_mono_ns();
	if (statfs_helper_ask(&p->helper) == 0)
		return;
	refuse(p, s, STATE_FAILED, "its helper process was killed");
	drop(p);
}

/* The helper is silent or gave an error: the values stop, with the reason. */
static void no_answer(struct filesystem *f, struct place *p, struct sample *s, enum state state,
		      const char *reason)
{
	if (!p->told)
		tell(f, p, s);
	if (!p->refused)
		refuse(p, s, state, reason);
}

static void answered(struct filesystem *f, struct place *p, struct sample *s)
{
	int error = p->helper.answer->error;

	if (error) {
		no_answer(f, p, s, state_of(error), strerror(-error));
		return;
	}
	take_answer(p);
	if (!p->told)
		tell(f, p, s);
	if (p->refused)
		refuse(p, s, STATE_PRESENT, NULL);
}

static void read_place(struct filesystem *f, struct place *p, struct sample *s)
{
	int64_t waited_ns = clock_mono_ns() - p->asked_ns;
	bool steady = statfs_helper_answered(&p->helper);

	if (steady)
		answered(f, p, s);
	else if (waited_ns > PATIENCE_NS)
		no_answer(f, p, s, STATE_FAILED, TOO_LATE);
	for (uint32_t i = 0; p->slot && !p->refused && i < MEASURED; i++)
		if (p->value[i] >= 0)
			sample_put(s, p->slot + i, p->value[i]);
	if (steady && !s->last && waited_ns >= (p->elsewhere ? PERIOD_LEAST_NS : f->period_ns))
		ask(p, s);
}

/* Whoever hangs already is not waited for. */
static void ask_last(struct filesystem *f, struct sample *s)
{
	struct timespec pause = { .tv_nsec = LAST_PAUSE_NS };
	int64_t end_ns = clock_mono_ns() + LAST_PATIENCE_NS;
	bool waits = true;

	for (struct place *p = f->place; p < f->place + NPLACES; p++) {
		p->last = p->runs && statfs_helper_answered(&p->helper);
		if (p->last)
			ask(p, s);
	}
	while (waits && clock_mono_ns() < end_ns) {
		waits = false;
		for (const struct place *p = f->place; p < f->place + NPLACES; p++)
			waits |= p->last && p->runs && !statfs_helper_answered(&p->helper);
		if (waits)
			nanosleep(&pause, NULL);
		if (pause.tv_nsec < LAST_PAUSE_MOST_NS)
			pause.tv_nsec *= 2;
	}
}

static bool is_device(const char *target)
{
	return !strncmp(target, "/dev/", 5) && strncmp(target, "/dev/shm/", 9) != 0;
}

/* Where the mount is in the namespace of the process. Asked through that process, it can be asked
 * only while it lives; nothing of it is held open, so that the job can unmount it. */
static bool find_elsewhere(struct filesystem *f, struct place *p, pid_t pid, uint64_t id)
{
	const struct root *proc = &f->env->proc;
	char name[48], type[MOUNT_TYPE_SIZE], path[PATH_MAX];
	ssize_t n;

	snprintf(name, sizeof name, "%d/mountinfo", (int)pid);
	n = root_read(proc, name, f->mounts, sizeof f->mounts);
	if ((n <= 0 && n != -EFBIG) ||
	    !mountinfo_find(f->mounts, id, p->path, sizeof p->path, type))
		return false;
	if (snprintf(path, sizeof path, "%s/%d/root%s", proc->path, (int)pid, p->path) >=
	    (int)sizeof path) {
		p->path[0] = '\0';
		return false;
	}
	p->elsewhere = true;
	statfs_helper_path(&p->helper, path);
	return true;
}

static bool find_here(struct filesystem *f, struct place *p, uint64_t id)
{
	char type[MOUNT_TYPE_SIZE];

	if (!mountinfo_find(f->mountinfo.text, id, p->path, sizeof p->path, type))
		return false;
	statfs_helper_path(&p->helper, p->path);
	return true;
}

/* A file that is open for writing, on a mount that no place speaks for yet? */
static void look_at(struct filesystem *f, struct sample *s, pid_t pid, int fd)
{
	struct place *p = &f->place[WRITTEN];
	char name[48], text[1024];
	const char *flags;
	uint64_t id;
	ssize_t n;

	snprintf(name, sizeof name, "%d/fdinfo/%d", (int)pid, fd);
	n = root_read(&f->env->proc, name, text, sizeof text);
	flags = n > 0 || n == -EFBIG ? number_find_line(text, "flags:") : NULL;
	if (!flags || (strtoul(flags, NULL, 8) & O_ACCMODE) == O_RDONLY ||
	    !mountinfo_id_of(text, &id))
		return;
	for (int i = 0; i < WRITTEN; i++)
		if (*f->place[i].path && f->place[i].mount == id)
			return;
	if (!find_here(f, p, id) && !find_elsewhere(f, p, pid, id))
		return;
	p->mount = id;
	p->home = WRITTEN;
	p->runs = true;
	ask(p, s);
}

static bool is_looking(const struct filesystem *f)
{
	return f->wants_written && !*f->place[WRITTEN].path && f->mountinfo.text;
}

/* Without it, there is no such place. */
static bool has_helper(struct filesystem *f)
{
	struct statfs_helper *h = &f->place[WRITTEN].helper;

	if (f->wants_written && !h->answer)
		f->wants_written = statfs_helper_start(h, "") == 0;
	return f->wants_written;
}

/* Another round of those that are there now; false: not yet. */
static bool begin_round(struct filesystem *f, const struct sample *s)
{
	int64_t rest_ns = (s->mono_ns - f->began_ns) / REST_PART;

	if (f->npids) {
		f->turn = f->npids = 0;
		f->rest_ns = s->mono_ns +
			     (rest_ns < REST_MOST_S * NS_PER_S ? rest_ns : REST_MOST_S * NS_PER_S);
	}
	if (s->mono_ns < f->rest_ns && !s->last)
		return false;
	f->npids = f->env->job.pids(f->env->job.tree, f->pids, PIDS);
	if (f->npids > PIDS)
		f->npids = PIDS;
	return f->npids > 0;
}

static void look_for_files(struct filesystem *f, struct sample *s)
{
	char target[FDLIST_TARGET];
	int fd;

	for (int n = 0; n < FILES_A_SECOND && is_looking(f); n++) {
		if (f->files.dir) {
			if (fdlist_next(&f->files, &fd, target) && *target == '/' &&
			    !is_device(target))
				look_at(f, s, f->pids[f->turn - 1], fd);
			continue;
		}
		if (f->turn == f->npids && !begin_round(f, s))
			return;
		fdlist_open(&f->files, &f->env->proc, f->pids[f->turn++]);
	}
}

/* A job that filled a disk within a moment had no file open there when its files were looked at: at
 * its end what is mounted below its working directory is asked. */
static void look_below(struct filesystem *f)
{
	struct place *p = &f->place[WRITTEN];
	const char *work = f->place[WORK].path, *at = f->mountinfo.text;
	size_t n = strlen(work);
	struct mount m;

	while (n > 1 && mountinfo_next(&at, &m)) {
		if (strncmp(m.point, work, n) != 0 || m.point[n] != '/' ||
		    !localmounts_is_local(m.type))
			continue;
		if (!has_helper(f))
			return;
		snprintf(p->path, sizeof p->path, "%s", m.point);
		p->mount = mountinfo_of_path(f->mountinfo.text, m.point);
		p->home = WRITTEN;
		p->runs = true;
		statfs_helper_path(&p->helper, p->path);
		return;
	}
}

static bool is_asked(const struct filesystem *f, uint64_t device)
{
	for (const struct place *p = f->place; p < f->place + NPLACES; p++)
		if (p->runs && statfs_helper_answered(&p->helper) &&
		    p->helper.answer->device == device)
			return true;
	return false;
}

/* Wherever a job wrote, however shortly it had its files open: the first that filled up while it
 * ran. */
static void look_for_full(struct filesystem *f, struct sample *s)
{
	struct place *p = &f->place[FILLED];
	const struct localmount *m = localmounts_filled(&f->local);

	while (m && is_asked(f, m->device))
		m = localmounts_filled(&f->local);
	if (!m)
		return;
	snprintf(p->path, sizeof p->path, "%s", m->point);
	p->home = FILLED;
	p->runs = statfs_helper_here(&p->helper, p->path) == 0;
	if (p->runs)
		ask(p, s);
}

static int filesystem_read(void *state, struct sample *s)
{
	struct filesystem *f = state;
	bool told = true;

	if (f->began_ns && (!s->last || f->place[WRITTEN].helper.answer) && f->env->job.tree &&
	    period_is_due(&f->looks, s, NS_PER_S) && has_helper(f))
		look_for_files(f, s);
	f->began_ns = f->began_ns ? f->began_ns : s->mono_ns;
	if (s->last && is_looking(f))
		look_below(f);
	if (!*f->place[FILLED].path &&
	    (period_is_due(&f->full_looks, s, LOCAL_S * NS_PER_S) || s->last))
		look_for_full(f, s);
	if (s->last)
		ask_last(f, s);
	for (int i = 0; i < NPLACES; i++) {
		struct place *p = &f->place[i];

		if (p->runs)
			read_place(f, p, s);
		told &= p->told || !p->runs;
	}
	if (told && !is_looking(f))
		kept_close(&f->mountinfo);
	return 0;
}

static int start(const struct filesystem *f, struct place *p, struct sample *s)
{
	char point[PATH_MAX], type[MOUNT_TYPE_SIZE];
	bool here = p->mount &&
		    mountinfo_find(f->mountinfo.text, p->mount, point, sizeof point, type) &&
		    localmounts_is_local(type);
	int r = here ? statfs_helper_here(&p->helper, p->path)
		     : statfs_helper_start(&p->helper, p->path);

	if (r < 0)
		return r;
	p->runs = true;
	ask(p, s);
	return 0;
}

/* Without a question to a server. The recording's directory was just opened: it is not dead. */
static bool same_device(const char *a, const char *b)
{
	const int flags = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
	struct statx x, y;

	return !statx(AT_FDCWD, a, flags, 0, &x) && !statx(AT_FDCWD, b, flags, 0, &y) &&
	       x.stx_dev_major == y.stx_dev_major && x.stx_dev_minor == y.stx_dev_minor;
}

/* As text: neither directory is touched, for its file system may hang. */
static void find_mount(struct filesystem *f, struct place *p)
{
	char path[2 * PATH_MAX];
	bool relative = p->path[0] != '/';

	snprintf(path, sizeof path, "%s%s%s", relative ? f->place[WORK].path : "",
		 relative ? "/" : "", p->path);
	p->mount = f->mountinfo.text ? mountinfo_of_path(f->mountinfo.text, path) : 0;
}

static int home_of(const struct filesystem *f, int i)
{
	const struct place *p = &f->place[i];

	if (i == OUTPUT)
		return same_device("/", p->path) ? ROOT : OUTPUT;
	for (int k = 0; k < i; k++)
		if (*f->place[k].path && f->place[k].mount == p->mount)
			return f->place[k].home;
	return i;
}

/* Of the launcher, or of the first process of the job. */
static void find_job(struct filesystem *f, const struct source_env *env)
{
	const char *temporary = env->launched ? getenv("TMPDIR") : NULL;
	char link[64];
	ssize_t n;

	if (!env->nroots)
		return;
	snprintf(link, sizeof link, "%d/cwd", (int)env->roots[0]);
	n = readlinkat(env->proc.fd, link, f->place[WORK].path, PATH_MAX - 1);
	f->place[WORK].path[n > 0 && *f->place[WORK].path == '/' ? n : 0] = '\0';
	if (!temporary || *temporary != '/')
		temporary = "/tmp";
	snprintf(f->place[TEMPORARY].path, PATH_MAX, "%s", temporary);
}

static void filesystem_close(void *state)
{
	struct filesystem *f = state;

	for (int i = 0; i < NPLACES; i++)
		drop(&f->place[i]);
	fdlist_close(&f->files);
	kept_close(&f->mountinfo);
}

/* The first answers are in a later sample than the first when they take that long. */
static int filesystem_open(void *state, const struct source_env *env, struct sample *s,
			   struct err *e)
{
	struct filesystem *f = state;
	const char *path = env->output_path;
	int r = 0;

	f->env = env;
	f->period_ns = env->interval_ns * 16 < PERIOD_NS ? env->interval_ns * 16 : PERIOD_NS;
	if (f->period_ns < PERIOD_LEAST_NS)
		f->period_ns = PERIOD_LEAST_NS;
	kept_open(&f->mountinfo, &env->proc, "self/mountinfo", 0, NULL);
	snprintf(f->place[ROOT].path, PATH_MAX, "/");
	if (path && snprintf(f->place[OUTPUT].path, PATH_MAX, "%s", path) >= PATH_MAX)
		r = -ENAMETOOLONG;
	find_job(f, env);
	for (int i = 0; i < WRITTEN && !r; i++) {
		struct place *p = &f->place[i];

		if (!*p->path)
			continue;
		find_mount(f, p);
		p->home = home_of(f, i);
		if (p->home == i)
			r = start(f, p, s);
	}
	f->wants_written = env->nroots != 0;
	if (f->wants_written && f->mountinfo.text)
		localmounts_begin(&f->local, f->mountinfo.text);
	if (r < 0) {
		filesystem_close(f);
		return err_set(e, r, "no helper process for statfs could be started: %s",
			       strerror(-r));
	}
	sample_catalogue(s, &metrics[MEASURED], METRICS_NUMBER_OF - MEASURED);
	return 0;
}

const struct source source_filesystem = {
	.name = "filesystem",
	.what = "the file systems of the job's directories, of the recording and of /",
	.fix_user = "raise the limit of processes (ulimit -u)",
	SOURCE_METRICS(metrics),
	.size = sizeof(struct filesystem),
	.can_wait = source_can_wait,
	.open = filesystem_open,
	.read = filesystem_read,
	.close = filesystem_close,
};
