/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/code_name.h"

#include "base/clock.h"

#include <sys/socket.h>
#include <sys/time.h>

bool code_name_ask(const struct code_question *q, int64_t patience_ns, struct code_answer *a)
{
	const struct timeval patience = { patience_ns / NS_PER_S, patience_ns % NS_PER_S / 1000 };
	struct talk t;
	struct err e;
	bool known;

	if (patience_ns < NS_PER_MS || talk_open(&t, "unwind", NULL, &e))
		return false;
	known = !setsockopt(t.socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) &&
		talk_write(t.socket, q, sizeof *q) &&
		recv(t.socket, a, sizeof *a, MSG_WAITALL) == (ssize_t)sizeof *a;
	talk_close(&t);
	if (!known)
		return false;
	a->function[sizeof a->function - 1] = a->source[sizeof a->source - 1] = '\0';
	return a->function[0];
}
