/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share map|fork|copy|huge|vm COUNT MEBIBYTES OWN MILLISECONDS: COUNT processes that have so many
 * MEBIBYTES together, each page touched by each: a shared mapping, or what the first of them has
 * and the others, which it forks, only read (copy: they write to a half of it; huge: it is in huge
 * pages, and they give a half of it back for their own), or that run in the same memory (vm); and
 * each OWN MEBIBYTES of its own. They hold it so long, from when all have it.
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HUGE = 2 << 20 };

static char *area(size_t size, int flags)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	return p;
}

static unsigned read_all(const volatile char *p, size_t size)
{
	unsigned sum = 0;

	for (size_t i = 0; i < size; i += 4096)
		sum += (unsigned char)p[i];
	return sum;
}

struct child {
	const char *how;
	char *p;
	size_t size, own;
	useconds_t us;
	int said;
};

static int work(void *arg)
{
	const struct child *child = arg;
	char c = 0;

	read_all(child->p, child->size);
	if (strcmp(child->how, "huge") == 0)
		madvise(child->p, child->size / 2, MADV_DONTNEED);
	if (strcmp(child->how, "copy") == 0 || strcmp(child->how, "huge") == 0)
		memset(child->p, 2, child->size / 2);
	memset(area(child->own, MAP_PRIVATE), 1, child->own);
	c = write(child->said, &c, 1) != 1;
	usleep(child->us);
	_exit(c);
}

static void start(struct child *child)
{
	enum { STACK = 1 << 16 };

	if (strcmp(child->how, "vm") == 0)
		clone(work, area(STACK, MAP_PRIVATE) + STACK, CLONE_VM | SIGCHLD, child);
	else if (fork() == 0)
		work(child);
}

int main(int argc, char **argv)
{
	struct child child;
	long count = argc == 6 ? strtol(argv[2], NULL, 10) : 0;
	size_t size, own;
	useconds_t us;
	char *p, c = 0;
	int fds[2];

	if (!count || pipe(fds))
		return 2;
	size = (size_t)strtoul(argv[3], NULL, 10) << 20;
	own = (size_t)strtoul(argv[4], NULL, 10) << 20;
	us = (useconds_t)strtoul(argv[5], NULL, 10) * 1000;
	p = area(size + HUGE, strcmp(argv[1], "map") == 0 ? MAP_SHARED : MAP_PRIVATE);
	p += HUGE - (uintptr_t)p % HUGE;
	if (strcmp(argv[1], "huge") == 0)
		madvise(p, size, MADV_HUGEPAGE);
	memset(p, 1, size);
	child = (struct child){
		.how = argv[1], .p = p, .size = size, .own = own, .us = us, .said = fds[1]
	};
	for (long i = 1; i < count; i++)
		start(&child);
	memset(area(own, MAP_PRIVATE), 1, own);
	for (long i = 1; i < count; i++)
		if (read(fds[0], &c, 1) != 1)
			return 1;
	usleep(us);
	while (wait(NULL) > 0)
		;
	return read_all(p, size) == 0;
}
