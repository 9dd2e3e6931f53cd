/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem private|shared MEBIBYTES MILLISECONDS: holds that much memory, every page touched; 0 ms:
 * until its standard input ends. shared: two processes hold the same pages, so that the sum of
 * resident sets counts them twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: mem private|shared MEBIBYTES MILLISECONDS\n");
		return 2;
	}
	int shared = strcmp(argv[1], "shared") == 0;
	size_t size = (size_t)strtoull(argv[2], NULL, 10) << 20;
	useconds_t us = (useconds_t)strtoul(argv[3], NULL, 10) * 1000;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);

	if (p == MAP_FAILED) {
		perror("mem: mmap");
		return 1;
	}
	memset(p, 1, size);

	pid_t pid = shared ? fork() : -1;

	if (pid == 0) /* the pages are there, and not yet in its tables */
		memset(p, 2, size);
	if (us)
		usleep(us);
	for (char c; !us && read(0, &c, 1) > 0;)
		;
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return 0;
}
