/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers.h - the TCP connections of a job as rows: a process, another end, a port. What sockets say
 * (connections.h) is added up; nothing is read here, so that it can be tried with made answers.
 *
 * A look is peers_begin, peers_take for each socket of a dump, peers_finish; what is destroyed
 * between looks goes to peers_destroyed. Memory is bounded: what does not fit is counted.
 */
#ifndef SONDE_SOURCE_PROGRAM_PEERS_H
#define SONDE_SOURCE_PROGRAM_PEERS_H

#include "source/program/connections.h"

#include <sys/types.h>

/* In the order of the metrics (source/program/peers.c). */
enum peer_counter {
	PEER_SENT_BYTES,
	PEER_RECEIVED_BYTES,
	PEER_AGAIN_BYTES,
	PEER_AGAIN,
	PEER_RTT_NS,
	PEER_RTT_MIN_NS,
	PEER_OPEN_NS,
	PEER_BUSY_NS,
	PEER_RECEIVER_NS,
	PEER_BUFFER_NS,
	PEER_PROGRAM_NS,
	PEER_CONNECTIONS,
	PEER_UNSEEN_ENDS,
	PEER_COUNTERS
};

enum { PEERS_ROWS = 4096, PEERS_SOCKETS = 16384 };
/* Owners of a socket: not looked for yet, not the job's, else a row. */
enum { PEER_OWNER_UNKNOWN = -1, PEER_OWNER_OTHER = -2 };

struct peers_row {
	uint32_t process;             /* instance */
	uint32_t instance;            /* its own; 0: none yet */
	uint16_t port;                /* of the side that listened */
	bool incoming, changed, many; /* many: all that had no room for a row of their own */
	struct sockdiag_address local, remote;
	int64_t first_ns, last_ns, rtt_sum_us, rtts;
	int64_t value[PEER_COUNTERS];
};

struct peers_socket {
	struct sockdiag last; /* as it was seen last */
	int32_t row;
	int64_t seen_ns, retry_ns, wait_ns; /* retry: to look for its owner again, and then after */
	int64_t counted[PEER_COUNTERS];     /* what its row has of it */
	int64_t before[PEER_COUNTERS];      /* from before the recording */
	uint8_t missed;                     /* looks without it */
	bool first, incoming, fin;          /* fin: the other end has sent all */
	uint64_t widest;                    /* window of the other end */
	/* Of the time that it was busy: what it waited for, as the kernel counts it and as looks
	 * at it say of the rest. */
	uint64_t reader_us, buffer_us, program_us;
};

struct peers_table {
	struct peers_socket *socket;
	uint32_t n, *slot;
};

struct peers_book {
	struct peers_table table[2]; /* of this look and the one before */
	uint32_t now;
	struct peers_row *row;
	uint32_t nrows, rows_most;
	uint8_t *listened;         /* a bit for each port */
	int64_t now_ns, before_ns; /* of this look and the one before */
	bool starts;               /* what is seen now was there before the recording */
	int64_t left_out;
	uint32_t unknown; /* sockets of this look whose owner is to be looked for */
	struct peers_ask {
		uint32_t inode, socket;
	} * ask; /* they, by inode */
};

/* 0 or -ENOMEM; {0} is empty and safe to free. */
int peers_init(struct peers_book *b);
void peers_free(struct peers_book *b);
void peers_begin(struct peers_book *b, int64_t now_ns);
void peers_take(struct peers_book *b, const struct sockdiag *d);
/* All of the dump were taken: their owners may be named. */
void peers_asked(struct peers_book *b);
/* The socket with this inode, if its owner is looked for, is of this process. Says whether it was.
 */
bool peers_own(struct peers_book *b, uint64_t inode, uint32_t process);
/* whole: the dump came to its end; else nothing is said of sockets that were not in it. */
void peers_finish(struct peers_book *b, bool whole);
void peers_destroyed(struct peers_book *b, const struct sockdiag *d, int64_t now_ns);
/* Sockets that are gone, and of whose end nothing was heard yet. */
uint32_t peers_missing(const struct peers_book *b);
/* Nothing more comes: what is gone ended unseen. */
void peers_last(struct peers_book *b);

#endif
