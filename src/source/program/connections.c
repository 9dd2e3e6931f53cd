/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/connections.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	TCP_READS_MAX = 512, /* of 4 kB: the connections of the machine */
	PORT_DNS = 53,
};
#define LISTENING "0A" /* TCP_LISTEN, as net/tcp writes it */

static const struct {
	const char *protocol, *name;
	size_t words;
} tables[] = {
	{ "TCP", "tcp", 1 }, { "TCPv6", "tcp6", 4 }, { "UDP", "udp", 1 }, { "UDPv6", "udp6", 4 }
};

/* "0500000A:1538" as the kernel prints it: four bytes each as a number of this machine. */
static bool address(const char *hex, size_t words, char *out, size_t size)
{
	uint32_t a[4] = { 0 };
	char text[INET6_ADDRSTRLEN], *end;
	unsigned long port;

	for (size_t i = 0; i < words; i++) {
		char word[9];

		if (strnlen(hex, 8) < 8)
			return false;
		memcpy(word, hex, 8);
		word[8] = '\0';
		a[i] = (uint32_t)strtoul(word, &end, 16);
		if (*end)
			return false;
		hex += 8;
	}
	port = *hex == ':' ? strtoul(hex + 1, &end, 16) : 0;
	if (!port || !inet_ntop(words == 1 ? AF_INET : AF_INET6, a, text, sizeof text))
		return false;
	snprintf(out, size, words == 1 ? "%s:%lu%s" : "[%s]:%lu%s", text, port,
		 port == PORT_DNS ? " (DNS)" : "");
	return true;
}

/* A line of net/tcp or net/udp: its inode is the tenth field; the address, the peer's and the state
 * are the second to the fourth. */
static bool peer_in_line(char *line, const char *inode, size_t words, struct connection *out)
{
	enum { ADDRESS = 1, PEER = 2, STATE = 3, INODE = 9, FIELDS };
	char *field[FIELDS], *rest = line;
	int n = 0;

	while (n < FIELDS && (field[n] = strtok_r(n ? NULL : line, " ", &rest)))
		n++;
	if (n < FIELDS || strcmp(field[INODE], inode) != 0)
		return false;
	out->listens = !strcmp(field[STATE], LISTENING);
	return address(field[out->listens ? ADDRESS : PEER], words, out->text, sizeof out->text);
}

/* Line by line: the table of a server is long. */
static bool peer_in_table(int fd, const char *inode, size_t words, struct connection *out)
{
	char text[4096];
	size_t kept = 0;

	for (int n = 0; n < TCP_READS_MAX; n++) {
		ssize_t got = read(fd, text + kept, sizeof text - 1 - kept);
		char *line = text, *end;

		if (got <= 0)
			return false;
		kept += (size_t)got;
		text[kept] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			if (peer_in_line(line, inode, words, out))
				return true;
		}
		kept = strlen(line);
		memmove(text, line, kept);
		if (kept == sizeof text - 1)
			return false;
	}
	return false;
}

/* "TCPv6" of a descriptor; "": the kernel does not tell. */
static void protocol_of(const struct root *proc, pid_t pid, uint64_t fd, char *out, size_t size)
{
	char path[96];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/fd/%d/%d/fd/%llu", proc->fd, (int)pid,
		 (unsigned long long)fd);
	n = getxattr(path, "system.sockprotoname", out, size - 1);
	out[n > 0 ? n : 0] = '\0';
}

static bool search(const struct root *proc, pid_t pid, const char *protocol, const char *inode,
		   struct connection *out)
{
	char path[72];
	bool found = false;

	for (size_t i = 0; !found && i < sizeof tables / sizeof tables[0]; i++) {
		int fd;

		if (*protocol && strcmp(protocol, tables[i].protocol) != 0)
			continue;
		snprintf(path, sizeof path, "%d/net/%s", (int)pid, tables[i].name);
		fd = root_file(proc, path);
		found = fd > 0 && peer_in_table(fd, inode, tables[i].words, out);
		file_close(&fd);
	}
	return found;
}

static bool has_table(const char *protocol)
{
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		if (!strcmp(protocol, tables[i].protocol))
			return true;
	return false;
}

static bool find_known(const struct connections *x, const char *inode, struct connection *out)
{
	for (size_t i = 0; x && i < CONNECTIONS_KNOWN; i++)
		if (!strcmp(x->inode[i], inode)) {
			*out = x->is[i];
			return true;
		}
	return false;
}

static void keep(struct connections *x, const char *inode, const struct connection *is)
{
	uint32_t at = x->next++ % CONNECTIONS_KNOWN;

	snprintf(x->inode[at], sizeof x->inode[at], "%s", inode);
	x->is[at] = *is;
}

bool connection_of(struct connections *known, const struct root *proc, pid_t pid, uint64_t fd,
		   const char *link, struct connection *out)
{
	char inode[24] = "", protocol[16];

	*out = (struct connection){ 0 };
	if (sscanf(link, "socket:[%20[0-9]]", inode) != 1)
		return false;
	if (find_known(known, inode, out))
		return true;
	protocol_of(proc, pid, fd, protocol, sizeof protocol);
	if (*protocol && !has_table(protocol))
		return false;
	if (*protocol && known && !known->may_search)
		return true;
	if (known)
		known->searched = true;
	if (!search(proc, pid, protocol, inode, out))
		return false;
	if (known)
		keep(known, inode, out);
	return true;
}
