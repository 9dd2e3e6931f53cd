/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ends.h - which processes hold which end of a pipe, and which socket is at the other end of one.
 *
 * By the inodes of /proc/PID/fd of all processes that this one may look at, the kernel's list of
 * local sockets, and net/tcp. No file is touched.
 */
#ifndef SONDE_WAITS_ENDS_H
#define SONDE_WAITS_ENDS_H

#include "base/root.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ends_file {
	uint64_t inode;
	pid_t pid;
	char type; /* 'p' or 's': pipes and sockets have numbers of their own */
	bool reads, writes;
};

struct ends_pair {
	uint64_t inode, peer;
};

struct ends {
	const struct root *proc;
	struct ends_file *file; /* by type and inode */
	uint32_t nfiles, files_cap;
	struct ends_pair *local; /* by inode */
	uint32_t nlocal, local_cap;
	bool blind; /* there are files of the same user's processes that it does not know */
};

/* False: no memory. Free it in either case. */
bool ends_read(struct ends *e, const struct root *proc);
void ends_free(struct ends *e);
/* The first with this inode, up to and without *end. */
const struct ends_file *ends_find(const struct ends *e, char type, uint64_t inode,
				  const struct ends_file **end);
/* Of a local socket; 0: not known, or none. */
uint64_t ends_peer(const struct ends *e, uint64_t inode);

enum { ENDS_ADDRESS = 64 };
struct ends_connection {
	char local[ENDS_ADDRESS], remote[ENDS_ADDRESS]; /* "10.0.0.1:80"; remote "": none */
	const char *protocol;
	bool listens;
	uint64_t peer; /* the inode of the other end, when it is on this node; else 0 */
};
/* Of the socket with this inode, as the process sees the network. False: it is none of TCP or UDP.
 */
bool ends_connection(const struct root *proc, pid_t pid, uint64_t inode, struct ends_connection *c);
/* A line of net/tcp and its like, which is cut up. False: it is none. key: of both addresses, in
 * which 127.0.0.1 of IPv4 and of IPv6 are one. */
struct ends_line {
	char local[ENDS_ADDRESS], remote[ENDS_ADDRESS];
	uint64_t local_key, remote_key, inode;
	bool listens;
};
bool ends_line_parse(struct ends_line *out, char *line);

#endif
