/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/sockdiag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <string.h>
#include <sys/socket.h>

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
