/* SPDX-License-Identifier: Apache-2.0 */
/* io BYTES FILE: writes that many bytes to FILE, syncs, reads them back, waits a moment. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char block[65536];
	long long want = argc > 2 ? strtoll(argv[1], NULL, 10) : 0;
	long long done = 0;
	int fd = argc > 2 ? open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd < 0) {
		fprintf(stderr, "usage: io BYTES FILE\n");
		return 2;
	}
	memset(block, 'x', sizeof(block));
	while (done < want) {
		long long left = want - done;
		size_t n = left < (long long)sizeof(block) ? (size_t)left : sizeof(block);

		if (write(fd, block, n) != (ssize_t)n) {
			perror("io: write");
			return 1;
		}
		done += (long long)n;
	}
	if (fsync(fd) || lseek(fd, 0, SEEK_SET))
		return 1;
	while (read(fd, block, sizeof(block)) > 0)
		;
	usleep(300000);
	return 0;
}
