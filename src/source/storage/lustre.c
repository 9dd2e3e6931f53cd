/* SPDX-License-Identifier: Apache-2.0 */
/* lustre.c - Lustre clients: the file system as its users see it (llite) and the requests to each
 * of its targets (osc, mdc). In /proc/fs/lustre before Lustre 2.12, since then in debugfs, which
 * most often only root may read. */
#include "base/clock.h"
#include "base/text/number.h"
#include "source/device.h"
#include "source/period.h"
#include "source/source.h"
#include "source/storage/lustre_statistics.h"
#include "source/sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILES_MAX = 512, NAMES_MAX = 512, AT_ONCE = 16, TEXT_SIZE = 16 * 1024, PATH_SIZE = 192 };
static const int64_t LISTING_NS = 10 * NS_PER_S, PERIOD_NS = NS_PER_S;

/* Where the statistics of one of them lie. */
struct statistics {
	const struct root *root;
	char path[PATH_SIZE];
};

struct lustre {
	const struct root *proc, *sys;
	struct devices devices;  /* by a hash of kind and name; class is the kind + 1 */
	struct statistics *file; /* side by side with devices.row */
	struct sysfs_name *name; /* room for a listing */
	struct period listing, period;
	uint32_t next, left; /* the next row to read; how many are left of this round */
	char text[TEXT_SIZE];
};

static void lack_all(struct device *v, struct sample *s, int error)
{
	const char *reason =
		error == -EBADMSG ? "its statistics are not as expected" : strerror(-error);

	for (uint32_t i = 0; i < lustre_kinds[v->class - 1].nmetrics; i++)
		device_lack(v, s, i, state_of(error), reason);
}

static void put(struct device *v, struct sample *s, uint32_t i, int64_t value, bool whole)
{
	if (value >= 0)
		device_have(v, s, i, value);
	else if (value == LUSTRE_UNTIMED)
		device_lack(v, s, i, STATE_UNSUPPORTED, "this version of Lustre does not time it");
	else if (value == LUSTRE_UNTOLD && !whole)
		device_lack(v, s, i, STATE_FAILED, "its statistics are cut short");
	else if (value != LUSTRE_NOT_YET)
		device_lack(v, s, i, STATE_FAILED, "its line holds no such number");
}

static int scan(const struct lustre *x, struct device *v, struct sample *s, bool whole)
{
	const struct lustre_kind *k = &lustre_kinds[v->class - 1];
	int64_t value[LUSTRE_ROWS_MAX];
	int bad = lustre_statistics(k, x->text, whole, value);

	for (uint32_t i = 0; !bad && i < k->nmetrics; i++)
		put(v, s, i, value[i], whole);
	return bad;
}

/* What comes behind the last newline is a line that was cut. */
static int read_statistics(struct lustre *x, uint32_t row, struct sample *s)
{
	ssize_t n = root_read(x->file[row].root, x->file[row].path, x->text, sizeof x->text);
	char *end = n > 0 ? memrchr(x->text, '\n', (size_t)n) : NULL;
	bool whole;

	if (n == -ENOENT || n == -ENODEV) /* it was just unmounted */
		return 0;
	if (!end)
		return n < 0 ? (int)n : -ENODATA;
	whole = !end[1];
	end[1] = '\0';
	return scan(x, &x->devices.row[row], s, whole);
}

static int read_row(struct lustre *x, uint32_t row, struct sample *s)
{
	int r = read_statistics(x, row, s);

	if (r < 0)
		lack_all(&x->devices.row[row], s, r);
	return r;
}

static void announce(struct device *v, struct sample *s, const char *name)
{
	const struct lustre_kind *k = &lustre_kinds[v->class - 1];
	char file_system[64];

	device_announce_as(v, name, s, k->metrics, k->nmetrics);
	snprintf(file_system, sizeof file_system, "%.*s", (int)strcspn(name, "-"), name);
	sample_label(s, v->instance, "filesystem", file_system);
	sample_label(s, v->instance, "scope", "node");
}

/* One file system or target. 0, or -errno when its statistics cannot be opened. */
static int meet(struct lustre *x, struct sample *s, const struct statistics *file, uint32_t kind)
{
	const char *name = strrchr(file->path, '/') + 1;
	uint64_t h = device_hash(DEVICE_HASH, lustre_kinds[kind].directory, 3);
	struct device *v = devices_meet_hash(&x->devices, device_hash(h, name, strlen(name)));
	struct statistics *of_row;
	int fd;

	if (!v || v->told)
		return 0;
	of_row = &x->file[v - x->devices.row];
	of_row->root = file->root;
	snprintf(of_row->path, sizeof of_row->path, "%.170s/stats", file->path);
	fd = root_file(file->root, of_row->path);
	if (fd < 0)
		return fd;
	file_close(&fd);
	v->class = kind + 1;
	announce(v, s, name);
	return 0;
}

/* All of a kind below one of the roots. The first error. */
static int list_kind(struct lustre *x, struct sample *s, const struct statistics *place,
		     uint32_t kind)
{
	struct statistics file = { .root = place->root };
	int n, r = 0;

	snprintf(file.path, sizeof file.path, "%.64s/%s", place->path,
		 lustre_kinds[kind].directory);
	n = sysfs_names(place->root, file.path, x->name, NAMES_MAX);
	for (int i = 0; i < n; i++) {
		int bad;

		snprintf(file.path, sizeof file.path, "%.64s/%s/%.63s", place->path,
			 lustre_kinds[kind].directory, x->name[i].text);
		bad = meet(x, s, &file, kind);
		r = r ? r : bad;
	}
	return n < 0 ? n : r;
}

/* The first error that is not an absence. */
static int list(struct lustre *x, struct sample *s)
{
	const struct statistics places[] = {
		{ x->proc, "fs/lustre" },
		{ x->sys, "kernel/debug/lustre" },
	};
	int r = 0;

	devices_begin(&x->devices);
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		for (uint32_t kind = 0; kind < LUSTRE_KINDS; kind++) {
			int bad = list_kind(x, s, &places[i], kind);

			r = r || bad == -ENOENT || bad == -ENOTDIR ? r : bad;
		}
	devices_sweep(&x->devices, s);
	return r;
}

static void lustre_close(void *state)
{
	struct lustre *x = state;

	devices_free(&x->devices);
	free(x->file);
	free(x->name);
}

static bool has_any(const struct lustre *x)
{
	for (uint32_t i = 0; i < x->devices.n; i++)
		if (x->devices.row[i].told)
			return true;
	return false;
}

/* Why there is nothing to read. Since 2.12 a mount can be seen in /sys even by who may not read its
 * statistics. */
static int refuse(const struct lustre *x, int listed, struct err *e)
{
	bool mounted = sysfs_has_entries(x->sys, "fs/lustre/llite") ||
		       sysfs_has_entries(x->proc, "fs/lustre/llite");

	if (mounted && (listed == 0 || state_of(listed) == STATE_FORBIDDEN))
		return err_set(e, -EACCES,
			       "%s/kernel/debug/lustre: Lustre is mounted, but only root may read "
			       "its statistics",
			       x->sys->path);
	if (listed < 0 && state_of(listed) != STATE_FORBIDDEN)
		return err_set(e, listed, "the statistics of Lustre cannot be read: %s",
			       strerror(-listed));
	return err_set(e, -ENODEV, "%s/fs/lustre: no Lustre is mounted", x->sys->path);
}

static int lustre_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct lustre *x = state;
	int r = devices_init(&x->devices, FILES_MAX);

	x->proc = &env->proc;
	x->sys = &env->sys;
	x->file = calloc(FILES_MAX, sizeof *x->file);
	x->name = calloc(NAMES_MAX, sizeof *x->name);
	if (r < 0 || !x->file || !x->name) {
		lustre_close(x);
		return err_set(e, -ENOMEM, "there is no memory for a table of file systems");
	}
	period_is_due(&x->listing, s, LISTING_NS);
	r = list(x, s);
	if (!has_any(x)) {
		r = refuse(x, r, e);
		lustre_close(x);
		return r;
	}
	sample_catalogue(s, &lustre_metrics[LUSTRE_MEASURED], LUSTRE_METRICS - LUSTRE_MEASURED);
	return 0;
}

/* Everything once a second, at most 16 files in a sample. */
static int lustre_read(void *state, struct sample *s)
{
	struct lustre *x = state;
	int r = 0;

	if (period_is_due(&x->listing, s, LISTING_NS))
		list(x, s);
	if (!x->left && period_is_due(&x->period, s, PERIOD_NS))
		x->left = x->devices.n;
	for (int files = 0; x->left && files < AT_ONCE; x->left--) {
		uint32_t row = x->next++ % x->devices.n;
		int bad = x->devices.row[row].told ? read_row(x, row, s) : 0;

		files += x->devices.row[row].told;
		r = r ? r : bad;
	}
	return r;
}

const struct source source_lustre = {
	.name = "lustre",
	.what = "Lustre file systems and their targets, for all users of the node",
	.fixes = source_not_mounted,
	.fix_admin = "make Lustre's statistics readable: mount -o remount,mode=755 "
		     "/sys/kernel/debug",
	.metrics = lustre_metrics,
	.nmetrics = LUSTRE_METRICS,
	.size = sizeof(struct lustre),
	.open = lustre_open,
	.read = lustre_read,
	.close = lustre_close,
};
