/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opened.h - how a process has opened a file, as /proc/PID/fdinfo tells; the file is not touched.
 */
#ifndef SONDE_SOURCE_PROGRAM_OPENED_H
#define SONDE_SOURCE_PROGRAM_OPENED_H

#include "base/root.h"

#include <stdint.h>
#include <sys/types.h>

/* "O_DIRECT": its writes go past the page cache; "O_SYNC" (or O_DSYNC): each is on the disk when it
 * returns. NULL: neither, or it is not told. */
const char *opened_how(const struct root *proc, pid_t pid, uint64_t fd);

#endif
