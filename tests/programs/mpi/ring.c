/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring MICROSECONDS MEBIBYTES [leave]: an MPI program of which the figures are known. Each rank
 * sends that many MiB to the next in a ring of all, in messages of 1 MiB, and ends when its CPU
 * clock shows MICROSECONDS: the last of it after MPI_Finalize, since a rank that waits for others
 * may spin. leave: without MPI_Finalize, in which MPICH 4.0.2 over UCX hangs now and then.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MESSAGE = 1 << 20 };

static char out[MESSAGE], in[MESSAGE];

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int64_t want = argc > 1 ? strtoll(argv[1], NULL, 10) * 1000 : 0;
	long messages = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	memset(out, rank, sizeof out);
	for (long i = 0; i < messages; i++)
		MPI_Sendrecv(out, MESSAGE, MPI_CHAR, (rank + 1) % size, 0, in, MESSAGE, MPI_CHAR,
			     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!rank)
		printf("%d ranks\n", size);
	MPI_Barrier(MPI_COMM_WORLD);
	if (argc < 4)
		MPI_Finalize();
	while (cpu_ns() < want)
		;
	return 0;
}
