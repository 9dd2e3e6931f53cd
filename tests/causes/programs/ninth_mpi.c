// SPDX-License-Identifier: Apache-2.0
// The ranks of the ninth set: ninth_mpi even|uneven|unmatched ROUNDS.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double work(int units)
{
	double x = 0;
	for (int i = 1; i <= units * 1000; i++)
		x += 1.0 / (x + i);
	return x;
}

int main(int n, char **arg)
{
	int rank;
	double mine, all = 0;
	MPI_Init(&n, &arg);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int uneven = n > 2 && strcmp(arg[1], "uneven") == 0;
	for (int round = 0; n > 2 && round < (int)strtol(arg[2], NULL, 10); round++) {
		mine = work(uneven && rank == 0 ? 4000 : uneven ? 20000 : 12000);
		MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	if (n > 2 && strcmp(arg[1], "unmatched") == 0 && rank == 0)
		MPI_Recv(&all, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("%g\n", all);
	MPI_Finalize();
	return 0;
}
