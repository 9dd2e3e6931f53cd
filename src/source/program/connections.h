/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections.h - sockets of processes: where they lead, and what the kernel says of those of TCP.
 */
#ifndef SONDE_SOURCE_PROGRAM_CONNECTIONS_H
#define SONDE_SOURCE_PROGRAM_CONNECTIONS_H

#include "base/root.h"

#include <linux/inet_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What the kernel says of TCP sockets (sock_diag(7), NETLINK_SOCK_DIAG): a dump of all
 * of this network namespace, or the last figures of one that was destroyed.
 *
 * Pure: the bytes are hostile. IPv4 addresses mapped into IPv6 are IPv4 addresses here.
 */

/* As in net/tcp_states.h. */
enum sockdiag_state {
	SOCKDIAG_ESTABLISHED = 1,
	SOCKDIAG_FIN_WAIT1 = 4,
	SOCKDIAG_FIN_WAIT2 = 5,
	SOCKDIAG_TIME_WAIT = 6,
	SOCKDIAG_CLOSED = 7,
	SOCKDIAG_CLOSE_WAIT = 8,
	SOCKDIAG_LAST_ACK = 9,
	SOCKDIAG_LISTENS = 10,
	SOCKDIAG_CLOSING = 11,
};

struct sockdiag_address {
	uint8_t byte[16]; /* IPv4: the first 4, the rest is 0 */
	bool is_v6;
};

enum { SOCKDIAG_ADDRESS = 64 };

struct sockdiag {
	uint64_t cookie; /* its name for as long as the machine is up */
	uint32_t inode, uid;
	uint8_t state;
	bool has_info, has_sent; /* the counters are known; sent is not acked (Linux 4.19) */
	uint16_t local_port, remote_port;
	struct sockdiag_address local, remote;
	/* bytes_sent has what was sent again in it, acked and received may have SYN and FIN. */
	uint64_t sent, sent_again, acked, received;
	uint32_t segments_again, segments_unacked, segments_in; /* in: those with data */
	uint32_t rtt_us, rtt_min_us;
	/* How long ago data was sent, or received, or an acknowledgement was; since it is there,
	 * where that never was. The kernel counts in ticks of up to 10 ms. */
	uint32_t sent_ago_ms, received_ago_ms, acked_ago_ms;
	/* Bytes written and not acknowledged, of them not sent; the other end's window, and that of
	 * congestion (UINT64_MAX: not told). Memory of the send buffer, and used of it (0: not
	 * told). */
	uint32_t mss, queued, unsent, buffer, buffered;
	uint64_t window, congestion;
	uint64_t busy_us, receiver_us, buffer_us;
};

enum sockdiag_end { SOCKDIAG_MORE, SOCKDIAG_DONE, SOCKDIAG_REFUSED };

/* Each socket of one answer; error: -errno of the kernel, where it is SOCKDIAG_REFUSED. */
enum sockdiag_end sockdiag_each(const void *answer, size_t n,
				void (*take)(void *ctx, const struct sockdiag *d), void *ctx,
				int *error);
const char *sockdiag_text(const struct sockdiag_address *a, char out[SOCKDIAG_ADDRESS]);

/*
 * Is no answer outstanding, and does none come? What it received last came after what it sent last,
 * and not in pieces until now: longer ago than half of the time that these took. Whether the one
 * was before the other is not known where both were in one tick; then the last word has whoever
 * waits for at most wait_ms (below 0: for ever): one that has waited for much of that longer than
 * answers take. Protocols whose last word is that of who asks (an acknowledgement) are never idle.
 */
bool sockdiag_is_idle(const struct sockdiag *d, int64_t wait_ms);

/*
 * What a socket of a process is connected to, as the tables of /proc/net have it.
 *
 * To search them takes the kernel milliseconds, however few connections there are: it goes through
 * a table as large as the machine's memory asks for. So what was found is kept, and whoever looks
 * often searches only now and then: which protocol a socket has is known without.
 */

/* The other end, or the address where it listens; "": not known. */
struct connection {
	char text[INET6_ADDRSTRLEN + 24];
	bool listens;
	uint8_t family; /* of TCP; 0: not known, or none */
	uint32_t inode;
	struct inet_diag_sockid id; /* its ports and addresses; {0}: not known */
};

enum { CONNECTIONS_KNOWN = 32 };

/* {0} is empty. */
struct connections {
	bool may_search, searched; /* searched: the tables, since that was last cleared */
	uint32_t next, unanswered; /* questions about a connection, one after the other */
	char inode[CONNECTIONS_KNOWN][24];
	struct connection is[CONNECTIONS_KNOWN];
};

/* link: "socket:[123]", what descriptor fd of a process is. known: NULL: search, and keep nothing.
 * False: it is no connection of TCP or UDP, or the tables do not have it. */
bool connection_of(struct connections *known, const struct root *proc, pid_t pid, uint64_t fd,
		   const char *link, struct connection *out);

/* As sockdiag_is_idle, by the kernel; false: it does not say, as of another network namespace. */
bool connection_is_idle(struct connections *known, const struct connection *c, int64_t wait_ms);

#endif
