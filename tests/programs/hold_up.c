/* SPDX-License-Identifier: Apache-2.0 */
/* hold_up - jobs that wait, as they should or not: hold_up KIND SECONDS [MS]. Each works in a
 * function of its own name. MS: CPU time of a piece of work. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, BLOCK = 1 << 16 };

static double seconds, piece_s = 0.02;
static double began;
static volatile uint64_t sink;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int items, ends[2];

static double now_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void rest(double s)
{
	const struct timespec t = { (time_t)s, (long)((s - (double)(time_t)s) * 1e9) };

	nanosleep(&t, NULL);
}

static int is_time(void)
{
	return now_of(CLOCK_MONOTONIC) - began < seconds;
}

static void spin(double s)
{
	double until = now_of(CLOCK_THREAD_CPUTIME_ID) + s;

	while (now_of(CLOCK_THREAD_CPUTIME_ID) < until)
		for (int i = 0; i < 20000; i++)
			sink += (uint64_t)i * sink + 1;
}

static __attribute__((noinline)) void work_alone(double s)
{
	spin(s);
	sink++; /* no tail call */
}

/* ---- locks ---- */

static __attribute__((noinline)) void take_the_lock(void)
{
	pthread_mutex_lock(&mutex);
	sink++;
}

/* What is done under the lock takes all of the time. */
static void *convoy(void *arg)
{
	(void)arg;
	while (is_time()) {
		take_the_lock();
		work_alone(piece_s);
		pthread_mutex_unlock(&mutex);
		rest(0.001);
	}
	return NULL;
}

/* It is taken for a moment. */
static void *polite(void *arg)
{
	(void)arg;
	while (is_time()) {
		work_alone(piece_s);
		take_the_lock();
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* Who has the lock waits for work, the others for the lock: a pool with little to do. */
static void *follower(void *arg)
{
	char c;

	(void)arg;
	for (;;) {
		struct pollfd f = { ends[0], POLLIN, 0 };

		take_the_lock();
		poll(&f, 1, -1);
		if (read(ends[0], &c, 1) != 1)
			exit(0);
		pthread_mutex_unlock(&mutex);
		work_alone(0.002);
	}
}

static void *leader(void *arg)
{
	(void)arg;
	while (is_time()) {
		rest(0.3);
		if (write(ends[1], "x", 1) != 1)
			break;
	}
	exit(0);
}

/* ---- barriers ---- */

static __attribute__((noinline)) void compute_much(void)
{
	work_alone(piece_s * 2);
	sink++;
}

static __attribute__((noinline)) void meet(void)
{
	pthread_barrier_wait(&barrier);
	sink++;
}

/* The first thread of some has more to do than the others. */
static void *uneven(void *arg)
{
	const int first = arg == (void *)&barrier;

	for (int i = 0; i < (int)(seconds / (2 * piece_s)); i++) {
		if (first)
			compute_much();
		else
			spin(piece_s / 20);
		meet();
	}
	return NULL;
}

static void *even(void *arg)
{
	(void)arg;
	for (int i = 0; i < (int)(seconds / (2 * piece_s)); i++) {
		work_alone(piece_s);
		meet();
	}
	return NULL;
}

/* ---- pools ---- */

static void *idle(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&mutex);
	while (sink != UINT64_MAX)
		pthread_cond_wait(&filled, &mutex);
	return NULL;
}

static __attribute__((noinline)) void load_one(void)
{
	work_alone(0.05);
	sink++;
}

static void *loader(void *arg)
{
	(void)arg;
	while (sink != UINT64_MAX) {
		load_one();
		pthread_mutex_lock(&mutex);
		while (items >= 2)
			pthread_cond_wait(&emptied, &mutex);
		items++;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static __attribute__((noinline)) void next_batch(void)
{
	pthread_mutex_lock(&mutex);
	while (!items)
		pthread_cond_wait(&filled, &mutex);
	items--;
	pthread_cond_signal(&emptied);
	pthread_mutex_unlock(&mutex);
}

static void *worker(void *arg)
{
	(void)arg;
	while (is_time())
		work_alone(piece_s);
	return NULL;
}

/* ---- main programs ---- */

static void start(int n, void *(*f)(void *), int join)
{
	pthread_t thread[THREADS];

	pthread_barrier_init(&barrier, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, f, i ? NULL : (void *)&barrier))
			abort();
	for (int i = 0; join && i < n; i++)
		pthread_join(thread[i], NULL);
}

static void in_order(void)
{
	start(2, even, 1);
}

static void held_up(void)
{
	start(THREADS, uneven, 1);
}

static void many_for_one(void)
{
	start(THREADS, convoy, 1);
}

static void one_after_the_other(void)
{
	start(2, polite, 1);
}

static void followers(void)
{
	if (pipe(ends))
		abort();
	start(THREADS, follower, 0);
	leader(NULL);
}

static void pool(void)
{
	start(THREADS, idle, 0);
	while (is_time())
		work_alone(piece_s);
}

static void starve(void)
{
	start(1, loader, 0);
	while (is_time()) {
		next_batch();
		work_alone(0.012);
	}
}

static void workers(void)
{
	start(2, worker, 1);
}

static void events(void)
{
	struct pollfd f = { 0 };

	if (pipe(ends))
		abort();
	f = (struct pollfd){ ends[0], POLLIN, 0 };
	while (is_time())
		poll(&f, 1, 500);
}

static __attribute__((noinline)) void ask_again(void)
{
	rest(0.1);
	sink++;
}

static void polls(void)
{
	struct stat st;

	while (is_time() && stat("never", &st))
		ask_again();
}

static void writes(void)
{
	static char block[BLOCK];

	while (is_time()) {
		if (piece_s > 0)
			work_alone(piece_s);
		if (write(1, block, sizeof block) <= 0)
			return;
	}
}

static __attribute__((noinline)) int read_block(char *block)
{
	size_t n = 0;

	while (n < BLOCK) {
		ssize_t got = read(0, block + n, BLOCK - n);

		if (got <= 0)
			return 0;
		n += (size_t)got;
	}
	return 1;
}

static void reads(void)
{
	static char block[BLOCK];

	while (read_block(block))
		work_alone(piece_s);
}

static __attribute__((noinline)) void lock_file(int fd)
{
	if (flock(fd, LOCK_EX))
		abort();
	sink++;
}

static void locks(void)
{
	int fd = open("one.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	while (fd >= 0 && is_time()) {
		lock_file(fd);
		rest(piece_s);
		flock(fd, LOCK_UN);
		rest(0.002);
	}
}

static void works(void)
{
	while (is_time())
		work_alone(piece_s);
}

static const struct {
	const char *kind;
	void (*run)(void);
} kinds[] = {
	{ "convoy", many_for_one }, { "polite", one_after_the_other },
	{ "followers", followers }, { "uneven", held_up },
	{ "even", in_order },       { "pool", pool },
	{ "starve", starve },       { "workers", workers },
	{ "events", events },       { "polls", polls },
	{ "writes", writes },       { "reads", reads },
	{ "locks", locks },         { "works", works },
};

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	seconds = strtod(argv[2], NULL);
	if (argc > 3)
		piece_s = strtod(argv[3], NULL) / 1000;
	began = now_of(CLOCK_MONOTONIC);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (!strcmp(kinds[i].kind, argv[1])) {
			kinds[i].run();
			return 0;
		}
	return 2;
}
