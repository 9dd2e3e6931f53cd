/* SPDX-License-Identifier: Apache-2.0 */
#include "base/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { USUAL = 1024 }; /* as far as descriptors are usually given out */

/* close_range(2), Linux 5.9; before it, one by one. */
static void close_from_to(unsigned first, unsigned last)
{
	if (first > last)
		return;
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, first, last, 0))
		return;
#endif
	for (unsigned fd = first; fd <= last && fd < USUAL; fd++)
		close((int)fd);
}

void descriptors_close(int first, int keep)
{
	if (keep > first)
		close_from_to((unsigned)first, (unsigned)keep - 1);
	close_from_to(keep >= first ? (unsigned)keep + 1 : (unsigned)first, UINT_MAX);
}

void descriptors_null(int end)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd < end; fd++)
		dup2(null, fd);
	if (null >= end)
		close(null);
}

static void close_inherited(int fd, int keep)
{
	int flags = fcntl(fd, F_GETFD);

	if (fd > STDERR_FILENO && fd != keep && flags >= 0 && !(flags & FD_CLOEXEC))
		close(fd);
}

void descriptors_let_go(int keep)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *entry;

	descriptors_null(STDERR_FILENO);
	if (!d)
		for (int fd = 0; fd < USUAL; fd++)
			close_inherited(fd, keep);
	while (d && (entry = readdir(d)))
		close_inherited((int)strtol(entry->d_name, NULL, 10), keep);
	if (d)
		closedir(d);
}
