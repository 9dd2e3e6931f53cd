/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of TCP sockets (source/program/connections.h), and the rows that come of it:
 * the input is answers of a dump and of destroyed sockets in turn, each behind its length. */
#include "source/program/peers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void take(void *ctx, const struct sockdiag *d)
{
	char text[SOCKDIAG_ADDRESS];

	check(*sockdiag_text(&d->local, text) && *sockdiag_text(&d->remote, text));
	peers_take(ctx, d);
}

static void end(void *ctx, const struct sockdiag *d)
{
	struct peers_book *b = ctx;

	peers_destroyed(b, d, b->now_ns + 500000000);
}

static void check_rows(const struct peers_book *b)
{
	check(b->nrows <= PEERS_ROWS);
	for (uint32_t i = 0; i < b->nrows; i++)
		for (int c = 0; c < PEER_COUNTERS; c++)
			check(b->row[i].value[c] >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct peers_book b;
	int64_t now_ns = 1000000000;
	enum sockdiag_end end_of_dump;
	int error;

	check(!peers_init(&b));
	while (size >= 2 && now_ns < INT64_C(20000000000)) {
		uint16_t n;

		memcpy(&n, data, sizeof n);
		data += 2;
		size -= 2;
		n = n < size ? n : (uint16_t)size;
		now_ns += 1000000000;
		peers_begin(&b, now_ns);
		end_of_dump = sockdiag_each(data, n, take, &b, &error);
		check(error <= 0);
		peers_asked(&b);
		for (uint32_t i = 0; i < b.unknown; i += 2)
			(void)peers_own(&b, b.ask[i].inode, 1 + i % 3);
		peers_finish(&b, end_of_dump == SOCKDIAG_DONE);
		(void)sockdiag_each(data, n, end, &b, &error);
		check_rows(&b);
		data += n;
		size -= n;
	}
	peers_last(&b);
	check_rows(&b);
	peers_free(&b);
	return 0;
}
