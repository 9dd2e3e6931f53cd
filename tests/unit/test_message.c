/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of the socket that a job's copies share, and who gets to listen on it. */
#include "job/message.h"
#include "job/share.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static const struct registration sound = { .version = MESSAGE_VERSION,
					   .kind = MESSAGE_REGISTER,
					   .rank = -1,
					   .expected = -1,
					   .step = "0",
					   .key = "key" };

static void what_was_sent_is_received(void **state)
{
	const struct message sent = { .kind = MESSAGE_EXITED, .pid = 7, .total_user_ns = 12 };
	union packet got;
	int pair[2], passed;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(packet_receive(pair[1], &got, &passed), -EAGAIN);
	assert_int_equal(message_send(pair[0], &sent), 0);
	assert_int_equal(packet_receive(pair[1], &got, &passed), 1);
	assert_int_equal(passed, -1);
	assert_int_equal(got.message.kind, MESSAGE_EXITED);
	assert_int_equal(got.message.pid, 7);
	assert_int_equal(got.message.total_user_ns, 12);
	assert_int_equal(packet_send(pair[0], &sound, sizeof sound, STDIN_FILENO), 0);
	assert_int_equal(packet_receive(pair[1], &got, &passed), 1);
	assert_true(passed > STDERR_FILENO);
	close(passed);
	assert_string_equal(got.registration.key, "key");
	close(pair[0]);
	assert_int_equal(packet_receive(pair[1], &got, &passed), 0);
	close(pair[1]);
}

/* More bytes than there is room for are none; both kinds of sockets take it. */
static void what_was_printed_is_received(void **state)
{
	struct printed sent = { .version = MESSAGE_VERSION, .kind = MESSAGE_PRINTED, .n = 3 };
	union packet got;
	int pair[2];

	(void)state;
	memset(sent.absent, 'x', sizeof sent.absent);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(packet_send(pair[0], &sent, sizeof sent, -1), 0);
	assert_int_equal(message_receive(pair[1], &got), 1);
	assert_int_equal(got.message.kind, MESSAGE_PRINTED);
	assert_int_equal(strlen(got.printed.absent), sizeof sent.absent - 1);
	assert_int_equal(packet_parse(&sent, sizeof sent, &got), MESSAGE_PRINTED);
	sent.n = MESSAGE_PRINTED_BYTES + 1;
	assert_int_equal(packet_parse(&sent, sizeof sent, &got), -EBADMSG);
	assert_int_equal(packet_send(pair[0], &sent, sizeof sent, -1), 0);
	assert_int_equal(message_receive(pair[1], &got), -EBADMSG);
	close(pair[0]);
	close(pair[1]);
}

static void texts_end_and_numbers_are_bounded(void **state)
{
	struct registration r = sound;
	union packet got;

	(void)state;
	memset(r.key, 'x', sizeof r.key);
	memset(r.step, 'x', sizeof r.step);
	assert_int_equal(packet_parse(&r, sizeof r, &got), MESSAGE_REGISTER);
	assert_int_equal(strlen(got.registration.key), MESSAGE_KEY - 1);
	assert_int_equal(strlen(got.registration.step), MESSAGE_STEP - 1);
	r.rank = -2;
	assert_int_equal(packet_parse(&r, sizeof r, &got), -EBADMSG);
	r = sound;
	r.recorded[RECORDED_CPU] = INT64_MAX;
	assert_int_equal(packet_parse(&r, sizeof r, &got), -EBADMSG);
	r = sound;
	r.recorded[RECORDED_AT] = -1;
	assert_int_equal(packet_parse(&r, sizeof r, &got), -EBADMSG);
}

static void what_is_not_ours_is_refused(void **state)
{
	struct registration r = sound;
	struct message m = { .version = MESSAGE_VERSION, .kind = MESSAGE_ENDED };
	union packet got;

	(void)state;
	assert_int_equal(packet_parse(&m, sizeof m, &got), MESSAGE_ENDED);
	m.total_system_ns = -1;
	assert_int_equal(packet_parse(&m, sizeof m, &got), -EBADMSG);
	assert_int_equal(packet_parse(&r, sizeof r - 1, &got), -EBADMSG);
	assert_int_equal(packet_parse(&r, 0, &got), -EBADMSG);
	r.version++;
	assert_int_equal(packet_parse(&r, sizeof r, &got), -EBADMSG);
	r = sound;
	r.kind = MESSAGE_DONE; /* which only a recorder says */
	assert_int_equal(packet_parse(&r, sizeof r, &got), -EBADMSG);
}

static void the_first_is_elected_and_others_are_connected(void **state)
{
	char key[64];
	struct err e;
	int listener, fd, other;

	(void)state;
	snprintf(key, sizeof key, "test %d", (int)getpid());
	assert_int_equal(election_try(key, &listener, &e), ELECTION_ELECTED);
	assert_int_equal(election_try(key, &fd, &e), ELECTION_CONNECTED);
	other = accept(listener, NULL, NULL);
	assert_true(other >= 0);
	assert_int_equal(election_peer(other), getpid());
	close(fd);
	close(other);
	/* Who holds the name has gone, and with it the name. */
	close(listener);
	assert_int_equal(election_try(key, &listener, &e), ELECTION_ELECTED);
	key[0] = 'T';
	assert_int_equal(election_try(key, &fd, &e), ELECTION_ELECTED);
	close(fd);
	close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_sent_is_received),
		cmocka_unit_test(what_was_printed_is_received),
		cmocka_unit_test(texts_end_and_numbers_are_bounded),
		cmocka_unit_test(what_is_not_ours_is_refused),
		cmocka_unit_test(the_first_is_elected_and_others_are_connected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
