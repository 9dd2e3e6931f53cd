/* SPDX-License-Identifier: Apache-2.0 */
/* rows_alone DIR [wide]: an export into nothing. Makes every row of the series of a directory's
 * recordings and throws it away; prints how many values were there. */
#include "core/frame/frame.h"
#include "recording/join.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How many of n bytes, each 0 or 1, are 1: eight at a time. */
static uint64_t ones(const uint8_t *byte, uint32_t n)
{
	uint64_t sum = 0, eight;

	for (; n >= sizeof eight; n -= 8, byte += 8) {
		memcpy(&eight, byte, sizeof eight);
		sum += eight * UINT64_C(0x0101010101010101) >> 56;
	}
	while (n--)
		sum += *byte++;
	return sum;
}

static uint64_t count(const struct frame_schema *schema, const struct batch *b)
{
	uint64_t values = 0;

	for (uint32_t c = 0; c < schema->ncolumns; c++)
		if (schema->columns[c].type == COLUMN_REAL)
			values += ones(b->columns[c].state, b->nrows);
	return values;
}

int main(int argc, char **argv)
{
	const struct selection sel = { .wide = argc == 3 && !strcmp(argv[2], "wide") };
	struct run *run = NULL;
	struct frame *f = NULL;
	struct err e = { "" };
	struct batch b;
	uint64_t values = 0;
	int rc = argc < 2 ? -1 : run_open(&run, argv[1], &e);

	if (!rc)
		rc = frame_open(&f, run, &sel, &e);
	while (!rc && (rc = frame_next(f, &b, &e)) > 0) {
		values += count(frame_schema(f), &b);
		rc = 0;
	}
	if (rc)
		fprintf(stderr, "rows_alone: %s\n", argc < 2 ? "it takes DIR [wide]" : e.text);
	else
		printf("%" PRIu64 "\n", values);
	frame_close(f);
	run_close(run);
	return rc ? 1 : 0;
}
