/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers.h - which user is at the other end of a connection over the loopback.
 *
 * The kernel's socket diagnosis (sock_diag) says it to everybody, of sockets in this network
 * namespace. Where it is not there, nobody is known.
 */
#ifndef SONDE_SERVE_PEERS_H
#define SONDE_SERVE_PEERS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct peers {
	int fd; /* -1: nobody is known */
	int family;
	uint32_t address[4]; /* of the listener, in network order */
	in_port_t port;
};

enum peer {
	PEER_UNKNOWN = 0,
	PEER_GONE, /* it has closed its end already */
	PEER_KNOWN,
};

/* Of what is connected to this listener. */
void peers_open(struct peers *p, const struct sockaddr *listener);
void peers_close(struct peers *p);
enum peer peers_user(const struct peers *p, const struct sockaddr *peer, uid_t *uid);

#endif
