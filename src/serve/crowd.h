/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - who is connected, and for how long: one that does not ask, or does not take its answer,
 * in time is put out, however slowly it goes on.
 *
 * libmicrohttpd ends connections that are silent; these send or take a byte now and then. A fixed
 * number of places; those who come when all are taken wait in the kernel's queue. Other users of
 * the machine have half of the places at most, and one of them an eighth: who comes beyond is
 * refused and counted, so that they cannot keep the places from whose server it is.
 */
#ifndef SONDE_SERVE_CROWD_H
#define SONDE_SERVE_CROWD_H

#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Which user is at the other end of a connection over the loopback. The kernel's socket diagnosis
 * (sock_diag) answers everybody, of sockets in this network namespace. Where it is not there,
 * nobody is known. */
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

enum { CROWD_MAX = 512, CROWD_ASK_S = 10, CROWD_ANSWER_S = 120 };

struct guest {
	int fd;
	int64_t until_ns; /* INT64_MAX: it may stay */
	bool here, other; /* another user, and which */
	uid_t uid;
};

struct crowd {
	pthread_mutex_t lock;
	struct peers peers;
	unsigned places;
	struct guest coming; /* admitted, and not yet here */
	struct guest guest[CROWD_MAX];
	uint64_t refused, reported; /* of other users; of those, how many were reported */
	int64_t reported_ns;
};

void crowd_open(struct crowd *w, const struct sockaddr *listener, unsigned places);
void crowd_close(struct crowd *w);
/* An MHD_AcceptPolicyCallback of which the crowd is the context; crowd_notify comes next, of the
 * same thread. */
enum MHD_Result crowd_admits(void *crowd, const struct sockaddr *peer, socklen_t n);
/* An MHD_NotifyConnectionCallback of which the crowd is the context. */
void crowd_notify(void *crowd, struct MHD_Connection *c, void **guest,
		  enum MHD_ConnectionNotificationCode code);
/* It has asked, and takes its answer; asks for a stream and stays; is done and may ask again. */
void crowd_asked(struct crowd *w, struct MHD_Connection *c);
void crowd_stays(struct crowd *w, struct MHD_Connection *c);
void crowd_done(struct crowd *w, struct MHD_Connection *c);
/* Once a second. */
void crowd_expel(struct crowd *w);
/* How many were refused since this was reported last, at most once a minute; 0: nothing is to be
 * reported.
 */
uint64_t crowd_report(struct crowd *w);

#endif
