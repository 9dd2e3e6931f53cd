/* SPDX-License-Identifier: Apache-2.0 */
/* A benchmark in C that keeps the contract: sums up, says how long it took. */
#include <stdio.h>
#include <time.h>

int main(void)
{
	struct timespec a, b;
	volatile double sum = 0;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < 1000000; i++)
		sum = sum + i;
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("{\"name\": \"PiSum\", \"component\": \"c\", \"@parameters\": {\"n\": 1000000},\n"
	       " \"@result\": {\"elapsed\": %.9f, \"sum\": %.0f}}\n",
	       (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9, sum);
	return 0;
}
