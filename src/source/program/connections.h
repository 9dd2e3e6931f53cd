/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections.h - what a socket of a process is connected to, as the tables of /proc/net have it.
 *
 * To search them takes the kernel milliseconds, however few connections there are: it goes through
 * a table as large as the machine's memory asks for. So what was found is kept, and whoever looks
 * often searches only now and then: which protocol a socket has is known without.
 */
#ifndef SONDE_SOURCE_PROGRAM_CONNECTIONS_H
#define SONDE_SOURCE_PROGRAM_CONNECTIONS_H

#include "base/root.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The other end, or the address where it listens; "": not known. */
struct connection {
	char text[INET6_ADDRSTRLEN + 24];
	bool listens;
};

enum { CONNECTIONS_KNOWN = 32 };

/* {0} is empty. */
struct connections {
	bool may_search, searched; /* searched: the tables, since that was last cleared */
	uint32_t next;
	char inode[CONNECTIONS_KNOWN][24];
	struct connection is[CONNECTIONS_KNOWN];
};

/* link: "socket:[123]", what descriptor fd of a process is. known: NULL: search, and keep nothing.
 * False: it is no connection of TCP or UDP, or the tables do not have it. */
bool connection_of(struct connections *known, const struct root *proc, pid_t pid, uint64_t fd,
		   const char *link, struct connection *out);

#endif
