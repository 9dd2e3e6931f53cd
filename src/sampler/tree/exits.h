/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exits.h - every fork, exec and exit of a tree, by inherited perf events, with each task's CPU.
 *
 * Two events a CPU are opened on given tasks; all they start afterwards inherits them. For one the
 * kernel writes FORK, COMM and EXIT records, for the other, a task clock, a READ record with the
 * CPU time of each task on that CPU when it ends (perf_event_open(2): inherit_stat). No privilege
 * is needed while perf_event_paranoid <= 2. Records of one task lie in several rings: they are
 * merged by time. READ records are written from any CPU, and two at once can leave their ring stuck
 * (seen on 6.18): then it is mapped anew, and counts are missing, but no birth and no end.
 */
#ifndef SONDE_SAMPLER_TREE_EXITS_H
#define SONDE_SAMPLER_TREE_EXITS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct exits;

/* The events of one CPU cost the job about 2.6 us for each process it starts (Linux 6.18, where
 * that takes 400 to 800 us): to CHEAP less than 5 %, and not worth it above MAX. */
enum { EXITS_CPUS_CHEAP = 8, EXITS_CPUS_MAX = 16, EXITS_FDS_MAX = 2 * EXITS_CPUS_MAX };

struct exits_handler {
	void *ctx;
	void (*forked)(void *ctx, pid_t pid, pid_t ppid, pid_t tid, int64_t at_ns);
	void (*named)(void *ctx, pid_t pid, pid_t tid, const char *comm,
		      bool exec); /* NULL: not known */
	void (*exited)(void *ctx, pid_t pid, pid_t tid, int64_t at_ns);
	void (*counted)(void *ctx, pid_t pid, int64_t cpu_ns);
};

/* On n tasks; on none, for those that are added. 0; -EACCES or -EPERM when perf events are not
 * permitted, -EOPNOTSUPP with more than cpus_max CPUs, which is at most EXITS_CPUS_MAX. */
int exits_open(struct exits **x, const pid_t *tids, size_t n, size_t cpus_max, struct err *e);
void exits_close(struct exits *x);
/* One more task and what it starts; of events opened on none (n 0). 0 or -errno. */
int exits_add(struct exits *x, pid_t tid);

/* Hand out the records in the order of time, those of until_ns included; later ones stay for the
 * next call. What is younger than half a millisecond another CPU may not have written yet. Returns
 * how many records the kernel lost, at least. */
uint64_t exits_drain(struct exits *x, const struct exits_handler *h, int64_t until_ns);

/* Descriptors that become readable when a page of a ring is full; *n of them. */
const int *exits_fds(const struct exits *x, size_t *n);
/* CPUs that are watched: so many counts come for each task that ends. */
size_t exits_cpus(const struct exits *x);

/*
 * Every fork, exec and exit of the machine, as the kernel's proc connector tells.
 *
 * For each the kernel sends a datagram to a netlink socket; whose they are is the caller's to know.
 * Since Linux 6.6 no privilege is needed (before: CAP_NET_ADMIN), but the caller must live in the
 * initial pid and user namespaces: only there are its pids ours, and only there does the kernel
 * acknowledge that somebody listens. No CPU time and no name of what was executed is told. What is
 * not drained before the socket's buffer is full is lost, and that is said.
 */

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
