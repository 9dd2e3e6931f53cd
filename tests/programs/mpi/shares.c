/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares SECONDS: an MPI program of which the part in MPI is known. Ranks compute, each longer than
 * the one before it, then sum an array of all and meet, and so on for so long; what is in between
 * is no other's. Each rank prints the seconds in MPI and in all: by MPI_Wtime, and of CPU time.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 1 << 16, STEP = 12000000 };

static double in[N], out[N];
static volatile unsigned sink;

struct clocks {
	double wall, cpu;
};

static struct clocks now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (struct clocks){ MPI_Wtime(), (double)t.tv_sec + (double)t.tv_nsec * 1e-9 };
}

static void add(struct clocks *sum, struct clocks from)
{
	struct clocks to = now();

	sum->wall += to.wall - from.wall;
	sum->cpu += to.cpu - from.cpu;
}

__attribute__((noinline)) static void compute(int much)
{
	unsigned x = sink;

	for (int i = 0; i < much; i++)
		x = x * 1664525 + 1013904223;
	sink = x;
}

int main(int argc, char **argv)
{
	struct clocks mpi = { 0, 0 }, all = { 0, 0 }, begun;
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	int rank, on = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	begun = now();
	while (on) {
		struct clocks from;

		compute((rank + 1) * STEP);
		from = now();
		MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		on = from.wall - begun.wall < seconds;
		MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
		add(&mpi, from);
	}
	add(&all, begun);
	printf("%d %.6f %.6f %.6f %.6f\n", rank, mpi.wall, all.wall, mpi.cpu, all.cpu);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
