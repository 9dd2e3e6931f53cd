/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as gzip are a text or are refused, and the same whatever the size of the pieces. */
#include "../pieces.h"
#include "base/inflate.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 20 };

/* How many bytes it is, -1: it is refused. */
static ssize_t inflate_all(const uint8_t *data, size_t size, size_t in, size_t out, uint8_t *to)
{
	struct source s = { data, data + size, in };
	struct inflate *z = calloc(1, sizeof *z);
	size_t n = 0;
	ssize_t got = 0;

	if (!z)
		abort();
	z->read = read_piece;
	z->ctx = &s;
	while (n + out <= MOST && (got = inflate_read(z, to + n, out)) > 0)
		n += (size_t)got;
	if (got < 0 && !z->fault)
		abort();
	free(z);
	return got < 0 ? -1 : (ssize_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t one[MOST], other[MOST];
	size_t piece = size ? data[0] + 1u : 1;
	ssize_t n, m;

	data += size > 0;
	size -= size > 0;
	n = inflate_all(data, size, size + 1, 65536, one);
	m = inflate_all(data, size, piece, 4096, other);
	if ((n < 0) != (m < 0) || (n > 0 && n <= m && memcmp(one, other, (size_t)n) != 0))
		abort();
	return 0;
}
