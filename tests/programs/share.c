/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share map|fork COUNT MEBIBYTES OWN MILLISECONDS: COUNT processes that have so many MEBIBYTES
 * together, each page touched by each: a shared mapping, or what the first of them has and the
 * others, which it forks, only read; and each OWN MEBIBYTES of its own. They hold it so long, from
 * when all have it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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

int main(int argc, char **argv)
{
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
	p = area(size, strcmp(argv[1], "map") == 0 ? MAP_SHARED : MAP_PRIVATE);
	memset(p, 1, size);
	for (long i = 1; i < count; i++)
		if (fork() == 0) {
			read_all(p, size);
			memset(area(own, MAP_PRIVATE), 1, own);
			c = write(fds[1], &c, 1) != 1;
			usleep(us);
			_exit(c);
		}
	memset(area(own, MAP_PRIVATE), 1, own);
	for (long i = 1; i < count; i++)
		if (read(fds[0], &c, 1) != 1)
			return 1;
	usleep(us);
	while (wait(NULL) > 0)
		;
	return read_all(p, size) == 0;
}
