/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mountinfo.h - the mounts of a process: /proc/self/mountinfo, and /proc/self/mountstats of those
 * of NFS.
 */
#ifndef SONDE_SOURCE_STORAGE_MOUNTINFO_H
#define SONDE_SOURCE_STORAGE_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The mounts of /proc/self/mountinfo, proc_pid_mountinfo(5): by id, or one by one.
 *
 * "36 35 98:0 /root /mount/point options ... - type device super,options". Pure: the text is
 * hostile and NUL-terminated, what does not fit is cut.
 */

enum { MOUNT_TYPE_SIZE = 32, MOUNT_PATH_SIZE = 1024 };

struct mount {
	char root[MOUNT_PATH_SIZE];  /* the directory of the file system that is mounted */
	char point[MOUNT_PATH_SIZE]; /* where */
	char type[MOUNT_TYPE_SIZE];
	char options[256]; /* of the file system: controllers of a version 1 cgroup */
};

/* The next mount from *at on, and *at behind its line; false at the end. Lines that are no mounts
 * are left out. */
bool mountinfo_next(const char **at, struct mount *out);

/* Where it is mounted and the type of its file system; false when there is no such mount. */
bool mountinfo_find(const char *mountinfo, uint64_t id, char *point, size_t size,
		    char type[MOUNT_TYPE_SIZE]);

/* The device number of its file system; false when there is no such mount. */
bool mountinfo_device(const char *mountinfo, uint64_t id, uint64_t *major, uint64_t *minor);

/* The id of the mount that an absolute path without links is on; 0 when none is. */
uint64_t mountinfo_of_path(const char *mountinfo, const char *path);

/* The mount of an open file, as /proc/PID/fdinfo/FD says; false when it does not (Linux 3.14 and
 * before). */
bool mountinfo_id_of(const char *fdinfo, uint64_t *id);

/* A field of mountinfo or mountstats, where blanks and the like are \ooo, as text; it ends at a
 * blank. */
void mountinfo_unescape(const char *from, char *to, size_t size);

struct mountinfo_place { /* escaped; not NUL-terminated */
	const char *source, *point;
	size_t source_len, point_len;
};
/* The device number of what is mounted there, which is that of its superblock: major << 32 | minor.
 * False when there is no such mount. */
bool mountinfo_superblock(const char *mountinfo, const struct mountinfo_place *place, int64_t *out);

/*
 * The NFS mounts in /proc/self/mountstats: fs/nfs/super.c and net/sunrpc/stats.c of
 * Linux, statvers 1.0 and 1.1.
 *
 * Pure: text in, numbers out. The text is hostile and NUL-terminated. Lines are found by their
 * names, columns by their place, which only ever grew at the end. What a kernel does not tell is
 * not known; it is never 0.
 */

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
