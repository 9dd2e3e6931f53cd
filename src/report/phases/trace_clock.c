/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phases/trace_clock.h"

#include <string.h>

/* Guests are inside user and nice. */
static const char *const names[TRACE_CLOCK_CELLS] = {
	"node.cpu_user_cores",    "node.cpu_nice_cores",   "node.cpu_system_cores",
	"node.cpu_idle_cores",    "node.cpu_iowait_cores", "node.cpu_irq_cores",
	"node.cpu_softirq_cores", "node.cpu_steal_cores",  "node.cores_online_count",
};

/* Further away it is not the clocks that differ: cores came or went, or the kernel lost time. */
static const double most_apart = 2;

uint32_t trace_clock_find(const char *metric)
{
	uint32_t i = 0;

	while (i < TRACE_CLOCK_CELLS && strcmp(names[i], metric) != 0)
		i++;
	return i;
}

const char *trace_clock_name(uint32_t which)
{
	return names[which];
}

/* Adds what is known. */
static void add(struct derive *d, uint32_t cell, uint32_t n, double *sum)
{
	struct derived c;

	if (!derive_column(d, cell, &c))
		return;
	for (uint32_t r = 0; r < n; r++)
		sum[r] += c.state[r] == STATE_PRESENT ? c.value[r] : 0;
}

void trace_clock_scale(const struct trace_clock *c, struct derive *d, uint32_t n, double *scale)
{
	double cores[SLICE_ROWS] = { 0 };

	for (uint32_t r = 0; r < n; r++)
		scale[r] = 0;
	for (uint32_t i = 0; i < TRACE_CLOCK_STATES; i++)
		if (c->cell[i])
			add(d, c->cell[i], n, scale);
	if (c->cell[TRACE_CLOCK_STATES])
		add(d, c->cell[TRACE_CLOCK_STATES], n, cores);
	for (uint32_t r = 0; r < n; r++) {
		double by = scale[r] > 0 ? cores[r] / scale[r] : 1;

		scale[r] = by > 1 / most_apart && by < most_apart ? by : 1;
	}
}
