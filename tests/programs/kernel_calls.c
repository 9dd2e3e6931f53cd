/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_calls - lets the kernel work for functions of its own: kernel_calls KIND SECONDS. */
#include "cpu_work.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 8 << 20, PAGE = 4096, CALLS = 1000 };

static __attribute__((noinline)) void touch_pages(void)
{
	char *room = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		abort();
	madvise(room, BYTES, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < BYTES; i += PAGE)
		((volatile char *)room)[i] = 1;
	munmap(room, BYTES);
	sink++; /* no tail call */
}

static __attribute__((noinline)) void write_bytes(void)
{
	static int fd;

	if (!fd)
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	for (int i = 0; i < CALLS; i++)
		if (write(fd, "x", 1) != 1)
			abort();
}

static __attribute__((noinline)) void ask_names(void)
{
	for (int i = 0; i < CALLS; i++)
		if (!access("none", R_OK))
			abort();
}

int main(int argc, char **argv)
{
	struct timespec now;
	long until_ns = argc > 2 ? CPU_NS(now) + (long)(1e9 * strtod(argv[2], NULL)) : 0;
	void (*work_for)(void) = argc < 3                     ? NULL
				 : !strcmp(argv[1], "faults") ? touch_pages
				 : !strcmp(argv[1], "writes") ? write_bytes
				 : !strcmp(argv[1], "names")  ? ask_names
							      : NULL;

	while (work_for && CPU_NS(now) < until_ns)
		work_for();
	return !work_for;
}
