/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/crowd.h"

#include "base/clock.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* False: it is neither IPv4 nor IPv6. */
static bool take_address(const struct sockaddr *a, uint32_t address[4], in_port_t *port)
{
	if (a->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)a;

		memset(address, 0, 4 * sizeof *address);
		address[0] = v4->sin_addr.s_addr;
		*port = v4->sin_port;
		return true;
	}
	if (a->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)a;

		memcpy(address, &v6->sin6_addr, 4 * sizeof *address);
		*port = v6->sin6_port;
		return true;
	}
	return false;
}

/* About the one socket that has this as its own end and the listener's as the other; 0 or -errno.
 */
static int ask(const struct peers *p, const uint32_t address[4], in_port_t port,
	       struct inet_diag_msg *found)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 body;
	} request = {
		.head = { .nlmsg_len = sizeof request,
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST },
		.body = { .sdiag_family = (uint8_t)p->family,
			  .sdiag_protocol = IPPROTO_TCP,
			  .idiag_states = UINT32_MAX,
			  .id = { .idiag_sport = port,
				  .idiag_dport = p->port,
				  .idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } },
	};
	union {
		struct nlmsghdr head;
		char room[1024];
	} answer;
	ssize_t n;

	memcpy(request.body.id.idiag_src, address, sizeof request.body.id.idiag_src);
	memcpy(request.body.id.idiag_dst, p->address, sizeof request.body.id.idiag_dst);
	if (send(p->fd, &request, sizeof request, 0) < 0)
		return -errno;
	n = recv(p->fd, &answer, sizeof answer, MSG_DONTWAIT); /* it was made as it was asked */
	if (n < 0)
		return -errno;
	if (n < (ssize_t)NLMSG_LENGTH(sizeof *found) ||
	    answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return -ENOENT;
	memcpy(found, NLMSG_DATA(&answer.head), sizeof *found);
	return 0;
}

/* That the kernel answers such questions is known from its answer about the listener itself. */
void peers_open(struct peers *p, const struct sockaddr *listener)
{
	struct inet_diag_msg found;
	in_port_t port;

	*p = (struct peers){ .fd = -1, .family = listener->sa_family };
	if (!take_address(listener, p->address, &p->port))
		return;
	p->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (p->fd < 0)
		return;
	port = p->port;
	p->port = 0; /* the other end of a listener */
	if (ask(p, p->address, port, &found) || found.idiag_state != TCP_LISTEN)
		peers_close(p);
	p->port = port;
}

void peers_close(struct peers *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

/* What has no inode any more is nobody's; its user would be reported as root. */
static enum peer peers_user(const struct peers *p, const struct sockaddr *peer, uid_t *uid)
{
	struct inet_diag_msg found;
	uint32_t address[4];
	in_port_t port;
	int rc;

	if (p->fd < 0 || peer->sa_family != p->family || !take_address(peer, address, &port))
		return PEER_UNKNOWN;
	rc = ask(p, address, port, &found);
	if (rc && rc != -ENOENT)
		return PEER_UNKNOWN;
	if (rc || found.idiag_state == TCP_LISTEN || !found.idiag_inode)
		return PEER_GONE;
	*uid = found.idiag_uid;
	return PEER_KNOWN;
}

/* ---- places ---- */

enum { OTHERS_SHARE = 2, ONES_SHARE = 8, REPORT_S = 60 };

void crowd_open(struct crowd *w, const struct sockaddr *listener, unsigned places)
{
	pthread_mutex_init(&w->lock, NULL);
	w->places = places;
	peers_open(&w->peers, listener);
}

void crowd_close(struct crowd *w)
{
	peers_close(&w->peers);
	pthread_mutex_destroy(&w->lock);
}

/* ---- who comes ---- */

/* Is there a place for one more of this user? */
static bool has_place(const struct crowd *w, uid_t uid)
{
	unsigned others = 0, same = 0;

	for (int i = 0; i < CROWD_MAX; i++)
		if (w->guest[i].here && w->guest[i].other) {
			others++;
			same += w->guest[i].uid == uid;
		}
	return others < w->places / OTHERS_SHARE && same < w->places / ONES_SHARE;
}

/* root may do anything here anyway. Who has gone already needs no place. */
enum MHD_Result crowd_admits(void *crowd, const struct sockaddr *peer, socklen_t n)
{
	struct crowd *w = crowd;
	struct guest g = { 0 };
	enum peer known = n ? peers_user(&w->peers, peer, &g.uid) : PEER_UNKNOWN;
	bool welcome;

	g.other = known == PEER_KNOWN && g.uid && g.uid != geteuid();
	pthread_mutex_lock(&w->lock);
	welcome = known != PEER_GONE && (!g.other || has_place(w, g.uid));
	w->refused += !welcome;
	w->coming = g;
	pthread_mutex_unlock(&w->lock);
	return welcome ? MHD_YES : MHD_NO;
}

static void enter(struct crowd *w, struct MHD_Connection *c, void **guest)
{
	const union MHD_ConnectionInfo *fd =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	for (int i = 0; fd && i < CROWD_MAX; i++) {
		struct guest *g = &w->guest[i];

		if (g->here)
			continue;
		*g = (struct guest){ .fd = (int)fd->connect_fd,
				     .until_ns = clock_mono_ns() + CROWD_ASK_S * NS_PER_S,
				     .here = true,
				     .other = w->coming.other,
				     .uid = w->coming.uid };
		*guest = g;
		return;
	}
}

void crowd_notify(void *crowd, struct MHD_Connection *c, void **guest,
		  enum MHD_ConnectionNotificationCode code)
{
	struct crowd *w = crowd;

	pthread_mutex_lock(&w->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		enter(w, c, guest);
	else if (*guest)
		((struct guest *)*guest)->here = false;
	pthread_mutex_unlock(&w->lock);
}

static void allow(struct crowd *w, struct MHD_Connection *c, int64_t until_ns)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	pthread_mutex_lock(&w->lock);
	if (i && i->socket_context)
		((struct guest *)i->socket_context)->until_ns = until_ns;
	pthread_mutex_unlock(&w->lock);
}

void crowd_asked(struct crowd *w, struct MHD_Connection *c)
{
	allow(w, c, clock_mono_ns() + CROWD_ANSWER_S * NS_PER_S);
}

void crowd_stays(struct crowd *w, struct MHD_Connection *c)
{
	allow(w, c, INT64_MAX);
}

void crowd_done(struct crowd *w, struct MHD_Connection *c)
{
	allow(w, c, clock_mono_ns() + CROWD_ASK_S * NS_PER_S);
}

/* Its end is seen by the thread that serves it, which then closes it. */
void crowd_expel(struct crowd *w)
{
	int64_t now = clock_mono_ns();

	pthread_mutex_lock(&w->lock);
	for (int i = 0; i < CROWD_MAX; i++)
		if (w->guest[i].here && now > w->guest[i].until_ns)
			shutdown(w->guest[i].fd, SHUT_RDWR);
	pthread_mutex_unlock(&w->lock);
}

uint64_t crowd_report(struct crowd *w)
{
	int64_t now = clock_mono_ns();
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	n = !w->reported_ns || now - w->reported_ns >= REPORT_S * NS_PER_S
		    ? w->refused - w->reported
		    : 0;
	if (n) {
		w->reported = w->refused;
		w->reported_ns = now;
	}
	pthread_mutex_unlock(&w->lock);
	return n;
}
