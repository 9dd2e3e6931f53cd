/* SPDX-License-Identifier: Apache-2.0 */
/*
 * positions.h - files where system calls are not traced: how far the descriptors' positions in
 * /proc/PID/fdinfo moved between two looks. What is read elsewhere (pread, mmap) does not move
 * them, and what is opened and closed between two looks is not seen.
 */
#ifndef SONDE_FILES_POSITIONS_H
#define SONDE_FILES_POSITIONS_H

#include "files/book.h"

enum { ROOTS_MOST = 256 };

struct positions {
	pid_t root[ROOTS_MOST];
	bool launcher[ROOTS_MOST]; /* what it started, itself not */
	uint32_t nroots;
};

void positions_add(struct positions *s, pid_t pid, bool launcher);
void positions_look(struct positions *s, struct book *b, int64_t now_ns);

#endif
