/* SPDX-License-Identifier: Apache-2.0 */
/* files_mix.c - writes and reads files DIR/c0 .. by calls of several kinds, each file another
 * number of bytes; what is not there is asked for, too. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char data[40000];

static void use(const char *path, size_t n)
{
	struct iovec v[2] = { { data, n / 2 }, { data, n - n / 2 } };
	struct stat st;
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600), other;

	if (fd < 0 || write(fd, data, n) != (ssize_t)n || writev(fd, v, 2) != (ssize_t)n ||
	    pwrite(fd, data, n, 5) != (ssize_t)n || lseek(fd, 0, SEEK_SET))
		exit(1);
	other = dup(fd);
	while (read(other, data, 4096) > 0)
		;
	if (pread(fd, data, n, 1) < 0 || fsync(fd) || close(fd) || close(other) || stat(path, &st))
		exit(1);
}

int main(int argc, char **argv)
{
	char path[4096];
	int files = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 10;
	struct stat st;

	for (int i = 0; argc > 3 && i < files; i++) {
		snprintf(path, sizeof path, "%s/%s%d", argv[1], argv[3], i);
		use(path, 1 + (size_t)i % 1000 * 37);
		snprintf(path, sizeof path, "%s/none%d", argv[1], i);
		if (!stat(path, &st))
			return 1;
	}
	return 0;
}
