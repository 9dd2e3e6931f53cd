/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the same each time ---- */

uint64_t random_u64(struct random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

double random_unit(struct random *r)
{
	return (double)(random_u64(r) >> 11) * 0x1p-53;
}

double random_normal(struct random *r)
{
	double x, y, square;

	do {
		x = 2 * random_unit(r) - 1;
		y = 2 * random_unit(r) - 1;
		square = x * x + y * y;
	} while (square >= 1 || square == 0);
	return x * sqrt(-2 * log(square) / square);
}

/* ---- that nobody can guess ---- */

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

int nonce_make(char out[NONCE_SIZE], struct err *e)
{
	uint8_t raw[NONCE_SIZE / 2];

	if (!entropy_fill(raw, sizeof raw))
		return err_set(e, -EIO, "the kernel gave no random number for the report: %s",
			       strerror(errno));
	for (size_t i = 0; i < sizeof raw; i++) {
		*out++ = "0123456789abcdef"[raw[i] >> 4];
		*out++ = "0123456789abcdef"[raw[i] & 15];
	}
	*out = '\0';
	return 0;
}
