/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk.h - a helper executable (base/helper.h) that is asked over a socket, its standard input.
 *
 * It gets no other descriptor but /dev/null as output, and ends with this process. {0} is closed.
 */
#ifndef SONDE_BASE_TALK_H
#define SONDE_BASE_TALK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct talk {
	pid_t pid;  /* 0: closed */
	int socket; /* valid while pid is not 0 */
};

/* packages: Debian's that the helper is built with, for the sentence. 0, -ENOENT when it is not
 * there, or -errno. */
int talk_open(struct talk *t, const char *helper, const char *packages, struct err *e);
void talk_close(struct talk *t);

/* What came of a socket and was not asked for yet: one look at it takes many small messages. {0} is
 * empty. */
enum { TALK_AHEAD = 16384 };
struct talk_ahead {
	size_t at, end;
	unsigned char bytes[TALK_AHEAD];
};

/* As talk_read; once it is used, nothing else may read that socket. */
bool talk_read_ahead(int fd, struct talk_ahead *ahead, void *to, size_t n);

/* All n bytes of a socket; false at an end or an error. */
bool talk_read(int fd, void *to, size_t n);
bool talk_write(int fd, const void *from, size_t n);

#endif
