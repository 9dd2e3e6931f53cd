/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connector.h - every fork, exec and exit of the machine, as the kernel's proc connector tells.
 *
 * For each the kernel sends a datagram to a netlink socket; whose they are is the caller's to know.
 * Since Linux 6.6 no privilege is needed (before: CAP_NET_ADMIN), but the caller must live in the
 * initial pid and user namespaces: only there are its pids ours, and only there does the kernel
 * acknowledge that somebody listens. No CPU time and no name of what was executed is told. What is
 * not drained before the socket's buffer is full is lost, and that is said.
 */
#ifndef SONDE_SAMPLER_TREE_CONNECTOR_H
#define SONDE_SAMPLER_TREE_CONNECTOR_H

#include "base/err.h"
#include "sampler/tree/exits.h"

/* Others' processes are told, too: the most that is read in a second, the rest is lost. */
enum { CONNECTOR_RECORDS_PER_S = 20000 };

struct connector {
	int fd; /* 0: closed; readable when something was told */
	uint32_t taken;
	int64_t second_ns; /* in which so many were taken */
};

/* 0; -EPERM where it is not permitted, -EOPNOTSUPP where the kernel does not tell. */
int connector_open(struct connector *c, struct err *e);
void connector_close(struct connector *c);

/* Hand out what was told, in order; all of it, or what the second still allows. A name is NULL:
 * not known. Returns how many times records were lost. */
uint64_t connector_drain(struct connector *c, const struct exits_handler *h, bool all);

/* Hand out one datagram of n bytes; what is no record of the connector is passed over. */
void connector_parse(const void *datagram, size_t n, const struct exits_handler *h);

#endif
