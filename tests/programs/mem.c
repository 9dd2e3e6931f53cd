/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem private|shared MEBIBYTES MILLISECONDS: holds that much memory, every page touched. shared:
 * two processes hold the same pages, so that the sum of resident sets counts them twice.
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
	pid_t pid = shared ? fork() : -1;

	memset(p, 1, size);
	usleep(us);
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return 0;
}
