/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fdlist.h - the open files of a process, by /proc/PID/fd: the number of each and where it leads.
 *
 * The files themselves are never touched. It can be left and taken up again, so that a process with
 * many files is looked at in pieces. {0} is closed.
 */
#ifndef SONDE_SOURCE_FDLIST_H
#define SONDE_SOURCE_FDLIST_H

#include "base/root.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

enum { FDLIST_TARGET = 32 }; /* a longer name is cut */

struct fdlist {
	int dir;            /* 0: closed */
	ssize_t listed, at; /* of entries */
	_Alignas(struct dirent64) char entries[2048];
};

/* 0, or -errno: -ENOENT when the process has ended, -EACCES when it may not be looked at. */
int fdlist_open(struct fdlist *l, const struct root *proc, pid_t pid);
/* The next one. False when there are no more; the list is closed then. */
bool fdlist_next(struct fdlist *l, int *fd, char target[FDLIST_TARGET]);
void fdlist_close(struct fdlist *l);

/* The N of a path such as "/dev/nvidiaN", at least first; false for anything else: /dev/nvidiactl.
 */
bool fdlist_device(const char *target, const char *device, uint64_t first, uint64_t *number);

#endif
