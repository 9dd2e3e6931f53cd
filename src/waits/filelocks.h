/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filelocks.h - who waits for whose lock on a file, as /proc/locks tells, proc_locks(5).
 *
 * "1: FLOCK ADVISORY WRITE 12 08:01:345 0 EOF"; those that wait follow with "1: -> FLOCK ...".
 * Pure: the text is hostile and NUL-terminated.
 */
#ifndef SONDE_WAITS_FILELOCKS_H
#define SONDE_WAITS_FILELOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The processes whose locks one of this process waits for, on this inode; 0: on any. pids: at most
 * `most` of them; returns their number. A holder of an open file description has no pid: it is -1.
 */
size_t filelocks_holders(const char *locks, pid_t waiter, uint64_t inode, pid_t *pids, size_t most);

#endif
