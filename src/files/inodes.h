/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inodes.h - the names that inodes had when they were seen: of what the kernel maps, and of what
 * programs ask fstat about. A file that is opened by a process that has ended before its name could
 * be read is known by them.
 *
 * A name is believed while the file is still that inode. Bounded: a new one takes an old one's
 * seat.
 */
#ifndef SONDE_FILES_INODES_H
#define SONDE_FILES_INODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inodes;

struct inodes *inodes_new(void); /* NULL: no memory */
void inodes_free(struct inodes *s);
void inodes_learn(struct inodes *s, uint64_t device, uint64_t inode, const char *path);
/* That the job uses files in the directory of a path. */
void inodes_near(struct inodes *s, const char *path);
/* False: no name that still holds is known. */
bool inodes_known(const struct inodes *s, uint64_t device, uint64_t inode, char *out, size_t size);
/* The same; where none is, the directories that were seen last are looked through. */
bool inodes_path(struct inodes *s, uint64_t device, uint64_t inode, char *out, size_t size);
/* Is it this inode now? */
bool inode_is(const char *path, uint64_t device, uint64_t inode);
/* The name of an inode in the directory of a path. */
bool inode_beside(const char *path, uint64_t device, uint64_t inode, char *out, size_t size);

#endif
