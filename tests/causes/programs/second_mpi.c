// SPDX-License-Identifier: Apache-2.0
// Two ranks with parts of unequal size, which meet after every step. mpicc builds it.
#include "job.h"
#include <mpi.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank = 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int steps = (int)number(argc, argv, 1);
	for (int i = 0; i < steps; i++) {
		compute(rank == 0 ? 0.5 : 0.08);
		double mine = rank;
		double sum = 0;
		MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
