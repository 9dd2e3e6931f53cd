/* SPDX-License-Identifier: Apache-2.0 */
/* What of /proc/cpuinfo says which CPU this is, and lists of models and CPUs. */
#include "source/perf/perf_table.h"
#include "source/perf/perf_where.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(const char *text)
{
	enum { CPUS = 64 };
	int cpus[CPUS];
	size_t n = perf_cpu_list(text, cpus, CPUS);

	for (size_t i = 0; i < n && i < CPUS; i++)
		if (cpus[i] < 0)
			abort();
	if (perf_list_has(text, 0x4e) && !perf_list_is_sound(text))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct perf_cpu cpu;
	const char *p = text;
	uint64_t number;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (perf_cpu_parse(text, &cpu) != (cpu.vendor[0] != '\0') ||
	    !memchr(cpu.vendor, '\0', sizeof cpu.vendor))
		abort();
	if (perf_number(&p, &number) && (p == text || p > text + strlen(text)))
		abort();
	check_list(text);
	free(text);
	return 0;
}
