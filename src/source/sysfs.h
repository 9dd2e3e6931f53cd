/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysfs.h - small questions to /sys, asked when a device appears.
 *
 * Nothing is allocated and nothing is kept open. A question of whether that cannot be answered is
 * answered no; one for a number says why it has none.
 */
#ifndef SONDE_SOURCE_SYSFS_H
#define SONDE_SOURCE_SYSFS_H

#include "base/root.h"
#include "core/sample.h"

#include <stdbool.h>
#include <stdint.h>

bool sysfs_exists(const struct root *sys, const char *path);
/* Is there anything in this directory? */
bool sysfs_has_entries(const struct root *sys, const char *path);
/* The number that the file is, its newline aside. 0; -errno of opening or reading it; -ENODATA when
 * it is empty, -EBADMSG when it holds something else. */
int sysfs_read_number(const struct root *sys, const char *path, int64_t *out);

/* Why the text begins with no number: -ERANGE when it is one that is too large, else -EBADMSG. */
int sysfs_no_number(const char *text);

/* Why a number is not there, for people: of what sysfs_read_number gives, -ERANGE (beyond what it
 * can be) and any errno. */
const char *sysfs_reason(int error);
/* Says of a series that it has no number and why, or that it has one again (error 0), when that is
 * not what was told last. */
void sysfs_put_state(struct sample *s, uint32_t slot, int *told, int error);

struct sysfs_name {
	char text[64];
};
/* The entries of a directory, cxi2 before cxi10; hidden and longer names are left out. Their
 * number, at most max, or -errno. */
int sysfs_names(const struct root *sys, const char *path, struct sysfs_name *name, int max);
/* The first line of a small file; "" when there is none. */
void sysfs_line(const struct root *sys, const char *path, char *out, size_t size);

#endif
