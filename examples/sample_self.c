/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples the node while it works, then tells the figures that experiment trackers show and where
 * the samples are.
 *
 *     cc -Iinclude examples/sample_self.c build/libsonde.a -lzstd -lm -pthread -o sample_self
 *     ./sample_self
 */
#include <sonde_sampler.h>
#include <stdio.h>
#include <time.h>

static void work(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 2;

	while (clock() < end)
		;
}

static void print_figure(void *context, const char *key, double value, unsigned step)
{
	(void)context;
	printf("%s %g (node %u)\n", key, value, step);
}

int main(void)
{
	struct sonde_sampler_options options = { .interval = 0.1 };
	struct sonde_error error = { 0 };
	struct sonde_sampler *sampler = sonde_sampler_start(&options, &error);
	struct sonde_report *report = sonde_report_new();
	const char *path = NULL;

	if (!sampler)
		fprintf(stderr, "sample_self: not sampling: %s\n", error.text);
	work(); /* whatever became of the sampler */
	sonde_sampler_stop(sampler);
	if (sampler && report && sonde_report_add_sampler(report, 0, sampler)) {
		sonde_report_emit(report, print_figure, NULL);
		path = sonde_report_save(report, NULL, &error);
	}
	if (path)
		printf("samples: %s\n", path);
	sonde_report_free(report);
	sonde_sampler_free(sampler);
	return path ? 0 : 1;
}
