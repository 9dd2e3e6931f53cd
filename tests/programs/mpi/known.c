/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known STEPS [OUT]: an MPI program that says what it did with MPI. Of STEPS steps each rank
 * sleeps, first all as long, in a phase "even", then each longer than the one before it, in
 * "skewed", and sums and passes on data. Each rank writes to OUT.RANK lines "FUNCTION CALLS BYTES
 * SECONDS", and as "all" the seconds between MPI_Init and MPI_Finalize, and those of them in MPI.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DOUBLES = 100, INTS = 1000, MS = 1000000 };
enum { ALLREDUCE, SENDRECV, SEND, RECV, GATHER, BARRIER, SPLIT, FREE, FUNCTIONS };

static const char *const names[] = { "Allreduce", "Sendrecv", "Send",       "Recv",
				     "Gather",    "Barrier",  "Comm_split", "Comm_free" };
static struct {
	long calls, bytes;
	double seconds;
} did[FUNCTIONS];
static double in[64 * INTS], out[INTS];
static int rank, ranks;

static void count(int function, long bytes, double from)
{
	did[function].calls++;
	did[function].bytes += bytes;
	did[function].seconds += MPI_Wtime() - from;
}

/* A rank that sends, one that takes what comes, in a communicator of other numbers. */
static void pass_on(MPI_Comm turned)
{
	int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
	double from = MPI_Wtime();

	MPI_Sendrecv(out, INTS, MPI_INT, next, 0, in, 2 * INTS, MPI_INT, before, 0, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	count(SENDRECV, 2L * INTS * (long)sizeof(int), from);
	from = MPI_Wtime();
	if (rank == 0) {
		MPI_Send(out, 10, MPI_DOUBLE, 0, 1, turned);
		count(SEND, 10L * (long)sizeof(double), from);
	} else if (rank == ranks - 1) {
		MPI_Recv(in, INTS, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, turned,
			 MPI_STATUS_IGNORE);
		count(RECV, 10L * (long)sizeof(double), from);
	}
}

static void step(long ms, MPI_Comm turned)
{
	const struct timespec t = { ms / 1000, ms % 1000 * MS };
	double from;

	nanosleep(&t, NULL);
	from = MPI_Wtime();
	MPI_Allreduce(MPI_IN_PLACE, in, DOUBLES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	count(ALLREDUCE, DOUBLES * (long)sizeof(double), from);
	pass_on(turned);
	from = MPI_Wtime();
	MPI_Gather(rank ? out : MPI_IN_PLACE, 7, MPI_INT, in, 7, MPI_INT, 0, MPI_COMM_WORLD);
	count(GATHER, 7 * (long)sizeof(int), from);
}

static long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* With its time, as sonde itself writes it. */
static void mark(char kind, const char *name)
{
	FILE *f = rank ? NULL : fopen(getenv("SONDE_MARKS"), "a");

	if (!f)
		return;
	fprintf(f, "%c@%lld,%lld,%zu %s\n", kind, clock_ns(CLOCK_MONOTONIC),
		clock_ns(CLOCK_REALTIME), strlen(name), name);
	fclose(f);
}

static double inside(void)
{
	double sum = 0;

	for (int i = 0; i < FUNCTIONS; i++)
		sum += did[i].seconds;
	return sum;
}

/* What a phase took, and of it MPI. */
static struct took {
	double all, inside;
} phase(const char *name, long steps, long ms, MPI_Comm turned)
{
	struct took took = { MPI_Wtime(), inside() };

	mark('B', name);
	for (long i = 0; i < steps; i++)
		step(ms, turned);
	mark('E', name);
	return (struct took){ MPI_Wtime() - took.all, inside() - took.inside };
}

static void print(const char *path, double all, const struct took *even, const struct took *skewed)
{
	char name[4096];
	FILE *f;

	snprintf(name, sizeof name, "%s.%d", path, rank);
	f = fopen(name, "w");
	for (int i = 0; f && i < FUNCTIONS; i++) {
		fprintf(f, "MPI_%s %ld %ld %.9f\n", names[i], did[i].calls, did[i].bytes,
			did[i].seconds);
	}
	if (!f)
		return;
	fprintf(f, "all %.9f %.9f\n", all, inside());
	fprintf(f, "phase even %.9f %.9f\n", even->all, even->inside);
	fprintf(f, "phase skewed %.9f %.9f\n", skewed->all, skewed->inside);
	fclose(f);
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
	MPI_Comm turned;
	double begin, from;
	struct took even, skewed;

	MPI_Init(&argc, &argv);
	begin = MPI_Wtime();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	from = MPI_Wtime();
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
	count(SPLIT, 0, from);
	even = phase("even", steps, 40, turned);
	skewed = phase("skewed", steps, 10L + 30L * rank, turned);
	from = MPI_Wtime();
	MPI_Comm_free(&turned);
	count(FREE, 0, from);
	from = MPI_Wtime();
	MPI_Barrier(MPI_COMM_WORLD);
	count(BARRIER, 0, from);
	begin = MPI_Wtime() - begin;
	MPI_Finalize();
	if (argc > 2)
		print(argv[2], begin, &even, &skewed);
	return 0;
}
