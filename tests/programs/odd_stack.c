/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that are hard to look at: odd_stack KIND [FILE]. What waits has a stack pointer into
 * memory that is gone (unmapped), into a file that has become shorter (truncated) or into FILE, of
 * which nothing was read yet, once a file `now` is here (mapped), is in state D (vfork), or ends
 * and begins, executes itself and changes its stack all the time (changing).
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { SIZE = 1 << 16 };

/* Waits for ever with the stack pointer there, and uses no memory below or above it. */
static void pause_at(char *stack)
{
#if defined __x86_64__
	__asm__ volatile("mov %0, %%rsp\n1: mov %1, %%eax\nsyscall\njmp 1b"
			 :
			 : "r"(stack), "i"(SYS_pause)
			 : "rax", "rcx", "r11", "memory");
#else
	(void)stack;
	pause();
#endif
}

static void *unmapped(void *unused)
{
	char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(stack, SIZE);
	pause_at(stack + SIZE / 2);
	return unused;
}

static void *truncated(void *unused)
{
	char name[] = "stack-XXXXXX";
	int fd = mkstemp(name);
	char *stack;

	if (fd < 0 || ftruncate(fd, SIZE))
		exit(1);
	stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ftruncate(fd, 0) || unlink(name))
		exit(1);
	pause_at(stack + SIZE / 2);
	return unused;
}

static void *mapped(void *path)
{
	int fd = open(path, O_RDWR);
	char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	if (fd < 0 || stack == MAP_FAILED || close(fd))
		exit(1);
	while (access("now", F_OK))
		usleep(10000);
	pause_at(stack + SIZE / 2);
	return NULL;
}

static void *nap(void *unused)
{
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
	return unused;
}

/* Two stacks in turn, a thread that ends, and itself anew after a while. */
static ucontext_t here, there;

static void other(void)
{
	for (;;) {
		nap(NULL);
		swapcontext(&there, &here);
	}
}

static void changing(char *self)
{
	pthread_t t;

	getcontext(&there);
	there.uc_stack.ss_sp = malloc(SIZE);
	there.uc_stack.ss_size = SIZE;
	makecontext(&there, other, 0);
	for (int i = 0; i < 200; i++) {
		if (!pthread_create(&t, NULL, nap, NULL))
			pthread_detach(t);
		swapcontext(&here, &there);
		nap(NULL);
	}
	execl(self, self, "changing", (char *)NULL);
	exit(1);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	pthread_t t;

	if (!strcmp(kind, "changing"))
		changing("/proc/self/exe");
	if (!strcmp(kind, "unmapped"))
		pthread_create(&t, NULL, unmapped, NULL);
	else if (!strcmp(kind, "truncated"))
		pthread_create(&t, NULL, truncated, NULL);
	else if (!strcmp(kind, "mapped") && argc > 2)
		pthread_create(&t, NULL, mapped, argv[2]);
	else if (!strcmp(kind, "vfork") && vfork() == 0)
		for (;;)
			pause();
	pause();
	return 0;
}
