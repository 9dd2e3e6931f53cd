/* SPDX-License-Identifier: Apache-2.0 */
/* cost_of TIMES COMMAND...: runs a command so many times, its output thrown away, and prints the
 * CPU seconds (user and system) of a run and its largest resident set in MB. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void become(char **command)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(126);
	execvp(command[0], command);
	_exit(127);
}

int main(int argc, char **argv)
{
	int times = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0, status;
	struct rusage used;

	if (times < 1) {
		fprintf(stderr, "usage: cost_of TIMES COMMAND...\n");
		return 2;
	}
	for (int i = 0; i < times; i++) {
		pid_t pid = fork();

		if (pid == 0)
			become(argv + 2);
		if (waitpid(pid, &status, 0) != pid || status) {
			fprintf(stderr, "cost_of: %s failed\n", argv[2]);
			return 1;
		}
	}
	getrusage(RUSAGE_CHILDREN, &used);
	printf("%.6f %.1f\n", (seconds(used.ru_utime) + seconds(used.ru_stime)) / times,
	       (double)used.ru_maxrss * 1024 / 1e6);
	return 0;
}
