/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logtail.h - the last lines of a log whose job failed, as a mark of its own: sonde.log_end
 * log=NAME
 * "last=LINE" "text=LINES". last: the last line that is not empty.
 */
#ifndef SONDE_JOB_LOGTAIL_H
#define SONDE_JOB_LOGTAIL_H

#include "base/bytes.h"

#include <sys/types.h>

enum { LOG_TAIL_LINES = 10, LOG_TAIL_BYTES = 1200 };

/* The line of the file of marks, of what is in fd from `from` on; nothing when nothing is. Control
 * characters become '?'. */
void log_tail_mark(struct bytes *out, const char *path, int fd, off_t from);

#endif
