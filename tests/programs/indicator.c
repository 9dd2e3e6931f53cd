/* SPDX-License-Identifier: Apache-2.0 */
/* A benchmark in C that keeps the contract: sums up, says how long it took. With an argument it
 * crashes when it has said half of that. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct timespec a, b;
	volatile double sum = 0;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < 1000000; i++)
		sum = sum + i;
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("{\"name\": \"PiSum\", \"component\": \"c\", \"@parameters\": {\"n\": 1000000},\n");
	if (argc > 1) {
		fprintf(stderr, "%s: it is all over\n\n", argv[1]);
		fflush(stdout);
		abort();
	}
	printf(" \"@result\": {\"elapsed\": %.9f, \"sum\": %.0f}}\n",
	       (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9, sum);
	return 0;
}
