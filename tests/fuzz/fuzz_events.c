/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is read as an events file or refused with a sentence; what was read can be planned. */
#include "source/perf/perf_plan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_plan(const struct perf_table *t)
{
	struct perf_plan *plan = malloc(sizeof *plan);

	if (!plan)
		return;
	for (int watchdog = 0; watchdog < 2; watchdog++) {
		const struct perf_budget b = { t->counters ? t->counters : 4, watchdog };

		perf_plan_make(plan, t, "all", &b);
	}
	for (uint32_t i = 0; i < plan->n; i++)
		for (uint32_t k = 0; k < plan->set[i].n; k++)
			if (plan->set[i].event[k] >= plan->set[i].group->nevents ||
			    !perf_set_event(&plan->set[i], k)->id[0])
				abort();
	free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct perf_cpu cpu = { "GenuineIntel", 6, 0x55, 4 };
	struct perf_table *t = malloc(sizeof *t);
	char *text = malloc(size ? size : 1); /* its own, so that a read past the end is seen */
	struct err e = { "" };

	if (text && t) {
		struct perf_cpu other;

		memcpy(text, data, size);
		perf_table_init(t, &cpu, NULL);
		if (perf_table_parse(t, "fuzz", text, size, &e) == 0)
			check_plan(t);
		else if (!e.text[0])
			abort();
		perf_table_free(t);
		if (size) {
			text[size - 1] = '\0';
			perf_cpu_parse(text, &other);
		}
	}
	free(text);
	free(t);
	return 0;
}
