/* SPDX-License-Identifier: Apache-2.0 */
/* stuck KIND: processes or threads that wait for each other: pipes, sockets, tcp, files, mutexes,
 * child, fork; or do not quite: free (a third process could end it), spins (for eight seconds),
 * recurses (for about four, until its stack is full), overflows (at once, after three),
 * uneven (a thread for two seconds, one for eight), idle. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static __attribute__((noinline)) void wait_for_data(int fd)
{
	char c;

	if (read(fd, &c, 1) == 1)
		_exit(3);
	__asm__ volatile("");
}

static __attribute__((noinline)) void wait_for_mutex(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	__asm__ volatile("");
}

static pid_t child(void)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* The third one has the end that is written, and is no part of it. */
static int pipes(int third)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		return 1;
	if (third && !child())
		for (;;)
			pause();
	if (!child()) {
		close(there[1]);
		close(back[0]);
		wait_for_data(there[0]);
		return 0;
	}
	close(there[0]);
	close(back[1]);
	wait_for_data(back[0]);
	return 0;
}

static int sockets(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	if (!child()) {
		close(pair[0]);
		wait_for_data(pair[1]);
		return 0;
	}
	close(pair[1]);
	wait_for_data(pair[0]);
	return 0;
}

static int tcp(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
	socklen_t n = sizeof a;
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), end;

	if (bind(server, (struct sockaddr *)&a, n) || listen(server, 1) ||
	    getsockname(server, (struct sockaddr *)&a, &n))
		return 1;
	if (!child()) {
		close(server);
		end = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(end, (struct sockaddr *)&a, n))
			return 1;
		wait_for_data(end);
		return 0;
	}
	end = accept(server, NULL, NULL);
	wait_for_data(end);
	return 0;
}

static int lock_two(const char *mine, const char *others, int told, int hears)
{
	int a = open(mine, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int b = open(others, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char c = 0;

	if (flock(a, LOCK_EX) || write(told, &c, 1) != 1 || read(hears, &c, 1) != 1)
		return 1;
	return flock(b, LOCK_EX);
}

static int files(void)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		return 1;
	return child() ? lock_two("one", "two", there[1], back[0])
		       : lock_two("two", "one", back[1], there[0]);
}

static void *other_thread(void *unused)
{
	pthread_mutex_lock(&second);
	pthread_barrier_wait(&both);
	wait_for_mutex(&first);
	return unused;
}

static int mutexes(void)
{
	pthread_t thread;

	pthread_barrier_init(&both, NULL, 2);
	pthread_mutex_lock(&first);
	if (pthread_create(&thread, NULL, other_thread, NULL))
		return 1;
	pthread_barrier_wait(&both);
	wait_for_mutex(&second);
	return 0;
}

static atomic_int ready;

static void *comes_late(void *unused)
{
	sleep(8);
	ready = 1;
	return unused;
}

static __attribute__((noinline)) void wait_until_ready(void)
{
	while (!atomic_load(&ready))
		;
}

static int spins(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, comes_late, NULL))
		return 1;
	wait_until_ready();
	return pthread_join(thread, NULL);
}

static __attribute__((noinline)) unsigned long descend(unsigned long depth)
{
	volatile unsigned char frame[512] = { 0 };
	unsigned long sum = depth;

	for (unsigned i = 0; i < 200000; i++)
		sum = sum * 31 + frame[i % sizeof frame];
	return sum + (depth ? descend(depth - 1) : 0) + frame[sum % sizeof frame];
}

static __attribute__((noinline)) unsigned long fall(unsigned long depth)
{
	volatile unsigned char frame[512] = { 0 };

	return (depth ? fall(depth + 1) : 0) + frame[depth % sizeof frame];
}

static void *falls(void *unused)
{
	fall(1);
	return unused;
}

static void *computes(void *seconds)
{
	time_t end = time(NULL) + *(const int *)seconds;

	while (time(NULL) < end)
		for (volatile int i = 0; i < 1000000; i++)
			;
	return NULL;
}

/* Of the first thread, or of another one. */
static int overflows(int thread)
{
	int seconds = 3;
	pthread_t other;

	computes(&seconds);
	if (!thread)
		return (int)fall(1);
	return pthread_create(&other, NULL, falls, NULL) || pthread_join(other, NULL);
}

static int uneven(void)
{
	int seconds[2] = { 3, 9 }; /* of the clock: a second less at most */
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, computes, &seconds[i]))
			return 1;
	return pthread_join(thread[0], NULL) + pthread_join(thread[1], NULL);
}

static void *lock_and_wait(void *unused)
{
	pthread_mutex_lock(&first);
	pthread_barrier_wait(&both);
	for (;;)
		pause();
	return unused;
}

/* A child that was forked while another thread had the lock that it needs. */
static int forks_with_a_lock(void)
{
	pthread_t thread;
	pid_t pid;

	pthread_barrier_init(&both, NULL, 2);
	if (pthread_create(&thread, NULL, lock_and_wait, NULL))
		return 1;
	pthread_barrier_wait(&both);
	pid = child();
	if (!pid)
		wait_for_mutex(&first);
	return waitpid(pid, NULL, 0) != pid;
}

/* The parent waits for its end, and it for a byte that the parent would have to write. */
static int waits_for_parent(void)
{
	int there[2];
	pid_t pid;

	if (pipe(there))
		return 1;
	pid = child();
	if (!pid) {
		close(there[1]);
		wait_for_data(there[0]);
		return 0;
	}
	close(there[0]);
	return waitpid(pid, NULL, 0) != pid;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";

	if (!strcmp(kind, "pipes") || !strcmp(kind, "free"))
		return pipes(*kind == 'f');
	if (!strncmp(kind, "overflows", 9))
		return overflows(!strcmp(kind, "overflows-thread"));
	if (!strcmp(kind, "sockets"))
		return sockets();
	if (!strcmp(kind, "tcp"))
		return tcp();
	if (!strcmp(kind, "files"))
		return files();
	if (!strcmp(kind, "mutexes"))
		return mutexes();
	if (!strcmp(kind, "spins"))
		return spins();
	if (!strcmp(kind, "uneven"))
		return uneven();
	if (!strcmp(kind, "recurses"))
		return (int)descend(-1UL);
	if (!strcmp(kind, "child"))
		return waits_for_parent();
	if (!strcmp(kind, "fork"))
		return forks_with_a_lock();
	for (;;)
		pause();
}
