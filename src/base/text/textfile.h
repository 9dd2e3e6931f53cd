/* SPDX-License-Identifier: Apache-2.0 */
/*
 * textfile.h - a file that the user named, read whole: a regular one of bounded size.
 *
 * Never waits: a FIFO that nobody writes, a terminal, a device without an end are refused.
 */
#ifndef SONDE_BASE_TEXT_TEXTFILE_H
#define SONDE_BASE_TEXT_TEXTFILE_H

#include "base/bytes.h"
#include "base/err.h"

/* Appends what the file holds. what names it in errors: "events file". 0, or -errno with a
 * sentence: -EINVAL when it is not a regular file, -EFBIG when it has more than most bytes. */
int textfile_read(const char *path, const char *what, size_t most, struct bytes *out,
		  struct err *e);

#endif
