/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a span costs the thread that makes it.
 *
 *     spans cost THREADS BATCHES   ns of a span (begin and end) and of two clock_gettime, medians
 * over the batches of all threads, in turns; how many were lost spans off BATCHES            ns of
 * a span over an empty loop, median spans make SPANS             so many, of 0.1 to 20 us, one
 * behind the other
 */
#include "batches.h"

#include <pthread.h>
#include <sonde_span.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 100, LONG_BATCH = 100000, REST_BATCHES = 20 };

struct costs {
	size_t batches;
	double *span, *clock; /* ns of each batch */
};

static void *measure(void *context)
{
	const struct costs *c = context;
	const struct timespec rest = { 0, 5000000 };
	uint32_t name = sonde_name("step");
	struct timespec unused;

	for (size_t i = 0; i < c->batches; i++) {
		int64_t from = now_ns(), middle;

		for (int k = 0; k < BATCH; k++) {
			sonde_begin(name);
			sonde_end();
		}
		middle = now_ns();
		for (int k = 0; k < BATCH; k++) {
			clock_gettime(CLOCK_MONOTONIC, &unused);
			clock_gettime(CLOCK_MONOTONIC, &unused);
		}
		c->clock[i] = (double)(now_ns() - middle) / BATCH;
		c->span[i] = (double)(middle - from) / BATCH;
		if (i % REST_BATCHES == 0)
			nanosleep(&rest, NULL);
	}
	return NULL;
}

static int cost(size_t threads, size_t batches)
{
	double *span = calloc(threads * batches, sizeof *span);
	double *clocks = calloc(threads * batches, sizeof *clocks);
	struct costs *c = calloc(threads, sizeof *c);
	pthread_t *id = calloc(threads, sizeof *id);

	if (!span || !clocks || !c || !id)
		return 1;
	for (size_t i = 0; i < threads; i++) {
		c[i] = (struct costs){ batches, span + i * batches, clocks + i * batches };
		if (pthread_create(&id[i], NULL, measure, &c[i]))
			return 1;
	}
	for (size_t i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	printf("%.2f %.2f %llu\n", median(span, threads * batches),
	       median(clocks, threads * batches), (unsigned long long)sonde_spans_lost());
	free(span);
	free(clocks);
	free(c);
	free(id);
	return 0;
}

static int off(size_t batches)
{
	double *over = calloc(batches, sizeof *over);

	if (!over)
		return 1;
	for (size_t i = 0; i < batches; i++) {
		int64_t from = now_ns(), middle;

		for (uint32_t k = 0; k < LONG_BATCH; k++) {
			sonde_begin(k);
			sonde_end();
			__asm__ volatile("" : : "r"(k));
		}
		middle = now_ns();
		for (uint32_t k = 0; k < LONG_BATCH; k++)
			__asm__ volatile("" : : "r"(k));
		over[i] = (double)(middle - from - (now_ns() - middle)) / LONG_BATCH;
	}
	printf("%.3f\n", median(over, batches));
	free(over);
	return 0;
}

static int make(long spans)
{
	const char *text[] = { "load", "image", "grid", "clean", "write" };
	uint32_t name[5], random = 1;

	for (size_t i = 0; i < 5; i++)
		name[i] = sonde_name(text[i]);
	for (long i = 0; i < spans; i++) {
		int64_t until;

		random = random * 1103515245 + 12345;
		until = now_ns() + 100 + (random >> 8) % 19900;
		sonde_begin(name[(random >> 4) % 5]);
		while (now_ns() < until)
			;
		sonde_end();
	}
	printf("%llu\n", (unsigned long long)sonde_spans_lost());
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "cost"))
		return cost((size_t)strtol(argv[2], NULL, 10), (size_t)strtol(argv[3], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "off"))
		return off((size_t)strtol(argv[2], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "make"))
		return make(strtol(argv[2], NULL, 10));
	return 2;
}
