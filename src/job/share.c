/* SPDX-License-Identifier: Apache-2.0 */
#include "job/share.h"

#include "base/clock.h"
#include "job/election.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum {
	AGAIN_MS = 10, /* somebody else is just being elected */
};

static void let_go(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* One try. 0: registered, or elected and to be tried again at once; -EAGAIN; other -errno. */
static int try_once(struct share *s, struct err *e)
{
	int fd, got = election_try(s->what.key, &fd, e);

	if (got < 0)
		return got;
	if (got == ELECTION_ELECTED) {
		got = s->start(s->ctx, fd, e);
		return got ? got : -EAGAIN;
	}
	s->what.version = MESSAGE_VERSION;
	s->what.kind = MESSAGE_REGISTER;
	got = packet_send(fd, &s->what, sizeof s->what, s->marks);
	if (got) {
		close(fd);
		return -EAGAIN; /* it ends just now */
	}
	s->fd = fd;
	return 0;
}

int share_join(struct share *s, int timeout_ms, struct err *e)
{
	int64_t deadline = clock_mono_ns() + timeout_ms * NS_PER_MS;
	int bad;

	while ((bad = try_once(s, e)) == -EAGAIN && clock_mono_ns() < deadline)
		poll(NULL, 0, AGAIN_MS);
	s->over = bad != 0;
	return bad;
}

/* What the lost recorder had written of this task is in the table that it left behind. */
static void take_recorded(struct share *s)
{
	int64_t row[RECORDED_NUMBER_OF];

	if (s->table < 0 ||
	    pread(s->table, row, sizeof row, (off_t)(s->slot * sizeof row)) != (ssize_t)sizeof row)
		return;
	memcpy(s->what.recorded, row, sizeof row);
}

static void lost(struct share *s, bool in_order)
{
	if (s->ready && !in_order)
		s->what.lost_ns = clock_mono_ns();
	take_recorded(s);
	let_go(&s->fd);
	let_go(&s->table);
	s->ready = false;
	if (!s->over)
		s->again_ns = clock_mono_ns();
}

static void take_note(struct share *s, const struct note *n, int table)
{
	switch (n->kind) {
	case MESSAGE_READY:
		let_go(&s->table);
		s->table = table;
		s->slot = n->slot;
		s->recorder = n->pid;
		s->ready = true;
		s->moved = n->status == 1;
		if (!s->run_id[0] && strlen(n->text) < sizeof s->run_id)
			memcpy(s->run_id, n->text, strlen(n->text) + 1);
		return;
	case MESSAGE_LEAVING:
		lost(s, true);
		break;
	case MESSAGE_REFUSED:
		s->alone = n->alone;
		s->over = true;
		break;
	case MESSAGE_DONE:
		s->done = *n;
		s->over = true;
		break;
	default:
		break;
	}
	if (table >= 0)
		close(table);
	if (n->text[0] && (n->kind == MESSAGE_REFUSED || n->kind == MESSAGE_SAY))
		s->say(n->text);
}

/* All that is there. */
static void take(struct share *s)
{
	while (s->fd >= 0) {
		union packet p;
		int table, got = packet_receive(s->fd, &p, &table);

		if (got == -EAGAIN)
			return;
		if (got == 1 && p.message.kind != MESSAGE_REGISTER &&
		    !(p.message.kind >= MESSAGE_STARTED && p.message.kind <= MESSAGE_ENDED)) {
			take_note(s, &p.note, table);
			if (s->over)
				let_go(&s->fd);
		} else {
			lost(s, false); /* gone, or it speaks no language of ours */
		}
	}
}

bool share_listen(struct share *s)
{
	struct err e;
	int bad;

	take(s);
	if (s->fd >= 0 || s->over || !s->again_ns || clock_mono_ns() < s->again_ns)
		return false;
	bad = try_once(s, &e);
	if (!bad) {
		s->again_ns = 0;
		return true;
	}
	s->again_ns = clock_mono_ns() + AGAIN_MS * NS_PER_MS;
	if (bad != -EAGAIN) {
		s->over = true;
		s->say(e.text);
	}
	return false;
}

int share_timeout_ms(const struct share *s)
{
	int64_t left;

	if (s->fd >= 0 || s->over || !s->again_ns)
		return -1;
	left = (s->again_ns - clock_mono_ns()) / NS_PER_MS + 1;
	return left > 0 ? (int)left : 0;
}

void share_wait_ready(struct share *s, int timeout_ms)
{
	int64_t deadline = clock_mono_ns() + timeout_ms * NS_PER_MS;

	while (!s->ready && !s->over) {
		struct pollfd p = { .fd = s->fd, .events = POLLIN };
		int64_t left = (deadline - clock_mono_ns()) / NS_PER_MS;
		int again = share_timeout_ms(s);

		if (left <= 0)
			return;
		poll(&p, 1, again >= 0 && again < left ? again : (int)left);
		share_listen(s);
	}
}

void share_wait_done(struct share *s, struct patience *patience)
{
	int left;

	for (take(s); s->fd >= 0 && (left = patience_left_ms(patience)) > 0; take(s)) {
		struct pollfd p = { .fd = s->fd, .events = POLLIN };

		poll(&p, 1, left);
	}
}

void share_close(struct share *s)
{
	let_go(&s->fd);
	let_go(&s->table);
	s->over = true;
}
