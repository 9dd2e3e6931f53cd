/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as one of benchmon's files, which the first byte chooses: taken or refused with a
 * sentence, within bounds, and what was taken is written. */
#include "import/importer.h"
#include "import/write.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = { "cpu_report.csv",     "cpufreq_report.csv", "mem_report.csv",
				     "net_report.csv",     "disk_report.csv",    "ib_report.csv",
				     "pow_report.csv",     "../annotations.csv", "cpu_report.bin",
				     "cpufreq_report.bin", "mem_report.bin",     "net_report.bin",
				     "disk_report.bin" };
enum { FILES = sizeof names / sizeof names[0], MEMORY = 2 };

static bool find(const char *name, struct metric *out)
{
	*out = (struct metric){ .unit = UNIT_COUNT,
				.kind = strstr(name, "bytes") ? KIND_COUNTER : KIND_GAUGE,
				.domain = strncmp(name, "node", 4) != 0 ? "device" : NULL,
				.label = "L",
				.help = "H." };
	return true;
}

static void wrote(void *ctx, const char *name)
{
	char tail[160];

	unlinkat(*(int *)ctx, name, 0);
	snprintf(tail, sizeof tail, "%.*stail", (int)strlen(name) - 5, name);
	unlinkat(*(int *)ctx, tail, 0);
}

static void put(int dir, const char *name, const void *data, size_t n)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char memory[] = "timestamp,MemFree\n1717000000.5,7\n1717000001.5,8\n";
	static char directory[64];
	static int dir = -1;
	unsigned which = size ? data[0] % FILES : 0;
	struct store s;
	struct err e = { "" };
	char traces[128];
	struct import x = { .path = directory, .find = find, .store = &s };
	int rc;

	if (dir < 0) {
		snprintf(directory, sizeof directory, "fuzz-benchmon-%d", (int)getpid());
		snprintf(traces, sizeof traces, "%s/benchmon_traces_h", directory);
		mkdir(directory, 0700);
		mkdir(traces, 0700);
		dir = open(traces, O_RDONLY | O_DIRECTORY);
	}
	for (unsigned i = 0; i < FILES; i++)
		unlinkat(dir, names[i], 0);
	if (store_open(&s, directory))
		abort();
	put(dir, names[MEMORY], memory, sizeof memory - 1);
	put(dir, names[which], data + (size > 0), size - (size > 0));
	rc = importer_find("benchmon")->run(&x, &e);
	if ((rc && !e.text[0]) || s.nnotes > STORE_NOTES_MAX || s.nseries > STORE_SERIES_MAX)
		abort();
	if (!rc && import_write(&s, dir, "fuzz", wrote, &dir, &e) && !e.text[0])
		abort();
	store_close(&s);
	return 0;
}
