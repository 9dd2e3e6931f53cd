/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/connector.h"

#include "base/clock.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	BUFFER_BYTES = 1 << 20,
	DATAGRAM_MAX = 512,
	TRIES_MAX = 4096,
	EVENT_MIN = 16,
	RECORDS_LAST = 1 << 20
};

/* The kernel's layout, with nothing between: nlmsghdr 16 bytes, cn_msg 20, then the event. */
enum { CN_AT = sizeof(struct nlmsghdr), EVENT_AT = CN_AT + sizeof(struct cn_msg) };

/* The event of a datagram, zeroed where it is shorter than ours; false when there is none. */
static bool event_of(const void *datagram, size_t n, struct cn_msg *m, struct proc_event *out)
{
	struct nlmsghdr h;

	if (n < EVENT_AT)
		return false;
	memcpy(&h, datagram, sizeof h);
	memcpy(m, (const char *)datagram + CN_AT, sizeof *m);
	if (h.nlmsg_len > n || h.nlmsg_len < EVENT_AT || h.nlmsg_type != NLMSG_DONE)
		return false;
	if (m->id.idx != CN_IDX_PROC || m->id.val != CN_VAL_PROC || m->len < EVENT_MIN ||
	    m->len > h.nlmsg_len - EVENT_AT)
		return false;
	*out = (struct proc_event){ 0 };
	memcpy(out, (const char *)datagram + EVENT_AT, m->len < sizeof *out ? m->len : sizeof *out);
	return true;
}

void connector_parse(const void *datagram, size_t n, const struct exits_handler *h)
{
	struct proc_event ev;
	struct cn_msg m;
	int64_t at_ns;

	if (!event_of(datagram, n, &m, &ev))
		return;
	at_ns = (int64_t)ev.timestamp_ns;
	switch ((unsigned)ev.what) {
	case PROC_EVENT_FORK:
		h->forked(h->ctx, ev.event_data.fork.child_tgid, ev.event_data.fork.parent_tgid,
			  ev.event_data.fork.child_pid, at_ns);
		break;
	case PROC_EVENT_EXEC:
		h->named(h->ctx, ev.event_data.exec.process_tgid, ev.event_data.exec.process_pid,
			 NULL, true);
		break;
	case PROC_EVENT_EXIT:
		h->exited(h->ctx, ev.event_data.exit.process_tgid, ev.event_data.exit.process_pid,
			  at_ns);
		break;
	default:
		break;
	}
}

/* The length of the next datagram of the kernel, 0 for anybody else's, or -errno. */
static ssize_t receive(const struct connector *c, char buf[DATAGRAM_MAX])
{
	struct sockaddr_nl from = { 0 };
	socklen_t len = sizeof from;
	ssize_t n =
		recvfrom(c->fd, buf, DATAGRAM_MAX, MSG_DONTWAIT, (struct sockaddr *)&from, &len);

	if (n < 0)
		return -errno;
	return from.nl_pid ? 0 : n;
}

static int ask(const struct connector *c, enum proc_cn_mcast_op op, uint32_t mark)
{
	/* The form with a filter for kinds, new in 6.6, would save little: nearly all that comes
	 * are the three kinds that are wanted. */
	const struct nlmsghdr h = { .nlmsg_len = EVENT_AT + sizeof op, .nlmsg_type = NLMSG_DONE };
	const struct cn_msg m = { .id = { CN_IDX_PROC, CN_VAL_PROC },
				  .ack = mark,
				  .len = sizeof op };
	char q[EVENT_AT + sizeof op];

	memcpy(q, &h, sizeof h);
	memcpy(q + CN_AT, &m, sizeof m);
	memcpy(q + EVENT_AT, &op, sizeof op);
	return send(c->fd, q, sizeof q, MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* The kernel answers before send() returns, and only to those whose pids are its own. */
static bool acknowledged(const struct connector *c, uint32_t mark)
{
	char buf[DATAGRAM_MAX];

	for (int i = 0; i < TRIES_MAX; i++) {
		struct proc_event ev;
		struct cn_msg m;
		ssize_t n = receive(c, buf);

		if (n == -EAGAIN)
			return false;
		if (n > 0 && event_of(buf, (size_t)n, &m, &ev) && m.ack == mark + 1 &&
		    (unsigned)ev.what == PROC_EVENT_NONE)
			return !ev.event_data.ack.err;
	}
	return false;
}

static int open_socket(struct connector *c)
{
	const struct sockaddr_nl group = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	const int bytes = BUFFER_BYTES, yes = 1;

	c->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
	if (c->fd < 0)
		return -errno;
	if (setsockopt(c->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes))
		setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
	/* Else a full buffer looks to the kernel as if nobody listened any more. */
	setsockopt(c->fd, SOL_NETLINK, NETLINK_BROADCAST_ERROR, &yes, sizeof yes);
	return bind(c->fd, (const struct sockaddr *)&group, sizeof group) ? -errno : 0;
}

int connector_open(struct connector *c, struct err *e)
{
	uint32_t mark = (uint32_t)clock_mono_ns();
	int bad;

	*c = (struct connector){ 0 };
	bad = open_socket(c);
	if (!bad)
		bad = ask(c, PROC_CN_MCAST_LISTEN, mark);
	if (bad) {
		err_set(e, bad == -ECONNREFUSED || bad == -EPROTONOSUPPORT ? -EOPNOTSUPP : bad,
			"the proc connector is not available: %s", strerror(-bad));
	} else if (!acknowledged(c, mark)) {
		bad = err_set(e, -EPERM,
			      "the proc connector answers only in the initial pid and user "
			      "namespaces (not in a container)");
	}
	if (bad)
		connector_close(c);
	return bad;
}

void connector_close(struct connector *c)
{
	if (c->fd > 0) {
		/* Else every fork of the machine goes on being told, to nobody. */
		ask(c, PROC_CN_MCAST_IGNORE, 0);
		close(c->fd);
	}
	*c = (struct connector){ 0 };
}

uint64_t connector_drain(struct connector *c, const struct exits_handler *h, bool all)
{
	char buf[DATAGRAM_MAX];
	const uint32_t limit = all ? RECORDS_LAST : CONNECTOR_RECORDS_PER_S;
	int64_t now = clock_mono_ns();
	uint64_t lost = 0;

	if (all || now - c->second_ns >= NS_PER_S) {
		c->second_ns = now;
		c->taken = 0;
	}
	for (; c->taken < limit; c->taken++) {
		ssize_t n = receive(c, buf);

		if (n == -ENOBUFS)
			lost++;
		else if (n < 0 && n != -EINTR)
			break;
		else if (n > 0)
			connector_parse(buf, (size_t)n, h);
	}
	return lost;
}
