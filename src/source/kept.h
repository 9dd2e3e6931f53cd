/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.h - a file of /proc that stays open, with the buffer it is read into again and again.
 *
 * The buffer is sized by the first read, half as much again, and room for growth; kept_read
 * allocates nothing. The text always ends at a line's end: what comes after the last newline (a cut
 * file or a file that outgrew the buffer) is dropped, so that half a number is never taken for a
 * number.
 */
#ifndef SONDE_SOURCE_KEPT_H
#define SONDE_SOURCE_KEPT_H

#include "base/err.h"
#include "base/root.h"

#include <stdbool.h>

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

#endif
