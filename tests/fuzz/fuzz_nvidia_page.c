/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that the helper sonde-nvml writes, whatever lies in it: what was told, what is
 * answered, and a second answer after a new start. The bytes are laid over the page from its counts
 * on, for each the next of two halves. */
#include "source/gpu/nvidia_units.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void lay(struct nvidia_page *p, const uint8_t *data, size_t size)
{
	size_t from = offsetof(struct nvidia_page, driver), room = sizeof *p - from;

	memset((uint8_t *)p + from, 0, room);
	if (size)
		memcpy((uint8_t *)p + from, data, size < room ? size : room);
}

static void check(const struct sample *s)
{
	for (uint32_t i = 1; i < s->nslots; i++)
		if (s->state[i] != STATE_ABSENT &&
		    (s->state[i] != STATE_PRESENT || !s->slot[i].series))
			abort();
	for (uint32_t i = 0; i < s->nevents; i++)
		if (s->event[i].kind == EVENT_INSTANCE && !*s->event[i].name)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct nvidia_page page;
	static struct nvidia_units units;
	struct source_env env = { .interval_ns = 1000000000 };
	struct sample s;

	units = (struct nvidia_units){ .pids_known = size % 2,
				       .holders = { .proc = &env.proc,
						    .first = GPU_PROCESS_MEMORY } };
	if (sample_init(&s, 16384, 8192) < 0 || root_open(&env.proc, ".") < 0)
		abort();
	sample_begin(&s, 1, 1);
	for (int half = 0; half < 2; half++) {
		lay(&page, data + (half ? size / 2 : 0), half ? size - size / 2 : size / 2);
		nvidia_units_announce(&units, &page, &s);
		nvidia_units_shown(&units, page.ngpus, 8, &s);
		for (int64_t i = 1; i <= 2; i++) {
			sample_begin(&s, i, s.mono_ns + INT64_C(1000000000));
			nvidia_units_take(&units, &page, &env, &s);
			check(&s);
		}
		nvidia_units_fail(&units, (int32_t)page.ngpus, "it hangs", &s);
	}
	root_close(&env.proc);
	sample_free(&s);
	return 0;
}
