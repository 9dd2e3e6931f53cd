/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.h - files of /proc and /sys: those that stay open, and small questions.
 */
#ifndef SONDE_SOURCE_KEPT_H
#define SONDE_SOURCE_KEPT_H

#include "base/err.h"
#include "base/root.h"
#include "core/sample.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A file of /proc that stays open, with the buffer it is read into again and again.
 *
 * The buffer is sized by the first read, half as much again, and room for growth; kept_read
 * allocates nothing. The text always ends at a line's end: what comes after the last newline (a cut
 * file or a file that outgrew the buffer) is dropped, so that half a number is never taken for a
 * number.
 */

struct kept {
	int fd;
	char *text; /* NUL-terminated */
	size_t len, cap;
	bool cut;     /* something was dropped behind the last newline */
	bool fresh;   /* the text is that of the opening, which the first kept_read gives */
	bool records; /* opened by kept_open_records */
	char *before; /* as large: kept_read_same's other text */
	char *room;   /* for both */
};

/* Open, read once, keep. 0, or -errno with a sentence; -ENODATA when there is no whole line. */
int kept_open(struct kept *k, const struct root *root, const char *path, size_t room,
	      struct err *e);
/* The same for a file whose records may be longer than 1 kB, mountstats. */
int kept_open_records(struct kept *k, const struct root *root, const char *path, size_t room,
		      struct err *e);
/* Read it again, but for the first time: the text of kept_open is a moment old then, and making it
 * costs the kernel more than all else. 0 or -errno, and then the text is empty. */
int kept_read(struct kept *k);
/* The same; 1 when the text is what it was at the reading before: what it says stands. */
int kept_read_same(struct kept *k);
void kept_close(struct kept *k);

/*
 * Small questions to /sys, asked when a device appears.
 *
 * Nothing is allocated and nothing is kept open. A question of whether that cannot be answered is
 * answered no; one for a number says why it has none.
 */

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
