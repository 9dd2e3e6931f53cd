/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what it does, from when to when, in the recording of the job that it runs in; alone, with a
 * directory as its argument, in a recording of its own.
 *
 *     cc -Iinclude examples/spans.c build/libsonde.a -lzstd -lm -pthread -o spans
 *     sonde run -o recording ./spans
 *     sonde trace recording -o trace.json
 */
#include <pthread.h>
#include <sonde_span.h>
#include <stdio.h>
#include <time.h>

static void work(long ms)
{
	const struct timespec t = { 0, ms * 1000000 };

	nanosleep(&t, NULL);
}

static void load(int field)
{
	SONDE_SPAN("load"); /* to the end of this function */
	work(field);
}

static void *image(void *fields)
{
	uint32_t imaging = sonde_name("imaging"), done = sonde_name("fields done");

	for (int field = 1; field <= *(const int *)fields; field++) {
		sonde_begin(imaging);
		load(field);
		work(5);
		sonde_end();
		sonde_counter(done, field);
	}
	sonde_mark(sonde_name("imaged"));
	return NULL;
}

int main(int argc, char **argv)
{
	struct sonde_error error = { 0 };
	pthread_t thread[2];
	int fields = 10, started = 0;

	if (argc > 1 && !sonde_spans_start(argv[1], &error))
		fprintf(stderr, "spans: not recording: %s\n", error.text);
	while (started < 2 && !pthread_create(&thread[started], NULL, image, &fields))
		started++;
	while (started)
		pthread_join(thread[--started], NULL);
	printf("spans without room: %llu\n", (unsigned long long)sonde_spans_lost());
	sonde_spans_stop();
	return error.code ? 1 : 0;
}
