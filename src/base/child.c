/* SPDX-License-Identifier: Apache-2.0 */
#include "base/child.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

void child_end(pid_t pid)
{
	const struct timespec a_little = { .tv_nsec = 100000 };

	if (waitpid(pid, NULL, WNOHANG) != 0)
		return;
	kill(pid, SIGKILL);
	for (int tries = 0; tries < 200 && waitpid(pid, NULL, WNOHANG) == 0; tries++)
		nanosleep(&a_little, NULL);
}
