// SPDX-License-Identifier: Apache-2.0
// The C programs of the ninth set: ninth WHAT ARGUMENTS.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIDE = 514 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double grid[2][SIDE][SIDE];

// So many steps of a relaxation, each of them a parallel loop.
static double relax(int steps)
{
	for (int i = 0; i < SIDE; i++)
		grid[0][i][0] = grid[1][i][0] = i;
	for (int step = 0; step < steps; step++) {
		double(*from)[SIDE] = grid[step & 1], (*to)[SIDE] = grid[!(step & 1)];
#pragma omp parallel for schedule(static)
		for (int i = 1; i < SIDE - 1; i++)
			for (int j = 1; j < SIDE - 1; j++)
				to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] +
						   from[i][j - 1] + from[i][j + 1]);
	}
	return grid[steps & 1][SIDE / 2][1];
}

// Row i has i * i / 2 pairs and more; equal numbers of rows go to each thread.
static double triangle(int rows, int rounds)
{
	double sum = 0;
	for (int round = 0; round < rounds; round++) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
		for (int i = 0; i < rows; i++)
			for (int j = 0; j < i; j++)
				for (int k = 0; k < j; k++)
					sum += 1.0 / (1 + ((i ^ j) + k));
	}
	return sum;
}

static int listening(struct sockaddr_in *at)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(*at);
	*at = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (s < 0 || bind(s, (struct sockaddr *)at, size) || listen(s, 1) ||
	    getsockname(s, (struct sockaddr *)at, &size)) {
		perror("listen");
		exit(1);
	}
	return s;
}

// A number goes to another process and back over TCP, and only then the next one goes.
static int back_and_forth(double seconds)
{
	struct sockaddr_in at;
	int s = listening(&at), one = 1, count = 0;
	char byte = 0;
	if (fork() == 0) {
		int c = accept(s, NULL, NULL);
		setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		while (read(c, &byte, 1) == 1 && write(c, &byte, 1) == 1)
			;
		_exit(0);
	}
	int c = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(c, (struct sockaddr *)&at, sizeof(at)))
		return 1;
	setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (double end = now() + seconds; now() < end; count++)
		if (write(c, &byte, 1) != 1 || read(c, &byte, 1) != 1)
			return 1;
	close(c);
	wait(NULL);
	printf("%d answers\n", count);
	return 0;
}

// Records of 4 KiB at random places of a file.
static int look_up(const char *path, double seconds)
{
	static char record[4096];
	int f = open(path, O_RDONLY);
	long records = lseek(f, 0, SEEK_END) / (long)sizeof(record), sum = 0;
	if (f < 0 || posix_fadvise(f, 0, 0, POSIX_FADV_RANDOM))
		return 1;
	for (double end = now() + seconds; now() < end;) {
		long at = random() % records;
		if (pread(f, record, sizeof(record), at * (long)sizeof(record)) < 0)
			return 1;
		sum += record[at % 4096];
	}
	printf("%ld\n", sum);
	return 0;
}

// The last row of a table is looked for, and there is none.
static int last_row(int steps)
{
	struct row {
		struct row *next;
		double value;
	} row = { NULL, relax(steps) };
	const struct row *volatile last = row.next;
	printf("%g in the last row\n", last->value);
	return 0;
}

int main(int n, char **arg)
{
	if (n > 2 && strcmp(arg[1], "relax") == 0)
		return printf("%g\n", relax((int)strtol(arg[2], NULL, 10))) < 0;
	if (n > 3 && strcmp(arg[1], "triangle") == 0)
		return printf("%g\n", triangle((int)strtol(arg[2], NULL, 10),
					       (int)strtol(arg[3], NULL, 10))) < 0;
	if (n > 2 && strcmp(arg[1], "back-and-forth") == 0)
		return back_and_forth(strtod(arg[2], NULL));
	if (n > 3 && strcmp(arg[1], "look-up") == 0)
		return look_up(arg[2], strtod(arg[3], NULL));
	if (n > 2 && strcmp(arg[1], "last-row") == 0)
		return last_row((int)strtol(arg[2], NULL, 10));
	fprintf(stderr, "ninth: what?\n");
	return 2;
}
