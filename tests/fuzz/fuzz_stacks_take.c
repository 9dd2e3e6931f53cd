/* SPDX-License-Identifier: Apache-2.0 */
/* What the helper sonde-unwind left in the shared memory: the recorder takes all of it or passes it
 * over, and what becomes events keeps to the format. */
#include "source/program/stacks_helper.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct stacks_page page;
	static struct stacks_taken taken;
	const struct source_job job = { .tree = NULL };
	struct sample s;

	if (size < 2)
		return 0;
	if (sample_init(&s, 8, 256))
		return 0;
	taken.next = (struct stacks_ids){ 1, 1, 1 };
	memset(page.room, 0, 4096);
	/* Where the ring wraps, too. */
	page.tail = data[0] & 1 ? STACKS_ROOM - 64 : 0;
	page.head = page.tail + ((size - 1) & ~(size_t)(data[0] & 2 ? 0 : 7));
	for (size_t i = 1; i < size; i++)
		page.room[(page.tail + i - 1) % STACKS_ROOM] = data[i];
	stacks_take(&taken, &page, &job, &s);
	check(page.tail == page.head || s.nevents);
	for (uint32_t i = 0; i < s.nevents; i++) {
		const struct event *e = &s.event[i];

		check(e->kind >= EVENT_MODULE && e->kind <= EVENT_SAMPLES);
		check(e->kind == EVENT_FRAME || e->count <= EVENT_ITEMS_MAX);
		for (uint32_t k = 0; e->kind == EVENT_STACKS && k < e->count; k++)
			check(e->items[k].task < e->id + k);
	}
	sample_free(&s);
	return 0;
}
