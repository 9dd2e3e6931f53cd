/* SPDX-License-Identifier: Apache-2.0 */
/* siginfo: prints "ready", then each signal that comes, with its value, until TERM. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KERNEL_SET = 8 };

int main(void)
{
	siginfo_t info = { 0 };
	sigset_t all;

	memset(&all, 0xff, sizeof all);
	/* The C library leaves two out. */
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, KERNEL_SET);
	puts("ready");
	while (info.si_signo != SIGTERM) {
		fflush(stdout);
		memset(&info, 0, sizeof info);
		if (sigwaitinfo(&all, &info) > 0)
			printf("%d %d\n", info.si_signo,
			       info.si_code == SI_QUEUE ? info.si_value.sival_int : -1);
	}
	return 7;
}
