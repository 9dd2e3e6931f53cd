/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sweephost.h"

#include "base/number.h"
#include "base/textfile.h"

#include <ctype.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

enum { CPUINFO_BYTES = 16 << 20, CORES_MOST = 4096 };

/* The first CPU's line of that name: what stands behind its colon. */
static bool line_of(const char *text, const char *name, char *out, size_t size)
{
	const char *at = number_find_line(text, name);

	at = at ? at + strspn(at, " \t") : NULL;
	if (!at || *at != ':')
		return false;
	at += 1 + strspn(at + 1, " \t");
	snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
	return true;
}

/* Cores, each once however many threads it has; 0: not told. */
static int64_t cores_of(const char *text)
{
	static int64_t seen[CORES_MOST];
	int64_t n = 0, package = 0, core;

	for (const char *p = text; *p && n < CORES_MOST; p = number_next_line(p)) {
		const char *at = strchr(p, ':');
		bool known = false;

		if (!at || strncmp(p, "physical id", 11) != 0) {
			if (!at || strncmp(p, "core id", 7) != 0)
				continue;
			at++;
			if (!number_i64(&at, &core))
				continue;
			for (int64_t i = 0; i < n; i++)
				known |= seen[i] == (package << 32 | core);
			if (!known)
				seen[n++] = package << 32 | core;
			continue;
		}
		at++;
		number_i64(&at, &package);
	}
	return n;
}

static bool differs(const char *text, const char *line, const char *wanted, char *why, size_t size)
{
	char got[256];

	if (!wanted || !line_of(text, line, got, sizeof got) || !strcmp(got, wanted))
		return false;
	snprintf(why, size, "the %s is %.100s, but %.100s was requested", line, got, wanted);
	return true;
}

/* The name of a processor is written in many ways: a part of it is enough. */
static bool is_another_processor(const char *text, const char *wanted, char *why, size_t size)
{
	char got[256];

	if (!wanted || !line_of(text, "model name", got, sizeof got) || strcasestr(got, wanted))
		return false;
	snprintf(why, size, "the processor is %.100s, but %.100s was requested", got, wanted);
	return true;
}

static bool has_processor(const struct sweep_needs *n, const char *text, char *why, size_t size)
{
	int64_t cores = n->physical_cpus ? cores_of(text) : 0;

	if (cores && cores < n->physical_cpus) {
		snprintf(why, size, "%" PRId64 " cores were requested, but there are %" PRId64,
			 n->physical_cpus, cores);
		return false;
	}
	return !differs(text, "cpu family", n->cpu_family, why, size) &&
	       !differs(text, "model", n->cpu_model, why, size) &&
	       !is_another_processor(text, n->processor, why, size);
}

bool sweephost_has(const struct sweep_needs *n, char *why, size_t size)
{
	struct bytes text = { 0 };
	struct sysinfo memory;
	cpu_set_t cpus;
	struct err e;
	bool has = true;

	if (!sched_getaffinity(0, sizeof cpus, &cpus) && n->cores > CPU_COUNT(&cpus)) {
		snprintf(why, size, "%g CPUs were requested, but there are %d", n->cores,
			 CPU_COUNT(&cpus));
		return false;
	}
	if (!sysinfo(&memory) && n->memory_bytes > (double)memory.totalram * memory.mem_unit) {
		snprintf(why, size, "%.4g GiB of memory were requested, but there are %.4g",
			 n->memory_bytes / 1073741824,
			 (double)memory.totalram * memory.mem_unit / 1073741824);
		return false;
	}
	/* All of it: it has over a kilobyte for each CPU. */
	if (!textfile_read("/proc/cpuinfo", "processors", CPUINFO_BYTES, &text, &e)) {
		bytes_u8(&text, 0);
		has = text.failed || has_processor(n, (const char *)text.data, why, size);
	}
	bytes_free(&text);
	return has;
}
