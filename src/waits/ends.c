/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/ends.h"

#include "base/array.h"
#include "base/text/number.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 2000000, TABLE_READS_MAX = 4096, WORD = 8, LISTENS = 10 /* TCP_LISTEN */ };

/* ---- who has which file ---- */

/* "pipe:[12]" or "socket:[12]". */
static bool parse_link(const char *link, char *type, uint64_t *inode)
{
	const char *at = link;

	*type = !strncmp(link, "pipe:[", 6) ? 'p' : !strncmp(link, "socket:[", 8) ? 's' : '\0';
	at += *type == 'p' ? 6 : 8;
	return *type && number_u64(&at, inode) && *at == ']';
}

static bool add_file(struct ends *e, const struct ends_file *f)
{
	struct ends_file *grown =
		e->nfiles < FILES_MAX ? array_room(e->file, e->nfiles, &e->files_cap, sizeof *grown)
				      : NULL;

	if (!grown)
		return false;
	e->file = grown;
	grown[e->nfiles++] = *f;
	return true;
}

static bool is_of_this_user(const struct ends *e, pid_t pid)
{
	char path[32], text[4096];
	const char *at;
	uint64_t uid;

	snprintf(path, sizeof path, "%d/status", (int)pid);
	at = root_read(e->proc, path, text, sizeof text) > 0 ? number_find_line(text, "Uid:")
							     : NULL;
	return at && number_u64(&at, &uid) && uid == geteuid();
}

/* A link's own rights tell what the file may be used for. */
static bool add_process(struct ends *e, pid_t pid)
{
	char path[48], link[64];
	struct ends_file f = { .pid = pid };
	struct dirent *entry;
	bool ok = true;
	DIR *dir;
	int fd;

	snprintf(path, sizeof path, "%d/fd", (int)pid);
	fd = root_file(e->proc, path);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		e->blind |= fd != -ENOENT && is_of_this_user(e, pid);
		return true;
	}
	while (ok && (entry = readdir(dir))) {
		struct stat st;
		ssize_t n = readlinkat(fd, entry->d_name, link, sizeof link - 1);

		if (n <= 0)
			continue;
		link[n] = '\0';
		if (!parse_link(link, &f.type, &f.inode) ||
		    fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		f.reads = st.st_mode & S_IRUSR;
		f.writes = st.st_mode & S_IWUSR;
		ok = add_file(e, &f);
	}
	closedir(dir);
	return ok;
}

static int by_inode(const void *a, const void *b)
{
	const struct ends_file *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

const struct ends_file *ends_find(const struct ends *e, char type, uint64_t inode,
				  const struct ends_file **end)
{
	uint32_t low = 0, high = e->nfiles, last;

	while (low < high) {
		uint32_t mid = (low + high) / 2;
		const struct ends_file *f = &e->file[mid];

		if (f->type < type || (f->type == type && f->inode < inode))
			low = mid + 1;
		else
			high = mid;
	}
	for (last = low;
	     last < e->nfiles && e->file[last].type == type && e->file[last].inode == inode; last++)
		;
	*end = e->file + last;
	return e->file + low;
}

/* ---- local sockets ---- */

/* Attributes follow the message, each padded to 4 bytes. */
static void add_pair(struct ends *e, const struct nlmsghdr *h)
{
	const struct unix_diag_msg *m = NLMSG_DATA(h);
	const char *at = (const char *)(m + 1), *end = (const char *)h + h->nlmsg_len;
	struct rtattr a;

	for (; end - at >= (ptrdiff_t)sizeof a; at += RTA_ALIGN(a.rta_len)) {
		struct ends_pair *grown;
		uint32_t peer;

		memcpy(&a, at, sizeof a);
		if (a.rta_len < sizeof a || a.rta_len > end - at)
			return;
		if (a.rta_type != UNIX_DIAG_PEER || a.rta_len < sizeof a + sizeof peer)
			continue;
		memcpy(&peer, at + sizeof a, sizeof peer);
		grown = array_room(e->local, e->nlocal, &e->local_cap, sizeof *grown);
		if (!grown)
			return;
		e->local = grown;
		grown[e->nlocal++] = (struct ends_pair){ m->udiag_ino, peer };
	}
}

/* False: the list is over. */
static bool take_answer(struct ends *e, const void *data, ssize_t n)
{
	for (const struct nlmsghdr *h = data; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
			return false;
		if (h->nlmsg_type == SOCK_DIAG_BY_FAMILY &&
		    h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct unix_diag_msg)))
			add_pair(e, h);
	}
	return true;
}

static int by_socket(const void *a, const void *b)
{
	const struct ends_pair *x = a, *y = b;

	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static void read_local(struct ends *e)
{
	const struct {
		struct nlmsghdr h;
		struct unix_diag_req r;
	} ask = { { .nlmsg_len = sizeof ask,
		    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		  { .sdiag_family = AF_UNIX,
		    .udiag_states = UINT32_MAX,
		    .udiag_show = UDIAG_SHOW_PEER } };
	_Alignas(8) char answer[32768];
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	bool more = fd >= 0 && send(fd, &ask, sizeof ask, 0) == (ssize_t)sizeof ask;

	while (more) {
		ssize_t n = recv(fd, answer, sizeof answer, 0);

		more = n > 0 && take_answer(e, answer, n);
	}
	if (fd >= 0)
		close(fd);
	if (e->nlocal)
		qsort(e->local, e->nlocal, sizeof *e->local, by_socket);
}

uint64_t ends_peer(const struct ends *e, uint64_t inode)
{
	const struct ends_pair like = { inode, 0 };
	const struct ends_pair *found =
		e->nlocal ? bsearch(&like, e->local, e->nlocal, sizeof like, by_socket) : NULL;

	return found ? found->peer : 0;
}

bool ends_read(struct ends *e, const struct root *proc)
{
	struct dirent *entry;
	bool ok = true;
	int fd = openat(proc->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	*e = (struct ends){ .proc = proc };
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (ok && (entry = readdir(dir))) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid < INT32_MAX)
			ok = add_process(e, (pid_t)pid);
	}
	closedir(dir);
	e->blind |= !ok;
	if (e->nfiles)
		qsort(e->file, e->nfiles, sizeof *e->file, by_inode);
	read_local(e);
	return ok;
}

void ends_free(struct ends *e)
{
	free(e->file);
	free(e->local);
	*e = (struct ends){ 0 };
}

/* ---- connections ---- */

static bool hex_word(const char *from, uint32_t *out)
{
	char word[WORD + 1], *end;

	if (strnlen(from, WORD) < WORD)
		return false;
	memcpy(word, from, WORD);
	word[WORD] = '\0';
	*out = (uint32_t)strtoul(word, &end, 16);
	return !*end;
}

/* "0500000A:1538" as the kernel prints it: words of this machine's order. */
static bool parse_address(const char *hex, char out[ENDS_ADDRESS], uint64_t *key)
{
	size_t digits = strspn(hex, "0123456789ABCDEFabcdef"), words = digits / WORD;
	bool mapped;
	char text[INET6_ADDRSTRLEN];
	uint32_t a[4] = { 0 };
	unsigned long port;

	if ((digits != WORD && digits != 4 * WORD) || hex[digits] != ':')
		return false;
	for (size_t i = 0; i < words; i++)
		if (!hex_word(hex + i * WORD, &a[i]))
			return false;
	port = strtoul(hex + digits + 1, NULL, 16);
	mapped = words == 4 && !a[0] && !a[1] && a[2] == htonl(0xffff);
	if (!inet_ntop(words == 1 || mapped ? AF_INET : AF_INET6, mapped ? &a[3] : a, text,
		       sizeof text))
		return false;
	snprintf(out, ENDS_ADDRESS, words == 1 || mapped ? "%s:%lu" : "[%s]:%lu", text, port);
	*key = (uint64_t)(words == 1 ? a[0] : a[0] ^ a[1] ^ a[3]) << 16 | (port & 0xffff);
	return true;
}

bool ends_line_parse(struct ends_line *out, char *line)
{
	enum { LOCAL = 1, REMOTE, STATE, INODE = 9, FIELDS };
	char *field[FIELDS], *rest = line;
	const char *number;
	int n = 0;

	while (n < FIELDS && (field[n] = strtok_r(n ? NULL : line, " ", &rest)))
		n++;
	if (n < FIELDS || !parse_address(field[LOCAL], out->local, &out->local_key) ||
	    !parse_address(field[REMOTE], out->remote, &out->remote_key))
		return false;
	out->listens = strtoul(field[STATE], NULL, 16) == LISTENS;
	number = field[INODE];
	return number_u64(&number, &out->inode);
}

/* Each line of one table, until take says that it has what it wants. */
static bool each_line(const struct root *proc, pid_t pid, const char *table,
		      bool (*take)(void *ctx, const struct ends_line *l), void *ctx)
{
	char path[48], text[8192];
	size_t kept = 0;
	bool found = false;
	int fd;

	snprintf(path, sizeof path, "%d/net/%s", (int)pid, table);
	fd = root_file(proc, path);
	for (int reads = 0; fd >= 0 && !found && reads < TABLE_READS_MAX; reads++) {
		ssize_t n = read(fd, text + kept, sizeof text - 1 - kept);
		char *line = text, *end;

		if (n <= 0)
			break;
		kept += (size_t)n;
		text[kept] = '\0';
		for (; !found && (end = strchr(line, '\n')); line = end + 1) {
			struct ends_line l;

			*end = '\0';
			found = ends_line_parse(&l, line) && take(ctx, &l);
		}
		kept = strlen(line);
		if (kept == sizeof text - 1)
			break;
		memmove(text, line, kept);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

static bool is_inode(void *ctx, const struct ends_line *l)
{
	struct ends_line *wanted = ctx;

	if (l->inode != wanted->inode)
		return false;
	*wanted = *l;
	return true;
}

static bool is_other_end(void *ctx, const struct ends_line *l)
{
	struct ends_line *mine = ctx;

	if (l->listens || l->local_key != mine->remote_key || l->remote_key != mine->local_key)
		return false;
	mine->inode = l->inode;
	return true;
}

bool ends_connection(const struct root *proc, pid_t pid, uint64_t inode, struct ends_connection *c)
{
	static const struct {
		const char *name, *protocol;
	} tables[] = { { "tcp", "TCP" }, { "tcp6", "TCP" }, { "udp", "UDP" }, { "udp6", "UDP" } };
	enum { TABLES = sizeof tables / sizeof tables[0] };
	struct ends_line l = { .inode = inode };
	size_t i = 0;

	while (i < TABLES && !each_line(proc, pid, tables[i].name, is_inode, &l))
		i++;
	if (i == TABLES)
		return false;
	*c = (struct ends_connection){ .protocol = tables[i].protocol, .listens = l.listens };
	snprintf(c->local, sizeof c->local, "%s", l.local);
	if (l.remote_key & 0xffff)
		snprintf(c->remote, sizeof c->remote, "%s", l.remote);
	if (!c->remote[0] || c->listens)
		return true;
	for (i = 0; i < TABLES && !c->peer; i++)
		if (tables[i].protocol == c->protocol &&
		    each_line(proc, pid, tables[i].name, is_other_end, &l))
			c->peer = l.inode;
	return true;
}
