/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start COMMAND...: starts COMMAND and prints the us from before its exec until something in it
 * said "here", the us of CPU that it said, and the us from then until COMMAND had ended. What says
 * so is one of:
 *
 *   start here         CPU of the process that started it, as the job's first process of `sonde
 *                      run`
 *   start bare LIST    opens the files that LIST names, reads each once as far as 128 kB, and says
 *                      its own CPU: the least that a program which needs these files takes to start
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SAID_FD = 9, BUFFER = 1 << 17 };

struct said {
	int64_t at_ns, cpu_ns;
};

static int64_t now_ns(clockid_t clock)
{
	struct timespec ts = { 0 };

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int say(clockid_t cpu)
{
	struct said said = { now_ns(CLOCK_MONOTONIC), now_ns(cpu) };

	return write(SAID_FD, &said, sizeof said) == sizeof said ? 0 : 2;
}

static void open_all(const char *list)
{
	static char path[4096], buffer[BUFFER];
	FILE *names = fopen(list, "re");

	while (names && fgets(path, sizeof path, names)) {
		int fd;

		path[strcspn(path, "\n")] = '\0';
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && read(fd, buffer, sizeof buffer) < 0)
			continue; /* a directory: it is open, that is all */
	}
}

static int start(char **command)
{
	int64_t before = now_ns(CLOCK_MONOTONIC);
	struct said said;
	int fds[2], status;
	pid_t child;

	if (pipe(fds))
		return 2;
	child = fork();
	if (child == 0) {
		close(fds[0]);
		if (dup2(fds[1], SAID_FD) != SAID_FD)
			_exit(126);
		close(fds[1]);
		execvp(command[0], command);
		_exit(127);
	}
	close(fds[1]);
	if (read(fds[0], &said, sizeof said) != sizeof said)
		return 2;
	if (waitpid(child, &status, 0) != child || status)
		return 2;
	printf("%.1f %.1f %.1f\n", (double)(said.at_ns - before) / 1e3, (double)said.cpu_ns / 1e3,
	       (double)(now_ns(CLOCK_MONOTONIC) - said.at_ns) / 1e3);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "here") == 0)
		return say((clockid_t)(~(unsigned)getppid() << 3 | 2U));
	if (argc == 3 && strcmp(argv[1], "bare") == 0) {
		open_all(argv[2]);
		return say(CLOCK_PROCESS_CPUTIME_ID);
	}
	if (argc < 2) {
		fprintf(stderr, "usage: start COMMAND... | here | bare LIST\n");
		return 2;
	}
	return start(argv + 1);
}
