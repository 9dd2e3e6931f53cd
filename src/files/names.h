/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - which file a name or a descriptor of another process is.
 *
 * A name is read from the copy of the stack that came with the call where it lies there, else from
 * the process's memory, later; what a descriptor leads to is asked of /proc. A name that may have
 * been overwritten, and a descriptor that was closed meanwhile, are not believed.
 */
#ifndef SONDE_FILES_NAMES_H
#define SONDE_FILES_NAMES_H

#include "files/book.h"

#include <stddef.h>

enum { NAME_MOST = 4096 };

struct name_at {
	pid_t pid;
	uint64_t address, stack_at; /* where the name is; where the copy of the stack is of */
	const char *stack;          /* the copy */
	size_t stack_bytes;
};

/* The name as the process gave it. False: it cannot be read. */
bool name_read(const struct name_at *at, char out[NAME_MOST]);
/* Absolute, without "." and "//": of a name below a directory's descriptor, or the working
 * directory (AT_FDCWD). False: the directory is not known. */
bool name_absolute(struct book *b, struct book_process *p, int dirfd, const char *name,
		   char out[NAME_MOST]);
/* What /proc says of a descriptor. 1: a file's path; 0: no file; -1: it is closed, or the process
 * has ended. */
int name_of_fd(pid_t pid, int fd, char out[NAME_MOST]);
/* The row of a descriptor, found out where it is not known yet; 0: it is of no file. */
uint32_t name_row_of_fd(struct book *b, struct book_process *p, int fd, int64_t now_ns);

#endif
