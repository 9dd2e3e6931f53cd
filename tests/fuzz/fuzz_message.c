/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of the socket that a job's copies share: what is taken has numbers in bounds and texts
 * that end. */
#include "job/message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_number(int64_t number, int64_t least)
{
	check(number >= least && number <= INT64_C(1) << 52);
}

static void check_message(const struct message *m)
{
	check(m->kind >= MESSAGE_STARTED && m->kind <= MESSAGE_ENDED);
	check_number(m->at_ns, 0);
	check_number(m->total_user_ns, 0);
	check_number(m->total_system_ns, 0);
	check_number(m->total_minor_faults, 0);
	check_number(m->total_major_faults, 0);
	check_number(m->max_rss_bytes, 0);
}

static void check_registration(const struct registration *r)
{
	check(memchr(r->key, '\0', sizeof r->key) && memchr(r->step, '\0', sizeof r->step));
	check_number(r->rank, -1);
	check_number(r->expected, -1);
	check_number(r->lost_ns, 0);
	for (size_t i = 0; i < RECORDED_NUMBER_OF; i++)
		check_number(r->recorded[i], 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	union packet p;
	int kind = packet_parse(data, n, &p);

	if (kind < 0)
		return 0;
	check(p.message.version == MESSAGE_VERSION && kind == (int)p.message.kind);
	if (n == sizeof p.message)
		check_message(&p.message);
	else if (kind == MESSAGE_REGISTER)
		check_registration(&p.registration);
	else if (kind == MESSAGE_PRINTED)
		check(n == sizeof p.printed && p.printed.n <= sizeof p.printed.text &&
		      memchr(p.printed.absent, '\0', sizeof p.printed.absent));
	else
		check(n == sizeof p.note && memchr(p.note.text, '\0', sizeof p.note.text));
	return 0;
}
