/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slab SESSION [NAME=COUNT...]: what the kernel needs for files of /proc that are held open. Opens
 * /proc/PID/NAME of so many processes of the session, reads each once, as a recorder does, and
 * prints by how many bytes the kernel's slabs have grown. The processes must be ones that nobody
 * has looked at in /proc before.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static long number_in(const char *path, const char *before)
{
	char text[8192];
	const char *at;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (n <= 0)
		fail(path);
	close(fd);
	text[n] = '\0';
	at = strstr(text, before);
	return at ? strtol(at + strlen(before), NULL, 10) : 0;
}

static void hold_open(pid_t pid, const char *name)
{
	char path[64], text[4096];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail(path);
	if (strcmp(name, "fd") != 0 && read(fd, text, sizeof text) <= 0)
		fail(path);
}

/* Without /proc, which would open what is measured. */
static size_t find_session(pid_t session, pid_t *pids, size_t max)
{
	long last = number_in("/proc/sys/kernel/pid_max", "");
	size_t n = 0;

	for (pid_t pid = 1; pid < last && n < max; pid++)
		if (getsid(pid) == session)
			pids[n++] = pid;
	return n;
}

int main(int argc, char **argv)
{
	static pid_t pids[1 << 16];
	struct rlimit limit;
	size_t n = find_session(argc > 1 ? (pid_t)strtol(argv[1], NULL, 10) : 0, pids, 1 << 16);
	long before;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	before = number_in("/proc/meminfo", "Slab:");
	for (int i = 2; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		size_t count = equals ? strtoul(equals + 1, NULL, 10) : 0;

		if (!equals || count > n) {
			fprintf(stderr, "slab: %s of %zu processes\n", argv[i], n);
			return 2;
		}
		*equals = '\0';
		for (size_t k = 0; k < count; k++)
			hold_open(pids[k], argv[i]);
	}
	printf("%ld\n", (number_in("/proc/meminfo", "Slab:") - before) * 1024);
	return 0;
}
