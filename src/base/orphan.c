/* SPDX-License-Identifier: Apache-2.0 */
#include "base/orphan.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child in between only forks and ends: with vfork it needs no copy of the memory for that. */
int orphan_fork(void)
{
	volatile int made = -ECHILD; /* its pid, or -errno */
	pid_t between = vfork(), orphan;

	if (between < 0)
		return -errno;
	if (!between) {
		orphan = fork();
		if (!orphan)
			return 0;
		made = orphan < 0 ? -errno : orphan;
		_exit(0);
	}
	waitpid(between, NULL, 0);
	return made;
}
