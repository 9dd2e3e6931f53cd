/* SPDX-License-Identifier: Apache-2.0 */
/* peers.c - with whom the job's processes talk by TCP, how much, and what limited them. A few times
 * a second the kernel lists all sockets of this network namespace (sock_diag); /proc/PID/fd tells
 * which are the job's. It tells of each that is destroyed, too, so that the last figures are not
 * lost. Rows become instances whose final counters are stored every ten seconds. */
#include "source/program/peers.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/text/number.h"
#include "source/period.h"
#include "source/procfile.h"
#include "source/source.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	PIDS_MOST = 4096,
	ANSWER = 32768,
	ROOM = 4 << 20,
	LAST_MS = 20,
	TRIES = 3,
	COST_PART = 400, /* looks take at most this part of a core */
};
#define LOOK_NS      (NS_PER_S / 5)
#define LOOK_MOST_NS (60 * NS_PER_S)
#define STORE_NS     (10 * NS_PER_S)

#define ROW(name_, unit_, combine_, label_, help_)                                                 \
	{                                                                                          \
		"peer." name_, .domain = "peer", .unit = UNIT_##unit_, .kind = KIND_TOTAL,         \
			       .over_instances = COMBINE_##combine_,                               \
			       .over_nodes = COMBINE_##combine_, .label = label_, .help = help_    \
	}
#define NS(name_, combine_, label_, help_)                                                         \
	{                                                                                          \
		"peer." name_, .domain = "peer", .unit = UNIT_SECONDS, .div = 1000000000,          \
			       .kind = KIND_TOTAL, .over_instances = COMBINE_##combine_,           \
			       .over_nodes = COMBINE_##combine_, .label = label_, .help = help_    \
	}

static const struct metric metrics[] = {
	[PEER_SENT_BYTES] =
		ROW("sent_bytes", BYTES, SUM, "Sent",
		    "Bytes that a process sent to another end by TCP, each once (`--peers`)."),
	[PEER_RECEIVED_BYTES] = ROW("received_bytes", BYTES, SUM, "Received",
				    "Bytes that a process received from another end by TCP."),
	[PEER_AGAIN_BYTES] = ROW("retransmitted_bytes", BYTES, SUM, "Sent again",
				 "Bytes that TCP had to send again."),
	[PEER_AGAIN] = ROW("retransmits", COUNT, SUM, "Retransmits",
			   "Segments that TCP had to send again."),
	[PEER_RTT_NS] = NS("rtt_seconds", MEAN, "Round trip",
			   "Smoothed round trip, mean over looks at the connections."),
	[PEER_RTT_MIN_NS] = NS("rtt_min_seconds", MIN, "Shortest round trip",
			       "Shortest round trip that TCP has seen."),
	[PEER_OPEN_NS] = NS("open_seconds", SUM, "Open",
			    "How long connections were seen to be there, over all of them."),
	[PEER_BUSY_NS] = NS("busy_seconds", SUM, "Sending",
			    "How long there was something to send or to be acknowledged."),
	[PEER_RECEIVER_NS] = NS("receiver_limited_seconds", SUM, "Waited for the reader",
				"Of the time sending: the other end's window was full."),
	[PEER_BUFFER_NS] = NS("buffer_limited_seconds", SUM, "Waited for the send buffer",
			      "Of the time sending: the send buffer was full, and all of it was "
			      "on its way."),
	[PEER_PROGRAM_NS] = NS("program_limited_seconds", SUM, "Waited for the program",
			       "Of the time sending: all was on its way, and the program had "
			       "written no more."),
	[PEER_CONNECTIONS] =
		ROW("connections", COUNT, SUM, "Connections", "Connections that were seen."),
	[PEER_UNSEEN_ENDS] = ROW("unseen_ends", COUNT, SUM, "Ended unseen",
				 "Connections whose last figures are not known: what is said of "
				 "them is a lower limit."),
};
_Static_assert(sizeof metrics / sizeof metrics[0] == PEER_COUNTERS, "a row for every counter");

struct peers {
	const struct source_env *env;
	int ask, ends; /* sockets; 0: closed */
	bool over, all_uids;
	uid_t uid;
	struct peers_book *book;
	struct fdlist fds;
	struct period looks, stores;
	int64_t period_ns, dropped;
	pid_t pids[PIDS_MOST];
	_Alignas(8) uint8_t answer[ANSWER];
};

static int64_t thread_cpu_ns(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* ---- what the kernel says ---- */

static void take(void *ctx, const struct sockdiag *d)
{
	struct peers *k = ctx;

	if (k->all_uids || d->uid == k->uid || d->state == SOCKDIAG_LISTENS || !d->inode)
		peers_take(k->book, d);
}

static int open_ask(struct peers *k)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	file_close(&k->ask);
	k->ask = fd < 0 ? 0 : fd;
	return fd < 0 ? -errno : 0;
}

/* All sockets, of IPv4 and IPv6 in one list; 0 or -errno. */
static int dump(struct peers *k)
{
	const struct {
		struct nlmsghdr h;
		struct inet_diag_req r;
	} request = { { .nlmsg_len = sizeof request,
			.nlmsg_type = TCPDIAG_GETSOCK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		      { .idiag_family = AF_INET,
			.idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_SKMEMINFO - 1),
			.idiag_states = ~(1u << SOCKDIAG_TIME_WAIT) } };
	enum sockdiag_end end = SOCKDIAG_MORE;
	int error = 0;

	if (send(k->ask, &request, sizeof request, 0) != (ssize_t)sizeof request)
		return -errno;
	while (end == SOCKDIAG_MORE) {
		ssize_t n = recv(k->ask, k->answer, sizeof k->answer, MSG_DONTWAIT | MSG_TRUNC);

		if (n <= 0)
			return n ? -errno : -EPIPE;
		if ((size_t)n > sizeof k->answer)
			return -EMSGSIZE;
		end = sockdiag_each(k->answer, (size_t)n, take, k, &error);
	}
	return end == SOCKDIAG_REFUSED ? error : 0;
}

static void take_end(void *ctx, const struct sockdiag *d)
{
	struct peers *k = ctx;

	peers_destroyed(k->book, d, clock_mono_ns());
}

/* Where messages were lost, sockets go without a word. */
static void hear_ends(struct peers *k)
{
	int error;
	ssize_t n;

	while (k->ends && ((n = recv(k->ends, k->answer, sizeof k->answer, MSG_DONTWAIT)) > 0 ||
			   (n < 0 && errno == ENOBUFS)))
		if (n > 0)
			(void)sockdiag_each(k->answer, (size_t)n, take_end, k, &error);
}

/* ---- whose a socket is ---- */

static void look_into(struct peers *k, pid_t pid, uint32_t *left)
{
	const struct source_job *job = &k->env->job;
	char target[FDLIST_TARGET];
	uint64_t inode;
	int fd;

	if (fdlist_open(&k->fds, &k->env->proc, pid))
		return;
	while (*left && fdlist_next(&k->fds, &fd, target)) {
		const char *at = target + 8;

		if (!strncmp(target, "socket:[", 8) && number_u64(&at, &inode) && *at == ']' &&
		    peers_own(k->book, inode, job->instance(job->tree, pid)))
			--*left;
	}
	fdlist_close(&k->fds);
}

static void find_owners(struct peers *k)
{
	const struct source_job *job = &k->env->job;
	uint32_t left = k->book->unknown;
	size_t n;

	if (!left || !job->tree)
		return;
	peers_asked(k->book);
	n = job->pids(job->tree, k->pids, PIDS_MOST);
	for (size_t i = 0; i < n && left; i++)
		look_into(k, k->pids[i], &left);
}

/* ---- rows ---- */

static const char *shown(const struct peers *k, const char *text, struct bytes *room)
{
	bytes_reset(room);
	if (!k->env->mask.text)
		return text;
	k->env->mask.text(k->env->mask.secrets, room, text);
	bytes_u8(room, 0);
	return room->failed ? "(masked)" : (const char *)room->data;
}

static uint32_t new_instance(struct peers *k, struct sample *s, const struct peers_row *r)
{
	char name[SOCKDIAG_ADDRESS + 32], address[SOCKDIAG_ADDRESS], port[8], masked[256];
	struct bytes room = { .data = (uint8_t *)masked, .cap = sizeof masked, .fixed = true };
	uint32_t id;

	if (r->many)
		return sample_instance(s, "peer", "(other ends)", 0, r->first_ns, 0);
	sockdiag_text(&r->remote, address);
	snprintf(name, sizeof name,
		 r->incoming       ? "%s to port %u"
		 : r->remote.is_v6 ? "[%s]:%u"
				   : "%s:%u",
		 address, r->port);
	id = sample_instance(s, "peer", shown(k, name, &room), r->process, r->first_ns, 0);
	snprintf(port, sizeof port, "%u", r->port);
	sample_label(s, id, "remote", shown(k, address, &room));
	sample_label(s, id, "local", shown(k, sockdiag_text(&r->local, address), &room));
	sample_label(s, id, "port", port);
	sample_label(s, id, "direction", r->incoming ? "in" : "out");
	return id;
}

static uint64_t known(const struct peers_row *r)
{
	uint64_t all = (UINT64_C(1) << PEER_COUNTERS) - 1;

	if (!r->value[PEER_RTT_NS])
		all &= ~(UINT64_C(1) << PEER_RTT_NS);
	if (!r->value[PEER_RTT_MIN_NS])
		all &= ~(UINT64_C(1) << PEER_RTT_MIN_NS);
	return all;
}

static void store(struct peers *k, struct sample *s)
{
	for (uint32_t i = 0; i < k->book->nrows; i++) {
		struct peers_row *r = &k->book->row[i];

		if (!r->changed)
			continue;
		if (s->nevents > s->event_cap / 4 * 3 || s->text_len > s->text_cap / 4 * 3)
			return; /* the next time */
		if (!r->instance)
			r->instance = new_instance(k, s, r);
		sample_final(s, r->instance, metrics, PEER_COUNTERS, r->value, known(r));
		sample_end(s, r->instance, r->last_ns);
		r->changed = false;
	}
}

/* ---- reading ---- */

/* It takes what it takes: looks are so far apart that it is a small part of a core. A dump that
 * broke off (ENOBUFS) has left answers behind: the next one begins with a new socket. */
static int look(struct peers *k)
{
	int64_t began_ns = thread_cpu_ns(), cost_ns;
	int bad = k->ask ? 0 : open_ask(k);

	peers_begin(k->book, clock_mono_ns());
	if (!bad)
		bad = dump(k);
	if (!bad)
		find_owners(k);
	else
		file_close(&k->ask);
	peers_finish(k->book, !bad);
	hear_ends(k);
	cost_ns = (thread_cpu_ns() - began_ns) * COST_PART;
	k->period_ns = cost_ns < LOOK_NS        ? LOOK_NS
		       : cost_ns < LOOK_MOST_NS ? cost_ns
						: LOOK_MOST_NS;
	return bad;
}

/* What is destroyed is told a moment later. */
static void finish(struct peers *k, struct sample *s)
{
	struct pollfd p = { .fd = k->ends, .events = POLLIN };

	for (int i = 0; i < LAST_MS && k->ends && peers_missing(k->book); i++) {
		(void)poll(&p, 1, 1);
		hear_ends(k);
	}
	peers_last(k->book);
	if (k->book->left_out)
		sample_meta_int(s, "peers.sockets_left_out", k->book->left_out);
	k->over = true;
}

static int peers_read(void *state, struct sample *s)
{
	struct peers *k = state;
	bool due;
	int bad = 0;

	if (k->over)
		return 0;
	due = period_is_due(&k->looks, s, k->period_ns);
	if (due)
		bad = look(k);
	else
		hear_ends(k);
	if (s->last)
		finish(k, s);
	if (period_is_due(&k->stores, s, STORE_NS))
		store(k, s);
	return bad;
}

/* ---- opening ---- */

/* 0: the kernel does not tell of sockets that are destroyed. */
static int listen_for_ends(void)
{
	struct sockaddr_nl own = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG), room = ROOM;
	int groups[] = { SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY };
	bool bad = fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof own) != 0;

	for (int i = 0; i < 2 && !bad; i++)
		bad = setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i],
				 sizeof groups[i]) != 0;
	if (!bad && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room))
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
	if (bad && fd >= 0)
		close(fd);
	return bad ? 0 : fd;
}

/* By which other nodes know this one. */
static void say_addresses(const struct peers *k, struct sample *s)
{
	char text[1024] = "", one[INET6_ADDRSTRLEN], masked[2304]; /* names are longer */
	struct bytes room = { .data = (uint8_t *)masked, .cap = sizeof masked, .fixed = true };
	struct ifaddrs *all, *i;
	size_t len = 0;

	if (getifaddrs(&all))
		return;
	for (i = all; i; i = i->ifa_next) {
		const struct sockaddr *a = i->ifa_addr;
		const void *from =
			!a ? NULL
			: a->sa_family == AF_INET
				? (const void *)&((const struct sockaddr_in *)(const void *)a)
					  ->sin_addr
			: a->sa_family == AF_INET6
				? (const void *)&((const struct sockaddr_in6 *)(const void *)a)
					  ->sin6_addr
				: NULL;

		if (!from || i->ifa_flags & IFF_LOOPBACK ||
		    !inet_ntop(a->sa_family, from, one, sizeof one) ||
		    len + strlen(one) + 2 > sizeof text)
			continue;
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len ? " " : "", one);
	}
	freeifaddrs(all);
	sample_meta_text(s, "peers.addresses", shown(k, text, &room));
}

static void peers_close(void *state)
{
	struct peers *k = state;

	file_close(&k->ask);
	file_close(&k->ends);
	fdlist_close(&k->fds);
	if (k->book)
		peers_free(k->book);
	free(k->book);
	k->book = NULL;
}

static int begin(struct peers *k, struct err *e)
{
	int bad = 0;

	k->uid = geteuid();
	k->all_uids = !k->uid;
	k->period_ns = LOOK_NS;
	k->book = calloc(1, sizeof *k->book);
	if (!k->book || peers_init(k->book))
		return err_set(e, -ENOMEM, "out of memory for connections");
	k->ends = listen_for_ends();
	for (int i = 0; i < TRIES; i++) {
		bad = open_ask(k);
		if (bad)
			break;
		peers_begin(k->book, clock_mono_ns());
		bad = dump(k); /* what was there before */
		peers_finish(k->book, !bad);
		if (!bad)
			break;
	}
	return bad ? err_set(e, bad, "the kernel does not list sockets (sock_diag): %s",
			     strerror(-bad))
		   : 0;
}

static int peers_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct peers *k = state;
	int bad;

	if (strcmp(env->proc.path, "/proc") != 0)
		return err_set(e, -EOPNOTSUPP, SOURCE_NOT_THIS_KERNEL);
	k->env = env;
	bad = begin(k, e);
	if (bad || (!env->nroots && !env->followed)) {
		k->over = true; /* nothing is recorded: it was only tried */
		peers_close(k);
		return bad;
	}
	sample_catalogue(s, metrics, PEER_COUNTERS);
	say_addresses(k, s);
	sample_meta_bool(s, "peers.ends_told", k->ends > 0);
	if (!k->ends)
		sample_meta_text(s, "peers.note",
				 "the kernel does not report connections that end: what is said "
				 "of those that ended is a lower limit");
	return 0;
}

static bool peers_wanted(const struct source_env *env)
{
	return env->peers;
}

static const struct source_fix fixes[] = {
	{ "Operation not permitted", NULL,
	  "allow sockets of NETLINK_SOCK_DIAG (seccomp, SELinux)" },
	{ "Permission denied", NULL, "allow sockets of NETLINK_SOCK_DIAG (seccomp, SELinux)" },
	{ "No such file", NULL, "load the kernel modules inet_diag and tcp_diag" },
	{ "Protocol not supported", NULL, "load the kernel modules inet_diag and tcp_diag" },
	{ 0 },
};

const struct source source_peers = {
	.name = "peers",
	.what = "with whom the job's processes talk by TCP, and what limits them",
	.fixes = fixes,
	SOURCE_METRICS(metrics),
	.declares_itself = true,
	.size = sizeof(struct peers),
	.wanted = peers_wanted,
	.open = peers_open,
	.read = peers_read,
	.close = peers_close,
};
