/* SPDX-License-Identifier: Apache-2.0 */
/* sampler INTERVAL SAMPLES: libsonde's sampler within a program that does nothing else; prints the
 * CPU seconds of one sample, the mean over SAMPLES, wake-ups included. */
#include "base/clock.h"

#include <sonde_sampler.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sonde_sampler_options o = { 0 };
	struct sonde_error e = { 0 };
	struct sonde_sampler *s = NULL;
	uint64_t wanted = argc == 3 ? strtoull(argv[2], NULL, 10) : 0, first;
	int64_t before;

	o.interval = argc == 3 ? strtod(argv[1], NULL) : 0;
	if (wanted)
		s = sonde_sampler_start(&o, &e);
	if (!s) {
		fprintf(stderr, "sampler: %s\n", wanted ? e.text : "it takes INTERVAL SAMPLES");
		return 2;
	}
	while (!sonde_sampler_taken(s))
		usleep(1000);
	before = clock_cpu_ns();
	first = sonde_sampler_taken(s);
	usleep((useconds_t)(o.interval * 1e6 * (double)wanted));
	printf("%.9f\n", (double)(clock_cpu_ns() - before) / (double)NS_PER_S /
				 (double)(sonde_sampler_taken(s) - first));
	sonde_sampler_free(s);
	return 0;
}
