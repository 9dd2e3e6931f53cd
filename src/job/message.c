/* SPDX-License-Identifier: Apache-2.0 */
#include "job/message.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

int message_send(int fd, const struct message *m)
{
	for (;;) {
		if (send(fd, m, sizeof *m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return 0;
		if (errno != EINTR)
			return -errno;
	}
}

int message_send_within(int fd, const struct message *m, int timeout_ms)
{
	int64_t deadline = clock_mono_ns() + timeout_ms * NS_PER_MS;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		int sent = message_send(fd, m);

		if (sent != -EAGAIN || clock_mono_ns() > deadline)
			return sent;
		poll(&p, 1, 100);
	}
}

int message_receive(int fd, struct message *m)
{
	for (;;) {
		ssize_t n = recv(fd, m, sizeof *m, MSG_DONTWAIT);

		if (n == (ssize_t)sizeof *m)
			return 1;
		if (n == 0)
			return 0;
		if (n > 0)
			return -EBADMSG;
		if (errno != EINTR)
			return errno == ECONNRESET ? 0 : -errno;
	}
}

int message_wait(int fd, struct message *m, int timeout_ms)
{
	int64_t deadline = clock_mono_ns() + timeout_ms * NS_PER_MS;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = (deadline - clock_mono_ns() + NS_PER_MS - 1) / NS_PER_MS;
		int got = message_receive(fd, m);

		if (got != -EAGAIN)
			return got;
		if (left <= 0)
			return -ETIMEDOUT;
		poll(&p, 1, (int)left);
	}
}
