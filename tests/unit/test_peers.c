/* SPDX-License-Identifier: Apache-2.0 */
/* TCP connections of a job: whose they are, which end opened them, what is counted once, what ended
 * without a word; addresses of IPv4, IPv6 and mapped ones; malformed answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "source/program/peers.h"

struct __attribute__((packed)) answer {
	struct nlmsghdr h;
	struct inet_diag_msg m;
	struct nlattr a;
	struct tcp_info i;
};

static struct answer answer(uint32_t cookie, uint8_t state, uint16_t local, uint16_t remote)
{
	struct answer x = { .h = { .nlmsg_len = sizeof x, .nlmsg_type = SOCK_DIAG_BY_FAMILY },
			    .m = { .idiag_family = AF_INET,
				   .idiag_state = state,
				   .idiag_inode = cookie + 1000,
				   .id = { .idiag_sport = htons(local),
					   .idiag_dport = htons(remote),
					   .idiag_cookie = { cookie } } },
			    .a = { .nla_len = sizeof x.a + sizeof x.i,
				   .nla_type = INET_DIAG_INFO } };

	x.m.id.idiag_src[0] = htonl(0x0a000001);
	x.m.id.idiag_dst[0] = htonl(0x0a000002);
	return x;
}

static void keep(void *ctx, const struct sockdiag *d)
{
	*(struct sockdiag *)ctx = *d;
}

static struct sockdiag parsed(const struct answer *x)
{
	struct sockdiag d = { 0 };
	int error;

	assert_int_equal(sockdiag_each(x, sizeof *x, keep, &d, &error), SOCKDIAG_MORE);
	return d;
}

static void look(struct peers_book *b, int64_t second, const struct answer *x, uint32_t process)
{
	struct sockdiag d = { 0 };

	peers_begin(b, second * 1000000000);
	if (x) {
		d = parsed(x);
		peers_take(b, &d);
	}
	peers_asked(b);
	if (process)
		(void)peers_own(b, d.inode, process);
	peers_finish(b, true);
}

static int set_up(void **state)
{
	static struct peers_book b;

	assert_int_equal(peers_init(&b), 0);
	look(&b, 1, NULL, 0); /* what was there before */
	*state = &b;
	return 0;
}

static int tear_down(void **state)
{
	peers_free(*state);
	return 0;
}

static void addresses_are_read(void **state)
{
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 192, 0, 2, 7 };
	struct answer x = answer(1, SOCKDIAG_ESTABLISHED, 40000, 80);
	struct sockdiag d = parsed(&x);
	char text[SOCKDIAG_ADDRESS];

	(void)state;
	assert_string_equal(sockdiag_text(&d.remote, text), "10.0.0.2");
	x.m.idiag_family = AF_INET6;
	memcpy(x.m.id.idiag_dst, mapped, sizeof mapped);
	d = parsed(&x);
	assert_string_equal(sockdiag_text(&d.remote, text), "192.0.2.7");
	x.m.id.idiag_dst[0] = htonl(0xfd000000);
	d = parsed(&x);
	assert_string_equal(sockdiag_text(&d.remote, text), "fd00::ffff:c000:207");
}

/* Of one that was asked, and answers: how long ago data was sent, came, and was acknowledged. */
static void idle_ones_are_told_from_busy(void **state)
{
	static const struct {
		uint32_t sent, received, acked, pieces_in, unacked;
		int64_t wait_ms;
		bool idle;
	} seen[] = {
		{ 1000, 990, 950, 1, 0, -1, true },   /* an answer, and then nothing */
		{ 500, 900, 460, 1, 0, 500, false },  /* asked again since */
		{ 1000, 300, 260, 9, 0, 500, false }, /* it came in pieces until now, */
		{ 1000, 400, 360, 9, 0, 500, true },  /* or does no more */
		{ 1000, 990, 950, 1, 1, -1, false },
		{ 2000, 2000, 2000, 0, 0, 500, false }, /* no answer yet, in the tick of the call */
		/* Asked and answered in one tick: which was first? */
		{ 800, 800, 760, 1, 0, 800, false }, /* an acknowledgement came behind the answer */
		{ 800, 800, 800, 1, 0, 800, true },
		{ 100, 100, 100, 1, 0, 800, true },
		{ 99, 99, 99, 1, 0, 800,
		  false }, /* it may wait for 300 s: more than answers take */
		{ 800, 800, 800, 1, 0, -1, false },
	};
	struct answer x = answer(1, SOCKDIAG_ESTABLISHED, 40000, 80);
	struct sockdiag d;

	(void)state;
	for (size_t k = 0; k < sizeof seen / sizeof seen[0]; k++) {
		x.i.tcpi_last_data_sent = seen[k].sent;
		x.i.tcpi_last_data_recv = seen[k].received;
		x.i.tcpi_last_ack_recv = seen[k].acked;
		x.i.tcpi_data_segs_in = seen[k].pieces_in;
		x.i.tcpi_unacked = seen[k].unacked;
		x.i.tcpi_bytes_sent = 8;
		d = parsed(&x);
		assert_int_equal(sockdiag_is_idle(&d, seen[k].wait_ms), seen[k].idle);
	}
	x.i.tcpi_bytes_sent = x.i.tcpi_data_segs_in = 0; /* nobody ever said a word */
	d = parsed(&x);
	assert_true(sockdiag_is_idle(&d, -1));
	x.m.idiag_wqueue = 1;
	d = parsed(&x);
	assert_false(sockdiag_is_idle(&d, -1));
	x = answer(1, 2 /* it is being made */, 40000, 80);
	d = parsed(&x);
	assert_false(sockdiag_is_idle(&d, -1));
	x.a.nla_type = 99; /* an old kernel says nothing of it */
	d = parsed(&x);
	assert_false(sockdiag_is_idle(&d, -1));
}

static void bad_answers_are_left(void **state)
{
	struct answer x = answer(1, SOCKDIAG_ESTABLISHED, 40000, 80);
	struct {
		struct nlmsghdr h;
		int error;
	} refused = { { .nlmsg_len = sizeof refused, .nlmsg_type = NLMSG_ERROR }, -EPERM };
	struct sockdiag d = { 0 };
	int error;

	(void)state;
	assert_int_equal(sockdiag_each(&refused, sizeof refused, keep, &d, &error),
			 SOCKDIAG_REFUSED);
	assert_int_equal(error, -EPERM);
	refused.error = 7;
	(void)sockdiag_each(&refused, sizeof refused, keep, &d, &error);
	assert_int_equal(error, -EPROTO);
	for (size_t n = 0; n < sizeof x; n++)
		assert_int_equal(sockdiag_each(&x, n, keep, &d, &error), SOCKDIAG_MORE);
	assert_int_equal(d.cookie, 0);
	x.a.nla_len = 2;
	(void)sockdiag_each(&x, sizeof x, keep, &d, &error);
	x = answer(1, SOCKDIAG_ESTABLISHED, 40000, 80);
	x.m.idiag_family = AF_UNIX;
	(void)sockdiag_each(&x, sizeof x, keep, &d, &error);
	assert_int_equal(d.cookie, 0);
}

static void bytes_are_counted_once(void **state)
{
	struct peers_book *b = *state;
	struct answer x = answer(1, SOCKDIAG_ESTABLISHED, 40000, 80);
	struct sockdiag d;

	x.i.tcpi_bytes_sent = 1100;
	x.i.tcpi_bytes_retrans = 100;
	x.i.tcpi_bytes_acked = 1001; /* the SYN, too: this end opened it */
	look(b, 2, &x, 9);
	x.i.tcpi_bytes_sent = 2100;
	x.i.tcpi_bytes_acked = 2001;
	x.i.tcpi_bytes_received = 50;
	x.i.tcpi_data_segs_in = 1;
	look(b, 3, &x, 0);
	look(b, 4, NULL, 0); /* it is gone, and not yet heard of */
	assert_int_equal(peers_missing(b), 1);
	x.m.idiag_state = SOCKDIAG_CLOSED;
	x.i.tcpi_bytes_sent = 3100;
	x.i.tcpi_bytes_acked = 3002; /* and the FIN */
	x.i.tcpi_bytes_received = 51;
	d = parsed(&x);
	peers_destroyed(b, &d, 4500000000);
	peers_destroyed(b, &d, 4600000000);
	assert_int_equal(peers_missing(b), 0);
	peers_last(b);
	assert_int_equal(b->nrows, 1);
	assert_false(b->row[0].incoming);
	assert_int_equal(b->row[0].port, 80);
	assert_int_equal(b->row[0].process, 9);
	assert_int_equal(b->row[0].value[PEER_SENT_BYTES], 3000);
	assert_int_equal(b->row[0].value[PEER_AGAIN_BYTES], 100);
	assert_int_equal(b->row[0].value[PEER_RECEIVED_BYTES], 50);
	assert_int_equal(b->row[0].value[PEER_CONNECTIONS], 1);
	assert_int_equal(b->row[0].value[PEER_UNSEEN_ENDS], 0);
}

static void what_ends_without_a_word_is_a_lower_limit(void **state)
{
	struct peers_book *b = *state;
	struct answer x = answer(1, SOCKDIAG_ESTABLISHED, 80, 40000);

	x.i.tcpi_bytes_sent = x.i.tcpi_bytes_acked = 500; /* no SYN: the other end opened it */
	look(b, 2, &x, 9);
	for (int s = 3; s < 8; s++)
		look(b, s, NULL, 0);
	assert_true(b->row[0].incoming);
	assert_int_equal(b->row[0].port, 80);
	assert_int_equal(b->row[0].value[PEER_SENT_BYTES], 500);
	assert_int_equal(b->row[0].value[PEER_UNSEEN_ENDS], 1);
}

static void others_sockets_are_nobodys(void **state)
{
	struct peers_book *b = *state;
	struct answer x = answer(1, SOCKDIAG_ESTABLISHED, 40000, 80);
	uint32_t asked = 0;

	x.i.tcpi_bytes_sent = x.i.tcpi_bytes_acked = 500;
	for (int s = 2; s < 102; s++) {
		look(b, s, &x, 0);
		asked += b->unknown;
	}
	assert_int_equal(b->nrows, 0);
	assert_in_range(asked, 2, 9); /* ever more rarely */
	x.m.idiag_inode = 0;
	x.m.id.idiag_cookie[0] = 2;
	look(b, 102, &x, 0);
	assert_int_equal(b->unknown, 0);
}

static void what_was_before_does_not_count(void **state)
{
	struct peers_book b;
	struct answer x = answer(1, SOCKDIAG_ESTABLISHED, 40000, 80);

	(void)state;
	assert_int_equal(peers_init(&b), 0);
	x.i.tcpi_bytes_sent = x.i.tcpi_bytes_acked = 500;
	look(&b, 1, &x, 0);
	x.i.tcpi_bytes_sent = x.i.tcpi_bytes_acked = 700;
	look(&b, 2, &x, 9);
	assert_int_equal(b.row[0].value[PEER_SENT_BYTES], 200);
	peers_free(&b);
}

static void a_dump_that_broke_off_says_nothing_of_others(void **state)
{
	struct peers_book b;
	struct answer x = answer(1, SOCKDIAG_ESTABLISHED, 40000, 80);

	(void)state;
	assert_int_equal(peers_init(&b), 0);
	x.i.tcpi_bytes_sent = x.i.tcpi_bytes_acked = 500;
	look(&b, 1, &x, 0);
	for (int s = 2; s < 8; s++) {
		peers_begin(&b, s * INT64_C(1000000000));
		peers_finish(&b, false);
	}
	x.i.tcpi_bytes_sent = x.i.tcpi_bytes_acked = 700;
	look(&b, 8, &x, 9);
	for (int s = 9; s < 15; s++) {
		peers_begin(&b, s * INT64_C(1000000000));
		peers_finish(&b, false);
	}
	assert_int_equal(peers_missing(&b), 0);
	x.i.tcpi_bytes_sent = x.i.tcpi_bytes_acked = 900;
	look(&b, 15, &x, 0);
	assert_int_equal(b.nrows, 1);
	assert_int_equal(b.row[0].value[PEER_SENT_BYTES], 400); /* 500 were there before */
	assert_int_equal(b.row[0].value[PEER_CONNECTIONS], 1);
	assert_int_equal(b.row[0].value[PEER_UNSEEN_ENDS], 0);
	peers_free(&b);
}

/* What a socket looks like a second after another look, and what of that second is whose. */
struct waiting {
	uint32_t queued, unsent, window, cwnd, buffered, rtt_us, rtt_min_us;
	uint64_t receiver_us, buffer_us;
	enum peer_counter by; /* PEER_BUSY_NS: the network */
};

static void what_it_waits_for_is_told_apart(void **state)
{
	enum { MSS = 1000, BUFFER = 30000 };
	static const struct waiting made[] = {
		{ .by = PEER_PROGRAM_NS }, /* it waits for an answer */
		{ 5000, 0, 60000, 100, 9000, 50000, 50000, 0, 0, PEER_PROGRAM_NS },
		{ 5900, 900, 60000, 100, 9000, 50000, 50000, 0, 0, PEER_PROGRAM_NS }, /* Nagle */
		{ 25000, 20000, 5900, 100, 29000, 50000, 50000, 0, 0, PEER_RECEIVER_NS },
		{ 25000, 25000, 0, 100, 29000, 50000, 50000, 990000, 0, PEER_RECEIVER_NS },
		{ 45000, 20000, 35000, 60, 29000, 50000, 50000, 0, 0, PEER_RECEIVER_NS }, /* TSO */
		{ 700, 700, 0, 100, 2000, 50000, 50000, 0, 0, PEER_RECEIVER_NS },
		{ 25000, 0, 60000, 100, 21000, 50000, 50000, 300000, 0, PEER_BUFFER_NS },
		{ 25000, 20000, 60000, 100, 29000, 50000, 50000, 0, 0, PEER_BUFFER_NS },
		{ 25000, 20000, 60000, 5, 29000, 50000, 50000, 0, 0, PEER_BUSY_NS },
		/* A queue on the way. */
		{ 25000, 0, 60000, 100, 29000, 150000, 50000, 0, 900000, PEER_BUSY_NS },
		{ 65000, 5000, 60000, 100, 29000, 150000, 50000, 900000, 0, PEER_BUSY_NS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
		const struct waiting *w = &made[i];
		struct answer x = answer(1, SOCKDIAG_ESTABLISHED, 40000, 80);
		struct sockdiag d = parsed(&x);
		struct peers_book b;
		int64_t most = 0;

		assert_int_equal(peers_init(&b), 0);
		look(&b, 1, NULL, 0);
		look(&b, 2, &x, 9);
		d.mss = MSS;
		d.queued = w->queued;
		d.unsent = w->unsent;
		d.window = w->window;
		d.congestion = (uint64_t)w->cwnd * MSS;
		d.buffer = BUFFER;
		d.buffered = w->buffered;
		d.rtt_us = w->rtt_us;
		d.rtt_min_us = w->rtt_min_us;
		d.busy_us = 1000000;
		d.receiver_us = w->receiver_us;
		d.buffer_us = w->buffer_us;
		peers_begin(&b, 3000000000);
		peers_take(&b, &d);
		peers_finish(&b, true);
		assert_int_equal(b.row[0].value[PEER_BUSY_NS], 1000000000);
		for (int c = PEER_RECEIVER_NS; c <= PEER_PROGRAM_NS; c++)
			if (b.row[0].value[c] > most)
				most = b.row[0].value[c];
		if (w->by == PEER_BUSY_NS)
			assert_int_equal(most, 0);
		else if (most != b.row[0].value[w->by] || most < 600000000)
			fail_msg("%zu: %lld of %lld", i, (long long)b.row[0].value[w->by],
				 (long long)most);
		peers_free(&b);
	}
}

static void drops_of_ones_own_queue_are_not_sent_twice(void **state)
{
	struct peers_book *b = *state;
	struct answer x = answer(1, SOCKDIAG_ESTABLISHED, 40000, 80);
	struct sockdiag d;

	x.i.tcpi_bytes_acked = 1; /* the SYN: this end opened it */
	look(b, 2, &x, 9);
	x.i.tcpi_bytes_sent = 9000; /* 4000 of them never left: they do not count as sent again */
	x.i.tcpi_bytes_acked = 3001;
	x.m.idiag_wqueue = 5000;
	x.i.tcpi_notsent_bytes = 3000;
	look(b, 3, &x, 0);
	assert_int_equal(b->row[0].value[PEER_SENT_BYTES], 5000);
	x.m.idiag_state = SOCKDIAG_CLOSED;
	x.m.idiag_wqueue = 0;
	x.i.tcpi_notsent_bytes = 0;
	x.i.tcpi_bytes_sent = 12000;
	x.i.tcpi_bytes_acked = 8002; /* SYN and FIN, too */
	x.i.tcpi_bytes_received = 8; /* likewise: 7 came with the end */
	x.i.tcpi_data_segs_in = 1;
	d = parsed(&x);
	peers_destroyed(b, &d, 4000000000);
	assert_int_equal(b->row[0].value[PEER_SENT_BYTES], 8000);
	assert_int_equal(b->row[0].value[PEER_RECEIVED_BYTES], 7);
}

static void rows_and_sockets_are_bounded(void **state)
{
	struct peers_book *b = *state;
	struct answer x = answer(1, SOCKDIAG_ESTABLISHED, 40000, 80);

	peers_begin(b, 2000000000);
	for (uint32_t i = 1; i <= PEERS_SOCKETS + 5; i++) {
		struct sockdiag d;

		x.m.id.idiag_cookie[0] = i;
		x.m.idiag_inode = i;
		x.m.id.idiag_dst[0] = i;
		d = parsed(&x);
		peers_take(b, &d);
	}
	peers_asked(b);
	for (uint32_t i = 1; i <= PEERS_SOCKETS + 5; i++)
		(void)peers_own(b, i, 9);
	peers_finish(b, true);
	assert_int_equal(b->left_out, 5);
	assert_int_equal(b->nrows, PEERS_ROWS);
	assert_true(b->row[PEERS_ROWS - 1].many);
	assert_int_equal(b->row[PEERS_ROWS - 1].value[PEER_CONNECTIONS],
			 PEERS_SOCKETS - PEERS_ROWS + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_read),
		cmocka_unit_test(idle_ones_are_told_from_busy),
		cmocka_unit_test(bad_answers_are_left),
		cmocka_unit_test_setup_teardown(bytes_are_counted_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_ends_without_a_word_is_a_lower_limit, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(others_sockets_are_nobodys, set_up, tear_down),
		cmocka_unit_test(what_was_before_does_not_count),
		cmocka_unit_test(a_dump_that_broke_off_says_nothing_of_others),
		cmocka_unit_test(what_it_waits_for_is_told_apart),
		cmocka_unit_test_setup_teardown(drops_of_ones_own_queue_are_not_sent_twice, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(rows_and_sockets_are_bounded, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
