/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/sweeping.h"

#include "base/text/number.h"
#include "base/text/textfile.h"

#include <ctype.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
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

/* Another thing that is missing. */
static void lack(char *why, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void lack(char *why, size_t size, const char *format, ...)
{
	size_t n = strlen(why);
	va_list ap;

	if (n)
		n += (size_t)snprintf(why + n, size - n, "; ");
	if (n >= size)
		return;
	va_start(ap, format);
	vsnprintf(why + n, size - n, format, ap);
	va_end(ap);
}

static void look_at_line(const char *text, const char *line, const char *wanted, char *why,
			 size_t size)
{
	char got[256];

	if (wanted && line_of(text, line, got, sizeof got) && strcmp(got, wanted) != 0)
		lack(why, size, "the %s is %.100s, but %.100s was requested", line, got, wanted);
}

static void look_at_processor(const struct sweep_needs *n, const char *text, char *why, size_t size)
{
	int64_t cores = n->physical_cpus ? cores_of(text) : 0;
	char got[256];

	if (cores && cores < n->physical_cpus)
		lack(why, size, "%" PRId64 " cores were requested, but there are %" PRId64,
		     n->physical_cpus, cores);
	look_at_line(text, "cpu family", n->cpu_family, why, size);
	look_at_line(text, "model", n->cpu_model, why, size);
	/* The name of a processor is written in many ways: a part of it is enough. */
	if (n->processor && line_of(text, "model name", got, sizeof got) &&
	    !strcasestr(got, n->processor))
		lack(why, size, "the processor is %.100s, but %.100s was requested", got,
		     n->processor);
}

bool sweephost_has(const struct sweep_needs *n, char *why, size_t size)
{
	struct bytes text = { 0 };
	struct sysinfo memory;
	cpu_set_t cpus;
	struct err e;

	*why = '\0';
	if (!sched_getaffinity(0, sizeof cpus, &cpus) && n->cores > CPU_COUNT(&cpus))
		lack(why, size, "%g CPUs were requested, but there are %d", n->cores,
		     CPU_COUNT(&cpus));
	if (!sysinfo(&memory) && n->memory_bytes > (double)memory.totalram * memory.mem_unit)
		lack(why, size, "%.4g GiB of memory were requested, but there are %.4g",
		     n->memory_bytes / 1073741824,
		     (double)memory.totalram * memory.mem_unit / 1073741824);
	/* All of it: it has over a kilobyte for each CPU. */
	if (!textfile_read("/proc/cpuinfo", "processors", CPUINFO_BYTES, &text, &e)) {
		bytes_u8(&text, 0);
		if (!text.failed)
			look_at_processor(n, (const char *)text.data, why, size);
	}
	bytes_free(&text);
	return !*why;
}
