/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mountinfo.h - the mounts of /proc/self/mountinfo, proc_pid_mountinfo(5): by id, or one by one.
 *
 * "36 35 98:0 /root /mount/point options ... - type device super,options". Pure: the text is
 * hostile and NUL-terminated, what does not fit is cut.
 */
#ifndef SONDE_SOURCE_STORAGE_MOUNTINFO_H
#define SONDE_SOURCE_STORAGE_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
