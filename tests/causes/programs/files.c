// SPDX-License-Identifier: Apache-2.0
// Files: storms of small calls, forced writes, random reads, full disks.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job.h"

static int failed(const char *what)
{
	perror(what);
	return 1;
}

static int exec_storm(int argc, char **argv)
{
	struct stat st;
	char name[64];
	unsigned i = 0;
	for (double end = now() + number(argc, argv, 1); now() < end; i++) {
		snprintf(name, sizeof name, "item.%u", i % 1000);
		int fd = open(name, O_CREAT | O_WRONLY, 0600);
		if (fd < 0 || close(fd) != 0 || stat(name, &st) != 0 || unlink(name) != 0)
			return failed(name);
	}
	return 0;
}

static int exec_tiny(int argc, char **argv)
{
	int fd = open("tiny.dat", O_CREAT | O_WRONLY | O_TRUNC, 0600);
	unsigned i = 0;
	for (double end = now() + number(argc, argv, 1); now() < end; i++) {
		if (write(fd, "x", 1) != 1)
			return failed("tiny.dat");
		if (i % 1000000 == 0 && lseek(fd, 0, SEEK_SET) != 0)
			return failed("tiny.dat");
	}
	return 0;
}

static int exec_fsync(int argc, char **argv)
{
	static char record[1 << 16];
	size_t size = (size_t)number(argc, argv, 1) % sizeof record;
	int fd = open("log.dat", O_CREAT | O_WRONLY | O_TRUNC, 0600);
	for (double end = now() + number(argc, argv, 2); now() < end;) {
		if (write(fd, record, size) != (ssize_t)size || fsync(fd) != 0)
			return failed("log.dat");
	}
	return 0;
}

// The file is made by the driver, so that making it is not part of the job.
static int exec_random(int argc, char **argv)
{
	static _Alignas(4096) char buffer[4096];
	unsigned pages = (unsigned)number(argc, argv, 1) * 256;
	int fd = open("big.dat", O_RDONLY | O_DIRECT);
	unsigned at = 1;
	for (double end = now() + number(argc, argv, 2); now() < end;
	     at = at * 1664525U + 1013904223U) {
		if (pread(fd, buffer, sizeof buffer, (off_t)(at / 7 % pages) * 4096) !=
		    sizeof buffer)
			return failed("big.dat");
	}
	return 0;
}

static int exec_fill(int argc, char **argv)
{
	static char block[1 << 16];
	char name[4096];
	compute(number(argc, argv, 2));
	snprintf(name, sizeof name, "%s/result.dat", argc > 1 ? argv[1] : ".");
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	while (write(fd, block, sizeof block) == sizeof block)
		work(10);
	return failed(name);
}

static int exec_exceed(int argc, char **argv)
{
	static char block[1 << 14];
	compute(number(argc, argv, 2));
	int fd = open(argc > 1 ? argv[1] : "out.dat", O_CREAT | O_WRONLY | O_TRUNC, 0600);
	while (write(fd, block, sizeof block) > 0)
		work(10);
	return failed("write");
}

int main(int argc, char **argv)
{
	static const struct verb verbs[] = { { "storm", exec_storm }, { "tiny", exec_tiny },
					     { "fsync", exec_fsync }, { "random", exec_random },
					     { "fill", exec_fill },   { "exceed", exec_exceed },
					     { NULL, NULL } };
	return verb_run(verbs, argc, argv);
}
