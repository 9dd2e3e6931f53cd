// SPDX-License-Identifier: Apache-2.0
// The C programs of the eighth set: eighth WHAT ARGUMENTS.
#include <arpa/inet.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double deadline;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double grid[2][258][258];

// A small stencil that stays in the cache.
static void stencil(double seconds)
{
	for (int i = 0; i < 258; i++)
		for (int j = 0; j < 258; j++)
			grid[0][i][j] = i ^ j;
	double end = now() + seconds;
	for (int step = 0; now() < end; step++) {
		int from = step & 1;
		for (int i = 1; i < 257; i++)
			for (int j = 1; j < 257; j++)
				grid[!from][i][j] =
					0.25 * (grid[from][i - 1][j] + grid[from][i + 1][j] +
						grid[from][i][j - 1] + grid[from][i][j + 1]);
	}
	printf("%g\n", grid[0][100][100]);
}

// Blocks of many sizes come from the one arena, which searches its lists under its lock, and return
// to it.
enum { BLOCKS = 2000 };

static void *arena_worker(void *arg)
{
	unsigned seed = (unsigned)(size_t)arg;
	char **blocks = calloc(BLOCKS, sizeof *blocks);
	for (long n = 0; n % 64 || now() < deadline; n++) {
		int i = rand_r(&seed) % BLOCKS;
		free(blocks[i]);
		blocks[i] = malloc(1500 + rand_r(&seed) % 60000);
		blocks[i][0] = 1;
	}
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	free(blocks);
	return NULL;
}

static void arena(int threads, double seconds)
{
	pthread_t t[64];
	mallopt(M_MMAP_THRESHOLD, 1 << 26);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	deadline = now() + seconds;
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, arena_worker, (void *)(size_t)(i + 1));
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
}

// Which pages were written is found by protecting them and catching the signal.
static char *pages;

static void on_write(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	mprotect((void *)((size_t)info->si_addr & ~4095UL), 4096, PROT_READ | PROT_WRITE);
}

static void barrier(double seconds)
{
	enum { N = 2000 };
	pages = mmap(NULL, N * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction action = { .sa_sigaction = on_write, .sa_flags = SA_SIGINFO };
	sigaction(SIGSEGV, &action, NULL);
	double end = now() + seconds;
	while (now() < end) {
		mprotect(pages, N * 4096, PROT_READ);
		for (int i = 0; i < N; i++)
			((volatile char *)pages)[i * 4096L]++;
	}
}

// Each number is a datagram of its own.
static void datagrams(double seconds)
{
	int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof at;
	bind(in, (struct sockaddr *)&at, size);
	getsockname(in, (struct sockaddr *)&at, &size);
	pid_t child = fork();
	if (child == 0) {
		long number, sum = 0;
		while (recv(in, &number, sizeof number, 0) == sizeof number && number >= 0)
			sum += number;
		_exit(sum == 0);
	}
	connect(out, (struct sockaddr *)&at, size);
	double end = now() + seconds;
	long n = 1;
	for (; now() < end; n++)
		send(out, &n, sizeof n, 0);
	n = -1;
	while (waitpid(child, NULL, WNOHANG) == 0) {
		send(out, &n, sizeof n, 0);
		usleep(10000);
	}
}

// The signal is given before anyone waits for it, and the one who waits never looks.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *waiter(void *arg)
{
	stencil(1);
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void lost(void)
{
	pthread_t t;
	pthread_create(&t, NULL, waiter, NULL);
	pthread_mutex_lock(&mutex);
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	pthread_join(t, NULL);
}

static long fib(int n)
{
	if (n < 2)
		return n;
	if (n < 26)
		return fib(n - 1) + fib(n - 2);
	long a, b;
#pragma omp task shared(a)
	a = fib(n - 1);
#pragma omp task shared(b)
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

static void tasks(double seconds)
{
	double end = now() + seconds;
	long sum = 0;
#pragma omp parallel
#pragma omp single
	while (now() < end)
		sum += fib(38);
	printf("%ld\n", sum);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	double x = argc > 2 ? strtod(argv[2], NULL) : 0, y = argc > 3 ? strtod(argv[3], NULL) : 0;
	if (!strcmp(what, "stencil"))
		stencil(x);
	else if (!strcmp(what, "arena"))
		arena((int)x, y);
	else if (!strcmp(what, "barrier"))
		barrier(x);
	else if (!strcmp(what, "datagrams"))
		datagrams(x);
	else if (!strcmp(what, "lost"))
		lost();
	else if (!strcmp(what, "tasks"))
		tasks(x);
	else
		return 2;
	return 0;
}
