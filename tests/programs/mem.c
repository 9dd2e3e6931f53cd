/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem KIND MEBIBYTES MILLISECONDS: holds that much memory, every page touched; 0 ms: until its
 * standard input ends, and "held" is printed when it does. Kinds:
 *   private, shared (two processes hold the same pages, so that the sum of resident sets counts
 *   them twice),
 *   hugetlb, hugetlb-shared: the same in huge pages of hugetlbfs,
 *   thp: a byte in each transparent huge page, where the kernel gives them,
 *   swap: private, and swapped out where there is swap,
 *   memfd, shm, sysv: a memfd, a file in /dev/shm, a System V segment, which nobody maps.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

static char file[64]; /* in /dev/shm, to be removed; "": none */
static int segment = -1;

static int failed(const char *what)
{
	perror(what);
	return 1;
}

static int fill(int fd, size_t size)
{
	static char block[1 << 20];

	memset(block, 1, sizeof block);
	for (size_t done = 0; fd >= 0 && done < size; done += sizeof block)
		if (write(fd, block, sizeof block) != (ssize_t)sizeof block)
			return failed("mem: write");
	return fd < 0 ? failed("mem: open") : 0;
}

static int shm(size_t size)
{
	int fd;

	snprintf(file, sizeof file, "/dev/shm/sonde-mem-%d", (int)getpid());
	fd = open(file, O_CREAT | O_EXCL | O_WRONLY, 0600);
	return fill(fd, size) || close(fd);
}

static int sysv(size_t size)
{
	void *p;

	segment = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	p = shmat(segment, NULL, 0);
	if (p == (void *)-1)
		return failed("mem: shmat");
	memset(p, 1, size);
	return shmdt(p);
}

static int mapping(const char *kind, size_t size, pid_t *pid)
{
	const size_t huge = 2 << 20;
	int shared = strstr(kind, "shared") != NULL;
	int flags = MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE);
	char *p;

	if (strncmp(kind, "hugetlb", 7) == 0)
		flags |= MAP_HUGETLB;
	p = mmap(NULL, size + (flags & MAP_HUGETLB ? 0 : huge), PROT_READ | PROT_WRITE, flags, -1,
		 0);
	if (p == MAP_FAILED)
		return failed("mem: mmap");
	if (strcmp(kind, "thp") == 0) {
		p += huge - (uintptr_t)p % huge;
		madvise(p, size, MADV_HUGEPAGE);
	}
	for (size_t i = 0; strcmp(kind, "thp") == 0 && i < size; i += huge)
		p[i] = 1;
	if (strcmp(kind, "thp") != 0)
		memset(p, 1, size);
	if (strcmp(kind, "swap") == 0)
		madvise(p, size, MADV_PAGEOUT);
	*pid = shared ? fork() : -1;
	if (*pid == 0) /* the pages are there, and not yet in its tables */
		memset(p, 2, size);
	return 0;
}

static int hold(const char *kind, size_t size, pid_t *pid)
{
	if (strcmp(kind, "memfd") == 0)
		return fill(memfd_create("sonde-mem", 0), size);
	if (strcmp(kind, "shm") == 0)
		return shm(size);
	if (strcmp(kind, "sysv") == 0)
		return sysv(size);
	return mapping(kind, size, pid);
}

int main(int argc, char **argv)
{
	useconds_t us;
	pid_t pid = -1;
	int bad;

	if (argc != 4) {
		fprintf(stderr, "usage: mem KIND MEBIBYTES MILLISECONDS\n");
		return 2;
	}
	us = (useconds_t)strtoul(argv[3], NULL, 10) * 1000;
	bad = hold(argv[1], (size_t)strtoull(argv[2], NULL, 10) << 20, &pid);
	if (!us && !bad && pid != 0) {
		puts("held");
		fflush(stdout);
	}
	if (us && !bad)
		usleep(us);
	for (char c; !us && !bad && read(0, &c, 1) > 0;)
		;
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (file[0])
		unlink(file);
	if (segment >= 0)
		shmctl(segment, IPC_RMID, NULL);
	return bad != 0;
}
