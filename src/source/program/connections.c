/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/connections.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/xattr.h>
#include <unistd.h>

/* tcpi_snd_wnd, which headers have since Linux 5.4. */
enum { WINDOW_AT = offsetof(struct tcp_info, tcpi_bytes_retrans) + 20 };

static bool take_address(struct sockdiag_address *a, const __be32 *from, uint8_t family)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const uint8_t *byte = (const uint8_t *)from;

	if (family != AF_INET && family != AF_INET6)
		return false;
	a->is_v6 = family == AF_INET6 && memcmp(byte, mapped, sizeof mapped) != 0;
	if (family == AF_INET6 && !a->is_v6)
		byte += sizeof mapped;
	memcpy(a->byte, byte, a->is_v6 ? 16 : 4);
	return true;
}

/* Older kernels say less: what is missing is 0. */
static void take_info(struct sockdiag *d, const uint8_t *data, size_t n)
{
	struct tcp_info i = { 0 };
	uint32_t window;

	memcpy(&i, data, n < sizeof i ? n : sizeof i);
	d->has_info = n >= offsetof(struct tcp_info, tcpi_bytes_received) + 8;
	d->acked = i.tcpi_bytes_acked;
	d->received = i.tcpi_bytes_received;
	d->has_sent = n >= offsetof(struct tcp_info, tcpi_bytes_retrans) + 8;
	d->sent = d->has_sent ? i.tcpi_bytes_sent : i.tcpi_bytes_acked;
	d->sent_again = i.tcpi_bytes_retrans;
	d->segments_again = i.tcpi_total_retrans;
	d->segments_unacked = i.tcpi_unacked;
	d->segments_in = i.tcpi_data_segs_in;
	d->rtt_us = i.tcpi_rtt;
	d->rtt_min_us = i.tcpi_min_rtt;
	d->sent_ago_ms = i.tcpi_last_data_sent;
	d->received_ago_ms = i.tcpi_last_data_recv;
	d->acked_ago_ms = i.tcpi_last_ack_recv;
	d->mss = i.tcpi_snd_mss;
	d->unsent = i.tcpi_notsent_bytes;
	d->congestion = (uint64_t)i.tcpi_snd_cwnd * i.tcpi_snd_mss;
	d->window = UINT64_MAX;
	if (n >= WINDOW_AT + sizeof window) {
		memcpy(&window, data + WINDOW_AT, sizeof window);
		d->window = window;
	}
	d->busy_us = i.tcpi_busy_time;
	d->receiver_us = i.tcpi_rwnd_limited;
	d->buffer_us = i.tcpi_sndbuf_limited;
}

static void take_memory(struct sockdiag *d, const uint8_t *data, size_t n)
{
	uint32_t v[SK_MEMINFO_VARS] = { 0 };

	memcpy(v, data, n < sizeof v ? n : sizeof v);
	d->buffer = v[SK_MEMINFO_SNDBUF];
	d->buffered = v[SK_MEMINFO_WMEM_QUEUED];
}

static bool take_socket(struct sockdiag *d, const uint8_t *data, size_t n)
{
	struct inet_diag_msg m;
	struct nlattr a;

	*d = (struct sockdiag){ 0 };
	if (n < sizeof m)
		return false;
	memcpy(&m, data, sizeof m);
	if (!take_address(&d->local, m.id.idiag_src, m.idiag_family) ||
	    !take_address(&d->remote, m.id.idiag_dst, m.idiag_family))
		return false;
	d->cookie = (uint64_t)m.id.idiag_cookie[1] << 32 | m.id.idiag_cookie[0];
	d->inode = m.idiag_inode;
	d->uid = m.idiag_uid;
	d->state = m.idiag_state;
	d->queued = m.idiag_wqueue;
	d->local_port = ntohs(m.id.idiag_sport);
	d->remote_port = ntohs(m.id.idiag_dport);
	for (size_t at = sizeof m; at < n && n - at >= sizeof a;
	     at += ((size_t)a.nla_len + 3) & ~(size_t)3) {
		memcpy(&a, data + at, sizeof a);
		if (a.nla_len < sizeof a || a.nla_len > n - at)
			return false;
		if (a.nla_type == INET_DIAG_INFO)
			take_info(d, data + at + sizeof a, a.nla_len - sizeof a);
		if (a.nla_type == INET_DIAG_SKMEMINFO)
			take_memory(d, data + at + sizeof a, a.nla_len - sizeof a);
	}
	return true;
}

enum sockdiag_end sockdiag_each(const void *answer, size_t n,
				void (*take)(void *ctx, const struct sockdiag *d), void *ctx,
				int *error)
{
	const uint8_t *data = answer;
	struct nlmsghdr h;
	struct sockdiag d;

	*error = 0;
	for (size_t at = 0; at < n && n - at >= sizeof h;
	     at += ((size_t)h.nlmsg_len + 3) & ~(size_t)3) {
		memcpy(&h, data + at, sizeof h);
		if (h.nlmsg_len < sizeof h || h.nlmsg_len > n - at)
			break;
		if (h.nlmsg_type == NLMSG_DONE)
			return SOCKDIAG_DONE;
		if (h.nlmsg_type == NLMSG_ERROR) {
			if (h.nlmsg_len >= sizeof h + sizeof *error)
				memcpy(error, data + at + sizeof h, sizeof *error);
			if (*error >= 0 || *error < -4095)
				*error = -EPROTO;
			return SOCKDIAG_REFUSED;
		}
		if ((h.nlmsg_type == SOCK_DIAG_BY_FAMILY || h.nlmsg_type == TCPDIAG_GETSOCK) &&
		    take_socket(&d, data + at + sizeof h, h.nlmsg_len - sizeof h))
			take(ctx, &d);
	}
	return SOCKDIAG_MORE;
}

const char *sockdiag_text(const struct sockdiag_address *a, char out[SOCKDIAG_ADDRESS])
{
	out[0] = '\0';
	inet_ntop(a->is_v6 ? AF_INET6 : AF_INET, a->byte, out, SOCKDIAG_ADDRESS);
	return out;
}

bool sockdiag_is_idle(const struct sockdiag *d, int64_t wait_ms)
{
	enum { MUCH = 8 };
	int64_t sent_ago = d->sent_ago_ms, received_ago = d->received_ago_ms;
	bool asked = d->has_sent ? d->sent > 0 : d->acked > 1;

	if (!d->has_info || d->queued || d->segments_unacked ||
	    (d->state != SOCKDIAG_ESTABLISHED && d->state != SOCKDIAG_CLOSE_WAIT))
		return false;
	if (!d->segments_in)
		return !asked;
	if (sent_ago == received_ago)
		return d->acked_ago_ms >= d->received_ago_ms && wait_ms >= 0 &&
		       received_ago * MUCH >= wait_ms;
	return received_ago < sent_ago && received_ago > (sent_ago - received_ago) / 2;
}

enum {
	TCP_READS_MAX = 512, /* of 4 kB: the connections of the machine */
	PORT_DNS = 53,
};
#define LISTENING "0A" /* TCP_LISTEN, as net/tcp writes it */

static const struct {
	const char *protocol, *name;
	size_t words;
	uint8_t family; /* of TCP */
} tables[] = { { "TCP", "tcp", 1, AF_INET },
	       { "TCPv6", "tcp6", 4, AF_INET6 },
	       { "UDP", "udp", 1, 0 },
	       { "UDPv6", "udp6", 4, 0 } };

/* "0500000A:1538" as the kernel prints it: four bytes each as a number of this machine. */
static bool address(const char *hex, size_t words, uint32_t a[4], __be16 *port)
{
	char *end;

	for (size_t i = 0; i < words; i++) {
		char word[9];

		if (strnlen(hex, 8) < 8)
			return false;
		memcpy(word, hex, 8);
		word[8] = '\0';
		a[i] = (uint32_t)strtoul(word, &end, 16);
		if (*end)
			return false;
		hex += 8;
	}
	*port = htons((uint16_t)(*hex == ':' ? strtoul(hex + 1, &end, 16) : 0));
	return true;
}

static bool name(const uint32_t a[4], __be16 port, size_t words, char *out, size_t size)
{
	char text[INET6_ADDRSTRLEN];

	if (!port || !inet_ntop(words == 1 ? AF_INET : AF_INET6, a, text, sizeof text))
		return false;
	snprintf(out, size, words == 1 ? "%s:%u%s" : "[%s]:%u%s", text, ntohs(port),
		 ntohs(port) == PORT_DNS ? " (DNS)" : "");
	return true;
}

/* A line of net/tcp or net/udp: its inode is the tenth field; the address, the peer's and the state
 * are the second to the fourth. */
static bool peer_in_line(char *line, const char *inode, size_t words, struct connection *out)
{
	enum { ADDRESS = 1, PEER = 2, STATE = 3, INODE = 9, FIELDS };
	struct inet_diag_sockid *id = &out->id;
	char *field[FIELDS], *rest = line;
	int n = 0;

	while (n < FIELDS && (field[n] = strtok_r(n ? NULL : line, " ", &rest)))
		n++;
	if (n < FIELDS || strcmp(field[INODE], inode) != 0)
		return false;
	if (!address(field[ADDRESS], words, id->idiag_src, &id->idiag_sport) ||
	    !address(field[PEER], words, id->idiag_dst, &id->idiag_dport))
		return false;
	out->listens = !strcmp(field[STATE], LISTENING);
	out->inode = (uint32_t)strtoul(inode, NULL, 10);
	return name(out->listens ? id->idiag_src : id->idiag_dst,
		    out->listens ? id->idiag_sport : id->idiag_dport, words, out->text,
		    sizeof out->text);
}

/* Line by line: the table of a server is long. */
static bool peer_in_table(int fd, const char *inode, size_t words, struct connection *out)
{
	char text[4096];
	size_t kept = 0;

	for (int n = 0; n < TCP_READS_MAX; n++) {
		ssize_t got = read(fd, text + kept, sizeof text - 1 - kept);
		char *line = text, *end;

		if (got <= 0)
			return false;
		kept += (size_t)got;
		text[kept] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			if (peer_in_line(line, inode, words, out))
				return true;
		}
		kept = strlen(line);
		memmove(text, line, kept);
		if (kept == sizeof text - 1)
			return false;
	}
	return false;
}

/* "TCPv6" of a descriptor; "": the kernel does not tell. */
static void protocol_of(const struct root *proc, pid_t pid, uint64_t fd, char *out, size_t size)
{
	char path[96];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/fd/%d/%d/fd/%llu", proc->fd, (int)pid,
		 (unsigned long long)fd);
	n = getxattr(path, "system.sockprotoname", out, size - 1);
	out[n > 0 ? n : 0] = '\0';
}

static bool search(const struct root *proc, pid_t pid, const char *protocol, const char *inode,
		   struct connection *out)
{
	char path[72];
	bool found = false;

	for (size_t i = 0; !found && i < sizeof tables / sizeof tables[0]; i++) {
		int fd;

		if (*protocol && strcmp(protocol, tables[i].protocol) != 0)
			continue;
		snprintf(path, sizeof path, "%d/net/%s", (int)pid, tables[i].name);
		fd = root_file(proc, path);
		found = fd > 0 && peer_in_table(fd, inode, tables[i].words, out);
		out->family = found ? tables[i].family : 0;
		file_close(&fd);
	}
	return found;
}

static bool has_table(const char *protocol)
{
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		if (!strcmp(protocol, tables[i].protocol))
			return true;
	return false;
}

static bool find_known(const struct connections *x, const char *inode, struct connection *out)
{
	for (size_t i = 0; x && i < CONNECTIONS_KNOWN; i++)
		if (!strcmp(x->inode[i], inode)) {
			*out = x->is[i];
			return true;
		}
	return false;
}

static void keep(struct connections *x, const char *inode, const struct connection *is)
{
	uint32_t at = x->next++ % CONNECTIONS_KNOWN;

	snprintf(x->inode[at], sizeof x->inode[at], "%s", inode);
	x->is[at] = *is;
}

bool connection_of(struct connections *known, const struct root *proc, pid_t pid, uint64_t fd,
		   const char *link, struct connection *out)
{
	char inode[24] = "", protocol[16];

	*out = (struct connection){ 0 };
	if (sscanf(link, "socket:[%20[0-9]]", inode) != 1)
		return false;
	if (find_known(known, inode, out))
		return true;
	protocol_of(proc, pid, fd, protocol, sizeof protocol);
	if (*protocol && !has_table(protocol))
		return false;
	if (*protocol && known && !known->may_search)
		return true;
	if (known)
		known->searched = true;
	if (!search(proc, pid, protocol, inode, out))
		return false;
	if (known)
		keep(known, inode, out);
	return true;
}

/* ---- what goes over it ---- */

static void take(void *ctx, const struct sockdiag *d)
{
	*(struct sockdiag *)ctx = *d;
}

/* One socket, by its ports and addresses: no table is gone through. */
static bool ask(const struct connection *c, struct sockdiag *out)
{
	struct {
		struct nlmsghdr h;
		struct inet_diag_req_v2 r;
	} request = { { .nlmsg_len = sizeof request,
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST },
		      { .sdiag_family = c->family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_ext = 1 << (INET_DIAG_INFO - 1),
			.idiag_states = ~0u,
			.id = c->id } };
	_Alignas(8) uint8_t answer[2048];
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG), error;
	ssize_t n = -1;

	*out = (struct sockdiag){ 0 };
	request.r.id.idiag_cookie[0] = request.r.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	if (fd >= 0 && send(fd, &request, sizeof request, 0) == (ssize_t)sizeof request)
		n = recv(fd, answer, sizeof answer, MSG_DONTWAIT);
	if (fd >= 0)
		close(fd);
	if (n > 0)
		(void)sockdiag_each(answer, (size_t)n, take, out, &error);
	return out->inode == c->inode && c->inode;
}

bool connection_is_idle(struct connections *known, const struct connection *c, int64_t wait_ms)
{
	enum { TRIES = 8 }; /* in vain: the kernel cannot tell */
	struct sockdiag d;
	bool told;

	if (!c->family || (known && known->unanswered >= TRIES))
		return false;
	told = ask(c, &d);
	if (known)
		known->unanswered = told ? 0 : known->unanswered + 1;
	return told && sockdiag_is_idle(&d, wait_ms);
}
