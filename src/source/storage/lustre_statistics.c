/* SPDX-License-Identifier: Apache-2.0 */
#include "source/storage/lustre_statistics.h"

#include "base/text/number.h"

#include <errno.h>
#include <string.h>

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

const struct metric lustre_metrics[] = {
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
const struct lustre_kind lustre_kinds[] = {
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

int lustre_statistics(const struct lustre_kind *k, const char *text, bool whole,
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
