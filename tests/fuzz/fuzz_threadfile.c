/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/affinity.h"
#include "source/procfile.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_lists(const struct thread_status *st)
{
	static struct affinity a;
	struct thread row[2] = { { .state = THREAD_STATES } };
	const struct threads t = { .row = row, .used = 2 };
	char text[128];

	row[1] = (struct thread){ .placed = affinity_of(&a, st->cpus, st->nodes) };
	affinity_tidy(&a, &t);
	affinity_text(&a.cpus, text, sizeof text);
	if ((row[1].placed != 0) != (cpulist_count(&a.cpus) > 0) ||
	    (row[1].placed != 0) != (text[0] != '\0'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct thread_status st;
	struct thread_times times;
	int64_t n = -1;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (!thread_status_parse(text, &st)) {
		if (st.voluntary < 0 || st.involuntary < 0 || !st.state)
			abort();
		look_at_lists(&st);
	}
	if (!thread_times_parse(text, &times) &&
	    (times.run_ns < 0 || times.ready_ns < 0 || times.turns < 0))
		abort();
	if (!thread_schedstat_parse(text, &n) && n < 0)
		abort();
	if (!thread_sched_parse(text, &n) && n < 0)
		abort();
	free(text);
	return 0;
}
