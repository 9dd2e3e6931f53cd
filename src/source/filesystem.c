/* SPDX-License-Identifier: Apache-2.0 */
/* filesystem.c - the file systems of the recording and of /: statfs(2), asked by a helper process.
 */
#include "base/clock.h"
#include "source/kept.h"
#include "source/mountinfo.h"
#include "source/source.h"
#include "source/statfs_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A value is at most 16 samples, and PERIOD + PATIENCE, old. */
static const int64_t PERIOD_NS = 10 * NS_PER_S, PERIOD_LEAST_NS = NS_PER_S,
		     PATIENCE_NS = 5 * NS_PER_S;
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

/* One file system, as seen from a path on it. */
struct place {
	const char *role; /* label of the instance; NULL: no such place */
	char path[PATH_MAX];
	struct statfs_helper helper;
	int64_t asked_ns;
	uint32_t instance, slot;
	bool told, refused;
	int64_t value[MEASURED]; /* the last answer; -1 = not told */
};

enum { ROOT, OUTPUT, NPLACES };
struct filesystem {
	struct place place[NPLACES];
	bool shared;           /* the recording is on the file system of /, which speaks for both */
	struct kept mountinfo; /* until every place was told of */
	int64_t period_ns;
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
	sample_label(s, p->instance, p->role, p->path);
	if (f->shared)
		sample_label(s, p->instance, "output", f->place[OUTPUT].path);
	if (*type)
		sample_label(s, p->instance, "type", type);
	for (uint32_t i = 0; p->slot && i < MEASURED; i++)
		if (p->value[i] < 0)
			sample_refuse(s, p->slot + i, STATE_UNSUPPORTED,
				      "this file system does not tell it");
}

static void drop(struct place *p)
{
	statfs_helper_stop(&p->helper);
	p->role = NULL;
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
	if (steady && waited_ns >= f->period_ns)
		ask(p, s);
}

static int filesystem_read(void *state, struct sample *s)
{
	struct filesystem *f = state;
	bool told = true;

	for (int i = 0; i < NPLACES; i++) {
		struct place *p = &f->place[i];

		if (p->role)
			read_place(f, p, s);
		told &= p->told || !p->role;
	}
	if (told)
		kept_close(&f->mountinfo);
	return 0;
}

static int start(struct place *p, struct sample *s, const char *role)
{
	int r = statfs_helper_start(&p->helper, p->path);

	if (r < 0)
		return r;
	p->role = role;
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

static void filesystem_close(void *state)
{
	struct filesystem *f = state;

	for (int i = 0; i < NPLACES; i++)
		drop(&f->place[i]);
	kept_close(&f->mountinfo);
}

/* The first answers are in a later sample than the first when they take that long. */
static int filesystem_open(void *state, const struct source_env *env, struct sample *s,
			   struct err *e)
{
	struct filesystem *f = state;
	struct place *root = &f->place[ROOT], *output = &f->place[OUTPUT];
	const char *path = env->output_path;
	int r = 0;

	f->period_ns = env->interval_ns * 16 < PERIOD_NS ? env->interval_ns * 16 : PERIOD_NS;
	if (f->period_ns < PERIOD_LEAST_NS)
		f->period_ns = PERIOD_LEAST_NS;
	snprintf(root->path, sizeof root->path, "/");
	if (path && snprintf(output->path, sizeof output->path, "%s", path) >= PATH_MAX)
		r = -ENAMETOOLONG;
	f->shared = path && same_device("/", path);
	if (!r)
		r = start(root, s, "root");
	if (!r && path && !f->shared)
		r = start(output, s, "output");
	if (r < 0) {
		filesystem_close(f);
		return err_set(e, r, "no helper process for statfs could be started: %s",
			       strerror(-r));
	}
	sample_catalogue(s, &metrics[MEASURED], METRICS_NUMBER_OF - MEASURED);
	kept_open(&f->mountinfo, &env->proc, "self/mountinfo", 0, NULL);
	return 0;
}

const struct source source_filesystem = {
	.name = "filesystem",
	.what = "the file systems of the recording and of /",
	.fix_user = "raise the limit of processes (ulimit -u)",
	SOURCE_METRICS(metrics),
	.size = sizeof(struct filesystem),
	.open = filesystem_open,
	.read = filesystem_read,
	.close = filesystem_close,
};
