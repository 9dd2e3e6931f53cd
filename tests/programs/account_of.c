/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_of FILE COMMAND...: runs it, writes to FILE the user and system seconds that wait4(2)
 * says of it and of this program together, and exits with its code.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage used = { 0 }, own = { 0 };
	int status = 0;
	pid_t pid;
	FILE *f;

	if (argc < 3)
		return 125;
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
		return 125;
	f = fopen(argv[1], "w");
	if (!f)
		return 125;
	getrusage(RUSAGE_SELF, &own);
	fprintf(f, "%.6f\n",
		seconds(used.ru_utime) + seconds(used.ru_stime) + seconds(own.ru_utime) +
			seconds(own.ru_stime));
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
