/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a dump of start-up events: what is told keeps the promises of
 * import/cascade_dump.h, whatever is malformed, and takes no more than a time that grows with the
 * bytes. */
#include "import/cascade_dump.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	size_t size, records, faults, bytes;
	uint64_t last;
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

static int entity(void *ctx, uint64_t offset, const char *const field[CASCADE_FIELDS])
{
	struct seen *s = ctx;

	check(offset < s->size && (!s->records || offset > s->last));
	s->last = offset;
	s->records++;
	for (int i = 0; i < CASCADE_FIELDS; i++)
		s->bytes += field[i] ? strlen(field[i]) : 0;
	return 0;
}

static void fault(void *ctx, uint64_t offset, const char *what)
{
	struct seen *s = ctx;

	check(offset < s->size && *what);
	s->faults++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen s = { .size = size };
	const struct cascade_visitor v = { &s, entity, fault };

	check(!cascade_dump_read((const char *)data, size, &v));
	check(s.records <= size && s.faults <= size && s.bytes <= 4 * size + 64);
	return 0;
}
