/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slowdown JOB AMOUNT TURNS MINE THEIRS: does that amount of a kind of work TURNS times (an even
 * number), two in a row. Before these it waits for a byte in the FIFO MINE, and after them it
 * writes one to the FIFO THEIRS, where another one waits. With a sixth argument it begins, with one
 * turn, and ends with one: of the turns of both, each pair in order has one of each, and is first
 * in turns what is second in the next. For each turn it prints the ns of CPU that it took, all
 * threads and children included, and the ns of time.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, SPINS = 1000, DOUBLES = 1 << 20, MAP_BYTES = 1 << 20, PAGE = 4096 };

extern char **environ;

static long amount;

static void need(int ok)
{
	if (!ok)
		exit(2);
}

/* Two that exchange tiny pieces of work take two to three times as long on two cores, and the
 * kernel puts them now on one, now on two: that would be measured. */
static void on_one_core(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1, &one);
	sched_setaffinity(0, sizeof one, &one); /* not permitted there: as it is */
}

static void in_two(void (*f)(int side, void *arg), void *arg)
{
	pid_t pid = fork();

	need(pid >= 0);
	f(!pid, arg);
	if (!pid)
		_exit(0);
	need(waitpid(pid, NULL, 0) == pid);
}

static void pass_byte(int side, void *arg)
{
	int(*pipes)[2] = arg;
	char c = 0;

	for (long i = 0; i < amount; i++) {
		need(!side || read(pipes[1][0], &c, 1) == 1);
		need(write(pipes[!side][1], &c, 1) == 1);
		need(side || read(pipes[0][0], &c, 1) == 1);
	}
}

static void job_pipe(void)
{
	int pipes[2][2]; /* what each side reads */

	need(!pipe(pipes[0]) && !pipe(pipes[1]));
	on_one_core();
	in_two(pass_byte, pipes);
}

static _Atomic uint32_t *shared_word(void)
{
	void *m = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	need(m != MAP_FAILED);
	return m;
}

/* Each waits until the other has made the count its own. */
static void wait_by_futex(int side, void *arg)
{
	_Atomic uint32_t *word = arg;
	uint32_t seen;

	for (long i = 0; i < amount; i++) {
		while (((seen = atomic_load(word)) & 1) != (uint32_t)side)
			syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
		atomic_fetch_add(word, 1);
		syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static void job_futex(void)
{
	on_one_core();
	in_two(wait_by_futex, shared_word());
}

/* As MPI does in shared memory on a node with more ranks than CPUs. */
static void wait_by_spinning(int side, void *arg)
{
	_Atomic uint32_t *word = arg;

	for (long i = 0; i < amount; i++) {
		for (int spins = 0; (atomic_load(word) & 1) != (uint32_t)side; spins++)
			if (spins > SPINS)
				sched_yield();
		atomic_fetch_add(word, 1);
	}
}

static void job_shared(void)
{
	on_one_core();
	in_two(wait_by_spinning, shared_word());
}

/* Threads that stay, as those of OpenMP, and meet in one barrier; in the others all begin and end.
 */
static pthread_barrier_t begin, middle, end;

static void *meet(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&begin);
		for (long i = 0; i < amount; i++)
			pthread_barrier_wait(&middle);
		pthread_barrier_wait(&end);
	}
	return arg;
}

static void job_barrier(void)
{
	static bool there;
	pthread_t thread;

	if (!there) {
		pthread_barrier_init(&begin, NULL, THREADS + 1);
		pthread_barrier_init(&middle, NULL, THREADS);
		pthread_barrier_init(&end, NULL, THREADS + 1);
		for (int i = 0; i < THREADS; i++)
			need(!pthread_create(&thread, NULL, meet, NULL));
	}
	there = true;
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
}

static void spawn_each(char *const *command)
{
	for (long i = 0; i < amount; i++) {
		int status = 0;
		pid_t pid;

		need(!posix_spawnp(&pid, command[0], NULL, NULL, command, environ));
		need(waitpid(pid, &status, 0) == pid && !status);
	}
}

static void job_storm(void)
{
	spawn_each((char *const[]){ "/bin/true", NULL });
}

static void job_compile(void)
{
	FILE *f = fopen("turn.c", "we");

	need(f &&
	     fputs("#include <stdio.h>\n#include <stdlib.h>\nint f(int a) { "
		   "printf(\"%d\", a); return rand() + a; }\n",
		   f) >= 0 &&
	     !fclose(f));
	need(!setenv("CCACHE_DISABLE", "1", 1));
	spawn_each((char *const[]){ "cc", "-O2", "-c", "turn.c", "-o", "turn.o", NULL });
}

static void job_triad(void)
{
	double *a = calloc(3 * DOUBLES, sizeof *a), *b = a + DOUBLES, *c = b + DOUBLES;

	need(a != NULL);
	for (long i = 0; i < amount; i++)
		for (long k = 0; k < DOUBLES; k++)
			a[k] = b[k] + (double)i * c[k] + 1;
	need(a[amount % DOUBLES] > 0);
	free(a);
}

static void job_mmap(void)
{
	for (long i = 0; i < amount; i++) {
		char *m = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);

		need(m != MAP_FAILED);
		for (int at = 0; at < MAP_BYTES; at += PAGE)
			m[at] = 1;
		need(!munmap(m, MAP_BYTES));
	}
}

static void job_io(void)
{
	static char page[PAGE];
	int fd = open("turn.file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	need(fd >= 0);
	for (long i = 0; i < amount; i++) {
		off_t at = i % 1024 * PAGE;

		need(pwrite(fd, page, PAGE, at) == PAGE && pread(fd, page, PAGE, at) == PAGE);
	}
	close(fd);
}

static const struct {
	const char *name;
	void (*work)(void);
} jobs[] = {
	{ "pipe", job_pipe },     { "futex", job_futex }, { "barrier", job_barrier },
	{ "shared", job_shared }, { "storm", job_storm }, { "compile", job_compile },
	{ "triad", job_triad },   { "mmap", job_mmap },   { "io", job_io },
};

static int64_t used_ns(int who)
{
	struct rusage r;

	getrusage(who, &r);
	return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * INT64_C(1000000000) +
	       (r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000;
}

static int64_t cpu_ns(void)
{
	return used_ns(RUSAGE_SELF) + used_ns(RUSAGE_CHILDREN);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void take_turn(void (*work)(void))
{
	int64_t cpu = cpu_ns(), time = now_ns();

	work();
	cpu = cpu_ns() - cpu;
	printf("%lld %lld\n", (long long)cpu, (long long)(now_ns() - time));
	fflush(stdout);
}

static void take_turns(void (*work)(void), long turns, bool begins, int mine, int theirs)
{
	char c = 0;

	need(mine >= 0 && theirs >= 0);
	for (long i = 0; i < turns; i++) {
		bool first = (i % 2 == 0) != begins || !i, last = (i % 2 == 1) != begins;

		need(!first || read(mine, &c, 1) == 1);
		take_turn(work);
		need(!(last || i == turns - 1) || write(theirs, &c, 1) == 1);
	}
}

int main(int argc, char **argv)
{
	need(argc == 6 || argc == 7);
	amount = strtol(argv[2], NULL, 10);
	for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
		if (!strcmp(jobs[i].name, argv[1])) {
			take_turns(jobs[i].work, strtol(argv[3], NULL, 10), argc == 7,
				   open(argv[4], O_RDWR | O_CLOEXEC),
				   open(argv[5], O_RDWR | O_CLOEXEC));
			return 0;
		}
	return 2;
}
