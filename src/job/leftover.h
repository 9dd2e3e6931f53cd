/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leftover.h - folders that a job's launcher makes and takes away: what all that knew of one was
 * killed without taking away, the next launcher of this user does, in the same place.
 *
 * One is left over when nobody holds it, by a lock, and no process of this user has its path in the
 * environment. The lock is there before the name is.
 */
#ifndef SONDE_JOB_LEFTOVER_H
#define SONDE_JOB_LEFTOVER_H

#include <stdbool.h>
#include <stddef.h>

/* Make a folder <where>/<name>.XXXXXX, which only its user may enter, and its descriptor; negative
 * when there is none. */
int leftover_folder(const char *where, const char *name, char *path, size_t size);
/* The others beside this one that are left over go. It takes long where there is much beside it. */
void leftover_tidy(const char *path);
/* As long as fd, a folder's, is open, nobody else takes it away. */
void leftover_hold(int fd);
/* With what is in it. */
void leftover_remove(const char *path);

#endif
