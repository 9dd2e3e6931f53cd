/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mountstats.h - the NFS mounts in /proc/self/mountstats: fs/nfs/super.c and net/sunrpc/stats.c of
 * Linux, statvers 1.0 and 1.1.
 *
 * Pure: text in, numbers out. The text is hostile and NUL-terminated. Lines are found by their
 * names, columns by their place, which only ever grew at the end. What a kernel does not tell is
 * not known; it is never 0.
 */
#ifndef SONDE_SOURCE_STORAGE_MOUNTSTATS_H
#define SONDE_SOURCE_STORAGE_MOUNTSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mountstats_value {
	NFS_READ_BYTES, /* of the line "bytes:" */
	NFS_WRITTEN_BYTES,
	NFS_DIRECT_READ_BYTES,
	NFS_DIRECT_WRITTEN_BYTES,
	NFS_SERVER_READ_BYTES,
	NFS_SERVER_WRITTEN_BYTES,
	NFS_PAGES_READ,
	NFS_PAGES_WRITTEN,
	NFS_DATA_INVALIDATIONS, /* of the line "events:" */
	NFS_ATTRIBUTE_INVALIDATIONS,
	NFS_OPENS,
	NFS_LOOKUPS,
	NFS_FLUSHES,
	NFS_SYNCS,
	NFS_LOCKS,
	NFS_CONGESTION_WAITS,
	NFS_SILLY_RENAMES,
	NFS_SHORT_READS,
	NFS_SHORT_WRITES,
	NFS_DELAYS,
	NFS_PNFS_READS,
	NFS_PNFS_WRITES,
	NFS_CONNECTS, /* of the lines "xprt:", added up */
	NFS_BAD_REPLIES,
	NFS_REQUESTS, /* of all operations, added up; times in ms */
	NFS_TRANSMISSIONS,
	NFS_TIMEOUTS,
	NFS_SENT_BYTES,
	NFS_RECEIVED_BYTES,
	NFS_QUEUED,
	NFS_ROUND_TRIP,
	NFS_EXECUTE,
	NFS_ERRORS,
	NFS_READ_REQUESTS,
	NFS_READ_QUEUED,
	NFS_READ_ROUND_TRIP,
	NFS_READ_EXECUTE,
	NFS_READ_ERRORS,
	NFS_WRITE_REQUESTS,
	NFS_WRITE_QUEUED,
	NFS_WRITE_ROUND_TRIP,
	NFS_WRITE_EXECUTE,
	NFS_WRITE_ERRORS,
	NFS_METADATA_REQUESTS, /* all but read, write, commit and null */
	NFS_METADATA_ROUND_TRIP,
	NFS_METADATA_EXECUTE,
	NFS_COMMIT_REQUESTS,
	NFS_GETATTR_REQUESTS,
	NFS_SETATTR_REQUESTS,
	NFS_LOOKUP_REQUESTS,
	NFS_ACCESS_REQUESTS,
	NFS_OPEN_REQUESTS,
	NFS_CLOSE_REQUESTS,
	NFS_CREATE_REQUESTS,
	NFS_REMOVE_REQUESTS,
	NFS_RENAME_REQUESTS,
	NFS_READDIR_REQUESTS,
	NFS_LOCK_REQUESTS,
	NFS_NUMBER_OF
};

/* A mount; borrowed from the text, escaped as there, not NUL-terminated. */
struct mountstats_mount {
	const char *device, *point; /* "server:/export", "/mnt" */
	size_t device_len, point_len;
	const char *begin, *end; /* the lines behind its first */
};

struct mountstats_values {
	int64_t v[NFS_NUMBER_OF];
	uint64_t known; /* bit i: v[i] is */
};

/* The next mount of NFS with statistics from *text on; *text is then behind it. */
bool mountstats_next(const char **text, struct mountstats_mount *out);
void mountstats_read(const struct mountstats_mount *m, struct mountstats_values *out);
/* An option of the mount, "vers" of "opts: rw,vers=4.1,..."; "" when it has none. */
void mountstats_option(const struct mountstats_mount *m, const char *name, char *out, size_t size);

#endif
