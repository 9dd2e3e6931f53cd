/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

enum { PIECE = 4096, PIECES = 64 };

bool memory_read(pid_t pid, uint64_t at, void *out, size_t size)
{
	const struct iovec to = { out, size }, from = { (void *)(uintptr_t)at, size };

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

/* The kernel stops at the first piece that is not there. */
ssize_t memory_copy(pid_t pid, uint64_t at, void *out, size_t size)
{
	size_t done = 0;

	while (done < size) {
		struct iovec from[PIECES], to = { (char *)out + done, 0 };
		unsigned long n = 0;
		ssize_t got;

		while (n < PIECES && done + to.iov_len < size) {
			uint64_t start = at + done + to.iov_len;
			size_t len = PIECE - (size_t)(start % PIECE);

			if (len > size - done - to.iov_len)
				len = size - done - to.iov_len;
			from[n++] = (struct iovec){ (void *)(uintptr_t)start, len };
			to.iov_len += len;
		}
		got = process_vm_readv(pid, &to, 1, from, n, 0);
		if (got < 0 && !done)
			return errno == EFAULT ? 0 : -errno;
		done += got > 0 ? (size_t)got : 0;
		if (got < (ssize_t)to.iov_len)
			break;
	}
	return (ssize_t)done;
}

bool memory_text(pid_t pid, uint64_t at, char *out, size_t size)
{
	ssize_t n = memory_copy(pid, at, out, size - 1);

	if (n <= 0)
		return false;
	out[n] = '\0';
	return memchr(out, '\0', (size_t)n) != NULL;
}
