/* SPDX-License-Identifier: Apache-2.0 */
/*
 * localmounts.h - the local file systems that may be written to, and which of them filled up.
 *
 * Each is asked with statfs, which waits for no server: no mount of one is among them, and none on
 * the way to them. Nothing is held open, so that whoever mounted one can unmount it.
 */
#ifndef SONDE_SOURCE_STORAGE_LOCALMOUNTS_H
#define SONDE_SOURCE_STORAGE_LOCALMOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOCALMOUNTS_MOST = 32, LOCALMOUNT_POINT = 256 };

struct localmount {
	char point[LOCALMOUNT_POINT];
	uint64_t device; /* st_dev */
	/* When it was asked first; inodes: -1: it has no fixed number of them. */
	int64_t available_bytes, inodes_free;
	bool filled; /* it was given by localmounts_filled */
};

struct localmounts {
	struct localmount mount[LOCALMOUNTS_MOST];
	size_t n;
};

/* No server is behind a file system of this type. */
bool localmounts_is_local(const char *type);
/* Those of mountinfo that have room, each file system once; more are left out. */
void localmounts_begin(struct localmounts *l, const char *mountinfo);
/* The one of this device; NULL: none that had room. */
const struct localmount *localmounts_find(const struct localmounts *l, uint64_t device);
/* One that has less than a hundredth of its space or no inode left; each is given once. NULL: no
 * other has. */
const struct localmount *localmounts_filled(struct localmounts *l);

#endif
