/* SPDX-License-Identifier: Apache-2.0 */
/*
 * polled.h - the descriptors that a thread waits for in poll, select or epoll.
 *
 * Where its system call points to is read from /proc/PID/mem, which stops nobody; what an epoll
 * descriptor watches is in its fdinfo. Both need the rights that /proc/PID/syscall needs. The bytes
 * are hostile.
 */
#ifndef SONDE_SOURCE_POLLED_H
#define SONDE_SOURCE_POLLED_H

#include "base/root.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { POLLED_MAX = 64 };

struct polled {
	int fd[POLLED_MAX]; /* in their order; more are passed over */
	size_t n;
	bool by_epoll; /* an event loop's: it watches pipes and sockets of its own as well */
};

/* Of a system call with these arguments: 0, or -errno when it is none of them or is not readable.
 */
int polled_read(const struct root *proc, pid_t pid, long call, const uint64_t *arg,
		struct polled *out);

#endif
