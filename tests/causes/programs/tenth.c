// SPDX-License-Identifier: Apache-2.0
// Jobs of the tenth set that are best written in C; each does one thing that tenth.py describes.
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;

// So much CPU time of this thread.
static void burn(double seconds)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	double end = t.tv_sec + t.tv_nsec / 1e9 + seconds;
	do {
		double x = 1;
		for (int i = 0; i < 20000; i++)
			x = x * 1.0000001 + 0.5 / (x + i);
		sink = x;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec + t.tv_nsec / 1e9 < end);
}

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static double each;

static void *work(void *arg)
{
	burn(each);
	return arg;
}

static void *under_lock(void *arg)
{
	for (int i = 0; i < (int)(each / 0.002); i++) {
		pthread_mutex_lock(&table);
		burn(0.002);
		pthread_mutex_unlock(&table);
	}
	return arg;
}

static void threads(int n, double seconds, void *(*f)(void *))
{
	pthread_t t[256];
	each = seconds;
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, f, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static void barriers(int n, double seconds)
{
	omp_set_num_threads(n);
#pragma omp parallel
	for (int step = 0; step < (int)(seconds / 0.01); step++) {
		burn(0.01 / n);
#pragma omp barrier
	}
}

static void records(double seconds)
{
	int fd = open("ledger.dat", O_CREAT | O_WRONLY | O_APPEND, 0644);
	char line[200];
	memset(line, 'x', sizeof line);
	for (time_t end = time(NULL) + (time_t)seconds; time(NULL) < end;)
		if (write(fd, line, sizeof line) < 0 || fsync(fd))
			exit(1);
}

static void buffers(int n)
{
	for (int i = 0; i < n; i++) {
		size_t size = 64 << 20;
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
		for (size_t k = 0; k < size; k += 4096)
			p[k] = 1;
		munmap(p, size);
	}
}

// A reader that asks a pipe again and again, which does not block.
static void ask(double seconds)
{
	int p[2];
	if (pipe2(p, O_NONBLOCK))
		exit(1);
	if (!fork()) {
		usleep((useconds_t)(seconds * 1e6));
		exit(write(p[1], "x", 1) != 1);
	}
	char c;
	while (read(p[0], &c, 1) < 0 && errno == EAGAIN)
		continue;
	wait(NULL);
}

static int handles(void)
{
	burn(3);
	for (int i = 0;; i++) {
		char name[40];
		snprintf(name, sizeof name, "shard-%d", i);
		if (open(name, O_CREAT | O_RDWR, 0644) < 0) {
			fprintf(stderr, "cannot open %s\n", name);
			return 3;
		}
	}
}

static int arrays(void)
{
	for (int i = 0;; i++) {
		burn(0.05);
		char *p = malloc(16 << 20);
		if (!p) {
			fprintf(stderr, "no memory for array %d\n", i);
			return 5;
		}
		memset(p, 1, 16 << 20);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	double a = argc > 2 ? strtod(argv[2], NULL) : 0, b = argc > 3 ? strtod(argv[3], NULL) : 0;
	if (!strcmp(what, "serial"))
		burn(a);
	else if (!strcmp(what, "threads"))
		threads((int)a, b, work);
	else if (!strcmp(what, "locked"))
		threads((int)a, b, under_lock);
	else if (!strcmp(what, "barriers"))
		barriers((int)a, b);
	else if (!strcmp(what, "records"))
		records(a);
	else if (!strcmp(what, "buffers"))
		buffers((int)a);
	else if (!strcmp(what, "ask"))
		ask(a);
	else if (!strcmp(what, "handles"))
		return handles();
	else if (!strcmp(what, "arrays"))
		return arrays();
	else if (!strcmp(what, "wild")) {
		threads(2, a, work);
		*(volatile int *)(uintptr_t)each = 1;
	} else
		return 2;
	return 0;
}
