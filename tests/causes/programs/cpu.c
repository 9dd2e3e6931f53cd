// SPDX-License-Identifier: Apache-2.0
// Threads that compute: alone, too many, under a lock, in phases, spinning.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "job.h"

enum { threads_max = 1024 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool done;

struct part {
	double seconds;
	void (*body)(double seconds);
};

static void *part_run(void *p)
{
	const struct part *part = p;
	part->body(part->seconds);
	return NULL;
}

static int together(int count, double seconds, void (*body)(double))
{
	static pthread_t threads[threads_max];
	struct part part = { seconds, body };
	for (int i = 0; i < count && i < threads_max; i++) {
		if (pthread_create(&threads[i], NULL, part_run, &part) != 0)
			return 1;
	}
	for (int i = 0; i < count && i < threads_max; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void held(double seconds)
{
	for (double end = now() + seconds; now() < end;) {
		pthread_mutex_lock(&lock);
		work(4000);
		pthread_mutex_unlock(&lock);
		sched_yield();
	}
}

static void convoy(double seconds)
{
	for (double end = now() + seconds; now() < end;) {
		for (int i = 0; i < 100; i++) {
			pthread_mutex_lock(&lock);
			work(1);
			pthread_mutex_unlock(&lock);
		}
	}
}

static void spin(double seconds)
{
	(void)seconds;
	while (!atomic_load(&done))
		sched_yield();
}

static int exec_threads(int argc, char **argv)
{
	return together((int)number(argc, argv, 1), number(argc, argv, 2), compute);
}

static int exec_lock(int argc, char **argv)
{
	return together((int)number(argc, argv, 1), number(argc, argv, 2), held);
}

static int exec_convoy(int argc, char **argv)
{
	return together((int)number(argc, argv, 1), number(argc, argv, 2), convoy);
}

static int exec_phases(int argc, char **argv)
{
	together((int)number(argc, argv, 3), number(argc, argv, 1), compute);
	compute(number(argc, argv, 2));
	return 0;
}

static int exec_head(int argc, char **argv)
{
	compute(number(argc, argv, 1));
	return together((int)number(argc, argv, 3), number(argc, argv, 2), compute);
}

static void *worker(void *seconds)
{
	compute(*(double *)seconds);
	atomic_store(&done, true);
	return NULL;
}

static int exec_yield(int argc, char **argv)
{
	pthread_t thread;
	double seconds = number(argc, argv, 2);
	if (pthread_create(&thread, NULL, worker, &seconds) != 0)
		return 1;
	together((int)number(argc, argv, 1) - 1, 0, spin);
	return pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	static const struct verb verbs[] = { { "threads", exec_threads },
					     { "lock", exec_lock },
					     { "convoy", exec_convoy },
					     { "phases", exec_phases },
					     { "head", exec_head },
					     { "yield", exec_yield },
					     { NULL, NULL } };
	return verb_run(verbs, argc, argv);
}
