/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filelocks.h - who holds a lock on a file, as /proc/locks tells, proc_locks(5), and
 * /proc/PID/fdinfo.
 *
 * "1: FLOCK ADVISORY WRITE 12 08:01:345 0 EOF"; those that wait follow with "1: -> FLOCK ...".
 * No file of a process is touched. The texts are hostile and NUL-terminated.
 */
#ifndef SONDE_SOURCE_PROGRAM_FILELOCKS_H
#define SONDE_SOURCE_PROGRAM_FILELOCKS_H

#include "base/root.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The processes whose locks one of this process waits for, on this inode; 0: on any. pids: at most
 * `most` of them; returns their number. A holder of an open file description has no pid: it is -1.
 */
size_t filelocks_holders(const char *locks, pid_t waiter, uint64_t inode, pid_t *pids, size_t most);

/* The inode of an open file; 0: it is not told (before Linux 5.14). */
uint64_t filelocks_inode(const struct root *proc, pid_t pid, uint64_t fd);
/* Who has a lock that a process took which has ended: it came with the open file, as those of
 * flock(1) go to the shell that called it. 0: none that may be looked at. */
pid_t filelocks_heir(const struct root *proc, uint64_t inode, pid_t taker);

/* All locks as they were when they were needed first: to tell them, the kernel waits until no CPU
 * is within one, which takes milliseconds. {0}: not read yet. */
struct filelocks {
	char *text; /* NULL: there is none */
	bool read;
};
void filelocks_forget(struct filelocks *l);

enum { FILELOCKS_TEXT = 64 };
/* ", held by python3 (pid 12)" of the lock that a process waits for; "": not known. Where its taker
 * has ended its heir is searched for, or not. */
void filelocks_say_holder(const struct root *proc, struct filelocks *all, pid_t waiter, uint64_t fd,
			  bool may_search, char out[FILELOCKS_TEXT]);

/* A process has a file open that another one, which did not hand it down, has locked for itself
 * alone: whoever asks for that lock again and again is seen like that. *fd: which; out: "python3
 * (pid 12)". */
bool filelocks_beside(const struct root *proc, struct filelocks *all, pid_t pid, uint64_t *fd,
		      char out[FILELOCKS_TEXT]);
/* The same of a database of SQLite, whose locks are of bytes that nobody else locks; whoever handed
 * the file down. Of one with a log (WAL) that of its file "-shm". */
bool filelocks_database(const struct root *proc, struct filelocks *all, pid_t pid, uint64_t *fd,
			char out[FILELOCKS_TEXT]);

#endif
