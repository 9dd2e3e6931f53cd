/* SPDX-License-Identifier: Apache-2.0 */
/* lustre.c - Lustre clients: the file system as its users see it (llite) and the requests to each
 * of its targets (osc, mdc). In /proc/fs/lustre before Lustre 2.12, since then in debugfs, which
 * most often only root may read. */
#include "base/clock.h"
#include "base/text/number.h"
#include "core/metric.h"
#include "source/device.h"
#include "source/kept.h"
#include "source/period.h"
#include "source/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What the statistics of Lustre's clients say: files named stats of the file
 * system (llite) and of the requests to each of its targets (osc, mdc).
 *
 * Pure. The text is hostile and NUL-terminated.
 */

enum {
	LUSTRE_KINDS = 3,
	LUSTRE_ROWS_MAX = 34, /* of one kind */
	LUSTRE_MEASURED = 38, /* of all; the derived rows are behind them */
	LUSTRE_METRICS = LUSTRE_MEASURED + 4,
};

struct lustre_line;

struct lustre_kind {
	const char *directory;
	const struct metric *metrics;
	uint32_t nmetrics;
	const struct lustre_line *lines;
	size_t nlines;
};

/* Why a row has no value. */
enum lustre_lack {
	LUSTRE_UNTOLD = -1,     /* it has no line in a text that is not whole */
	LUSTRE_UNTIMED = -2,    /* this version of Lustre does not time it */
	LUSTRE_UNREADABLE = -3, /* its line holds no such number */
	LUSTRE_NOT_YET = -4,    /* nothing has been timed yet */
};

/* ---- Files of statistics ---- */

enum {
	READ_BYTES,
	WRITTEN_BYTES,
	READS,
	WRITES,
	READING,
	WRITING,
	OPENS,
	OPENING,
	CLOSES,
	CLOSING,
	GETATTRS,
	GETATTR_TIME,
	SYNCS,
	SYNCING,
	SETATTRS,
	TRUNCATES,
	LOCKS,
	SEEKS,
	MMAPS,
	PAGE_FAULTS,
	PAGE_WRITES,
	DIRECTORY_READS,
	CREATES,
	LINKS,
	UNLINKS,
	SYMLINKS,
	MKDIRS,
	RMDIRS,
	MKNODS,
	RENAMES,
	STATFS,
	GETXATTRS,
	SETXATTRS,
	PERMISSION_CHECKS,
	NLLITE,
	TARGET_REQUESTS = NLLITE,
	TARGET_WAIT,
	TARGET_READ_BYTES,
	TARGET_WRITTEN_BYTES,
	NMEASURED,
	READ_LATENCY = NMEASURED,
	WRITE_LATENCY,
	OPEN_LATENCY,
	TARGET_LATENCY,
	METRICS_NUMBER_OF
};
enum { NTARGET = NMEASURED - NLLITE, NONE = 255 };

#define SUMMED .kind = KIND_COUNTER, .over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM
#define EVENTS .domain = "lustre", SUMMED, .unit = UNIT_COUNT
#define BYTES  .domain = "lustre", SUMMED, .unit = UNIT_BYTES
#define MICROSECONDS                                                                               \
	.domain = "lustre", SUMMED, .unit = UNIT_ELAPSED_SECONDS, .mul = 1, .div = 1000000
#define TARGET .domain = "lustre_target", SUMMED
#define LATENCY                                                                                    \
	.kind = KIND_GAUGE, .unit = UNIT_SECONDS, .over_instances = COMBINE_MAX,                   \
	.over_nodes = COMBINE_MAX
#define NODE " by all programs of the node."
/* A row of operations that are only counted. */
#define COUNTED(word, heading, what)                                                               \
	{                                                                                          \
		"lustre." word, EVENTS, .label = heading, .help = what NODE                        \
	}

static const struct metric lustre_metrics[] = {
	[READ_BYTES] = { "lustre.read_bytes", BYTES, .label = "Read",
			 .help = "Bytes read, from cache or not," NODE },
	[WRITTEN_BYTES] = { "lustre.written_bytes", BYTES, .label = "Written",
			    .help = "Bytes written" NODE },
	[READS] = COUNTED("reads", "Reads", "Read calls"),
	[WRITES] = COUNTED("writes", "Writes", "Write calls"),
	[READING] = { "lustre.reading_seconds", MICROSECONDS, .label = "Reads in flight",
		      .help = "Time spent in read calls, summed over all of them." },
	[WRITING] = { "lustre.writing_seconds", MICROSECONDS, .label = "Writes in flight",
		      .help = "Time spent in write calls, summed over all of them." },
	[OPENS] = COUNTED("opens", "Opens", "Files opened"),
	[OPENING] = { "lustre.opening_seconds", MICROSECONDS, .label = "Opens in flight",
		      .help = "Time spent opening files, summed over all of them." },
	[CLOSES] = COUNTED("closes", "Closes", "Files closed"),
	[CLOSING] = { "lustre.closing_seconds", MICROSECONDS, .label = "Closes in flight",
		      .help = "Time spent closing files, summed over all of them." },
	[GETATTRS] = COUNTED("getattrs", "Getattrs", "Attribute requests (stat)"),
	[GETATTR_TIME] = { "lustre.getattr_seconds", MICROSECONDS, .label = "Getattrs in flight",
			   .help = "Time spent in attribute requests, summed over all of them." },
	[SYNCS] = COUNTED("syncs", "Syncs", "Calls of fsync"),
	[SYNCING] = { "lustre.syncing_seconds", MICROSECONDS, .label = "Syncs in flight",
		      .help = "Time spent in fsync, summed over all calls." },
	[SETATTRS] = COUNTED("setattrs", "Setattrs", "Attributes set"),
	[TRUNCATES] = COUNTED("truncates", "Truncates", "Files truncated"),
	[LOCKS] = COUNTED("locks", "Locks", "Lock requests (flock)"),
	[SEEKS] = COUNTED("seeks", "Seeks", "Calls of lseek"),
	[MMAPS] = COUNTED("mmaps", "Mappings", "Files mapped"),
	[PAGE_FAULTS] = COUNTED("page_faults", "Page faults", "Page faults in mapped files"),
	[PAGE_WRITES] = COUNTED("page_writes", "Page writes", "First writes to mapped pages"),
	[DIRECTORY_READS] = COUNTED("directory_reads", "Directory reads", "Directories read"),
	[CREATES] = COUNTED("creates", "Creates", "Files created"),
	[LINKS] = COUNTED("links", "Links", "Hard links made"),
	[UNLINKS] = COUNTED("unlinks", "Removes", "Files removed"),
	[SYMLINKS] = COUNTED("symlinks", "Symbolic links", "Symbolic links made"),
	[MKDIRS] = COUNTED("mkdirs", "Directories made", "Directories made"),
	[RMDIRS] = COUNTED("rmdirs", "Directories removed", "Directories removed"),
	[MKNODS] = COUNTED("mknods", "Nodes made", "Nodes made"),
	[RENAMES] = COUNTED("renames", "Renames", "Files renamed"),
	[STATFS] = COUNTED("statfs_calls", "Statfs calls", "Calls of statfs"),
	[GETXATTRS] = COUNTED("getxattrs", "Getxattrs", "Extended attribute requests"),
	[SETXATTRS] = COUNTED("setxattrs", "Setxattrs", "Extended attributes set"),
	[PERMISSION_CHECKS] =
		COUNTED("permission_checks", "Permission checks", "Permissions checked"),
	[TARGET_REQUESTS] = { "lustre_target.requests", TARGET, .unit = UNIT_COUNT,
			      .label = "Requests", .help = "Requests sent to the target" NODE },
	[TARGET_WAIT] = { "lustre_target.request_seconds", TARGET, .unit = UNIT_ELAPSED_SECONDS,
			  .mul = 1, .div = 1000000, .label = "Requests in flight",
			  .help = "Time from sending requests to their replies, summed over all "
				  "of them." },
	[TARGET_READ_BYTES] = { "lustre_target.read_bytes", TARGET, .unit = UNIT_BYTES,
				.label = "Read", .help = "Bytes read from the target" NODE },
	[TARGET_WRITTEN_BYTES] = { "lustre_target.written_bytes", TARGET, .unit = UNIT_BYTES,
				   .label = "Written", .help = "Bytes written to the target" NODE },
	[READ_LATENCY] = { "lustre.read_latency_seconds", "lustre", LATENCY,
			   .formula = "lustre.reading_ratio / lustre.reads_per_second",
			   .label = "Read latency", .help = "Mean time a read call took." },
	[WRITE_LATENCY] = { "lustre.write_latency_seconds", "lustre", LATENCY,
			    .formula = "lustre.writing_ratio / lustre.writes_per_second",
			    .label = "Write latency", .help = "Mean time a write call took." },
	[OPEN_LATENCY] = { "lustre.open_latency_seconds", "lustre", LATENCY,
			   .formula = "lustre.opening_ratio / lustre.opens_per_second",
			   .label = "Open latency", .help = "Mean time it took to open a file." },
	[TARGET_LATENCY] = { "lustre_target.latency_seconds", "lustre_target", LATENCY,
			     .formula = "lustre_target.request_ratio / "
					"lustre_target.requests_per_second",
			     .label = "Request latency",
			     .help = "Mean time from sending a request to its reply." },
};
_Static_assert(sizeof lustre_metrics / sizeof lustre_metrics[0] == METRICS_NUMBER_OF,
	       "a row for every index");
_Static_assert((int)METRICS_NUMBER_OF == LUSTRE_METRICS && (int)NMEASURED == LUSTRE_MEASURED &&
		       (int)NLLITE <= LUSTRE_ROWS_MAX,
	       "as the header says");

/* "open 12 samples [usecs] min max sum sumsq": how many, and their sum where the unit is this one.
 */
static const struct lustre_line {
	const char *name, *unit;
	uint8_t count, sum;
} llite_lines[] = {
	{ "read_bytes", "bytes", READS, READ_BYTES },
	{ "write_bytes", "bytes", WRITES, WRITTEN_BYTES },
	{ "read", "usec", NONE, READING }, /* these two since 2.14 */
	{ "write", "usec", NONE, WRITING },
	{ "open", "usec", OPENS, OPENING },
	{ "close", "usec", CLOSES, CLOSING },
	{ "getattr", "usec", GETATTRS, GETATTR_TIME },
	{ "fsync", "usec", SYNCS, SYNCING },
	{ "setattr", "", SETATTRS, NONE },
	{ "truncate", "", TRUNCATES, NONE },
	{ "flock", "", LOCKS, NONE },
	{ "seek", "", SEEKS, NONE },
	{ "mmap", "", MMAPS, NONE },
	{ "page_fault", "", PAGE_FAULTS, NONE },
	{ "page_mkwrite", "", PAGE_WRITES, NONE },
	{ "readdir", "", DIRECTORY_READS, NONE },
	{ "create", "", CREATES, NONE },
	{ "link", "", LINKS, NONE },
	{ "unlink", "", UNLINKS, NONE },
	{ "symlink", "", SYMLINKS, NONE },
	{ "mkdir", "", MKDIRS, NONE },
	{ "rmdir", "", RMDIRS, NONE },
	{ "mknod", "", MKNODS, NONE },
	{ "rename", "", RENAMES, NONE },
	{ "statfs", "", STATFS, NONE },
	{ "getxattr", "", GETXATTRS, NONE },
	{ "setxattr", "", SETXATTRS, NONE },
	{ "inode_permission", "", PERMISSION_CHECKS, NONE },
};
static const struct lustre_line target_lines[] = {
	{ "req_waittime", "usec", TARGET_REQUESTS - NLLITE, TARGET_WAIT - NLLITE },
	{ "read_bytes", "bytes", NONE, TARGET_READ_BYTES - NLLITE },
	{ "write_bytes", "bytes", NONE, TARGET_WRITTEN_BYTES - NLLITE },
};

#define LINES(array) array, sizeof(array) / sizeof((array)[0])
enum { LLITE, OSC, MDC };
static const struct lustre_kind lustre_kinds[] = {
	[LLITE] = { "llite", &lustre_metrics[0], NLLITE, LINES(llite_lines) },
	[OSC] = { "osc", &lustre_metrics[NLLITE], NTARGET, LINES(target_lines) },
	[MDC] = { "mdc", &lustre_metrics[NLLITE], NTARGET, LINES(target_lines) },
};

/* Behind "name   ": "12 samples [usecs] 31 200 400 ...". What it does not tell stays as it is. */
static void read_line(const char *p, const char *unit, int64_t *count, int64_t *sum)
{
	size_t n = strlen(unit);
	int64_t samples, least, most, total;

	if (!number_i64(&p, &samples) || samples < 0)
		return;
	p = number_skip_blanks(p);
	if (strncmp(p, "samples [", 9) != 0)
		return;
	*count = samples;
	p += 9;
	if (strncmp(p, unit, n) != 0) {
		*sum = LUSTRE_UNTIMED;
		return;
	}
	p += strcspn(p, "]\n");
	if (*p++ == ']' && number_i64(&p, &least) && number_i64(&p, &most) &&
	    number_i64(&p, &total) && strchr(" \n", *p))
		*sum = total;
}

static const struct lustre_line *find_line(const struct lustre_kind *k, const char *name,
					   size_t len)
{
	for (const struct lustre_line *l = k->lines; l < k->lines + k->nlines; l++)
		if (strlen(l->name) == len && memcmp(l->name, name, len) == 0)
			return l;
	return NULL;
}

/* Lustre leaves out what has not happened: a line that is not there is a 0. Times are not told by
 * every version; where one of them is, all are. */
static void set_zeros(const struct lustre_kind *k, int64_t *value, const char *text)
{
	int64_t time = strstr(text, "[usec")  ? 0
		       : strstr(text, "[reg") ? LUSTRE_UNTIMED
					      : LUSTRE_NOT_YET;

	for (const struct lustre_line *l = k->lines; l < k->lines + k->nlines; l++) {
		if (l->count != NONE)
			value[l->count] = 0;
		if (l->sum != NONE)
			value[l->sum] = strcmp(l->unit, "bytes") == 0 ? 0 : time;
	}
}

/* The value of each row of the kind, or an enum lustre_lack. 0; -EBADMSG when these are no
 * statistics. */
static int lustre_statistics(const struct lustre_kind *k, const char *text, bool whole,
			     int64_t value[LUSTRE_ROWS_MAX])
{
	if (!number_find_line(text, "snapshot_time "))
		return -EBADMSG;
	for (uint32_t i = 0; i < k->nmetrics; i++)
		value[i] = LUSTRE_UNTOLD;
	if (whole)
		set_zeros(k, value, text);
	for (const char *p = text; *p; p = number_next_line(p)) {
		size_t len = strcspn(p, " \n");
		const struct lustre_line *l = find_line(k, p, len);
		int64_t count = LUSTRE_UNREADABLE, sum = LUSTRE_UNREADABLE;

		if (!l)
			continue;
		read_line(p + len, l->unit, &count, &sum);
		if (l->count != NONE)
			value[l->count] = count;
		if (l->sum != NONE)
			value[l->sum] = sum;
	}
	return 0;
}

/* ---- Source ---- */

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

/* Where there is none, that may be found when the job has begun. */
static bool is_not_here(const struct source_env *env)
{
	return !sysfs_exists(&env->sys, "fs/lustre") && !sysfs_exists(&env->proc, "fs/lustre") &&
	       !sysfs_exists(&env->sys, "kernel/debug/lustre");
}

static int lustre_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct lustre *x = state;
	int r;

	if (is_not_here(env))
		return err_set(e, -ENODEV, "%s/fs/lustre: no Lustre is mounted", env->sys.path);
	r = devices_init(&x->devices, FILES_MAX);
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
	.can_wait = is_not_here,
	.open = lustre_open,
	.read = lustre_read,
	.close = lustre_close,
};
