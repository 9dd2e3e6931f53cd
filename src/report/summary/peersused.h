/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peersused.h - with whom the job talked by TCP (`sonde run --peers`): a row for each process,
 * other end and port; sums of them; bytes from node to node; and what limited the transfers.
 *
 * Names and addresses are hostile. What is not known is NAN.
 */
#ifndef SONDE_REPORT_SUMMARY_PEERSUSED_H
#define SONDE_REPORT_SUMMARY_PEERSUSED_H

#include "base/bytes.h"
#include "core/frame/run.h"

#include <stdio.h>

enum peer_used {
	PEER_SENT,
	PEER_RECEIVED,
	PEER_RETRANSMITTED,
	PEER_RETRANSMITS,
	PEER_RTT,
	PEER_RTT_MIN,
	PEER_OPEN,
	PEER_BUSY,
	PEER_RECEIVER,
	PEER_BUFFER,
	PEER_PROGRAM,
	PEER_CONNECTIONS_SEEN,
	PEER_UNSEEN,
	PEER_NETWORK, /* made here: of the time sending, what none of the three limited */
	PEER_USED
};
/* As in JSON: "sent_bytes". */
extern const char *const peer_used_names[PEER_USED];

enum peer_limit {
	PEER_LIMIT_NONE,
	PEER_LIMIT_READER,
	PEER_LIMIT_BUFFER,
	PEER_LIMIT_NETWORK,
	PEER_LIMIT_PROGRAM
};
/* "reader", "send buffer", "network", "program" (it seldom had anything to send); NULL: none. */
extern const char *const peer_limit_names[];

struct peer_row {
	const char *name, *process, *remote, *local, *port, *direction; /* or NULL */
	const char *remote_node; /* of this run; NULL: none of its nodes, or not known */
	uint32_t node, to;       /* to: 0 if remote_node is NULL */
	double value[PEER_USED];
};

struct peers_used {
	struct peer_row *row; /* that of most bytes first */
	size_t n;
	double *matrix; /* nnodes x nnodes bytes, from first to second; NULL: one node */
	uint32_t nnodes;
	const char **nodes;         /* from 1; hostile */
	const char *refused, *note; /* hostile; or NULL */
	/* For rules: the row that waited longest for its reader, or its send buffer; and that which
	 * had most to send again. NULL: none. */
	const struct peer_row *reader, *buffer, *again;
};

/* *out NULL: nobody asked for it. 0 or -errno with a sentence. */
int peers_used_make(struct peers_used **out, const struct run *r, struct err *e);
void peers_used_free(struct peers_used *u);
enum peer_limit peer_limit_of(const struct peer_row *r);
/* "n12 (10.0.0.12:5000)", or the name; hostile. Returns out. */
const char *peer_row_name(const struct peer_row *r, char *out, size_t size);

/* For terminals and scripts: report/text/mpi.c. */
void peers_used_print(const struct peers_used *u, size_t most, FILE *out);
void peers_used_json(const struct peers_used *u, struct bytes *out);
/* "1.2 GiB to 10.0.0.2:5000, waited for the reader"; nothing where there are none. */
void peers_used_words(const struct peers_used *u, size_t most, struct bytes *out);

#endif
