/* SPDX-License-Identifier: Apache-2.0 */
#include "job/message.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* At most so much, of everything: sums of many stay in range. */
static const int64_t number_max = INT64_C(1) << 52;

int packet_send(int fd, const void *packet, size_t n, int passed)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof passed)];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof passed),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	struct iovec part = { (void *)(uintptr_t)packet, n };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1 };

	if (passed >= 0) {
		memcpy(CMSG_DATA(&control.header), &passed, sizeof passed);
		h.msg_control = &control;
		h.msg_controllen = sizeof control;
	}
	for (;;) {
		if (sendmsg(fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return 0;
		if (errno != EINTR)
			return -errno;
	}
}

int message_send(int fd, const struct message *m)
{
	struct message sent = *m;

	sent.version = MESSAGE_VERSION;
	return packet_send(fd, &sent, sizeof sent, -1);
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

static bool printed_is_sound(struct printed *p)
{
	p->absent[sizeof p->absent - 1] = '\0';
	return p->kind == MESSAGE_PRINTED && p->n <= sizeof p->text;
}

int message_receive(int fd, union packet *p)
{
	for (;;) {
		ssize_t n = recv(fd, p, sizeof *p, MSG_DONTWAIT);

		if (n == (ssize_t)sizeof p->message ||
		    (n == (ssize_t)sizeof p->printed && printed_is_sound(&p->printed)))
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
		union packet packet;
		int got = message_receive(fd, &packet);

		if (got == 1)
			*m = packet.message;
		if (got != -EAGAIN)
			return got;
		if (left <= 0)
			return -ETIMEDOUT;
		poll(&p, 1, (int)left);
	}
}

static bool in_bounds(const int64_t *number, size_t n, int64_t least)
{
	for (size_t i = 0; i < n; i++)
		if (number[i] < least || number[i] > number_max)
			return false;
	return true;
}

static bool message_is_sound(const struct message *m)
{
	const int64_t numbers[] = { m->at_ns,
				    m->total_user_ns,
				    m->total_system_ns,
				    m->total_minor_faults,
				    m->total_major_faults,
				    m->max_rss_bytes,
				    m->children,
				    m->reaped,
				    m->own_cpu_ns };

	return m->kind >= MESSAGE_STARTED && m->kind <= MESSAGE_ENDED &&
	       in_bounds(numbers, sizeof numbers / sizeof numbers[0], 0);
}

static bool registration_is_sound(struct registration *r)
{
	const int64_t told[] = { r->rank, r->expected };

	r->step[sizeof r->step - 1] = r->key[sizeof r->key - 1] = '\0';
	r->spans[sizeof r->spans - 1] = '\0';
	return r->kind == MESSAGE_REGISTER && in_bounds(told, 2, -1) &&
	       in_bounds(&r->lost_ns, 1, 0) && in_bounds(r->recorded, RECORDED_NUMBER_OF, 0);
}

static bool note_is_sound(struct note *n)
{
	n->text[sizeof n->text - 1] = '\0';
	return n->kind == MESSAGE_READY || n->kind == MESSAGE_DONE ||
	       (n->kind >= MESSAGE_REFUSED && n->kind <= MESSAGE_LEAVING);
}

int packet_parse(const void *data, size_t n, union packet *out)
{
	bool sound;

	_Static_assert(sizeof out->message != sizeof out->registration &&
			       sizeof out->message != sizeof out->note &&
			       sizeof out->note != sizeof out->registration &&
			       sizeof out->printed > sizeof out->registration,
		       "distinguished by their size");
	if (n > sizeof *out || n < sizeof out->message)
		return -EBADMSG;
	memcpy(out, data, n);
	if (out->message.version != MESSAGE_VERSION)
		return -EBADMSG;
	if (n == sizeof out->message)
		sound = message_is_sound(&out->message);
	else if (n == sizeof out->registration)
		sound = registration_is_sound(&out->registration);
	else if (n == sizeof out->printed)
		sound = printed_is_sound(&out->printed);
	else
		sound = n == sizeof out->note && note_is_sound(&out->note);
	return sound ? (int)out->message.kind : -EBADMSG;
}

/* The first descriptor that came; others are closed. */
static int passed_of(struct msghdr *h)
{
	int passed = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t n = c->cmsg_len - CMSG_LEN(0);

		for (size_t at = 0; c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
				    at + sizeof passed <= n;
		     at += sizeof passed) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + at, sizeof fd);
			if (passed >= 0)
				close(fd);
			else
				passed = fd;
		}
	}
	return passed;
}

ssize_t packet_take(int fd, void *to, size_t size, int *passed)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec part = { to, size };
	struct msghdr h = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof control };
	ssize_t n;

	*passed = -1;
	do
		n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	if (n)
		*passed = passed_of(&h);
	return n;
}

int packet_receive(int fd, union packet *out, int *passed)
{
	char data[sizeof *out + 1];
	ssize_t n = packet_take(fd, data, sizeof data, passed);
	int kind;

	if (n <= 0)
		return (int)n;
	kind = packet_parse(data, (size_t)n, out);
	if (kind > 0)
		return 1;
	if (*passed >= 0)
		close(*passed);
	*passed = -1;
	return kind;
}
