/* SPDX-License-Identifier: Apache-2.0 */
#include "source/storage/localmounts.h"

#include "source/storage/mountinfo.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

enum { FULL_PART = 100 };

static bool is_one_of(const char *type, const char *const *types, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(types[i], type))
			return true;
	return false;
}

bool localmounts_is_local(const char *type)
{
	static const char *const types[] = { "tmpfs", "ext2",  "ext3", "ext4",
					     "xfs",   "btrfs", "f2fs", "zfs" };

	return is_one_of(type, types, sizeof types / sizeof types[0]);
}

/* Whoever has the root of a container or of a live system has looked it up before. */
static bool may_be_passed(const char *type)
{
	static const char *const types[] = { "overlay",  "rootfs",   "ramfs",
					     "devtmpfs", "squashfs", "erofs" };

	return localmounts_is_local(type) || is_one_of(type, types, sizeof types / sizeof types[0]);
}

/* Nothing on the way to it, and nothing that covers it, may hang. */
static bool is_reached(const char *mountinfo, const char *point)
{
	struct mount m;

	while (mountinfo_next(&mountinfo, &m)) {
		size_t n = strcmp(m.point, "/") ? strlen(m.point) : 0;

		if (!strncmp(m.point, point, n) && (!point[n] || point[n] == '/') &&
		    !may_be_passed(m.type))
			return false;
	}
	return true;
}

struct room {
	uint64_t device;
	int64_t available_bytes, inodes_free;
	bool full;
};

static bool ask(const char *point, struct room *out)
{
	struct statx st;
	struct statfs fs;

	if (statx(AT_FDCWD, point, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &st) < 0 ||
	    !S_ISDIR(st.stx_mode) || statfs(point, &fs) < 0 || (fs.f_flags & ST_RDONLY) ||
	    !fs.f_blocks ||
	    __builtin_mul_overflow(fs.f_bavail, (uint64_t)fs.f_bsize, &out->available_bytes))
		return false;
	out->device = makedev(st.stx_dev_major, st.stx_dev_minor);
	out->inodes_free = fs.f_files && fs.f_ffree <= INT64_MAX ? (int64_t)fs.f_ffree : -1;
	out->full = fs.f_bavail < fs.f_blocks / FULL_PART || !fs.f_bavail ||
		    (fs.f_files && !fs.f_ffree);
	return true;
}

const struct localmount *localmounts_find(const struct localmounts *l, uint64_t device)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->mount[i].device == device)
			return &l->mount[i];
	return NULL;
}

void localmounts_begin(struct localmounts *l, const char *mountinfo)
{
	const char *at = mountinfo;
	struct mount m;
	struct room room;

	while (l->n < LOCALMOUNTS_MOST && mountinfo_next(&at, &m)) {
		if (!localmounts_is_local(m.type) || strlen(m.point) >= LOCALMOUNT_POINT ||
		    !is_reached(mountinfo, m.point) || !ask(m.point, &room) || room.full ||
		    localmounts_find(l, room.device))
			continue;
		l->mount[l->n] = (struct localmount){ .device = room.device,
						      .available_bytes = room.available_bytes,
						      .inodes_free = room.inodes_free };
		snprintf(l->mount[l->n++].point, LOCALMOUNT_POINT, "%s", m.point);
	}
}

const struct localmount *localmounts_filled(struct localmounts *l)
{
	struct room room;

	for (size_t i = 0; i < l->n; i++) {
		struct localmount *m = &l->mount[i];

		if (m->filled || !ask(m->point, &room) || room.device != m->device || !room.full)
			continue;
		m->filled = true;
		return m;
	}
	return NULL;
}
