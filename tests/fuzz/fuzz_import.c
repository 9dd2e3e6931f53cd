/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as each importer's document: taken or refused with a sentence, within bounds, and what
 * was taken is written. The first byte says whose: perfmon's cpu, perf, GPU and meta documents, or
 * lightgbm-benchmark's. */
#include "import/importer.h"
#include "import/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] = "table cpu_metrics\n"
			   "cpu_time \"a\" = counter(job.cpu_seconds)\n"
			   "cpu_percent \"b\" = 100 * job.cpu_cores\n"
			   "io_counters.read_count \"c\" = counter(job.read_calls)\n"
			   "io_counters.write_count \"d\" = counter(job.write_calls)\n"
			   "rapl_powercap.* \"e *\" = 1M * counter(energy.consumed_joules)\n"
			   "table perf_metrics\n"
			   "hardware_events.cycles \"a\" = rise(perf.hardware.cycles)\n"
			   "table nv_gpu_metrics of gpu\n"
			   "power_usage \"a\" = 1k * gpu.power_watts\n";
static const char *const names[] = { "cpu_metrics.json", "perf_metrics.json", "nv_gpu_metrics.json",
				     "meta_data.json", "perf.json" };
enum { DOCUMENTS = sizeof names / sizeof names[0], LIGHTGBM = DOCUMENTS - 1, META = 3 };

static bool find(const char *name, struct metric *out)
{
	*out = (struct metric){ .unit = UNIT_COUNT,
				.kind = strstr(name, "_seconds") ? KIND_COUNTER : KIND_GAUGE,
				.domain = !strncmp(name, "energy", 6) ? "energy"
					  : !strncmp(name, "gpu", 3)  ? "gpu"
								      : NULL,
				.label = "L",
				.help = "H." };
	return strncmp(name, "lightgbm", 8) != 0;
}

static void wrote(void *ctx, const char *name)
{
	if (unlinkat(*(int *)ctx, name, 0))
		abort();
	if (strlen(name) > 6) {
		char tail[512];

		snprintf(tail, sizeof tail, "%.*s.tail", (int)(strlen(name) - 6), name);
		unlinkat(*(int *)ctx, tail, 0);
	}
}

static void put(int dir, const char *name, const void *data, size_t n)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char directory[64];
	static int dir = -1;
	unsigned which = size ? data[0] % DOCUMENTS : 0;
	struct store s;
	struct err e = { "" };
	struct map map;
	int rc;

	if (dir < 0) {
		snprintf(directory, sizeof directory, "fuzz-import-%d", (int)getpid());
		mkdir(directory, 0700);
		dir = open(directory, O_RDONLY | O_DIRECTORY);
	}
	for (unsigned i = 0; i < DOCUMENTS; i++)
		unlinkat(dir, names[i], 0);
	if (map_parse(&map, "map", text, sizeof text - 1, &e) || store_open(&s, directory))
		abort();
	put(dir, names[which], data + (size > 0), size - (size > 0));
	if (which == META)
		put(dir, names[0], "{\"h\":{\"time_stamps\":[1e9],\"cpu_time\":[1]}}", 43);
	char path[128];
	struct import x = { .path = path, .map = &map, .find = find, .store = &s };

	snprintf(path, sizeof path, "%s%s%s", directory, which == LIGHTGBM ? "/" : "",
		 which == LIGHTGBM ? names[LIGHTGBM] : "");
	rc = importer_find(which == LIGHTGBM ? "lightgbm-perf" : "perfmon")->run(&x, &e);
	if ((rc && !e.text[0]) || s.nnotes > STORE_NOTES_MAX || s.nseries > STORE_SERIES_MAX)
		abort();
	if (!rc && import_write(&s, dir, "fuzz", wrote, &dir, &e) && !e.text[0])
		abort();
	store_close(&s);
	map_free(&map);
	return 0;
}
