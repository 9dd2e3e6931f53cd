/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root.h - files below a root, so that fixtures can stand for /proc and /sys.
 *
 * A kept file is opened once and read again with pread at offset 0. Reads go into the caller's
 * buffer and are always NUL-terminated. Nothing is allocated. A path may not leave the root by
 * "..".
 */
#ifndef SONDE_BASE_ROOT_H
#define SONDE_BASE_ROOT_H

#include <stddef.h>
#include <sys/types.h>

struct root {
	int fd; /* of the directory, O_PATH-like use only; 0 = closed, since 0 is never kept; -1 =
		   missing */
	char path[256];
};

int root_open(struct root *r, const char *path); /* 0 or -errno */
/* The same for a directory that a container may lack, as /sys: then each file below it is missing.
 */
int root_open_if_there(struct root *r, const char *path);
void root_close(struct root *r);

/* Open below the root to read, without waiting for a pipe. fd >= 3, or -errno. */
int root_file(const struct root *r, const char *path);
/* Open, read whole (at most size - 1 bytes), close. Length, or -errno; -EFBIG when it did not fit.
 */
ssize_t root_read(const struct root *r, const char *path, char *buf, size_t size);
/* Read a kept file again from its start. Length, or -errno; what does not fit is cut at size - 1.
 */
ssize_t file_reread(int fd, char *buf, size_t size);
/* The same for a file whose records may be longer than 1 kB (mountstats): read until the kernel
 * says that there is no more. */
ssize_t file_reread_records(int fd, char *buf, size_t size);
/* Close if open and set to 0. */
void file_close(int *fd);

#endif
