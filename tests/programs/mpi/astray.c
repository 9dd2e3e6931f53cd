/* SPDX-License-Identifier: Apache-2.0 */
/*
 * astray KIND: an MPI program of which rank 2 is elsewhere while the others sum a number: it reads
 * a FIFO that nobody writes, computes, sleeps, or has ended ("read", "compute", "sleep", "end").
 */
#include <fcntl.h>
#include <mpi.h>
#include <string.h>
#include <unistd.h>

static double in = 1, out;
static volatile unsigned sink;

__attribute__((noinline)) static void norm(void)
{
	MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	sink++;
}

__attribute__((noinline)) static void load(void)
{
	char c;
	int fd = open("fifo", O_RDWR);

	sink += read(fd, &c, 1) == 1;
}

__attribute__((noinline)) static void compute(void)
{
	for (;;)
		sink = sink * 1664525 + 1013904223;
}

__attribute__((noinline)) static void rest(void)
{
	sink += sleep(1000);
}

static void go_astray(const char *kind)
{
	if (!strcmp(kind, "read"))
		load();
	else if (!strcmp(kind, "compute"))
		compute();
	else if (!strcmp(kind, "sleep"))
		rest();
	else
		_exit(0);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2 && argc > 1)
		go_astray(argv[1]);
	norm();
	MPI_Finalize();
	return 0;
}
