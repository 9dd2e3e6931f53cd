// SPDX-License-Identifier: Apache-2.0
// OpenMP threads that meet in a barrier after each small step.
#include "job.h"

int main(int argc, char **argv)
{
	double end = now() + number(argc, argv, 1);
	int more = 1;
#pragma omp parallel
	while (more) {
		work(300);
#pragma omp barrier
#pragma omp single
		more = now() < end;
	}
	return 0;
}
