/* SPDX-License-Identifier: Apache-2.0 */
#include "base/entropy.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux 3.17; it fails while a machine that has just started has gathered too little. */
static bool from_call(void *out, size_t n)
{
#ifdef SYS_getrandom
	enum { NONBLOCK = 1 };

	return syscall(SYS_getrandom, out, n, NONBLOCK) == (long)n;
#else
	(void)out;
	(void)n;
	return false;
#endif
}

bool entropy_fill(void *out, size_t n)
{
	int fd;
	bool filled;

	if (from_call(out, n))
		return true;
	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	filled = fd >= 0 && read(fd, out, n) == (ssize_t)n;
	if (fd >= 0)
		close(fd);
	return filled;
}
