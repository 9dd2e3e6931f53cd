/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysfs.h - small questions to /sys, asked when a device appears.
 *
 * Nothing is allocated and nothing is kept open. A question that cannot be answered is answered no.
 */
#ifndef SONDE_SOURCE_SYSFS_H
#define SONDE_SOURCE_SYSFS_H

#include "base/root.h"

#include <stdbool.h>
#include <stdint.h>

bool sysfs_exists(const struct root *sys, const char *path);
/* Is there anything in this directory? */
bool sysfs_has_entries(const struct root *sys, const char *path);
/* The number that the file begins with. */
bool sysfs_number(const struct root *sys, const char *path, int64_t *out);

struct sysfs_name {
	char text[64];
};
/* The entries of a directory, cxi2 before cxi10; hidden and longer names are left out. Their
 * number, at most max, or -errno. */
int sysfs_names(const struct root *sys, const char *path, struct sysfs_name *name, int max);
/* The first line of a small file; "" when there is none. */
void sysfs_line(const struct root *sys, const char *path, char *out, size_t size);

#endif
