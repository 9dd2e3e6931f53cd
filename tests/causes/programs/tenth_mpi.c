// SPDX-License-Identifier: Apache-2.0
// Two ranks: even, uneven, late, chatty, abort.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;

static void burn(double seconds)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	double end = t.tv_sec + t.tv_nsec / 1e9 + seconds;
	do {
		double x = 1;
		for (int i = 0; i < 20000; i++)
			x = x * 1.0000001 + 0.5 / (x + i);
		sink = x;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec + t.tv_nsec / 1e9 < end);
}

int main(int argc, char **argv)
{
	int rank, size, number = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	const char *what = argc > 2 ? argv[1] : "";
	double s = argc > 2 ? strtod(argv[2], NULL) : 0, sum;
	if (!strcmp(what, "even")) {
		for (int i = 0; i < 5; i++) {
			burn(s / 5);
			double x = rank;
			MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		}
	} else if (!strcmp(what, "uneven") || !strcmp(what, "abort")) {
		for (int i = 0; i < 10; i++) {
			burn(rank ? s / 10 : s / 80);
			double x = rank;
			MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		}
		if (!strcmp(what, "abort") && rank) {
			fprintf(stderr, "rank 1: residual is not a number\n");
			MPI_Abort(MPI_COMM_WORLD, 7);
		}
	} else if (!strcmp(what, "late")) {
		if (rank) {
			usleep((useconds_t)(s * 1e6));
			MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
		} else {
			MPI_Recv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	} else if (!strcmp(what, "chatty")) {
		for (double end = MPI_Wtime() + s; !number;) {
			for (int i = 0; i < 500; i++) {
				double x = rank;
				MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
			}
			number = MPI_Wtime() > end;
			MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
		}
	}
	MPI_Finalize();
	return 0;
}
