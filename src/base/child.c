/* SPDX-License-Identifier: Apache-2.0 */
#include "base/child.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

bool child_end(pid_t pid)
{
	const struct timespec a_little = { .tv_nsec = 100000 };
	bool ended = waitpid(pid, NULL, WNOHANG) != 0;

	if (!ended)
		kill(pid, SIGKILL);
	for (int tries = 0; tries < 200 && !ended; tries++) {
		ended = waitpid(pid, NULL, WNOHANG) != 0;
		if (!ended)
			nanosleep(&a_little, NULL);
	}
	return ended;
}
