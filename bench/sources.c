/* SPDX-License-Identifier: Apache-2.0 */
/* CPU a sample of the node's sources, beside what the kernel takes to give the same files:
 * sources [PROCFS SYSFS]. "warm" is a tight loop, "paced" a sample every 20 ms, as caches find it
 * in use. */
#include "base/clock.h"
#include "source/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM = 2000, PACED = 200, SIZE = 1 << 20 };

static const char *const files[] = { "stat",         "meminfo",         "loadavg",
				     "pressure/cpu", "pressure/memory", "pressure/io",
				     "diskstats",    "net/dev" };
enum { NFILES = sizeof files / sizeof files[0] };

struct bench {
	struct source_env env;
	struct sample sample;
	void *state[64];
	int fd[NFILES];
	char *buffer;
};

/* One source, or (which == nsources) all, or (beyond) the files alone. */
static void read_once(struct bench *b, size_t which)
{
	if (which > nsources) {
		for (size_t i = 0; i < NFILES; i++)
			if (b->fd[i] > 0)
				file_reread(b->fd[i], b->buffer, SIZE);
		return;
	}
	sample_begin(&b->sample, 1, 1);
	for (size_t i = 0; i < nsources; i++)
		if (b->state[i] && (which == nsources || which == i))
			sources[i]->read(b->state[i], &b->sample);
}

static double mean_us(struct bench *b, size_t which, int times, long pause_ns)
{
	int64_t used = 0, before;

	for (int i = 0; i < times; i++) {
		if (pause_ns)
			nanosleep(&(struct timespec){ .tv_nsec = pause_ns }, NULL);
		before = clock_cpu_ns();
		read_once(b, which);
		used += clock_cpu_ns() - before;
	}
	return (double)used / times / 1e3;
}

static void print(struct bench *b, const char *name, size_t which)
{
	double warm = mean_us(b, which, WARM, 0);
	double paced = mean_us(b, which, PACED, 20 * NS_PER_MS);

	printf("%-12s  warm %7.1f us  paced %7.1f us\n", name, warm, paced);
}

static void open_all(struct bench *b)
{
	struct err e;

	for (size_t i = 0; i < nsources; i++) {
		if (!sources[i]->open)
			continue;
		b->state[i] = calloc(1, sources[i]->size);
		if (sources[i]->open(b->state[i], &b->env, &b->sample, &e) == 0)
			continue;
		printf("%-12s  %s\n", sources[i]->name, e.text);
		free(b->state[i]);
		b->state[i] = NULL;
	}
	for (size_t i = 0; i < NFILES; i++)
		b->fd[i] = root_file(&b->env.proc, files[i]);
}

static void close_all(struct bench *b)
{
	for (size_t i = 0; i < nsources; i++) {
		if (b->state[i])
			sources[i]->close(b->state[i]);
		free(b->state[i]);
	}
	for (size_t i = 0; i < NFILES; i++)
		file_close(&b->fd[i]);
	free(b->buffer);
	sample_free(&b->sample);
	root_close(&b->env.proc);
	root_close(&b->env.sys);
}

int main(int argc, char **argv)
{
	struct bench b = { .env.interval_ns = NS_PER_S, .env.output_path = "." };

	b.buffer = malloc(SIZE);
	if (!b.buffer || root_open(&b.env.proc, argc > 2 ? argv[1] : "/proc") < 0 ||
	    root_open(&b.env.sys, argc > 2 ? argv[2] : "/sys") < 0 ||
	    sample_init(&b.sample, 1 << 17, 1 << 16) < 0) {
		fprintf(stderr, "sources: give a /proc and a /sys, or nothing\n");
		return 2;
	}
	open_all(&b);
	for (size_t i = 0; i < nsources; i++)
		if (b.state[i])
			print(&b, sources[i]->name, i);
	print(&b, "all", nsources);
	print(&b, "files alone", nsources + 1);
	printf("%u series\n", b.sample.nslots - 1);
	close_all(&b);
	return 0;
}
