/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/peers.h"

#include "base/hash.h"
#include "base/text/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	SLOTS = 2 * PEERS_SOCKETS,
	PORTS = 65536,
	EPHEMERAL = 32768,
	MISSED_MOST = 3,
	QUEUE_US = 45000
};
#define RETRY_NS      INT64_C(1000000000)
#define RETRY_MOST_NS (64 * RETRY_NS)

int peers_init(struct peers_book *b)
{
	*b = (struct peers_book){ .rows_most = PEERS_ROWS, .starts = true };
	for (int i = 0; i < 2; i++) {
		b->table[i].socket = calloc(PEERS_SOCKETS, sizeof *b->table[i].socket);
		b->table[i].slot = calloc(SLOTS, sizeof *b->table[i].slot);
	}
	b->ask = calloc(PEERS_SOCKETS, sizeof *b->ask);
	b->row = calloc(PEERS_ROWS, sizeof *b->row);
	b->listened = calloc(PORTS / 8, 1);
	if (b->ask && b->row && b->listened && b->table[0].socket && b->table[0].slot &&
	    b->table[1].socket && b->table[1].slot)
		return 0;
	peers_free(b);
	return -ENOMEM;
}

void peers_free(struct peers_book *b)
{
	for (int i = 0; i < 2; i++) {
		free(b->table[i].socket);
		free(b->table[i].slot);
	}
	free(b->ask);
	free(b->row);
	free(b->listened);
	*b = (struct peers_book){ 0 };
}

/* ---- sockets ---- */

/* Where it is, or would be. */
static uint32_t *find_slot(const struct peers_table *t, uint64_t cookie)
{
	uint64_t at = hash_bytes(0, &cookie, sizeof cookie);

	while (t->slot[at % SLOTS] && t->socket[t->slot[at % SLOTS] - 1].last.cookie != cookie)
		at++;
	return &t->slot[at % SLOTS];
}

static struct peers_socket *find(const struct peers_table *t, uint64_t cookie)
{
	uint32_t slot = *find_slot(t, cookie);

	return slot ? &t->socket[slot - 1] : NULL;
}

static struct peers_socket *add(struct peers_book *b, const struct peers_socket *s)
{
	struct peers_table *t = &b->table[b->now];
	uint32_t *slot = find_slot(t, s->last.cookie);

	if (*slot)
		return &t->socket[*slot - 1];
	if (t->n == PEERS_SOCKETS || !t->socket) {
		b->left_out++;
		return NULL;
	}
	t->socket[t->n] = *s;
	*slot = ++t->n;
	return &t->socket[t->n - 1];
}

/* Who opened it counts the SYN as acknowledged; else the ports tell. */
static bool is_incoming(const struct peers_book *b, const struct sockdiag *d)
{
	bool local = b->listened[d->local_port / 8] >> d->local_port % 8 & 1;
	uint64_t syn = d->acked - (d->sent - d->sent_again);
	bool remote = b->listened[d->remote_port / 8] >> d->remote_port % 8 & 1;

	if (d->has_sent && !d->segments_unacked && syn <= 1 &&
	    (d->state == SOCKDIAG_ESTABLISHED || d->state == SOCKDIAG_CLOSE_WAIT))
		return !syn;
	if (local != remote)
		return local;
	if (d->local_port >= EPHEMERAL && d->remote_port >= EPHEMERAL &&
	    (d->local_port ^ d->remote_port) & 1)
		return d->local_port & 1; /* Linux gives even ones to connect, odd ones to bind */
	return d->local_port < d->remote_port;
}

/* ---- what was sent and received ---- */

/* Each once. What a queue of this node drops is in `sent` again, and not in `sent_again`. */
static uint64_t sent_once(const struct sockdiag *d)
{
	return d->sent > d->sent_again ? d->sent - d->sent_again : 0;
}

/* It has sent all, and its FIN counts as a byte acknowledged, or under way. */
static bool has_own_fin(const struct peers_socket *s, const struct sockdiag *d)
{
	uint64_t acked = d->acked - !s->incoming;

	if (d->state != SOCKDIAG_CLOSED)
		return d->state == SOCKDIAG_FIN_WAIT1 || d->state == SOCKDIAG_FIN_WAIT2 ||
		       d->state == SOCKDIAG_LAST_ACK || d->state == SOCKDIAG_CLOSING;
	return acked == sent_once(d) + 1 || (acked < sent_once(d) && !d->queued);
}

/* What arrived and what is under way, where that is less. */
static uint64_t sent_of(const struct peers_socket *s)
{
	const struct sockdiag *d = &s->last;
	uint64_t way = d->queued > d->unsent ? d->queued - d->unsent : 0, no_data, all;

	no_data = (uint64_t)!s->incoming + has_own_fin(s, d);
	all = d->acked + way;
	all = all > no_data ? all - no_data : 0;
	return d->has_sent && sent_once(d) < all ? sent_once(d) : all;
}

/* The FIN of the other end counts as a byte received. Of a socket that was destroyed it is known by
 * that byte having come without data, or, where data came as well, by the end of both sides. */
static bool has_fin(const struct peers_socket *s, const struct sockdiag *d)
{
	uint64_t came = d->received - s->last.received;

	if (s->fin || d->state == SOCKDIAG_CLOSE_WAIT || d->state == SOCKDIAG_LAST_ACK ||
	    d->state == SOCKDIAG_CLOSING)
		return true;
	if (d->state != SOCKDIAG_CLOSED || d->received < s->last.received || !has_own_fin(s, d))
		return false;
	return came == 1 ? d->segments_in == s->last.segments_in : came > 1;
}

static int64_t bounded(uint64_t v, int64_t by)
{
	return v < (uint64_t)(INT64_MAX / by) ? (int64_t)v * by : INT64_MAX;
}

static void values_of(int64_t v[PEER_COUNTERS], const struct peers_socket *s)
{
	const struct sockdiag *d = &s->last;

	memset(v, 0, PEER_COUNTERS * sizeof *v);
	v[PEER_SENT_BYTES] = bounded(sent_of(s), 1);
	v[PEER_RECEIVED_BYTES] = bounded(d->received - (s->fin && d->received), 1);
	v[PEER_AGAIN_BYTES] = bounded(d->sent_again, 1);
	v[PEER_AGAIN] = d->segments_again;
	v[PEER_BUSY_NS] = bounded(d->busy_us, 1000);
	v[PEER_RECEIVER_NS] = bounded(s->reader_us, 1000);
	v[PEER_BUFFER_NS] = bounded(s->buffer_us, 1000);
	v[PEER_PROGRAM_NS] = bounded(s->program_us, 1000);
}

/* ---- what it waits for ---- */

/* Packets wait in a queue on the way: a larger window or buffer would make it longer, no more. A
 * receiver that acknowledges late (40 ms) looks like one. */
static bool has_queue(const struct sockdiag *d)
{
	return d->rtt_min_us && d->rtt_min_us != UINT32_MAX && d->rtt_us >= 2 * d->rtt_min_us &&
	       d->rtt_us - d->rtt_min_us >= QUEUE_US;
}

enum limit { BY_PROGRAM, BY_READER, BY_BUFFER, BY_NETWORK };

/* At this moment. The kernel counts the reader's and the buffer's part only while nothing is on its
 * way, or not at all where the way is long. */
static enum limit limit_of(const struct sockdiag *d)
{
	uint32_t way = d->queued - d->unsent, next = d->unsent < d->mss ? d->unsent : d->mss;
	bool full = d->buffer && d->buffered >= d->buffer / 3 * 2; /* else a writer is woken */

	if (!d->queued || d->queued < d->unsent)
		return BY_PROGRAM;
	if (next && d->window < (uint64_t)way + next)
		return BY_READER;
	/* Less than a packet waits for more of it (Nagle's algorithm). */
	if (d->unsent < d->mss)
		return full ? BY_BUFFER : BY_PROGRAM;
	/* What would fit is held back until more does (TSO): the smaller of the windows decides. */
	if (d->window < d->congestion && way >= d->window / 2)
		return BY_READER;
	return full && d->buffer < d->congestion ? BY_BUFFER : BY_NETWORK;
}

static uint64_t more(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Since it was seen last, by what it is now; of one that is gone, by what it was. */
static void judge(struct peers_socket *s, const struct sockdiag *d)
{
	const struct sockdiag *at = d->state == SOCKDIAG_CLOSED ? &s->last : d;
	uint64_t busy = more(d->busy_us, s->last.busy_us),
		 reader = more(d->receiver_us, s->last.receiver_us),
		 buffer = more(d->buffer_us, s->last.buffer_us), rest = more(busy, reader + buffer);
	enum limit now = limit_of(at);

	if (d->window > s->widest && d->window != UINT64_MAX)
		s->widest = d->window;
	if (has_queue(at) && at->window >= s->widest / 2) {
		reader = buffer = 0;
		now = now == BY_PROGRAM ? now : BY_NETWORK;
	}
	s->reader_us += reader + (now == BY_READER ? rest : 0);
	s->buffer_us += buffer + (now == BY_BUFFER ? rest : 0);
	s->program_us += now == BY_PROGRAM ? rest : 0;
}

/* ---- rows ---- */

static bool is_row(const struct peers_row *r, const struct peers_row *key)
{
	return r->process == key->process && r->port == key->port && r->incoming == key->incoming &&
	       !memcmp(r->remote.byte, key->remote.byte, sizeof r->remote.byte) &&
	       !memcmp(r->local.byte, key->local.byte, sizeof r->local.byte) &&
	       r->remote.is_v6 == key->remote.is_v6;
}

static int32_t row_of(struct peers_book *b, const struct peers_socket *s, uint32_t process)
{
	struct peers_row key = { .process = process,
				 .incoming = s->incoming,
				 .port = s->incoming ? s->last.local_port : s->last.remote_port,
				 .local = s->last.local,
				 .remote = s->last.remote,
				 .first_ns = b->now_ns,
				 .last_ns = b->now_ns };
	uint32_t i = 0;

	while (i < b->nrows && (b->row[i].many || !is_row(&b->row[i], &key)))
		i++;
	if (i == b->nrows && b->nrows < b->rows_most - 1)
		b->row[b->nrows++] = key;
	else if (i == b->nrows && b->nrows < b->rows_most)
		b->row[b->nrows++] = (struct peers_row){ .many = true,
							 .first_ns = b->now_ns,
							 .last_ns = b->now_ns };
	else if (i == b->nrows)
		i = b->nrows - 1;
	return (int32_t)i;
}

/* Of a while at whose start or end it was not there, the half, but what it was busy at least. */
static int64_t time_within(int64_t while_ns, uint64_t busy_us)
{
	int64_t busy_ns = bounded(busy_us, 1000);

	return busy_ns <= while_ns / 2 ? while_ns / 2 : busy_ns < while_ns ? busy_ns : while_ns;
}

/* What it has more than its row knows. Counters that go back count nothing. */
static void count(struct peers_book *b, struct peers_socket *s, int64_t now_ns)
{
	struct peers_row *r = s->row >= 0 ? &b->row[s->row] : NULL;
	int64_t v[PEER_COUNTERS];

	if (!r || !s->last.has_info)
		return;
	values_of(v, s);
	for (int i = 0; i < PEER_COUNTERS; i++) {
		int64_t have = v[i] - s->before[i];

		if (have <= s->counted[i])
			continue;
		number_add(&r->value[i], have - s->counted[i]);
		s->counted[i] = have;
	}
	if (now_ns > s->seen_ns)
		number_add(&r->value[PEER_OPEN_NS], now_ns - s->seen_ns);
	if (s->last.rtt_us) {
		number_add(&r->rtt_sum_us, s->last.rtt_us);
		r->value[PEER_RTT_NS] = r->rtt_sum_us / ++r->rtts * 1000;
	}
	if (s->last.rtt_min_us && s->last.rtt_min_us != UINT32_MAX &&
	    (!r->value[PEER_RTT_MIN_NS] ||
	     (int64_t)s->last.rtt_min_us * 1000 < r->value[PEER_RTT_MIN_NS]))
		r->value[PEER_RTT_MIN_NS] = (int64_t)s->last.rtt_min_us * 1000;
	r->last_ns = now_ns;
	r->changed = true;
}

/* ---- a look ---- */

void peers_begin(struct peers_book *b, int64_t now_ns)
{
	b->now ^= 1;
	b->before_ns = b->now_ns ? b->now_ns : now_ns;
	b->now_ns = now_ns;
	b->unknown = 0;
	b->table[b->now].n = 0;
	memset(b->table[b->now].slot, 0, SLOTS * sizeof *b->table[b->now].slot);
}

void peers_take(struct peers_book *b, const struct sockdiag *d)
{
	struct peers_socket *was, *s;

	if (d->state == SOCKDIAG_LISTENS)
		b->listened[d->local_port / 8] |= (uint8_t)(1u << d->local_port % 8);
	if (d->state == SOCKDIAG_LISTENS || d->state == SOCKDIAG_TIME_WAIT || !d->cookie)
		return;
	was = find(&b->table[!b->now], d->cookie);
	if (!was && !d->inode)
		return; /* nobody's, and never was anybody's whom we know */
	s = add(b, was ? was
		       : &(struct peers_socket){
				 .last = *d, .row = PEER_OWNER_UNKNOWN, .seen_ns = b->now_ns });
	if (!s)
		return;
	if (!was) { /* from its beginning */
		s->incoming = is_incoming(b, d);
		s->last = (struct sockdiag){ 0 };
		judge(s, d);
		s->last = *d;
	}
	if (!was && b->starts)
		values_of(s->before, s);
	s->fin = has_fin(s, d);
	judge(s, d);
	s->last = *d;
	s->first = !was && !b->starts;
	s->missed = 0;
	count(b, s, b->now_ns);
	s->seen_ns = b->now_ns;
	if (s->row < 0 && d->inode && b->now_ns >= s->retry_ns)
		b->ask[b->unknown++] =
			(struct peers_ask){ d->inode, (uint32_t)(s - b->table[b->now].socket) };
}

static int by_inode(const void *a, const void *b)
{
	const struct peers_ask *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

void peers_asked(struct peers_book *b)
{
	if (b->unknown)
		qsort(b->ask, b->unknown, sizeof *b->ask, by_inode);
}

bool peers_own(struct peers_book *b, uint64_t inode, uint32_t process)
{
	const struct peers_ask like = { .inode = (uint32_t)inode };
	const struct peers_ask *a =
		inode <= UINT32_MAX && b->unknown
			? bsearch(&like, b->ask, b->unknown, sizeof like, by_inode)
			: NULL;
	struct peers_socket *s = a ? &b->table[b->now].socket[a->socket] : NULL;

	if (!s || s->row >= 0)
		return false;
	s->row = row_of(b, s, process);
	number_add(&b->row[s->row].value[PEER_CONNECTIONS], 1);
	if (s->first) /* it came at some time since the look before */
		number_add(&b->row[s->row].value[PEER_OPEN_NS],
			   time_within(b->now_ns - b->before_ns, s->last.busy_us));
	count(b, s, b->now_ns);
	return true;
}

static void wait_for_owner(struct peers_socket *s, int64_t now_ns)
{
	if (s->row >= 0 || now_ns < s->retry_ns)
		return;
	s->row = PEER_OWNER_OTHER;
	s->retry_ns = now_ns + s->wait_ns;
	s->wait_ns = !s->wait_ns                  ? RETRY_NS
		     : s->wait_ns < RETRY_MOST_NS ? 2 * s->wait_ns
						  : RETRY_MOST_NS;
}

static void end_unseen(struct peers_book *b, const struct peers_socket *s)
{
	if (s->row < 0)
		return;
	number_add(&b->row[s->row].value[PEER_UNSEEN_ENDS], 1);
	b->row[s->row].changed = true;
}

void peers_finish(struct peers_book *b, bool whole)
{
	struct peers_table *t = &b->table[b->now], *before = &b->table[!b->now];

	for (uint32_t i = 0; whole && i < t->n; i++)
		wait_for_owner(&t->socket[i], b->now_ns);
	for (uint32_t i = 0; i < before->n; i++) {
		struct peers_socket *s = &before->socket[i];

		if ((whole && s->row < 0) || find(t, s->last.cookie))
			continue;
		if (s->row >= 0)
			s->missed += whole;
		if (s->missed == MISSED_MOST || !add(b, s))
			end_unseen(b, s);
	}
	b->starts &= !whole;
}

void peers_destroyed(struct peers_book *b, const struct sockdiag *d, int64_t now_ns)
{
	struct peers_socket *s = d->cookie ? find(&b->table[b->now], d->cookie) : NULL;

	if (!s || s->row < 0)
		return;
	if (now_ns > s->seen_ns)
		now_ns = s->seen_ns +
			 time_within(now_ns - s->seen_ns, d->busy_us > s->last.busy_us
								  ? d->busy_us - s->last.busy_us
								  : 0);
	s->fin = has_fin(s, d);
	judge(s, d);
	s->last = *d;
	s->last.state = SOCKDIAG_CLOSED;
	count(b, s, now_ns);
	s->row = PEER_OWNER_OTHER; /* its row has all of it */
	s->retry_ns = INT64_MAX;
}

uint32_t peers_missing(const struct peers_book *b)
{
	const struct peers_table *t = &b->table[b->now];
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += t->socket[i].row >= 0 && t->socket[i].missed;
	return n;
}

void peers_last(struct peers_book *b)
{
	const struct peers_table *t = &b->table[b->now];

	for (uint32_t i = 0; i < t->n; i++)
		if (t->socket[i].missed)
			end_unseen(b, &t->socket[i]);
}
