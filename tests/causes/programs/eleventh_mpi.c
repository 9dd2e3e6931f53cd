// SPDX-License-Identifier: Apache-2.0
// Ranks of the eleventh set of causes, for judge.py: "reader" lets rank 0 prepare each round while
// others wait, "even" shares the work.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double work(long steps)
{
	double x = 1;
	for (long i = 1; i < steps; i++)
		x += 1.0 / ((double)i * i + x);
	return x;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 3,
	    reader = argc > 1 && !strcmp(argv[1], "reader");
	double total = 0;
	for (int i = 0; i < rounds; i++) {
		double x = reader && rank == 0 ? work(150000000) : 0, all = 0;
		if (reader)
			MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		x += work(reader ? 5000000 : 80000000);
		MPI_Allreduce(&x, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		total += all;
	}
	if (rank == 0)
		printf("%d ranks: %f\n", size, total);
	MPI_Finalize();
}
