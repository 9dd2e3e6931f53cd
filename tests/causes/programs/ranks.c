// SPDX-License-Identifier: Apache-2.0
// MPI ranks that meet after each step: ranks SECONDS SHARE. Rank 0 works 0.2 s in
// a step, the others SHARE percent of that.
#include "job.h"
#include <mpi.h>

int main(int argc, char **argv)
{
	int rank = 0, more = 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	double end = now() + number(argc, argv, 1), share = number(argc, argv, 2) / 100;
	while (more) {
		compute(rank == 0 ? 0.2 : 0.2 * share);
		more = now() < end;
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
